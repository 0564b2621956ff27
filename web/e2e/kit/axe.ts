// Checks the accessibility of the current page.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { count } from './tally';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Violation = { id: string; help: string; nodes: { target: string[]; failureSummary?: string }[] };

/** Lists the violations of WCAG 2.2 AA and of axe's best practices. Each is one sentence that contains the element. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(source);
  const values = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const options = { runOnly: { type: 'tag', values } };
  const found = await page.evaluate<Violation[]>(
    `axe.run(document, ${JSON.stringify(options)}).then((result) => result.violations)`,
  );
  count({ screens: 1, axe: found.length });
  return found.map(
    (v) =>
      `${v.id} (${v.help}): ${v.nodes.map((node) => `${node.target.join(' ')} ${node.failureSummary ?? ''}`).join('; ')}`,
  );
}
