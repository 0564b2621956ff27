import { ChevronDown, ChevronUp, Download, Eraser, WrapText } from 'lucide-react';
import { useId } from 'react';
import { download } from '../app/clipboard';
import { CopyButton } from '../ui/CopyButton';
import { IconButton } from '../ui/Button';
import type { Filter } from './Console';
import css from './Console.module.css';
import type { Ring } from './ring';

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
  onClear: () => void;
}

const filters: { value: Filter; label: string }[] = [
  { value: 'all', label: 'All output' },
  { value: 'stdout', label: 'stdout' },
  { value: 'stderr', label: 'stderr' },
  { value: 'log', label: 'Log' },
];

export function ConsoleTools(props: Props) {
  const { ring, search, filter, hits, wrap, onSearch, onFilter, onStep, onWrap, onClear } = props;
  const id = useId();
  return (
    <div className={css.tools}>
      <input
        type="search"
        aria-label="Search the output"
        placeholder="Search"
        value={search}
        onChange={(e) => onSearch(e.target.value)}
        onKeyDown={(e) => {
          if (e.key === 'Enter') onStep(e.shiftKey ? -1 : 1);
          if (e.key === 'Escape') onSearch('');
        }}
      />
      {search !== '' && (
        <>
          <IconButton small label="Previous match" onClick={() => onStep(-1)}>
            <ChevronUp size={14} aria-hidden />
          </IconButton>
          <IconButton small label="Next match" onClick={() => onStep(1)}>
            <ChevronDown size={14} aria-hidden />
          </IconButton>
          <span role="status" className={css.count}>
            {hits.of === 0 ? 'No match' : `${hits.at} of ${hits.of.toLocaleString('en')}`}
          </span>
        </>
      )}
      <span className={css.grow} />
      <label htmlFor={id} className="visually-hidden">
        Show
      </label>
      <select id={id} value={filter} onChange={(e) => onFilter(e.target.value as Filter)}>
        {filters.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <IconButton small label="Wrap long lines" aria-pressed={wrap} onClick={onWrap}>
        <WrapText size={14} aria-hidden />
      </IconButton>
      <CopyButton label="Copy the output" text={() => ring.toText()} />
      <IconButton small label="Download the output" onClick={() => download('output.txt', ring.toText(), 'text/plain')}>
        <Download size={14} aria-hidden />
      </IconButton>
      <IconButton small label="Clear the console" onClick={onClear}>
        <Eraser size={14} aria-hidden />
      </IconButton>
    </div>
  );
}
