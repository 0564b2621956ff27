import { X } from 'lucide-react';
import { Fragment, useDeferredValue, useMemo, useState } from 'react';
import type { Files } from '../../api/types';
import { Button, IconButton } from '../../ui/Button';
import { Check } from '../../ui/Field';
import { fileSearch as say } from '../../texts/files';
import css from './FileSearch.module.css';
import { replaceInFiles, searchFiles } from './search';

interface Props {
  files: Files;
  /** Replaces the matches. It is undefined if the files are read-only. */
  onReplace: ((changed: Record<string, string>, count: number) => void) | undefined;
  onOpen: (path: string, line: number) => void;
  onClose: () => void;
}

/** Searches all files and opens the matching lines. */
export function FileSearch({ files, onReplace, onOpen, onClose }: Props) {
  const [by, setBy] = useState('');
  const [typed, setTyped] = useState('');
  const [matchCase, setMatchCase] = useState(false);
  const wanted = useDeferredValue(typed);
  const { hits, more } = useMemo(() => searchFiles(files, wanted, matchCase), [files, wanted, matchCase]);
  const inFiles = new Set(hits.map((hit) => hit.path)).size;
  return (
    <div className={css.search} onKeyDown={(e) => e.key === 'Escape' && onClose()}>
      <div className={css.field}>
        <input
          autoFocus
          type="search"
          aria-label={say.searchInFiles}
          placeholder={say.placeholder}
          spellCheck={false}
          value={typed}
          onChange={(e) => setTyped(e.target.value)}
        />
        <IconButton small label={say.backToTheFiles} onClick={onClose}>
          <X size={14} aria-hidden />
        </IconButton>
      </div>
      {onReplace && (
        <div className={css.field}>
          <input
            aria-label={say.replaceBy}
            placeholder={say.replaceBy}
            spellCheck={false}
            value={by}
            onChange={(e) => setBy(e.target.value)}
          />
          <Button
            disabled={hits.length === 0}
            onClick={() => {
              const { changed, count } = replaceInFiles(files, wanted, matchCase, by);
              onReplace(changed, count);
            }}
          >
            {say.replaceAll}
          </Button>
        </div>
      )}
      <Check label={say.matchCase} checked={matchCase} onChange={setMatchCase} />
      <p role="status" className={css.count}>
        {wanted === '' ? '' : hits.length === 0 ? say.none : say.found(hits.length, more, inFiles)}
      </p>
      <ul className={css.hits} aria-label={say.linesFound}>
        {hits.map((hit, i) => (
          <Fragment key={`${hit.path}:${hit.line}`}>
            {hits[i - 1]?.path !== hit.path && <li className={css.path}>{hit.path}</li>}
            <li>
              <button type="button" className={css.hit} onClick={() => onOpen(hit.path, hit.line)}>
                <span className={css.line}>{hit.line}</span>
                <span className={css.text}>
                  {leadOf(hit.text.slice(0, hit.at[0]).trimStart())}
                  {hit.at.map((at, n) => (
                    <Fragment key={at}>
                      <mark>{hit.text.slice(at, at + hit.length)}</mark>
                      {hit.text.slice(at + hit.length, hit.at[n + 1])}
                    </Fragment>
                  ))}
                </span>
              </button>
            </li>
          </Fragment>
        ))}
      </ul>
    </div>
  );
}

const lead = 12;

/** Returns the text before a match. It is shortened, so that the match is visible in a narrow panel. */
const leadOf = (text: string): string => (text.length > lead ? `…${text.slice(-lead)}` : text);
