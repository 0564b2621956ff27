import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const page = readFileSync(new URL('ComponentsPage.tsx', import.meta.url), 'utf8');
const parts = readdirSync(new URL('../../ui', import.meta.url)).filter((file) => file.endsWith('.tsx'));

/** The page shows them by their effect: a notice appears when it is called for. */
const byEffect: Record<string, string> = { Notices: 'notify(' };

test.each(parts.map((file) => file.replace('.tsx', '')))('the page of components shows %s', (part) => {
  const used = byEffect[part] ?? `<${part}`;
  expect(page.includes(used)).toBe(true);
});
