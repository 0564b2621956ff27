import { ArrowUpCircle, CircleCheck, CircleX, TriangleAlert, type LucideIcon } from 'lucide-react';
import type { SetTool } from '../../api/types';
import type { Look } from '../../ui/StateMark';

export type ToolState = 'missing' | 'deprecated' | 'outdated' | 'newest';

/** The states from the worst to the best. */
export const toolStates: readonly ToolState[] = ['missing', 'deprecated', 'outdated', 'newest'];

export const stateLooks: Record<ToolState, { look: Look; icon: LucideIcon }> = {
  missing: { look: 'err', icon: CircleX },
  deprecated: { look: 'warn', icon: TriangleAlert },
  outdated: { look: 'quiet', icon: ArrowUpCircle },
  newest: { look: 'ok', icon: CircleCheck },
};

export function toolStateOf({ missing, deprecated, newest }: SetTool): ToolState {
  if (missing === true) return 'missing';
  if (deprecated === true) return 'deprecated';
  return newest === undefined ? 'newest' : 'outdated';
}

/**
 * The references of a set after an update: each tool in its newest version, a deprecated one by its successor, and no
 * deleted one. Two tools may have one successor.
 */
export function updated(tools: readonly SetTool[]): string[] {
  const references = tools.flatMap((tool) => {
    if (tool.missing === true) return [];
    if (tool.deprecated === true && tool.successor !== undefined && tool.successor !== '') return [tool.successor];
    return [`${tool.name}@${tool.newest ?? tool.version}`];
  });
  return [...new Set(references)];
}

/** The agents that a token for the set must reach. The server accepts at most 100 for a token. */
export function agentsOf(tools: readonly SetTool[]): { id: string; name: string }[] {
  return tools.filter((tool) => tool.missing !== true).map(({ agentId, name }) => ({ id: agentId, name }));
}
