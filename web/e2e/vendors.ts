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
import { manifestFile, recipesOf } from '../src/features/tool/recipes';
import { repository, startAtelier, type Atelier, type Ended } from './kit/atelier';

type Members = Record<string, unknown>;
interface Wrong {
  pointer: string;
  message: string;
}

/** The Python with the vendors' packages; undefined if they are not installed. */
const python = process.env['ATELIER_TEST_VENDORS_PYTHON'];

const input = { city: 'Oslo', days: 2 };
const wrong: Wrong[] = expect.arrayContaining([{ pointer: '/city', message: expect.any(String) as string }]) as Wrong[];
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
      for (const recipe of recipesOf(format, tool())) {
        if (recipe.file !== undefined) await writeFile(join(folder, recipe.file), recipe.text);
      }
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
    MODEL: 'a-current-model',
    ATELIER_TOKEN: atelier.token,
    OPENAI_BASE_URL: `${model.url}/openai`,
    OPENAI_API_KEY: 'k',
    ANTHROPIC_BASE_URL: `${model.url}/anthropic`,
    ANTHROPIC_API_KEY: 'k',
    GOOGLE_GEMINI_BASE_URL: `${model.url}/gemini`,
    GEMINI_API_KEY: 'k',
  });

  /** Runs a program that offers the tool to the scripted model. The model first calls it with wrong arguments. */
  const converse = async (format: string, command: string, file: string): Promise<void> => {
    model.forget();
    const ended = await start(command, [file, 'Where to?'], folder, environment());
    expect(ended.code, ended.stderr).toBe(0);
    expect(JSON.parse(ended.stdout)).toEqual(output);
    const sent = await manifest(format);
    const flat = { type: 'function', strict: false, ...(sent['function'] as Members | undefined) };
    // The package of Gemini for Python writes two names with underscores, which the API reads as well.
    const got = JSON.stringify(model.tools(format)).replace(/"(\w+)_json_schema"/g, '"$1JsonSchema"');
    expect(JSON.parse(got)).toEqual([file.includes('responses') ? flat : sent]);
    const corrected = model.errors().at(-1);
    expect(corrected).toEqual(expect.arrayContaining([{ pointer: '/city', message: expect.any(String) as string }]));
    if (format === 'openai') {
      expect(model.errors()[0]).toEqual([{ pointer: '', message: 'The arguments are not valid JSON.' }]);
    }
  };
  const conversations = [
    ['openai', 'openai'],
    ['openai', 'openai-responses'],
    ['anthropic', 'anthropic'],
    ['gemini', 'gemini'],
  ] as const;

  test.each(conversations)('%s: %s.mjs survives wrong arguments, and the model has the output', (format, file) =>
    converse(format, process.execPath, `${file}.mjs`),
  );

  test('no recipe names a model', () => {
    for (const format of ['openai', 'anthropic', 'gemini', 'langchain', 'mcp']) {
      for (const { text } of recipesOf(format, tool())) expect(text).not.toMatch(/(gpt|claude|gemini)-[0-9a-z]/);
    }
  });

  // scripts/vendors.sh installs the packages. scripts/test.sh says so if it cannot.
  describe.skipIf(python === undefined)('in Python', () => {
    test.each(conversations)('%s: %s survives wrong arguments, and the model has the output', (format, file) =>
      converse(format, python ?? '', `${file.replace('-', '_')}_tool.py`),
    );

    test('langchain: the tool answers, and says what is wrong with arguments', async () => {
      const lines = `from langchain_tool import tool
print(tool.invoke(${JSON.stringify(input)}))
print(tool.invoke({"city": 1}))`;
      await writeFile(join(folder, 'use.py'), lines);
      const ended = await start(python ?? '', ['use.py'], folder, environment());
      expect(ended.code, ended.stderr).toBe(0);
      const [answer, refusal] = ended.stdout.trim().split('\n');
      expect(JSON.parse(answer ?? '')).toEqual(output);
      expect(JSON.parse(refusal ?? '')).toEqual({ errors: wrong });
    });

    test('mcp: a client of the protocol lists and calls it', () => serves(python ?? '', 'mcp_tool.py'));
  });

  test('langchain: the tool checks its input and answers', async () => {
    const lines = `import tool from './langchain.mjs';
console.log(await tool.invoke(${JSON.stringify(input)}));
console.log(await tool.invoke({ city: 1 }));
const message = await tool.invoke({ type: 'tool_call', id: 'c1', name: 'trip', args: ${JSON.stringify(input)} });
console.log(message.tool_call_id);`;
    await writeFile(join(folder, 'use.mjs'), lines);
    const ended = await node(folder, environment(), 'use.mjs');
    expect(ended.code, ended.stderr).toBe(0);
    const [answer, refusal, call] = ended.stdout.trim().split('\n');
    expect(JSON.parse(answer ?? '')).toEqual(output);
    expect(JSON.parse(refusal ?? '')).toEqual({ errors: wrong });
    expect(call).toBe('c1');
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

  const serves = async (command: string, file: string): Promise<void> => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(new StdioClientTransport({ command, args: [file], cwd: folder, env: environment() }));
    try {
      expect((await client.listTools()).tools).toEqual([await manifest('mcp')]);
      const answer = await client.callTool({ name: 'trip', arguments: input });
      expect(answer.structuredContent).toEqual(output);
      const refused = await client.callTool({ name: 'trip', arguments: { city: 1 } });
      expect(refused.isError).toBe(true);
      const [content] = refused.content as { text: string }[];
      expect(JSON.parse(content?.text ?? '')).toEqual({ errors: wrong });
    } finally {
      await client.close();
    }
  };

  test('mcp: a client of the protocol lists and calls it', () => serves(process.execPath, 'mcp.mjs'));

  test('openapi: a generator makes types of it', async () => {
    const line = recipesOf('openapi', tool())[0]?.text.replace('npx ', 'npx --no-install ') ?? '';
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
  /** The tools that a vendor's package sent. */
  tools: (vendor: string) => unknown;
  /** The errors that the model has read, in order. */
  errors: () => Wrong[][];
  forget: () => void;
  close: () => Promise<void>;
}

/**
 * Answers in the shapes of the vendors: first with calls whose arguments are wrong, then, when it has read which ones,
 * with right ones, and at the end with the text of the tool's result.
 */
async function scriptedModel(): Promise<ScriptedModel> {
  const sent = new Map<string, unknown>();
  const errors: Wrong[][] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const vendor = request.url?.split('/')[1] ?? '';
      const body = JSON.parse(text) as Members;
      sent.set(vendor, body['tools']);
      const shape = request.url?.endsWith('/responses') === true ? 'responses' : vendor;
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(answers[shape]?.(body, errors)));
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    tools: (vendor) => sent.get(vendor),
    errors: () => errors,
    forget: () => errors.splice(0),
    close: () => new Promise((done) => server.close(() => done())),
  };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

type Turn = { call: unknown } | { say: string };

/** Returns the next turn of the model. `result` is the last result of the tool, undefined before the first call. */
function next(result: unknown, errors: Wrong[][], first: unknown): Turn {
  if (result === undefined) return { call: first };
  const value = (typeof result === 'string' ? JSON.parse(result) : result) as Members;
  if (!('errors' in value)) return { say: JSON.stringify('output' in value ? value['output'] : value) };
  errors.push(value['errors'] as Wrong[]);
  return {
    call: (value['errors'] as Wrong[]).some(({ message }) => message.includes('not valid JSON')) ? { city: 1 } : input,
  };
}

const answers: Record<string, (body: Members, errors: Wrong[][]) => unknown> = {
  openai: ({ messages }, errors) => {
    const last = (messages as Members[]).at(-1) ?? {};
    const turn = next(last['role'] === 'tool' ? last['content'] : undefined, errors, undefined);
    const args = 'call' in turn ? (turn.call === undefined ? '{"city": ' : JSON.stringify(turn.call)) : '';
    const message =
      'say' in turn
        ? { role: 'assistant', content: turn.say }
        : {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c1', type: 'function', function: { name: 'trip', arguments: args } }],
          };
    const choice = { index: 0, message, finish_reason: 'say' in turn ? 'stop' : 'tool_calls' };
    return { id: 'a', object: 'chat.completion', created: 0, model: 'm', choices: [choice] };
  },
  responses: ({ input: items }, errors) => {
    const last = (items as Members[]).at(-1) ?? {};
    const turn = next(last['type'] === 'function_call_output' ? last['output'] : undefined, errors, undefined);
    const args = 'call' in turn ? (turn.call === undefined ? '{"city": ' : JSON.stringify(turn.call)) : '';
    const item =
      'say' in turn
        ? {
            type: 'message',
            id: 'm1',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: turn.say, annotations: [] }],
          }
        : { type: 'function_call', id: 'f1', call_id: 'c1', name: 'trip', arguments: args, status: 'completed' };
    return {
      id: 'r',
      object: 'response',
      created_at: 0,
      status: 'completed',
      model: 'm',
      output: [item],
      parallel_tool_calls: true,
      tool_choice: 'auto',
      tools: [],
    };
  },
  anthropic: ({ messages }, errors) => {
    const last = (messages as { content: string | Members[] }[]).at(-1);
    const result = typeof last?.content === 'string' ? undefined : last?.content[0]?.['content'];
    const turn = next(result, errors, { city: 1 });
    return {
      id: 'a',
      type: 'message',
      role: 'assistant',
      model: 'm',
      usage: { input_tokens: 1, output_tokens: 1 },
      stop_sequence: null,
      ...('say' in turn
        ? { stop_reason: 'end_turn', content: [{ type: 'text', text: turn.say }] }
        : { stop_reason: 'tool_use', content: [{ type: 'tool_use', id: 't1', name: 'trip', input: turn.call }] }),
    };
  },
  gemini: ({ contents }, errors) => {
    const last = (contents as { parts: { functionResponse?: { response: Members } }[] }[]).at(-1);
    const turn = next(last?.parts[0]?.functionResponse?.response, errors, { city: 1 });
    const part = 'say' in turn ? { text: turn.say } : { functionCall: { name: 'trip', args: turn.call } };
    return { candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts: [part] } }] };
  },
};
