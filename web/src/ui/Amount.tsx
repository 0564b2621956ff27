import { number } from '../texts/format';
import css from './Amount.module.css';

/** A number of a table and a bar that compares it with the largest number of the column; 0 compares with nothing. */
export function Amount({ value, most }: { value: number; most: number }) {
  return (
    <span className={css.amount}>
      <span>{number(value)}</span>
      {most > 0 && (
        <span className={css.track} aria-hidden>
          <span className={css.bar} style={{ width: `${shareOf(value, most)}%` }} />
        </span>
      )}
    </span>
  );
}

/** A small number next to large ones is still visible. */
const shareOf = (value: number, most: number): number => (value === 0 ? 0 : Math.max(3, (100 * value) / most));
