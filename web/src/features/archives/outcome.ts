// What becomes of the agents of an archive, in words.
import type { Imported, ImportReport } from '../../api/types';
import { plural } from '../../app/format';

const words: Record<Imported['outcome'], [will: string, did: string]> = {
  created: ['is new', 'made'],
  restored: ['comes back', 'brought back'],
  extended: ['gets versions', 'got versions'],
  unchanged: ['is here already', 'left as it is'],
};

export const wordsOf = ({ outcome }: Imported, done: boolean): string => words[outcome][done ? 1 : 0];

/** What it means that an archive was not taken. Only the check is sure to have written nothing: an import may break off. */
export const refusal = (dryRun: boolean): string =>
  dryRun
    ? 'was refused, and nothing was written.'
    : 'was not imported to its end. Agents that were here may have got versions of it; import it again to go on.';

/** Whether importing changes anything: what is here already may still be listed again. */
export const changes = ({ agents }: ImportReport, listed: boolean): boolean =>
  agents.some((agent) => agent.outcome !== 'unchanged' || (listed && agent.listed));

export function summary({ agents }: ImportReport, done: boolean): string {
  if (agents.length === 0) return 'The archive is in order, and holds no agent.';
  const news = agents.filter((agent) => agent.outcome !== 'unchanged').length;
  const added = agents.reduce((sum, agent) => sum + agent.added, 0);
  if (news === 0) return `Nothing to import: ${plural(agents.length, 'agent')} of the archive, all here already.`;
  const what = plural(news, 'agent') + (added === 0 ? '' : ` with ${plural(added, 'version')}`);
  const rested = agents.length - news;
  const rest = rested === 0 ? '' : `; ${rested} ${rested === 1 ? 'was' : 'were'} here already`;
  return done ? `Imported ${what}${rest}.` : `The archive is in order. Importing brings ${what}${rest}.`;
}
