// Compresses the build once, so that the server only selects a file: brotli for secure contexts, gzip for plain HTTP.
// Quality 9 is within a tenth of 11 and twenty times faster; files the editor waits for use 11. The raw files are
// removed, so that the binary holds each file once. The page itself stays because make checks for it.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { parseAst } from 'vite';
import { complaint, evaluates, inKB, stemOf, untilEditor, weigh } from './budgets.mjs';

const dist = new URL('../dist/app/', import.meta.url).pathname;
const compressible = /\.(js|css|html|svg|json|ttf|txt|wasm)$/;

const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8'));
const awaited = untilEditor(manifest);
const files = {};
const evaluating = [];
for (const entry of readdirSync(dist, { recursive: true })) {
  const path = join(dist, entry);
  if (!statSync(path).isFile()) continue;
  if (!compressible.test(entry) || entry.startsWith('.vite')) {
    files[entry] = { brotli: 0, other: statSync(path).size };
    continue;
  }
  const bytes = readFileSync(path);
  // The Python worker evaluates text to find the global object only if it has not found it otherwise. In a browser it
  // has.
  if (entry.endsWith('.js') && stemOf(entry) !== 'pyright.worker' && evaluates(bytes.toString(), parseAst))
    evaluating.push(entry);
  const dense = awaited.has(entry);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: dense ? 11 : 9,
    [constants.BROTLI_PARAM_LGWIN]: 24,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  const packed = brotliCompressSync(bytes, { params });
  const zipped = gzipSync(bytes, { level: 9 });
  writeFileSync(`${path}.br`, packed);
  writeFileSync(`${path}.gz`, zipped);
  if (entry !== 'index.html') rmSync(path);
  files[entry] = { brotli: packed.length, dense, other: zipped.length };
}

// The build fails if a budget is exceeded or a script violates the content security policy.
const weights = weigh(manifest, files);
for (const { what, bytes, limit } of weights.filter(({ what }) => !files[what]))
  console.log(`${inKB(bytes).padStart(9)} of ${inKB(limit).padStart(8)} kB  ${what}`);
const faults = weights.filter(({ bytes, limit }) => bytes > limit).map(complaint);
for (const name of evaluating) faults.push(`${name} makes code out of text, which the browser will refuse.`);
for (const fault of faults) console.error(`BUDGET: ${fault}`);
if (faults.length > 0) process.exit(1);
