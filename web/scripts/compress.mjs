// Compresses what Vite built, once, so that the server only picks a file: brotli for secure contexts, gzip for
// plain HTTP, where browsers do not offer brotli. Quality 9 is within a tenth of 11 and seventy times faster. What is
// packed does not stay unpacked, so that the binary carries it once; the page stays, since make looks for it.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const dist = new URL('../dist/app/', import.meta.url).pathname;
const compressible = /\.(js|css|html|svg|json|ttf|txt)$/;

let raw = 0;
let br = 0;
for (const entry of readdirSync(dist, { recursive: true })) {
  const path = join(dist, entry);
  if (!statSync(path).isFile() || !compressible.test(entry) || entry.startsWith('.vite')) continue;
  const bytes = readFileSync(path);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 9,
    [constants.BROTLI_PARAM_LGWIN]: 24,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  const packed = brotliCompressSync(bytes, { params });
  writeFileSync(`${path}.br`, packed);
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  if (entry !== 'index.html') rmSync(path);
  raw += bytes.length;
  br += packed.length;
}
const megabytes = (n) => (n / 1e6).toFixed(2);
console.log(`compressed ${megabytes(raw)} MB to ${megabytes(br)} MB brotli`);

// What a browser needs before the first screen may not grow unseen: the entry and what it imports at once.
const budget = { js: 196_000, css: 22_400 }; // 175 and 20 kB at quality 11, which is a tenth smaller
const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8'));
const shell = new Set();
const take = (key) => {
  if (shell.has(key)) return;
  shell.add(key);
  for (const next of manifest[key].imports ?? []) take(next);
};
take('index.html');
const packed = (file) => statSync(join(dist, `${file}.br`)).size;
const sum = (files) => files.reduce((total, file) => total + packed(file), 0);
const js = sum([...shell].map((key) => manifest[key].file));
const css = sum([...shell].flatMap((key) => manifest[key].css ?? []));
console.log(`the first screen needs ${js} bytes of code and ${css} of style`);
if (js > budget.js || css > budget.css) {
  console.error(`That is over the budget of ${budget.js} and ${budget.css}: load what can wait with lazy().`);
  process.exit(1);
}
