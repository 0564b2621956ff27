// Creates agents through the API.
import type { Atelier } from './atelier';

/** Calls the API. Throws if the call fails. */
export async function must(atelier: Atelier, method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await atelier.api(method, `/api/v1${path}`, body);
  if (answer.status > 299)
    throw new Error(`${method} ${path}: ${String(answer.status)} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

export const program = (word: string): { files: Record<string, string> } => ({
  files: { 'main.js': `export default (input) => ({ text: \`${word} in \${input.city}\` });\n` },
});

/** Creates an agent with version 1.0.0. Its draft has the same content. */
export async function publishedAgent(atelier: Atelier, name: string): Promise<void> {
  await must(atelier, 'POST', '/code-agents', {
    name,
    language: 'javascript',
    entrypoint: 'main.js',
    ...program('Sun'),
    inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  });
  await must(atelier, 'POST', `/code-agents/${name}/versions`, { version: '1.0.0', changelog: 'The first one.' });
}

export async function saveDraft(atelier: Atelier, name: string, fields: Record<string, unknown>): Promise<void> {
  const { draft } = (await must(atelier, 'GET', `/code-agents/${name}`)) as { draft: { revision: number } };
  const answer = await atelier.api('PUT', `/api/v1/code-agents/${name}`, fields, {
    'If-Match': `"${String(draft.revision)}"`,
  });
  if (answer.status !== 200) throw new Error(`save ${name}: ${JSON.stringify(answer.body)}`);
}
