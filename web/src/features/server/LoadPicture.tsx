import { useRuntimes } from '../../api/queries';
import { number } from '../../texts/format';
import { loadPicture as say } from '../../texts/server';
import css from './LoadPicture.module.css';

/** Shows the runs that started on this server in each minute of the last hour, and the current load. */
export function LoadPicture() {
  const { data } = useRuntimes();
  if (!data) return <figure className={css.figure} aria-hidden />; // reserves the space, so that nothing moves when the data arrives
  const { load, items } = data;
  // The list contains an engine once for each of its languages, with the same counters.
  const queues = [...new Map(items.map(({ runtime, queue }) => [runtime, queue])).values()];
  const running = queues.reduce((sum, queue) => sum + queue.running, 0);
  const waiting = Math.max(0, ...queues.map(({ depth }) => depth));
  const started = load.reduce((sum, minute) => sum + minute.started, 0);
  const most = Math.max(0, ...load.map((minute) => minute.started));
  const waited = Math.max(0, ...load.map((minute) => minute.waiting));
  const atOnce = Math.max(0, ...load.map((minute) => minute.running));
  return (
    <figure className={css.figure}>
      <figcaption className={css.facts}>
        <Fact value={running} label={say.running} />
        <Fact value={waiting} label={say.waiting} warn={waiting > 0} />
        <Fact value={started} label={say.started} />
        <Fact value={atOnce} label={say.atOnce} />
      </figcaption>
      <div className={css.plot} role="img" aria-label={say.about(running, waiting, started, most, waited)}>
        {most === 0 ? (
          <p className={css.none}>{say.none}</p>
        ) : (
          <>
            <span className={css.most}>{say.perMinute(most)}</span>
            {load.map((minute) => (
              <span key={minute.at} className={css.place} title={say.minute(minute)}>
                <span className={css.column} style={{ height: `${heightOf(minute.started, most)}%` }} />
              </span>
            ))}
          </>
        )}
      </div>
      {waited > 0 && (
        <div className={css.queue} aria-hidden>
          <span className={css.most}>
            <strong>{say.queue}</strong> {say.queueMost(waited)}
          </span>
          {load.map((minute) => (
            <span key={minute.at} className={css.place} title={say.minute(minute)}>
              <span className={css.waited} style={{ height: `${heightOf(minute.waiting, waited)}%` }} />
            </span>
          ))}
        </div>
      )}
      <p className={css.time} aria-hidden>
        <span>{say.earlier}</span>
        <span>{say.now}</span>
      </p>
      <p className={css.counts}>
        {waited === 0 && `${say.queueEmpty} `}
        {say.counts}
      </p>
    </figure>
  );
}

/** The bar has a minimum height, so that a minute with one run is visible next to minutes with thousands. */
const heightOf = (started: number, most: number): number => (started === 0 ? 0 : Math.max(2, (100 * started) / most));

function Fact({ value, label, warn = false }: { value: number; label: string; warn?: boolean }) {
  return (
    <span data-warn={warn}>
      <strong>{number(value)}</strong> {label}
    </span>
  );
}
