// Executes the usage code of each manifest as shown in the Studio: the vendor's SDK sends our tool, calls it on a real
// server and returns the output. Only the model is scripted.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamicStructuredTool } from '@langchain/core/tools';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manifestFile, recipeOf } from '../src/features/tool/recipes';
import { repository, startAtelier, type Atelier, type Ended } from './kit/atelier';

type Members = Record<string, unknown>;

const input = { city: 'Oslo', days: 2 };
const output = { greeting: 'Oslo for 2 days' };
const code = 'export default (input) => ({ greeting: `${input.city} for ${input.days} days` });\n';

describe('a manifest is used as the Studio shows', () => {
  let atelier: Atelier;
  let folder: string;
  let model: ScriptedModel;

  beforeAll(async () => {
    [atelier, model] = await Promise.all([startAtelier(), scriptedModel()]);
    folder = await mkdtemp(join(tmpdir(), 'atelier-vendors-'));
    await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
    const made = await atelier.api('POST', '/api/v1/code-agents', {
      name: 'trip',
      description: 'Says where and for how long.',
      language: 'javascript',
      code,
      inputSchema: {
        type: 'object',
        properties: { city: { type: 'string' }, days: { type: 'integer' } },
        required: ['city', 'days'],
        additionalProperties: false,
      },
      outputSchema: { type: 'object', properties: { greeting: { type: 'string' } }, required: ['greeting'] },
    });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    for (const format of ['openai', 'langchain', 'anthropic', 'gemini', 'mcp', 'openapi']) {
      const exported = await atelier.cli('export', 'trip', '--publish', '--format', format);
      expect(exported.code, exported.stderr).toBe(0);
      await writeFile(join(folder, manifestFile(tool(), format)), exported.stdout);
      const recipe = recipeOf(format, tool());
      if (recipe?.file !== undefined) await writeFile(join(folder, recipe.file), recipe.text);
    }
  });
  afterAll(async () => {
    await model.close();
    await atelier.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const tool = () => ({ origin: atelier.url, name: 'trip', version: '1.0.0' });
  const manifest = async (format: string): Promise<Members> =>
    JSON.parse(await readFile(join(folder, manifestFile(tool(), format)), 'utf8')) as Members;
  const environment = () => ({
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    ATELIER_TOKEN: atelier.token,
    OPENAI_BASE_URL: `${model.url}/openai`,
    OPENAI_API_KEY: 'k',
    ANTHROPIC_BASE_URL: `${model.url}/anthropic`,
    ANTHROPIC_API_KEY: 'k',
    GOOGLE_GEMINI_BASE_URL: `${model.url}/gemini`,
    GEMINI_API_KEY: 'k',
  });

  test.each(['openai', 'anthropic', 'gemini'])(
    '%s: the package sends the tool and the model has its output',
    async (format) => {
      const ended = await node(folder, environment(), `${format}.mjs`, 'Where to?');
      expect(ended.code, ended.stderr).toBe(0);
      expect(JSON.parse(ended.stdout)).toEqual(output);
      expect(model.tools(format)).toEqual([await manifest(format)]);
    },
  );

  test('langchain: the tool checks its input and answers', async () => {
    const lines = `import tool from './langchain.mjs';
console.log(await tool.invoke(${JSON.stringify(input)}));
await tool.invoke({ city: 1 }).then(() => console.log('taken'), (e) => console.log(e.name));`;
    await writeFile(join(folder, 'use.mjs'), lines);
    const ended = await node(folder, environment(), 'use.mjs');
    expect(ended.code, ended.stderr).toBe(0);
    const [answer, refusal] = ended.stdout.trim().split('\n');
    expect(JSON.parse(answer ?? '')).toEqual(output);
    expect(refusal).not.toBe('taken');
  });

  test('langchain: the manifest of OpenAI makes a tool too', async () => {
    const { name, description, parameters } = (await manifest('openai'))['function'] as {
      name: string;
      description: string;
      parameters: Members;
    };
    const trip = new DynamicStructuredTool({
      name,
      description,
      schema: parameters,
      func: async (given) => {
        const run = await atelier.api('POST', '/api/v1/code-agents/trip/execute', { version: '1.0.0', input: given });
        return JSON.stringify((run.body as Members)['output']);
      },
    });
    expect(JSON.parse(await trip.invoke(input))).toEqual(output);
    await expect(trip.invoke({ city: 'Oslo' })).rejects.toThrow();
  });

  test('mcp: a client of the protocol lists and calls it', async () => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    const command = { command: process.execPath, args: ['mcp.mjs'], cwd: folder, env: environment() };
    await client.connect(new StdioClientTransport(command));
    try {
      expect((await client.listTools()).tools).toEqual([await manifest('mcp')]);
      const answer = await client.callTool({ name: 'trip', arguments: input });
      expect(answer.structuredContent).toEqual(output);
      const refused = await client.callTool({ name: 'trip', arguments: { city: 1 } });
      expect(refused.isError).toBe(true);
    } finally {
      await client.close();
    }
  });

  test('openapi: a generator makes types of it', async () => {
    const line = recipeOf('openapi', tool())?.text.replace('npx ', 'npx --no-install ') ?? '';
    const ended = await start('bash', ['-c', line], folder, environment());
    expect(ended.code, ended.stderr).toBe(0);
    expect(await readFile(join(folder, 'trip.d.ts'), 'utf8')).toContain('/api/v1/code-agents/trip/execute');
  });
});

const node = (folder: string, environment: Record<string, string>, ...args: string[]): Promise<Ended> =>
  start(process.execPath, args, folder, environment);

function start(program: string, args: string[], cwd: string, env: Record<string, string>): Promise<Ended> {
  return new Promise((done, failed) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.on('error', failed);
    child.on('close', (code) => done({ code: code ?? -1, stdout, stderr }));
  });
}

interface ScriptedModel {
  url: string;
  /** The tools that a vendor's SDK sent. */
  tools: (vendor: string) => unknown;
  close: () => Promise<void>;
}

/** Answers like the three vendors: first with a tool call, then with the text of the tool result. */
async function scriptedModel(): Promise<ScriptedModel> {
  const sent = new Map<string, unknown>();
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const vendor = request.url?.split('/')[1] ?? '';
      const body = JSON.parse(text) as Members;
      sent.set(vendor, body['tools']);
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(answers[vendor]?.(body)));
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    tools: (vendor) => sent.get(vendor),
    close: () => new Promise((done) => server.close(() => done())),
  };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

const answers: Record<string, (body: Members) => unknown> = {
  openai: ({ messages }) => {
    const last = (messages as Members[]).at(-1) ?? {};
    const message =
      last['role'] === 'tool'
        ? { role: 'assistant', content: last['content'] }
        : {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c1', type: 'function', function: { name: 'trip', arguments: JSON.stringify(input) } }],
          };
    return { id: 'a', object: 'chat.completion', created: 0, model: 'm', choices: [{ index: 0, message }] };
  },
  anthropic: ({ messages }) => {
    const last = (messages as { content: string | Members[] }[]).at(-1);
    const result = typeof last?.content === 'string' ? undefined : last?.content[0];
    return {
      id: 'a',
      type: 'message',
      role: 'assistant',
      model: 'm',
      usage: { input_tokens: 1, output_tokens: 1 },
      stop_sequence: null,
      ...(result
        ? { stop_reason: 'end_turn', content: [{ type: 'text', text: result['content'] }] }
        : { stop_reason: 'tool_use', content: [{ type: 'tool_use', id: 't1', name: 'trip', input }] }),
    };
  },
  gemini: ({ contents }) => {
    const last = (contents as { parts: { functionResponse?: { response: Members } }[] }[]).at(-1);
    const result = last?.parts[0]?.functionResponse?.response;
    const part = result ? { text: JSON.stringify(result['output']) } : { functionCall: { name: 'trip', args: input } };
    return { candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts: [part] } }] };
  },
};
