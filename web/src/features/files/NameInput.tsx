import { useState, type KeyboardEvent } from 'react';
import css from './FilesPanel.module.css';

interface Props {
  label: string;
  value: string;
  fault: (path: string) => string | undefined;
  onDone: (path: string | undefined) => void;
}

/** A field for a path inside the tree. Enter accepts the text, and Escape cancels. */
export function NameInput({ label, value, fault, onDone }: Props) {
  const [text, setText] = useState(value);
  const [shown, setShown] = useState<string>();
  const take = (): void => {
    const path = text.trim();
    if (path === value) return onDone(undefined);
    const wrong = fault(path);
    if (wrong === undefined) onDone(path);
    else setShown(wrong);
  };
  const key = (e: KeyboardEvent): void => {
    e.stopPropagation();
    if (e.key === 'Enter') take();
    if (e.key === 'Escape') onDone(undefined);
  };
  return (
    <div className={css.input}>
      <input
        autoFocus
        aria-label={label}
        aria-invalid={shown !== undefined}
        spellCheck={false}
        value={text}
        onFocus={(e) => selectStem(e.target)}
        onChange={(e) => {
          setText(e.target.value);
          setShown(undefined);
        }}
        onKeyDown={key}
        onBlur={() => (fault(text.trim()) === undefined ? take() : onDone(undefined))}
      />
      {shown !== undefined && <p role="alert">{shown}</p>}
    </div>
  );
}

/** Selects the name without its extension, because users usually change only this part. */
function selectStem(input: HTMLInputElement): void {
  const from = input.value.lastIndexOf('/') + 1;
  const dot = input.value.lastIndexOf('.');
  input.setSelectionRange(from, dot > from ? dot : input.value.length);
}
