import { useState } from 'react';
import { useRuntimes } from '../../api/queries';
import { loadPicture as say } from '../../texts/server';
import { areaOf, followed, loadOf, type Load } from './load';
import css from './LoadPicture.module.css';

/** Running and waiting runs of all engines since the page was opened. */
export function LoadPicture() {
  const { data, dataUpdatedAt } = useRuntimes();
  const [samples, setSamples] = useState<{ at: number; loads: Load[] }>({ at: 0, loads: [] });
  // Each answer is one sample.
  if (data && samples.at !== dataUpdatedAt)
    setSamples({ at: dataUpdatedAt, loads: followed(samples.loads, loadOf(data)) });
  const { loads } = samples;
  const now = loads.at(-1);
  if (!now) return <figure className={css.figure} aria-hidden />; // keeps the place, so that nothing jumps
  const most = Math.max(1, ...loads.map(({ running, waiting }) => running + waiting));
  const busiest = Math.max(...loads.map(({ running }) => running));
  return (
    <figure className={css.figure}>
      <figcaption className={css.facts}>
        <span>
          <span className={css.running} aria-hidden /> <strong>{now.running}</strong> {say.running}
        </span>
        <span>
          <span className={css.waiting} aria-hidden /> <strong>{now.waiting}</strong> {say.waiting}
        </span>
      </figcaption>
      <div className={css.plot}>
        <span className={css.most}>{most}</span>
        <svg
          viewBox="0 0 100 100"
          preserveAspectRatio="none"
          role="img"
          aria-label={say.about(now.running, now.waiting, busiest)}
        >
          <polygon
            className={css.waitingArea}
            points={areaOf(
              loads.map((l) => l.running + l.waiting),
              most,
            )}
          />
          <polygon
            className={css.runningArea}
            points={areaOf(
              loads.map((l) => l.running),
              most,
            )}
          />
        </svg>
      </div>
      <p className={css.time} aria-hidden>
        <span>{say.earlier}</span>
        <span>{say.now}</span>
      </p>
    </figure>
  );
}
