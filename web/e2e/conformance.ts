// The official conformance suite of MCP tests the real binary, in the revision without sessions and in the one with. The
// suite sends no token, so a server between them adds it. Its tests of prompts, resources and special results do not apply to
// a server of tools: conformance-REVISION.yml lists them, with the reasons, and an entry that passes is a failure too.
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runIn, startAtelier, type Atelier } from './kit/atelier';

/** The Node packages that scripts/test.sh installs. The script reports if it cannot install them. */
const clients = process.env['ATELIER_TEST_CLIENTS'] ?? '';

/** The agents that the suite calls by these names. */
const agents: Record<string, string> = {
  test_simple_text: "return 'This is a simple text response for testing.';",
  test_error_handling: "throw new Error('This tool intentionally returns an error for testing');",
  test_tool_with_logging:
    "for (const text of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) ctx.log('info', text); return {};",
  test_tool_with_progress: 'for (const n of [0, 50, 100]) ctx.progress(n, 100, `at ${n}`); return {};',
};

describe.skipIf(clients === '')('the conformance suite of MCP', () => {
  let atelier: Atelier;
  let front: Server;
  let folder: string;

  beforeAll(async () => {
    atelier = await startAtelier();
    folder = await mkdtemp(join(tmpdir(), 'atelier-conformance-'));
    for (const [name, body] of Object.entries(agents)) {
      await atelier.api('POST', '/api/v1/code-agents', {
        name,
        description: `The suite calls ${name}.`,
        language: 'javascript',
        code: `export default (input, ctx) => { ${body} };\n`,
        inputSchema: { type: 'object', properties: {} },
      });
      expect((await atelier.api('POST', `/api/v1/code-agents/${name}/versions`, {})).status).toBe(201);
    }
    front = createServer((from, to) => {
      const headers = { ...from.headers, authorization: `Bearer ${atelier.token}` };
      const onward = request(atelier.url + (from.url ?? ''), { method: from.method, headers }, (answer) => {
        to.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(to);
      });
      onward.on('error', () => to.destroy());
      to.on('close', () => onward.destroy());
      from.pipe(onward);
    });
    await new Promise<void>((ready) => front.listen(0, '127.0.0.1', ready));
  });
  afterAll(async () => {
    front.closeAllConnections();
    await new Promise<void>((done) => front.close(() => done()));
    await atelier.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test.each([
    ['--requirements', '2026-07-28'],
    ['--spec-version', '2025-11-25'],
  ])('%s %s', { timeout: 180_000 }, async (...selection) => {
    const suite = join(clients, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
    const url = `http://127.0.0.1:${String((front.address() as AddressInfo).port)}/mcp`;
    const baseline = join(import.meta.dirname, `conformance-${selection[1]}.yml`);
    const flags = [
      'server',
      '--url',
      url,
      ...selection,
      '--timeout',
      '15000',
      '--expected-failures',
      baseline,
      '-o',
      folder,
    ];
    const ended = await runIn(folder, join(clients, 'node'), [suite, ...flags], {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
    });
    expect(ended.code, `${ended.stdout}\n${ended.stderr}`).toBe(0);
  });
});
