// Time from navigation to text in the editor: with an empty profile, with a used profile, and on a throttled computer
// and connection. The baseline is a page with one line of text from the same server.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';
import { startAtelier, type Atelier } from '../kit/atelier';
import { launchProfile } from '../kit/browser';
import { must } from '../kit/seed';
import { editorPainted, firstPaint, withProbe } from './probe';
import { rounds, Sheet } from './report';

let atelier: Atelier;
beforeAll(async () => {
  atelier = await startAtelier();
  await must(atelier, 'POST', '/code-agents', {
    name: 'weather',
    language: 'typescript',
    entrypoint: 'main.ts',
    files: { 'main.ts': 'export default function main(input: Input) {\n  return { city: input.city };\n}\n' },
    inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
  });
});
afterAll(() => atelier.stop());

async function inNewProfile(work: (context: BrowserContext) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'atelier-profile-'));
  const context = await launchProfile(folder, atelier);
  try {
    // The browser's own pages load at its start and are excluded.
    await (await context.newPage()).waitForTimeout(2000);
    await withProbe(context);
    await context.request.post('/api/v1/session', { data: { token: atelier.token } });
    await work(context);
  } finally {
    await context.close();
    await rm(folder, { recursive: true, force: true });
  }
}

test('cold and warm', async () => {
  const sheet = new Sheet();
  for (let round = 0; round < rounds; round++)
    await inNewProfile(async (context) => {
      const page = await context.newPage();
      await page.goto('/health');
      sheet.add('blank', await firstPaint(page));
      await page.goto('/studio/a/weather');
      sheet.add('paint', await firstPaint(page));
      sheet.add('editor-cold', await editorPainted(page));
      // From the second visit on, the browser uses cached compiled code.
      for (let visit = 2; visit < 4; visit++) {
        await page.goto('/studio/a/weather');
        await editorPainted(page);
      }
      await page.goto('/studio/a/weather');
      sheet.add('editor-warm', await editorPainted(page));
    });
  sheet.report();
});

test('slow', async () => {
  const sheet = new Sheet();
  for (let round = 0; round < rounds; round++)
    await inNewProfile(async (context) => {
      const page = await context.newPage();
      const session = await context.newCDPSession(page);
      await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
      await session.send('Network.enable');
      const bytes = 10_000_000 / 8;
      const line = { latency: 40, downloadThroughput: bytes, uploadThroughput: bytes };
      await session.send('Network.emulateNetworkConditions', { offline: false, ...line });
      await page.goto('/health');
      sheet.add('blank-slow', await firstPaint(page));
      await page.goto('/studio/a/weather');
      sheet.add('paint-slow', await firstPaint(page));
      sheet.add('editor-slow', await editorPainted(page));
    });
  sheet.report();
});
