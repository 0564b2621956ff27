// Common programs: the editor marks none of them, and each one runs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { must } from './kit/seed';
import { eachSignedIn, type Stage } from './kit/stage';
import type { Studio } from './kit/studio';

let atelier: Stage['atelier'];
let page: Page;
let studio: Studio;
eachSignedIn((stage) => {
  ({ atelier, page, studio } = stage);
});

// Each program ends with a mistake. It must be the only error mark, which shows that the language service has read the program.
const mistakes = {
  javascript: '/** @type {number} */\nexport const wrong = "text";\n',
  typescript: 'export const wrong: number = "text";\n',
  python: '\n\nwrong: int = "text"\n',
};

test.each([
  ['javascript', 'javascript.js'],
  ['javascript', 'javascript.node.js'],
  ['typescript', 'typescript.ts'],
  ['typescript', 'typescript.node.ts'],
  ['python', 'python.py'],
] as const)('the idioms of %s in %s have no mark and run', async (language, file) => {
  const code = readFileSync(join(import.meta.dirname, 'idioms', file), 'utf8') + mistakes[language];
  const name = file.replaceAll('.', '-');
  await must(atelier, 'POST', '/code-agents', { name, language, entrypoint: file, files: { [file]: code } });
  await studio.openAgent(name);
  await page.getByTitle('1 error', { exact: true }).waitFor();
  await studio.start();
  await studio.ended(/^Succeeded/);
  expect(await studio.result()).toMatchObject({ failed: [] });
});
