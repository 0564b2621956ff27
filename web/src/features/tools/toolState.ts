import { ArrowUpCircle, CircleCheck, CircleX, TriangleAlert, type LucideIcon } from 'lucide-react';
import type { SetTool } from '../../api/types';
import type { Look } from '../../ui/StateMark';

export type ToolState = 'missing' | 'deprecated' | 'outdated' | 'newest';

/** The states, from the worst to the best. */
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
 * Returns the references of a tool set after an update. Each tool gets its newest version, a deprecated tool is
 * replaced by its successor, and deleted tools are removed. A set contains each agent once. If the successor is already
 * in the set, the deprecated tool is removed.
 */
export function updated(tools: readonly SetTool[]): string[] {
  const replaced = (tool: SetTool): boolean =>
    tool.deprecated === true && tool.successor !== undefined && tool.successor !== '';
  const references = new Map<string, string>();
  for (const { name, version, newest } of tools.filter((tool) => tool.missing !== true && !replaced(tool)))
    references.set(name, `${name}@${newest ?? version}`);
  for (const { successor = '' } of tools.filter((tool) => tool.missing !== true && replaced(tool))) {
    const [name = ''] = successor.split('@');
    if (!references.has(name)) references.set(name, successor);
  }
  return [...references.values()];
}

/**
 * Whether an update would change the set. A deprecated agent stays if it has neither a successor nor a newer version.
 */
export function mayUpdate(tools: readonly SetTool[]): boolean {
  const now = tools.map(({ name, version }) => `${name}@${version}`);
  const next = updated(tools);
  return now.length !== next.length || next.some((reference) => !now.includes(reference));
}

/**
 * Returns the agents that a token for the set must give access to. The server accepts at most 100 agents for a token.
 */
export function agentsOf(tools: readonly SetTool[]): { id: string; name: string }[] {
  return tools.filter((tool) => tool.missing !== true).map(({ agentId, name }) => ({ id: agentId, name }));
}
