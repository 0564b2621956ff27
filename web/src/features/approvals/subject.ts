import type { Approval } from '../../api/types';
import { approvalsPage as say } from '../../texts/approvals';

/** Returns a text that names the run or the publication that a request is about. */
export function subjectOf({ kind, agent, version }: Approval): string {
  const what = agent === undefined || agent === '' ? say.inlineCode : `${agent}@${version ?? ''}`;
  return kind === 'publish' ? say.publication(what) : say.run(what);
}
