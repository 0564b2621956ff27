import type { Pin, VersionSummary } from '../../api/types';
import { day } from '../../texts/format';
import { versionTimeline as say } from '../../texts/versions';
import { timelineOf } from './timeline';
import css from './VersionTimeline.module.css';

/** On a phone, the last version has a label, so a version closer than this in percent has none. */
const nearest = 12;

/**
 * Draws the versions over time. A larger step in the number has a larger dot, and a ring marks versions that are in
 * use. The table contains the same data.
 */
export function VersionTimeline({ versions, pins }: { versions: VersionSummary[]; pins: Pin[] }) {
  if (versions.length < 2) return null;
  const dots = timelineOf(versions);
  const users = (version: string): number => pins.filter((pin) => pin.version === version).length;
  const [first, last] = [dots[0], dots.at(-1)];
  const used = versions.filter(({ version }) => users(version) > 0).map(({ version }) => version);
  const deprecated = versions.filter((version) => version.deprecated).length;
  const label = say.about(versions.length, day(first?.version.publishedAt ?? ''), day(last?.version.publishedAt ?? ''));
  return (
    <figure className={css.figure}>
      <div className={css.line} role="img" aria-label={`${label} ${say.usedAre(used, deprecated)}`}>
        {dots.map(({ version: v, x, step }) => (
          <span
            key={v.version}
            className={css.dot}
            data-step={step}
            data-named={v === last?.version || (step === 'major' && (last?.x ?? 0) - x > nearest)}
            data-deprecated={v.deprecated}
            data-used={users(v.version) > 0}
            title={say.point(v.version, day(v.publishedAt), users(v.version))}
            style={{ left: `${x}%` }}
          >
            {(dots.length <= 12 || step === 'major' || v === last?.version) && <small>{v.version}</small>}
          </span>
        ))}
      </div>
      <figcaption className={css.legend}>
        <span>{day(first?.version.publishedAt ?? '')}</span>
        <span className={css.marks}>
          <span className={css.sample} data-used="true" aria-hidden /> {say.used}
          <span className={css.sample} data-deprecated="true" aria-hidden /> {say.deprecated}
        </span>
        <span>{day(last?.version.publishedAt ?? '')}</span>
      </figcaption>
    </figure>
  );
}
