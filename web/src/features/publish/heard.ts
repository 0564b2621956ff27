// Combines the recommended version number of a comparison with the result of a replay.
import type { Advice, ReplayReport } from '../../api/types';
import { heard as say } from '../../texts/publish';
import { bumped, type Bump } from './semver';

const ranks: readonly Advice['bump'][] = ['none', 'patch', 'minor', 'major'];
const rank = (bump: Advice['bump']): number => ranks.indexOf(bump);

/**
 * Returns the recommendation, which is larger if outputs differ. It ignores different outputs if the draft has no
 * changes.
 */
export function heard(advice: Advice, latestVersion: string, report: ReplayReport | undefined): Advice {
  if (report === undefined || advice.bump === 'none') return advice;
  const reasons = [...reasonsOf(report), ...advice.reasons].sort((a, b) => rank(b.bump) - rank(a.bump));
  const bump = reasons[0]?.bump ?? advice.bump;
  if (rank(bump) <= rank(advice.bump)) return { ...advice, reasons };
  return { ...advice, bump, reasons, version: next(latestVersion, bump) ?? advice.version };
}

/** Whether a difference between outputs affects callers. */
export const differs = (report: ReplayReport): boolean => reasonsOf(report).length > 0;

function reasonsOf({ counts, items }: ReplayReport): Advice['reasons'] {
  const { changed = 0, fails = 0, refused = 0 } = counts;
  const reasons: Advice['reasons'] = [];
  if (fails + refused > 0)
    reasons.push({ bump: 'major', pointer: '/replay', message: say.workNoMore(fails + refused, items.length) });
  if (changed > 0) reasons.push({ bump: 'minor', pointer: '/replay', message: say.another(changed, items.length) });
  return reasons;
}

/**
 * Returns the version number after a bump. It follows the server's rules: below 1.0.0, a breaking change increases the
 * middle number.
 */
function next(version: string, bump: Advice['bump']): string | undefined {
  const smaller: Record<string, Bump> = version.startsWith('0.') ? { major: 'minor', minor: 'patch' } : {};
  return bump === 'none' ? undefined : bumped(version, smaller[bump] ?? bump);
}
