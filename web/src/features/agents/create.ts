import { ApiError } from '../../api/http';
import { stringifyJson } from '../../api/json';
import { keys, queryClient, refreshAgents } from '../../api/queries';
import type { Agent, AgentBody, Sample } from '../../api/types';
import { createAgent, listAgents } from '../../api/verbs';
import { rememberInput } from '../run/rememberedInput';
import { freeName } from './blank';

export async function createFrom(body: AgentBody): Promise<Agent> {
  const agent = await createAgent(body);
  // The page that said there is no such agent shows it at once.
  queryClient.setQueryData(keys.agent(agent.name), agent);
  void refreshAgents();
  return agent;
}

/** A draft of one's own from a sample; when its name is taken, the next free one. */
export async function createFromSample(sample: Sample): Promise<Agent> {
  const agent = await createFree(sample.agent);
  rememberInput(agent.id, stringifyJson(sample.input, 2));
  return agent;
}

async function createFree(body: AgentBody): Promise<Agent> {
  try {
    return await createFrom(body);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'name_taken')) throw error;
    const taken = (await listAgents()).map((a) => a.name);
    return createFrom({ ...body, name: freeName(body.name, taken) });
  }
}
