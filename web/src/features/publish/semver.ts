// Computes the three possible next version numbers.
export type Bump = 'major' | 'minor' | 'patch';

export function bumped(version: string, bump: Bump): string | undefined {
  const match = /^(\d+)\.(\d+)\.(\d+)/.exec(version);
  if (!match) return undefined;
  const [major, minor, patch] = match.slice(1).map(Number) as [number, number, number];
  switch (bump) {
    case 'major':
      return `${major + 1}.0.0`;
    case 'minor':
      return `${major}.${minor + 1}.0`;
    case 'patch':
      return `${major}.${minor}.${patch + 1}`;
  }
}

const semver =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/;

export const isSemver = (text: string): boolean => semver.test(text);

/** Whether a version number is lower than recommended. A pre-release counts as the version without its suffix. */
export function isSmaller(version: string, advised: string): boolean {
  const [now, wanted] = [version, advised].map((text) => /^(\d+)\.(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number));
  if (!now || !wanted) return false;
  const at = now.findIndex((n, i) => n !== wanted[i]);
  return at >= 0 && (now[at] ?? 0) < (wanted[at] ?? 0);
}
