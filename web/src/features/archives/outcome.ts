// Builds the texts about the result of an import.
import type { Imported, ImportReport } from '../../api/types';
import { outcome as say } from '../../texts/archives';

const words: Record<Imported['outcome'], [will: string, did: string]> = {
  created: [say.isNew, say.made],
  restored: [say.willBeRestored, say.wasRestored],
  extended: [say.getsVersions, say.gotVersions],
  unchanged: [say.isHereAlready, say.leftAsItIs],
};

export const wordsOf = ({ outcome }: Imported, done: boolean): string => words[outcome][done ? 1 : 0];

/**
 * Explains a failed import. After a failed check, certainly nothing was written. An import may have stopped in the
 * middle.
 */
export const refusal = (dryRun: boolean): string => (dryRun ? say.refused : say.brokenOff);

/** Whether the import would change something. Listing an existing agent again is also a change. */
export const changes = ({ agents }: ImportReport, listed: boolean): boolean =>
  agents.some((agent) => agent.outcome !== 'unchanged' || (listed && agent.listed));

export function summary({ agents }: ImportReport, done: boolean): string {
  if (agents.length === 0) return say.empty;
  const news = agents.filter((agent) => agent.outcome !== 'unchanged').length;
  const added = agents.reduce((sum, agent) => sum + agent.added, 0);
  if (news === 0) return say.nothingToImport(agents.length);
  const what = say.agents(news, added);
  const here = agents.length - news;
  return done ? say.imported(what, here) : say.wouldImport(what, here);
}
