import type { MeterReading } from '../../api/types';
import { amountOf, meterName, usagePage as say } from '../../texts/usage';
import { measured } from '../../texts/format';
import { classes } from '../../ui/classes';
import css from './UsagePage.module.css';

/** Shows one meter: its amount in the month, and a bar for each of the last twelve months. */
export function MeterChart({ reading, currency }: { reading: MeterReading; currency: string }) {
  const { meter, amount, history, price, per, unit, cost } = reading;
  const name = meterName(meter);
  const text = (n: number): string => amountOf(meter, n, currency);
  const most = Math.max(...history.map((point) => point.amount));
  return (
    <li className={css.meter}>
      <figure className={css.figure}>
        <figcaption className={css.facts}>
          <span>{name}</span>
          <strong>{text(amount)}</strong>
        </figcaption>
        <div className={css.plot} role="img" aria-label={say.chart(name, text(amount), text(most))}>
          {history.map((point, n) => (
            <span key={point.month} className={css.place} title={say.bar(monthOf(point.month), text(point.amount))}>
              <span
                className={classes(css.column, n === history.length - 1 && css.now)}
                style={{
                  height: `${String(most > 0 ? Math.max(point.amount > 0 ? 2 : 0, (100 * point.amount) / most) : 0)}%`,
                }}
              />
            </span>
          ))}
        </div>
        <p className={css.months} aria-hidden>
          <span>{monthOf(history[0]?.month)}</span>
          <span>{monthOf(history.at(-1)?.month)}</span>
        </p>
        {(cost > 0 || price > 0) && (
          <p className={css.price}>
            {cost > 0 && <strong>{say.cost(measured(cost, 2), currency)}</strong>}{' '}
            {price > 0 && say.perUnits(say.cost(String(price), currency), per, unit)}
          </p>
        )}
      </figure>
    </li>
  );
}

/** Formats a month of the API, such as 2026-11, in words. */
const monthOf = (month = ''): string => (month === '' ? '' : say.monthName(month));
