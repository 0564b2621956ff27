import { ChevronDown, ChevronUp, Clock, Download, Eraser, WrapText } from 'lucide-react';
import { useId } from 'react';
import { download } from '../state/clipboard';
import { consoleTools as say } from '../texts/console';
import { CopyButton } from '../ui/CopyButton';
import { IconButton } from '../ui/Button';
import css from './Console.module.css';
import type { Ring } from './ring';
import type { Filter } from './selection';

interface Props {
  ring: Ring;
  search: string;
  filter: Filter;
  hits: { at: number; of: number };
  onSearch: (text: string) => void;
  onFilter: (filter: Filter) => void;
  onStep: (by: 1 | -1) => void;
  wrap: boolean;
  onWrap: () => void;
  times: boolean;
  onTimes: () => void;
  onClear: () => void;
}

const filters: readonly Filter[] = ['all', 'stdout', 'stderr', 'log'];

export function ConsoleTools(props: Props) {
  const { ring, search, filter, hits, wrap, times, onTimes, onSearch, onFilter, onStep, onWrap, onClear } = props;
  const id = useId();
  return (
    <div className={css.tools}>
      <input
        type="search"
        aria-label={say.searchTheOutput}
        placeholder={say.search}
        value={search}
        onChange={(e) => onSearch(e.target.value)}
        onKeyDown={(e) => {
          if (e.key === 'Enter') onStep(e.shiftKey ? -1 : 1);
          if (e.key === 'Escape') onSearch('');
        }}
      />
      {search !== '' && (
        <>
          <IconButton small label={say.previousMatch} onClick={() => onStep(-1)}>
            <ChevronUp size={14} aria-hidden />
          </IconButton>
          <IconButton small label={say.nextMatch} onClick={() => onStep(1)}>
            <ChevronDown size={14} aria-hidden />
          </IconButton>
          <span role="status" className={css.count}>
            {hits.of === 0 ? say.noMatch : say.matches(hits.at, hits.of)}
          </span>
        </>
      )}
      <span className={css.grow} />
      <label htmlFor={id} className="visually-hidden">
        {say.show}
      </label>
      <select id={id} value={filter} onChange={(e) => onFilter(e.target.value as Filter)}>
        {filters.map((value) => (
          <option key={value} value={value}>
            {say.filters[value]}
          </option>
        ))}
      </select>
      <IconButton small label={say.showTimes} aria-pressed={times} onClick={onTimes}>
        <Clock size={14} aria-hidden />
      </IconButton>
      <IconButton small label={say.wrapLongLines} aria-pressed={wrap} onClick={onWrap}>
        <WrapText size={14} aria-hidden />
      </IconButton>
      <CopyButton label={say.copyTheOutput} text={() => ring.toText()} />
      <IconButton
        small
        label={say.downloadTheOutput}
        onClick={() => download('output.txt', ring.toText(), 'text/plain')}
      >
        <Download size={14} aria-hidden />
      </IconButton>
      <IconButton small label={say.clearTheConsole} onClick={onClear}>
        <Eraser size={14} aria-hidden />
      </IconButton>
    </div>
  );
}
