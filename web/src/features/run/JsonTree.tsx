import { ChevronDown, ChevronRight } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { isObject, rawNumber, type Json } from '../../api/json';
import { copyText } from '../../state/clipboard';
import { notify } from '../../state/notices';
import { jsonTree as say } from '../../texts/run';
import { withControls } from '../../texts/format';
import { Button } from '../../ui/Button';
import css from './JsonTree.module.css';
import { step } from './shown';

const page = 100;
// Deeper levels are closed at first, so that a large result is readable.
const openTo = 3;

/** Shows a JSON value as a tree. Long lists load in pages. */
export function JsonTree({ value }: { value: Json }) {
  return (
    <div className={css.tree}>
      <div className={css.root}>
        <Branch value={value} path="$" depth={0} />
      </div>
    </div>
  );
}

interface BranchProps {
  label?: string;
  value: Json;
  path: string;
  depth: number;
}

function Branch({ label, value, path, depth }: BranchProps) {
  const entries: [string | number, Json][] | undefined = Array.isArray(value)
    ? value.map((v, i) => [i, v])
    : isObject(value)
      ? Object.entries(value)
      : undefined;
  const [open, setOpen] = useState(depth < openTo && (entries?.length ?? 0) <= page);
  const [shown, setShown] = useState(page);
  const key = label === undefined ? null : <span className={css.key}>{label}: </span>;
  if (!entries) {
    return (
      <>
        {key}
        <Scalar value={value} />
        <CopyPath path={path} />
      </>
    );
  }
  const list = Array.isArray(value);
  if (entries.length === 0) {
    return (
      <>
        {key}
        <span className={css.quiet}>{list ? '[]' : '{}'}</span>
        <CopyPath path={path} />
      </>
    );
  }
  const size = list ? say.items(entries.length) : say.keys(entries.length);
  return (
    <>
      <button type="button" className={css.toggle} aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? <ChevronDown aria-hidden /> : <ChevronRight aria-hidden />}
        {key}
        <span className={css.quiet}>{list ? `[${size}]` : `{${size}}`}</span>
      </button>
      {depth > 0 && <CopyPath path={path} />}
      {open && (
        <ul>
          {entries.slice(0, shown).map(([k, v]) => (
            <li key={k}>
              <Branch label={String(k)} value={v} path={path + step(k)} depth={depth + 1} />
            </li>
          ))}
          {entries.length > shown && (
            <li>
              <Button look="link" className={css.more} onClick={() => setShown(shown + page)}>
                {say.showMore(Math.min(page, entries.length - shown), entries.length - shown)}
              </Button>
            </li>
          )}
        </ul>
      )}
    </>
  );
}

/** The button is visible while its line has the pointer or the focus. */
function CopyPath({ path }: { path: string }) {
  const copy = async (): Promise<void> => {
    if (await copyText(path)) notify('done', say.copied(path));
  };
  return (
    <button type="button" className={css.copy} aria-label={say.copyPath(path)} onClick={() => void copy()}>
      {say.path}
    </button>
  );
}

function Scalar({ value }: { value: Json }): ReactNode {
  if (typeof value === 'string') return <span className={css.string}>{withControls(JSON.stringify(value))}</span>;
  const number = rawNumber(value) ?? (typeof value === 'number' ? String(value) : undefined);
  if (number !== undefined) return <span className={css.number}>{number}</span>;
  return <span className={css.word}>{JSON.stringify(value)}</span>;
}
