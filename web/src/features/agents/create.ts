import { ApiError } from '../../api/http';
import { stringifyJson, type Json } from '../../api/json';
import { refreshAgents } from '../../api/queries';
import type { Agent, AgentBody, Sample } from '../../api/types';
import { createAgent, listAgents } from '../../api/verbs';
import { rememberInput } from '../run/rememberedInput';
import { freeName } from './blank';

export async function createFrom(body: AgentBody): Promise<Agent> {
  const agent = await createAgent(body);
  void refreshAgents();
  return agent;
}

/** A draft of one's own from a sample; when its name is taken, the next free one. */
export async function createFromSample(sample: Sample): Promise<Agent> {
  const agent = await createFree(sample.agent);
  rememberInput(agent.id, stringifyJson(sample.input as Json, 2));
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
