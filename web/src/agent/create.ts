import { ApiError } from '../api/http';
import { stringifyJson } from '../api/json';
import { keys, queryClient, refreshAgents } from '../api/queries';
import type { Agent, AgentBody, Sample } from '../api/types';
import { createAgent } from '../api/verbs';
import { samples as say } from '../texts/samples';
import { rememberInput } from './rememberedInput';
import { withInputs } from './savedInputs';

export async function createFrom(body: AgentBody): Promise<Agent> {
  const agent = await createAgent(body);
  // If a page has reported that the agent does not exist, the page now shows the new agent immediately.
  queryClient.setQueryData(keys.agent(agent.name), agent);
  void refreshAgents();
  return agent;
}

/** Creates a draft from a sample. If the name is taken, it uses the next free name. */
export async function createFromSample(sample: Sample): Promise<Agent> {
  const text = stringifyJson(sample.input, 2);
  const metadata = withInputs({}, { [say.example]: text }) ?? {};
  const agent = await createFree({ ...sample.agent, metadata });
  rememberInput(agent.id, text);
  return agent;
}

async function createFree(body: AgentBody): Promise<Agent> {
  for (let n = 1; ; n++) {
    try {
      return await createFrom({ ...body, name: n === 1 ? body.name : `${body.name}-${n}` });
    } catch (error) {
      if (n === 100 || !(error instanceof ApiError && error.code === 'name_taken')) throw error;
    }
  }
}
