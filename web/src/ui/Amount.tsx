import { number } from '../texts/format';
import css from './Amount.module.css';

/**
 * Shows a number in a table, and a bar that compares it with the largest number of the column. If that is 0, there is
 * no bar.
 */
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

/** The bar has a minimum width, so that a small number is visible next to large numbers. */
const shareOf = (value: number, most: number): number => (value === 0 ? 0 : Math.max(3, (100 * value) / most));
