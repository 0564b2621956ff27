// Writes the licences of all bundled packages into one file. It reads the lockfile's non-development packages and
// their licence files.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('../..', import.meta.url).pathname;
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const terms = /^(licen[cs]e|notice|third-?party-?notices|copying)([.-].*)?$/i;

const parts = [];
for (const [path, { dev, optional, version, license }] of Object.entries(packages)) {
  if (path === '' || dev || optional) continue;
  const folder = join(root, path);
  const files = readdirSync(folder).filter((name) => terms.test(name) && !/\.(js|ts|json)$/.test(name));
  if (files.length === 0 && license === undefined) throw new Error(`${path} says no licence`);
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const texts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  parts.push([`${name} ${version}`, license ?? '', ...texts].filter((text) => text !== '').join('\n\n'));
}
const rule = `\n\n${'-'.repeat(80)}\n\n`;
const head = 'The Studio is built from these packages, under the terms that follow each name.';
writeFileSync(new URL('../dist/app/third-party.txt', import.meta.url), `${[head, ...parts].join(rule)}\n`);
console.log(`the notices of ${parts.length} packages`);
