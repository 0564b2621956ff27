// Computes the positions of an agent's versions on a timeline.
import type { VersionSummary } from '../../api/types';

export interface Dot {
  version: VersionSummary;
  /** The position in percent of the width. */
  x: number;
  step: 'major' | 'minor' | 'patch';
}

/** The minimum distance between two dots in percent, so that they do not overlap. */
const closest = 5;

/** Returns the dots, oldest version first. Dots that would overlap are moved to the right. */
export function timelineOf(versions: readonly VersionSummary[]): Dot[] {
  const sorted = [...versions].sort((a, b) => Date.parse(a.publishedAt) - Date.parse(b.publishedAt));
  const times = sorted.map(({ publishedAt }) => Date.parse(publishedAt));
  const [from = 0, to = 0] = [times[0], times.at(-1)];
  const gap = Math.min(closest, 100 / Math.max(1, sorted.length - 1));
  let right = -gap;
  const places = times.map(
    (time) => (right = Math.max(right + gap, to === from ? 0 : ((time - from) / (to - from)) * 100)),
  );
  const scale = right > 100 ? 100 / right : 1;
  return sorted.map((version, i) => ({
    version,
    x: (places[i] ?? 0) * scale,
    step: stepOf(sorted[i - 1]?.version, version.version),
  }));
}

/** Returns the most significant part of the version number that increased. The first version counts as a major step. */
function stepOf(before: string | undefined, version: string): Dot['step'] {
  const [major, minor] = version.split('.');
  const [majorBefore, minorBefore] = before?.split('.') ?? [];
  return major !== majorBefore ? 'major' : minor !== minorBefore ? 'minor' : 'patch';
}
