// Uses the client library for TypeScript as its users do: installed from its folder into an empty project, against the
// real binary. A server of the test plays faults of a network.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ApprovalNeeded, AtelierError, Client, RunFailed } from '../../clients/typescript/src/index.js';
import { repository, runIn, startAtelier, type Atelier } from './kit/atelier';
import { brokenStream, keysOf, ran, withFaults } from './kit/faults';

const shout =
  "export default (input, ctx) => { console.log('working'); return { text: input.text.toUpperCase() }; };\n";
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };

describe('the TypeScript client', () => {
  let atelier: Atelier;
  let folder: string;
  let client: Client;

  beforeAll(async () => {
    atelier = await startAtelier();
    client = new Client(atelier.url, atelier.token);
    folder = await mkdtemp(join(tmpdir(), 'atelier-client-'));
    await client.create({
      name: 'shout',
      description: 'Writes a text in capitals.',
      language: 'javascript',
      code: shout,
      inputSchema: text,
      outputSchema: text,
    });
    await client.create({ name: 'slow', language: 'bash', code: 'echo begun; sleep 1000' });
    await client.create({
      name: 'broken',
      language: 'javascript',
      code: "export default () => { throw Error('no'); }",
    });
    for (const name of ['shout', 'slow', 'broken']) await client.publish(name);
  });
  afterAll(async () => {
    await atelier.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test('is installed from its folder, and ten lines run an agent and stream its log', async () => {
    await writeFile(join(folder, 'package.json'), '{"name": "empty", "private": true, "type": "module"}');
    const source = join(repository, 'clients/typescript');
    const environment = { PATH: process.env['PATH'] ?? '', HOME: folder };
    // --install-links packs the folder as it would be published; --offline proves that it needs no other package.
    const flags = ['install', '--install-links', '--offline', '--no-audit', '--no-fund', source];
    const installed = await runIn(folder, 'npm', flags, environment);
    expect(installed.code, installed.stderr).toBe(0);
    const ten = `import { Client } from 'atelier-client';

const client = new Client(process.argv[2], process.argv[3]);
console.log(await client.run('shout@^1', { text: 'quiet' }));

const { runId } = await client.start('shout@^1', { text: 'quiet' });
for await (const event of client.events(runId)) {
  if (event.kind === 'stdout') console.log(event.data.trim());
  if (event.kind === 'result') console.log(event.data.status);
}
`;
    await writeFile(join(folder, 'ten.mjs'), ten);
    const ended = await runIn(folder, process.execPath, ['ten.mjs', atelier.url, atelier.token], environment);
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout.trim().split('\n')).toEqual(["{ text: 'QUIET' }", 'working', 'succeeded']);
  });

  test('has types of its own when it is installed', async () => {
    const use = `import { Client, type RunEvent } from 'atelier-client';
const client = new Client('http://127.0.0.1:1', 'token');
export async function last(): Promise<RunEvent | undefined> {
  const run = await client.execute('shout', { text: 'x' });
  const status: 'succeeded' | 'failed' | string = run.status;
  for await (const event of client.events(run.runId)) if (event.kind === 'log') return event;
  return status === 'x' ? undefined : undefined;
}
export const wrong: number = (await client.get('id')).runId;
`;
    await writeFile(join(folder, 'use.ts'), use);
    const tsc = join(repository, 'node_modules/typescript/bin/tsc');
    const flags = ['--noEmit', '--strict', '--target', 'es2023', '--module', 'nodenext', 'use.ts'];
    const ended = await runIn(folder, process.execPath, [tsc, ...flags], { PATH: process.env['PATH'] ?? '' });
    expect(ended.stdout.trim()).toMatch(
      /^use\.ts\(9,14\): error TS2322: Type 'string' is not assignable to type 'number'\.$/,
    );
  });

  test('follows a run, cancels it, and reads its record', async () => {
    const { runId } = await client.start('slow');
    const kinds: string[] = [];
    for await (const event of client.events(runId)) {
      kinds.push(event.kind);
      if (event.kind === 'stdout') await client.cancel(runId);
    }
    expect(kinds.at(-1)).toBe('result');
    expect((await client.get(runId)).status).toBe('cancelled');
  });

  test('throws typed errors', async () => {
    const wrong = await client.run('shout@1.0.0', { text: 7 }).catch((fault: unknown) => fault);
    expect(wrong).toBeInstanceOf(AtelierError);
    expect(wrong).toMatchObject({ status: 422, code: 'invalid_input', errors: [{ pointer: '/input/text' }] });
    const failed = await client.run('broken').catch((fault: unknown) => fault);
    expect(failed).toBeInstanceOf(RunFailed);
    expect(failed).toMatchObject({ type: 'runtime_error', run: { status: 'failed' } });
    await expect(client.execute('absent')).rejects.toMatchObject({ status: 404, code: 'not_found' });
  });

  test('exports, resolves and pins versions', async () => {
    expect(await client.export('shout@^1', 'openai')).toMatchObject({ function: { name: 'shout' } });
    const [found, none] = await client.resolve('shout@^1', 'shout@^9');
    expect(found).toMatchObject({ pinned: 'shout@1.0.0' });
    expect(none?.error?.code).toBe('not_found');
    await client.putToolSet('daily', { references: ['shout@^1'] });
    expect((await client.toolSet('daily')).tools).toMatchObject([{ name: 'shout', version: '1.0.0' }]);
  });

  test('runs a program that is sent along', async () => {
    const run = await client.executeCode({
      language: 'python',
      code: 'def main(input): return input["n"] * 2',
      input: { n: 21 },
    });
    expect(run.output).toBe(42);
  });

  test('stops waiting when its signal is aborted', async () => {
    const leaving = new AbortController();
    const waiting = client.execute('slow', {}, { signal: leaving.signal });
    leaving.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('a network with faults', () => {
  const faults = (answer: Parameters<typeof withFaults>[0], work: (client: Client) => Promise<void>) =>
    withFaults(answer, (url) => work(new Client(url, 'secret')));

  test('a busy server is asked again, with the same key', async () => {
    const seen = await faults(
      (_request, response, n) => {
        if (n === 1) response.writeHead(429, { 'Retry-After': '0' }).end('{"code":"too_many_requests"}');
        else if (n === 2)
          response.writeHead(409, { 'Retry-After': '0' }).end('{"code":"conflict"}'); // the first request is still in progress
        else response.end(ran);
      },
      async (client) => expect(await client.run('a')).toBe(1),
    );
    expect(seen.length).toBe(3);
    expect(keysOf(seen)).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  });

  test('a busy server is asked again after the time that it names', async () => {
    vi.useFakeTimers();
    try {
      let asked = 0;
      const answer = (): Promise<Response> => {
        asked++;
        return Promise.resolve(
          asked === 1 ? new Response('{}', { status: 429, headers: { 'Retry-After': '1' } }) : new Response(ran),
        );
      };
      const run = new Client('http://127.0.0.1:1', 'secret', { fetch: answer }).run('a');
      await vi.advanceTimersByTimeAsync(999);
      expect(asked).toBe(1);
      await vi.advanceTimersByTimeAsync(1);
      expect(await run).toBe(1);
      expect(asked).toBe(2);
    } finally {
      vi.useRealTimers();
    }
  });

  test('a lost connection is repeated, with the same key', async () => {
    const seen = await faults(
      (request, response, n) => (n < 3 ? request.socket.destroy() : response.end(ran)),
      async (client) => expect(await client.run('a')).toBe(1),
    );
    expect(keysOf(seen).length).toBe(1);
  });

  test('a server that stays busy is an error after four requests', async () => {
    const seen = await faults(
      (_request, response) => response.writeHead(503, { 'Retry-After': '0' }).end('{"code":"busy","detail":"Full."}'),
      (client) => expect(client.run('a')).rejects.toMatchObject({ status: 503, code: 'busy', message: 'Full.' }),
    );
    expect(seen.length).toBe(4);
  });

  test('the token follows no redirect', async () => {
    const seen = await faults(
      (_request, response) => response.writeHead(307, { Location: '/elsewhere' }).end(),
      (client) => expect(client.run('a')).rejects.toMatchObject({ status: 307, code: 'redirected' }),
    );
    expect(seen.map(({ url }) => url)).toEqual(['/api/v1/code-agents/a/execute']);
  });

  test('a stream that breaks goes on after the last event', async () => {
    const seen = await faults(brokenStream, async (client) => {
      const read: number[] = [];
      for await (const { seq } of client.events('r')) read.push(seq);
      expect(read).toEqual([1, 2, 3]);
    });
    expect(seen.map(({ url }) => url)).toEqual(['/api/v1/runs/r/events?from=0', '/api/v1/runs/r/events?from=1']);
  });

  test('a stream survives a restart that is longer than the attempts of one request', async () => {
    const seen = await faults(
      (request, response, n) => {
        if (n > 1 && n < 7) request.socket.destroy();
        else brokenStream(request, response, n);
      },
      async (client) => {
        const read: number[] = [];
        for await (const { seq } of client.events('r')) read.push(seq);
        expect(read).toEqual([1, 2, 3]);
      },
    );
    expect(seen.length).toBe(7);
  });

  test('an answer of a proxy, which is no problem document, is an error with its status', async () => {
    await faults(
      (_request, response) => response.writeHead(502).end('<html>'),
      (client) => expect(client.run('a')).rejects.toMatchObject({ status: 502, code: '' }),
    );
  });

  test('a run that awaits approval is a typed error', async () => {
    await faults(
      (_request, response) =>
        response
          .writeHead(202)
          .end('{"runId":"r","approvalId":"a","status":"awaiting_approval","reasons":["It sends mail."]}'),
      async (client) => {
        const fault: unknown = await client.run('a').catch((thrown: unknown) => thrown);
        expect(fault).toBeInstanceOf(ApprovalNeeded);
        expect(fault).toMatchObject({ runId: 'r', approvalId: 'a' });
      },
    );
  });
});
