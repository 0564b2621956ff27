import type { Secret } from '../../api/types';
import { words as say } from '../../texts/secrets';

const maxShown = 4;

/** Lists the versions that declare a secret. The text contains the first few names, and the number of the others. */
export function declaredBy(usedBy: Secret['usedBy']): string {
  if (usedBy.length === 0) return say.noVersionDeclaresIt;
  const shown = usedBy.slice(0, maxShown).map(({ agent, version }) => `${agent}@${version}`);
  return say.declaredBy(shown, usedBy.length - shown.length);
}
