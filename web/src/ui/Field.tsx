import { useId, type ReactNode } from 'react';
import css from './Field.module.css';
import { classes } from './classes';

/** The attributes that connect a control with its label and messages. */
export interface ControlProps {
  id: string;
  className: string | undefined;
  'aria-invalid': boolean;
  'aria-describedby': string | undefined;
}

interface Props {
  label: ReactNode;
  hint?: ReactNode;
  error?: string | undefined;
  id?: string;
  mono?: boolean;
  hideLabel?: boolean;
  children: (control: ControlProps) => ReactNode;
}

export function Field({ label, hint, error, id, mono, hideLabel, children }: Props) {
  const own = useId();
  const control = id ?? own;
  const hintId = `${control}-hint`;
  const errorId = `${control}-error`;
  const described = [error !== undefined && errorId, hint !== undefined && hintId].filter(Boolean).join(' ');
  return (
    <div className={css.field}>
      <label htmlFor={control} className={hideLabel ? 'visually-hidden' : css.label}>
        {label}
      </label>
      {children({
        id: control,
        className: classes(css.control, mono && css.mono),
        'aria-invalid': error !== undefined,
        'aria-describedby': described === '' ? undefined : described,
      })}
      {error !== undefined && (
        <p id={errorId} className={css.error}>
          {error}
        </p>
      )}
      {hint !== undefined && (
        <p id={hintId} className={css.hint}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface CheckProps {
  label: ReactNode;
  hint?: string | undefined;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
}

export function Check({ label, hint, checked, disabled, onChange }: CheckProps) {
  const id = useId();
  return (
    <div className={css.check}>
      <input
        id={id}
        type="checkbox"
        checked={checked}
        disabled={disabled}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(e) => onChange(e.target.checked)}
      />
      <label htmlFor={id}>{label}</label>
      {hint !== undefined && (
        <p id={`${id}-hint`} className={css.hint}>
          {hint}
        </p>
      )}
    </div>
  );
}

export const suffixed = css.suffixed;
export const suffix = css.suffix;
