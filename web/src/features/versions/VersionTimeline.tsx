import type { Pin, VersionSummary } from '../../api/types';
import { day } from '../../texts/format';
import { versionTimeline as say } from '../../texts/versions';
import { labelled, timelineOf } from './timeline';
import css from './VersionTimeline.module.css';

/** The widths of the line in pixels that decide which versions have labels. */
const widths = { wide: 640, phone: 300 };

/**
 * Draws the versions over time. A larger step in the number has a larger dot, and a ring marks versions that are in
 * use. The table contains the same data.
 */
export function VersionTimeline({ versions, pins }: { versions: VersionSummary[]; pins: Pin[] }) {
  if (versions.length < 2) return null;
  const dots = timelineOf(versions);
  const onWide = labelled(dots, widths.wide);
  const onPhone = labelled(dots, widths.phone);
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
            data-deprecated={v.deprecated}
            data-used={users(v.version) > 0}
            title={say.point(v.version, day(v.publishedAt), users(v.version))}
            style={{ left: `${x}%` }}
          >
            <small data-wide={onWide.has(v.version)} data-phone={onPhone.has(v.version)}>
              {v.version}
            </small>
          </span>
        ))}
      </div>
      <figcaption className={css.legend}>
        <span className={css.days}>
          <span>{day(first?.version.publishedAt ?? '')}</span>
          <span>{day(last?.version.publishedAt ?? '')}</span>
        </span>
        <span className={css.marks}>
          <span>
            <span className={css.sample} aria-hidden /> {say.version}
          </span>
          <span>
            <span className={css.sample} data-used="true" aria-hidden /> {say.used}
          </span>
          <span>
            <span className={css.sample} data-deprecated="true" aria-hidden /> {say.deprecated}
          </span>
        </span>
      </figcaption>
    </figure>
  );
}
