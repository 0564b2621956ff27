/** Tools for LangChain. This module needs the package @langchain/core. */
import { DynamicStructuredTool } from '@langchain/core/tools';
import type { Client } from './client.js';
import { ApprovalNeeded, AtelierError, RunFailed } from './errors.js';

/**
 * Returns the versions of a tool set, or of given references, as LangChain tools. A reference such as weather@^1 is
 * resolved once, so a tool keeps its version.
 */
export async function toLangChainTools(client: Client, set: string | string[]): Promise<DynamicStructuredTool[]> {
  const pinned = typeof set === 'string' ? await ofSet(client, set) : await ofReferences(client, set);
  return Promise.all(pinned.map((one) => toolOf(client, one)));
}

/** A version with its name in a tool set. Both stay the same if the agent is renamed later. */
interface Pinned {
  reference: string;
  name?: string;
}

async function ofSet(client: Client, name: string): Promise<Pinned[]> {
  const set = await client.toolSet(name);
  const missing = set.tools.filter((tool) => tool.missing === true).map((tool) => `${tool.name}@${tool.version}`);
  if (missing.length > 0) throw new Error(`The tool set ${name} has deleted versions: ${missing.join(', ')}.`);
  return set.tools.map((tool) => ({ reference: `${tool.agentId}@${tool.version}`, name: tool.name }));
}

async function ofReferences(client: Client, references: string[]): Promise<Pinned[]> {
  return (await client.resolve(...references)).map(({ reference, pinned, error }) => {
    if (pinned === undefined) throw new Error(`${reference}: ${error?.detail ?? 'no such version'}`);
    return { reference: pinned };
  });
}

async function toolOf(client: Client, { reference, name }: Pinned): Promise<DynamicStructuredTool> {
  const manifest = (await client.export(reference, 'langchain')) as {
    name: string;
    description: string;
    schema: Record<string, unknown>;
  };
  return new DynamicStructuredTool({
    name: name ?? manifest.name,
    description: manifest.description,
    schema: manifest.schema,
    metadata: { reference },
    responseFormat: 'content_and_artifact',
    func: (input, _manager, config?: { signal?: AbortSignal }) => call(client, reference, input, config?.signal),
  });
}

/**
 * Runs a tool. Errors about a wrong input or a failed program are returned as results, because a model can react to
 * them. All other errors are thrown.
 */
async function call(
  client: Client,
  reference: string,
  input: unknown,
  signal?: AbortSignal,
): Promise<[string, unknown]> {
  try {
    const run = await client.execute(reference, input, signal === undefined ? {} : { signal });
    if (run.status !== 'succeeded') throw new RunFailed(run);
    return [JSON.stringify(run.output ?? null), run];
  } catch (fault) {
    if (fault instanceof RunFailed) {
      return [JSON.stringify({ error: fault.run.error ?? { type: fault.type } }), fault.run];
    }
    if (fault instanceof ApprovalNeeded) {
      const { message, runId, approvalId } = fault;
      return [JSON.stringify({ error: { type: 'awaiting_approval', message, runId, approvalId } }), undefined];
    }
    if (fault instanceof AtelierError && fault.errors.length > 0) {
      return [JSON.stringify({ errors: fault.errors }), undefined];
    }
    throw fault;
  }
}
