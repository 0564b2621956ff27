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

/** The width of a letter of a label, and the space between two labels, in pixels. */
const letter = 6.5;
const space = 8;

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

const order = { major: 0, minor: 1, patch: 2 };

/**
 * Returns the versions whose labels fit on a line of this width in pixels. The last and the first version come first,
 * then the larger steps, then the newer versions.
 */
export function labelled(dots: readonly Dot[], width: number): ReadonlySet<string> {
  const rank = (dot: Dot): number => (dot === dots.at(-1) ? -2 : dot === dots[0] ? -1 : order[dot.step]);
  const half = ({ version }: Dot): number => Math.min(120, version.version.length * letter + space) / 2;
  const kept: Dot[] = [];
  for (const dot of [...dots].sort((a, b) => rank(a) - rank(b) || b.x - a.x)) {
    const fits = kept.every((other) => (Math.abs(other.x - dot.x) / 100) * width >= half(other) + half(dot));
    if (fits) kept.push(dot);
  }
  return new Set(kept.map(({ version }) => version.version));
}

/** Returns the most significant part of the version number that increased. The first version counts as a major step. */
function stepOf(before: string | undefined, version: string): Dot['step'] {
  const [major, minor] = version.split('.');
  const [majorBefore, minorBefore] = before?.split('.') ?? [];
  return major !== majorBefore ? 'major' : minor !== minorBefore ? 'minor' : 'patch';
}
