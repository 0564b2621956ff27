import { keys, queryClient, refreshFacts } from '../api/queries';
import type { Agent } from '../api/types';
import { restoreAgent } from '../api/verbs';
import { notify } from '../state/notices';
import { deleteAgentDialog as said } from '../texts/agents';

/** Restores a deleted agent and shows a notice about the result. */
export async function restore(id: string): Promise<Agent | undefined> {
  try {
    const agent = await restoreAgent(id);
    refreshFacts(agent.name);
    void queryClient.invalidateQueries({ queryKey: keys.agent(agent.name) });
    notify('done', said.restored(agent.name));
    return agent;
  } catch (error) {
    notify('failed', said.notRestored(error instanceof Error ? error.message : ''));
    return undefined;
  }
}
