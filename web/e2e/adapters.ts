// The frameworks and clients that people use list our tools and call them, on the real binary. Only the models are scripted.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { snippetOf, type ClientName, type Offer } from '../src/features/tools/snippets';
import { repository, runIn, startAtelier, type Atelier } from './kit/atelier';

/** The Python with the packages that scripts/test.sh installs. The script reports if it cannot install them. */
const python = process.env['ATELIER_TEST_VENDORS_PYTHON'] ?? '';
const clients = process.env['ATELIER_TEST_CLIENTS'] ?? '';

type Members = Record<string, unknown>;

/** The answer of a model that calls no tool. */
const hello = {
  id: 'r',
  object: 'response',
  created_at: 0,
  status: 'completed',
  model: 'm',
  output: [
    {
      type: 'message',
      id: 'm1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'hello', annotations: [] }],
    },
  ],
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: [],
};

const spoken =
  'human: Oslo\nai: \ntool: {"text":"rain in Oslo"}\nai: \ntool: {"text":"RAIN IN OSLO"}\nai: RAIN IN OSLO';

describe('tools in the hands of agents', () => {
  let atelier: Atelier;
  let folder: string;

  beforeAll(async () => {
    atelier = await startAtelier();
    folder = await mkdtemp(join(tmpdir(), 'atelier-adapters-'));
    await publish(
      'weather',
      'city',
      'ctx.progress(1, 2, "half"); ctx.progress(2, 2); return { text: `rain in ${input.city}` };',
    );
    await publish('shout', 'text', 'return { text: input.text.toUpperCase() };');
    await atelier.api('PUT', '/api/v1/tool-sets/daily', { references: ['weather@^1', 'shout@^1'] });
    if (clients === '') return;
    // Like an installation by npm: next to the framework, whose packages it shares.
    const modules = join(folder, 'node_modules');
    await mkdir(join(modules, 'atelier-client'), { recursive: true });
    for (const part of ['package.json', 'dist']) {
      await cp(join(repository, 'clients/typescript', part), join(modules, 'atelier-client', part), {
        recursive: true,
      });
    }
    for (const name of ['@langchain', '@modelcontextprotocol']) {
      await symlink(join(clients, 'node_modules', name), join(modules, name));
    }
  });
  afterAll(async () => {
    await atelier.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const publish = async (name: string, member: string, body: string): Promise<void> => {
    const schema = (property: string) => ({
      type: 'object',
      properties: { [property]: { type: 'string' } },
      required: [property],
    });
    await atelier.api('POST', '/api/v1/code-agents', {
      name,
      description: `Does ${name}.`,
      language: 'javascript',
      code: `export default (input, ctx) => { ${body} };\n`,
      inputSchema: schema(member),
      outputSchema: schema('text'),
    });
    const published = await atelier.api('POST', `/api/v1/code-agents/${name}/versions`, {});
    expect(published.status, JSON.stringify(published.body)).toBe(201);
  };
  const environment = () => ({
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    ATELIER_URL: atelier.url,
    ATELIER_TOKEN: atelier.token,
    PYTHONPATH: join(repository, 'clients/python/src'),
    PYTHONDONTWRITEBYTECODE: '1',
  });
  /** Runs a program and returns what it prints. */
  const said = async (program: string, ...args: string[]): Promise<string> => {
    const ended = await runIn(folder, program, args, environment());
    expect(ended.code, ended.stderr + ended.stdout).toBe(0);
    return ended.stdout.trim();
  };
  const program = async (interpreter: string, name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text);
    return said(interpreter, name);
  };

  const daily = (): Offer => ({ origin: atelier.url, kind: 'set', name: 'daily', codeMode: false });
  /** Runs the program that the Studio shows for a client. */
  const connect = async (client: ClientName, interpreter: string, ...args: string[]): Promise<string> => {
    const { file = 'connect.sh', text } = snippetOf(client, daily(), undefined);
    await writeFile(join(folder, file), text);
    return said(interpreter, file, ...args);
  };

  test('Connect: curl lists the tools', async () => {
    const [, data = ''] = /^data: (.*)$/m.exec(await connect('curl', 'bash')) ?? [];
    const answer = JSON.parse(data) as { result: { tools: { name: string }[] } };
    expect(answer.result.tools.map(({ name }) => name)).toEqual(['shout', 'weather']);
  });

  test('the TypeScript client of MCP lists and calls a tool, and progress arrives while it runs', async () => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    const headers = { Authorization: `Bearer ${atelier.token}` };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${atelier.url}/mcp/sets/daily`), {
        requestInit: { headers },
      }),
    );
    try {
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['shout', 'weather']);
      const order: unknown[] = [];
      const answer = await client.callTool({ name: 'weather', arguments: { city: 'Oslo' } }, undefined, {
        onprogress: ({ progress, message }) => order.push([progress, message]),
      });
      order.push(answer.structuredContent);
      expect(order).toEqual([[1, 'half'], [2, undefined], { text: 'rain in Oslo' }]);
    } finally {
      await client.close();
    }
  });

  describe.skipIf(clients === '')('in JavaScript', () => {
    test('LangGraph: a model calls two tools of a set in a loop', async () => {
      const example = join(repository, 'clients/typescript/examples/langgraph.mjs');
      await cp(example, join(folder, 'langgraph.mjs'));
      expect(await said(process.execPath, 'langgraph.mjs')).toBe(spoken);
    });

    test('LangChain: a tool says what is wrong with its input, and keeps its version', async () => {
      const text = `import { Client } from 'atelier-client';
import { toLangChainTools } from 'atelier-client/langchain';
const client = new Client(process.env.ATELIER_URL, process.env.ATELIER_TOKEN);
const [shout] = await toLangChainTools(client, ['shout@^1']);
console.log(shout.name, shout.metadata.reference, await shout.invoke({ text: 'a' }));
console.log(await shout.invoke({ text: 7 }).catch((fault) => fault.name));
console.log(await toLangChainTools(client, ['shout@^9']).catch((fault) => fault.message));
console.log(await toLangChainTools(client, 'none').catch((fault) => fault.code));`;
      const lines = (await program(process.execPath, 'tools.mjs', text)).split('\n');
      expect(lines[0]).toBe('shout shout@1.0.0 {"text":"A"}');
      expect(lines[2]).toContain('shout@^9: ');
      expect(lines[3]).toBe('not_found');
    });

    test('@langchain/mcp-adapters lists tools, and a scripted model calls one', async () => {
      const text = `import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
const headers = { Authorization: 'Bearer ' + process.env.ATELIER_TOKEN };
const url = process.env.ATELIER_URL + '/mcp/sets/daily';
const progress = [];
const client = new MultiServerMCPClient({
  mcpServers: { atelier: { transport: 'http', url, headers } },
  onProgress: ({ progress: done }) => void progress.push(done),
});
const tools = await client.getTools();
const model = ({ messages }) => {
  const last = messages.at(-1);
  if (last.name === 'weather') return { messages: new AIMessage('said ' + last.artifact[0].data.text) };
  return { messages: new AIMessage({ content: '', tool_calls: [{ id: 'c', name: 'weather', args: { city: last.content } }] }) };
};
const agent = new StateGraph(MessagesAnnotation)
  .addNode('model', model)
  .addNode('tools', new ToolNode(tools))
  .addEdge(START, 'model')
  .addConditionalEdges('model', ({ messages }) => (messages.at(-1).tool_calls?.length ? 'tools' : END))
  .addEdge('tools', 'model')
  .compile();
const { messages } = await agent.invoke({ messages: [new HumanMessage('Oslo')] });
console.log(tools.map(({ name }) => name).join(), messages.at(-1).content, progress.join());
await client.close();`;
      expect(await program(process.execPath, 'adapters.mjs', text)).toBe('shout,weather said rain in Oslo 1,2');
    });

    test('Connect: LangChain in JavaScript lists the tools', async () => {
      expect(await connect('langchain-js', process.execPath)).toBe('shout Does shout.\nweather Does weather.');
    });

    test('the command line of the MCP inspector lists and calls a tool', async () => {
      const inspector = join(clients, 'node_modules/.bin/mcp-inspector');
      const node = join(clients, 'node');
      const ask = (...args: string[]) =>
        said(
          node,
          ...[inspector, '--cli', `${atelier.url}/mcp/sets/daily`, '--transport', 'http'],
          ...['--header', `Authorization: Bearer ${atelier.token}`, ...args],
        );
      expect(await ask('--method', 'tools/list')).toContain('"weather"');
      const called = await ask('--method', 'tools/call', '--tool-name', 'weather', '--tool-arg', 'city=Oslo');
      expect(called).toContain('rain in Oslo');
    });
  });

  describe.skipIf(python === '')('in Python', () => {
    test('LangGraph: a model calls two tools of a set in a loop', async () => {
      const example = join(repository, 'clients/python/examples/langgraph_loop.py');
      expect((await said(python, example)).replaceAll('": "', '":"')).toBe(spoken);
    });

    test('LangChain: a tool says what is wrong with its input, and can be awaited', async () => {
      const text = `
import asyncio, os
from atelier_client import Client
from atelier_client.langchain import to_langchain_tools
client = Client(os.environ["ATELIER_URL"], os.environ["ATELIER_TOKEN"])
[shout] = to_langchain_tools(client, ["shout@^1"])
print(shout.name, shout.metadata["reference"], shout.invoke({"text": "a"}), asyncio.run(shout.ainvoke({"text": "b"})))
print(shout.invoke({"text": 7}))
for wrong in (["shout@^9"], "none"):
    try:
        to_langchain_tools(client, wrong)
    except Exception as error:
        print(type(error).__name__, error)`;
      const lines = (await program(python, 'tools.py', text)).split('\n');
      expect(lines[0]).toBe('shout shout@1.0.0 {"text": "A"} {"text": "B"}');
      expect(JSON.parse(lines[1] ?? '')).toMatchObject({ errors: [{ pointer: '/input/text' }] });
      expect(lines[2]).toMatch(/^ValueError shout@\^9: /);
      expect(lines[3]).toMatch(/^AtelierError /);
    });

    test('openai-agents lists the tools and its model calls one', async () => {
      const text = `
import asyncio, os
from agents import Agent, ModelResponse, Runner, Usage, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
set_tracing_disabled(True)
class Scripted(Model):
    async def get_response(self, system_instructions, input, model_settings, tools, *args, **kwargs):
        results = [i for i in input if isinstance(i, dict) and i.get("type") == "function_call_output"]
        if not results:
            print(*sorted(tool.name for tool in tools))
            call = ResponseFunctionToolCall(type="function_call", call_id="c", name="weather", arguments='{"city": "Oslo"}')
            return ModelResponse(output=[call], usage=Usage(), response_id=None)
        said = ResponseOutputText(type="output_text", text=str(results[-1]["output"]), annotations=[])
        message = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[said])
        return ModelResponse(output=[message], usage=Usage(), response_id=None)
    def stream_response(self, *args, **kwargs):
        raise NotImplementedError
async def main():
    headers = {"Authorization": "Bearer " + os.environ["ATELIER_TOKEN"]}
    params = {"url": os.environ["ATELIER_URL"] + "/mcp/sets/daily", "headers": headers}
    async with MCPServerStreamableHttp(params=params) as server:
        result = await Runner.run(Agent(name="a", model=Scripted(), mcp_servers=[server]), "Where to?")
        print("rain in Oslo" in result.final_output)
asyncio.run(main())`;
      expect(await program(python, 'openai_agents.py', text)).toBe('shout weather\nTrue');
    });

    describe('Connect', () => {
      let model: Server;
      let sent: Members[];
      beforeAll(async () => {
        sent = [];
        model = createServer((request, response) => {
          let text = '';
          request.on('data', (chunk: Buffer) => (text += chunk.toString()));
          request.on('end', () => {
            sent = (JSON.parse(text) as { tools: Members[] }).tools;
            response.setHeader('Content-Type', 'application/json').end(JSON.stringify(hello));
          });
        });
        await new Promise<void>((ready) => model.listen(0, '127.0.0.1', ready));
      });
      afterAll(async () => {
        model.closeAllConnections();
        await new Promise<void>((done) => model.close(() => done()));
      });
      /** Runs the program and returns the tools that it offered to the model. */
      const asked = async (client: ClientName): Promise<Members[]> => {
        const { file = '' } = snippetOf(client, daily(), undefined);
        await connect(client, 'true');
        const url = `http://127.0.0.1:${String((model.address() as AddressInfo).port)}`;
        const variables = { OPENAI_BASE_URL: url, OPENAI_API_KEY: 'k', OPENAI_AGENTS_DISABLE_TRACING: '1', MODEL: 'm' };
        const ended = await runIn(folder, python, [file, 'Where to?'], { ...environment(), ...variables });
        expect(ended.code, ended.stderr).toBe(0);
        expect(ended.stdout.trim()).toBe('hello');
        return sent;
      };

      test('the Responses API gets the address and the token', async () => {
        expect(await asked('openai')).toEqual([
          {
            type: 'mcp',
            server_label: 'daily',
            server_url: `${atelier.url}/mcp/sets/daily`,
            authorization: atelier.token,
            require_approval: 'never',
          },
        ]);
      });

      test('openai-agents offers the tools to its model', async () => {
        expect((await asked('openai-agents')).map(({ name }) => name)).toEqual(['shout', 'weather']);
      });
    });

    test('the Python client of MCP lists and calls a tool, and progress arrives while it runs', async () => {
      const text = `
import asyncio, os
import httpx
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
async def main():
    headers = {"Authorization": "Bearer " + os.environ["ATELIER_TOKEN"]}
    url = os.environ["ATELIER_URL"] + "/mcp/sets/daily"
    async with httpx.AsyncClient(headers=headers, timeout=60) as http, streamable_http_client(url, http_client=http) as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            await session.initialize()
            print(*[tool.name for tool in (await session.list_tools()).tools])
            async def progress(done, total, message):
                print(done, total, message)
            answer = await session.call_tool("weather", {"city": "Oslo"}, progress_callback=progress)
            print(getattr(answer, "structured_content", None) or answer.structuredContent)
asyncio.run(main())`;
      expect(await program(python, 'client.py', text)).toBe(
        "shout weather\n1.0 2.0 half\n2.0 2.0 None\n{'text': 'rain in Oslo'}",
      );
    });
  });
});
