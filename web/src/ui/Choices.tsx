import { useRef, type KeyboardEvent, type ReactNode } from 'react';
import { classes } from './classes';
import css from './Choices.module.css';

interface Choice<T extends string> {
  value: T;
  label: string;
  disabled?: boolean;
  title?: string | undefined;
  /** A picture above the label. Choices with a picture are cards. */
  picture?: ReactNode;
}

interface Props<T extends string> {
  label: string;
  choices: Choice<T>[];
  /** The selected value; undefined if there is none. */
  value: T | undefined;
  onChange: (value: T) => void;
}

/** A group of toggle buttons. One of them is pressed. Arrow keys move between them. */
export function Choices<T extends string>({ label, choices, value, onChange }: Props<T>) {
  const group = useRef<HTMLDivElement>(null);
  const move = (e: KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    if (by === undefined) return;
    e.preventDefault();
    const open = choices.filter((c) => c.disabled !== true);
    const next = open[(open.findIndex((c) => c.value === value) + by + open.length) % open.length];
    if (!next) return;
    onChange(next.value);
    group.current?.querySelector<HTMLElement>(`[data-value="${next.value}"]`)?.focus();
  };
  return (
    <div
      ref={group}
      className={classes(css.choices, choices.some(({ picture }) => picture !== undefined) && css.cards)}
      role="radiogroup"
      aria-label={label}
      onKeyDown={move}
    >
      {choices.map((c, n) => (
        <button
          key={c.value}
          type="button"
          role="radio"
          data-value={c.value}
          aria-checked={c.value === value}
          tabIndex={c.value === value || (value === undefined && n === 0) ? 0 : -1}
          disabled={c.disabled}
          title={c.title}
          onClick={() => onChange(c.value)}
        >
          {c.picture}
          {c.label}
        </button>
      ))}
    </div>
  );
}
