// Uses the client library for Python as its users do: installed from its folder into a fresh environment, against the real
// binary, and against a server that plays faults of a network. Both clients, that which waits and that which is awaited,
// do the same.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { repository, runIn, startAtelier, type Atelier, type Ended } from './kit/atelier';
import { brokenStream, keysOf, ran, withFaults } from './kit/faults';

/** The Python with the vendors' packages. scripts/test.sh reports if they are not installed. */
const python = process.env['ATELIER_TEST_VENDORS_PYTHON'] ?? '';
const source = join(repository, 'clients/python');

/** Runs the same body with both clients. In the body, "await" marks the calls and "async for" the streams. */
const both = (body: string): string => `
import asyncio, sys
from atelier_client import ApprovalNeeded, AsyncClient, AtelierError, Client, RunFailed
async def awaited():
    async with AsyncClient(sys.argv[1], sys.argv[2]) as client:
${indent(body, 8)}
def waiting():
    client = Client(sys.argv[1], sys.argv[2])
${indent(body.replaceAll('await ', '').replaceAll('async for', 'for'), 4)}
if sys.argv[3] == "await":
    asyncio.run(awaited())
else:
    waiting()
`;
const indent = (text: string, width: number) =>
  text
    .trim()
    .split('\n')
    .map((line) => ' '.repeat(width) + line)
    .join('\n');

describe.skipIf(python === '')('the Python client', () => {
  let atelier: Atelier;
  let folder: string;

  beforeAll(async () => {
    atelier = await startAtelier();
    folder = await mkdtemp(join(tmpdir(), 'atelier-python-'));
    const agents = {
      shout: "export default (input) => { console.log('working'); return { text: input.text.toUpperCase() }; };\n",
      broken: "export default () => { throw Error('no'); };\n",
      slow: "export default async () => { console.log('begun'); await new Promise(() => setTimeout(() => 0, 1e9)); };\n",
    };
    for (const [name, code] of Object.entries(agents)) {
      const properties = { text: { type: 'string' } };
      const inputSchema = name === 'shout' ? { type: 'object', properties, required: ['text'] } : {};
      await atelier.api('POST', '/api/v1/code-agents', { name, language: 'javascript', code, inputSchema });
    }
  });
  afterAll(async () => {
    await atelier.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const environment = () => ({
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    PYTHONPATH: join(source, 'src'),
    PYTHONDONTWRITEBYTECODE: '1',
  });
  const start = async (mode: string, body: string, url: string, token: string): Promise<Ended> => {
    const file = join(folder, `${crypto.randomUUID()}.py`);
    await writeFile(file, both(body));
    return runIn(folder, python, [file, url, token, mode], environment());
  };

  test('is installed from its folder, and ten lines run an agent and stream its log', async () => {
    const ten = `import sys
from atelier_client import Client

client = Client(sys.argv[1], sys.argv[2])
client.publish("shout")
print(client.run("shout@^1", {"text": "quiet"}))

for event in client.events(client.start("shout@^1", {"text": "quiet"})["runId"]):
    if event["kind"] == "stdout":
        print(event["data"].strip())
`;
    await writeFile(join(folder, 'ten.py'), ten);
    const wheels = join(dirname(dirname(python)), 'wheels');
    const offline = { PATH: process.env['PATH'] ?? '', HOME: folder, PIP_NO_INDEX: '1', PIP_FIND_LINKS: wheels };
    const steps = [
      ['python3', '-m', 'venv', 'fresh'],
      ['fresh/bin/pip', 'install', '--quiet', '--disable-pip-version-check', source],
      ['fresh/bin/python', 'ten.py', atelier.url, atelier.token],
    ];
    let said = '';
    for (const [program = '', ...args] of steps) {
      const ended = await runIn(folder, program.startsWith('fresh') ? join(folder, program) : program, args, offline);
      expect(ended.code, ended.stderr).toBe(0);
      said = ended.stdout;
    }
    expect(said.trim().split('\n')).toEqual(["{'text': 'QUIET'}", 'working']);
  });

  test.each(['wait', 'await'])('%s: runs, follows, cancels, exports, resolves and pins', async (mode) => {
    const body = `
assert await client.run("shout", {"text": "a"}) == {"text": "A"}
await client.put_tool_set("daily", "shout@^1")
assert (await client.tool_set("daily"))["tools"][0]["version"] == "1.0.0"
assert (await client.export("shout@1.0.0", "openai"))["function"]["name"] == "shout"
found, none = await client.resolve("shout@^1", "shout@^9")
assert found["pinned"] == "shout@1.0.0" and none["error"]["code"] == "not_found", (found, none)
code = {"language": "python", "code": "def main(input): return input['n'] * 2", "input": {"n": 21}}
assert (await client.execute_code(code))["output"] == 42
run = (await client.start("slow@draft"))["runId"]
kinds = []
async for event in client.events(run):
    kinds.append(event["kind"])
    if event["kind"] == "stdout":
        await client.cancel(run)
assert kinds[-1] == "result" and (await client.get(run))["status"] == "cancelled", kinds
try:
    await client.run("broken@draft")
    raise SystemExit("a failing program succeeded")
except RunFailed as failed:
    assert failed.type == "runtime_error", failed
try:
    await client.run("shout", {"text": 7})
    raise SystemExit("a wrong input is accepted")
except AtelierError as refused:
    assert refused.status == 422 and refused.errors[0]["pointer"] == "/input/text", refused.errors
print("done")`;
    const ended = await start(mode, body, atelier.url, atelier.token);
    expect(ended.stdout, ended.stderr).toBe('done\n');
  });

  describe.each(['wait', 'await'])('%s', (mode) => {
    const expectDone = async (body: string, url: string) => {
      const ended = await start(mode, body, url, 'secret');
      expect(ended.stdout, ended.stderr).toBe('done\n');
    };

    test('a busy server and a lost connection are repeated, with the same key', async () => {
      const seen = await withFaults(
        (request, response, n) => {
          if (n === 1) response.writeHead(429, { 'Retry-After': '0' }).end('{}');
          else if (n === 2)
            response.writeHead(409, { 'Retry-After': '0' }).end('{}'); // the first request is still in progress
          else if (n === 3) request.socket.destroy();
          else response.end(ran);
        },
        (url) => expectDone('assert await client.run("a") == 1\nprint("done")', url),
      );
      expect(seen.length).toBe(4);
      expect(keysOf(seen)).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    });

    test('a busy server is asked again after the time that it names', async () => {
      const body = `
import asyncio, time
waits = []
async def later(seconds):
    waits.append(seconds)
time.sleep, asyncio.sleep = waits.append, later
assert await client.run("a") == 1
assert [wait for wait in waits if wait] == [1], waits
print("done")`;
      const seen = await withFaults(
        (_request, response, n) => {
          if (n === 1) response.writeHead(429, { 'Retry-After': '1' }).end('{}');
          else response.end(ran);
        },
        (url) => expectDone(body, url),
      );
      expect(seen.length).toBe(2);
    });

    test('the token follows no redirect', async () => {
      const body = `
try:
    await client.run("a")
except AtelierError as error:
    print("done" if error.code == "redirected" else error.code)`;
      const seen = await withFaults(
        (_request, response) => response.writeHead(307, { Location: '/elsewhere' }).end(),
        (url) => expectDone(body, url),
      );
      expect(seen.map(({ url }) => url)).toEqual(['/api/v1/code-agents/a/execute']);
    });

    test('a stream that breaks goes on after the last event', async () => {
      const body = `
read = []
async for event in client.events("r"):
    read.append(event["seq"])
assert read == [1, 2, 3], read
print("done")`;
      const seen = await withFaults(brokenStream, (url) => expectDone(body, url));
      expect(seen.map(({ url }) => url)).toEqual(['/api/v1/runs/r/events?from=0', '/api/v1/runs/r/events?from=1']);
    });

    test('a run that awaits approval is a typed error', async () => {
      const body = `
try:
    await client.run("a")
except ApprovalNeeded as error:
    assert (error.run_id, error.approval_id) == ("r", "p")
    print("done")`;
      await withFaults(
        (_request, response) =>
          response
            .writeHead(202)
            .end('{"runId":"r","approvalId":"p","status":"awaiting_approval","reasons":["Mail."]}'),
        (url) => expectDone(body, url),
      );
    });
  });

  test('a call that is cancelled cancels its run', async () => {
    const program = `
import asyncio, os, sys
from atelier_client import AsyncClient
async def main():
    async with AsyncClient(sys.argv[1], sys.argv[2]) as client:
        run = asyncio.create_task(client.run("a"))
        while not os.path.exists("asked"):
            await asyncio.sleep(0.01)
        run.cancel()
        try:
            await run
        except asyncio.CancelledError:
            print("done")
asyncio.run(main())
`;
    await writeFile(join(folder, 'cancel.py'), program);
    const seen = await withFaults(
      () => void writeFile(join(folder, 'asked'), ''),
      async (url) => {
        const ended = await runIn(folder, python, ['cancel.py', url, 'secret'], environment());
        expect(ended.stdout, ended.stderr).toBe('done\n');
      },
    );
    expect(seen.length).toBe(1);
  });

  test('LangChain: an input may have any name', async () => {
    const program = `
from atelier_client import Client
from atelier_client.langchain import to_langchain_tools
names = ["config", "run_manager", "callbacks", "self", "args"]
schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
class Recorded(Client):
    def resolve(self, *references):
        return [{"reference": r, "pinned": r} for r in references]
    def export(self, reference, format="atelier"):
        return {"name": "any", "description": "Any.", "schema": schema}
    def execute(self, reference, input=None, **_):
        return {"status": "succeeded", "output": sorted(input)}
[tool] = to_langchain_tools(Recorded("http://127.0.0.1:1", ""), ["any@1.0.0"])
print(tool.invoke({name: "x" for name in names}))
`;
    await writeFile(join(folder, 'names.py'), program);
    const ended = await runIn(folder, python, ['names.py'], environment());
    expect(ended.stdout, ended.stderr).toBe('["args", "callbacks", "config", "run_manager", "self"]\n');
  });

  test('its types hold with mypy --strict, and a wrong use is found', async () => {
    const wrong = 'from atelier_client import Client\n\nstatus: int = Client("", "").execute("a")["status"]\n';
    await writeFile(join(folder, 'wrong.py'), wrong);
    const cache = `--cache-dir=${folder}/mypy`;
    const right = await runIn(
      source,
      python,
      ['-m', 'mypy', '--strict', cache, 'src', 'generate.py', 'examples'],
      environment(),
    );
    expect(right.stdout + right.stderr).toMatch(/^Success: no issues found/);
    const found = await runIn(folder, python, ['-m', 'mypy', '--strict', cache, 'wrong.py'], environment());
    expect(found.stdout).toContain('Incompatible types in assignment');
  });

  test('it is formatted at 100 columns, and its types are those of the API', async () => {
    for (const args of [
      ['format', '--check'],
      ['check', '--no-cache'],
    ]) {
      const ended = await runIn(source, python, ['-m', 'ruff', ...args, '.'], environment());
      expect(ended.code, ended.stdout).toBe(0);
    }
    const ended = await runIn(source, python, ['generate.py', '--check'], environment());
    expect(ended.code, ended.stderr).toBe(0);
  });
});
