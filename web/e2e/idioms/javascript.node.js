// Common JavaScript that only Node runs, so that the choice "auto" means Node. Each idiom returns true when it works.
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { inspect, promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';

const folder = () => mkdtempSync(path.join(os.tmpdir(), 'idioms-'));

const idioms = {
  'wait of a module': async () => (await wait(1, 'x')) === 'x',
  'wait with a promise': async () => (await new Promise((r) => setTimeout(r, 1))) === undefined,
  'timer that holds nothing up': () => {
    const timer = setTimeout(() => undefined, 10);
    timer.unref();
    clearTimeout(timer);
    return true;
  },
  'promise of a callback': async () => (await promisify(setTimeout)(1)) === undefined,
  'file written and read': () => {
    const file = path.join(folder(), 'a.txt');
    writeFileSync(file, 'hi');
    return readFileSync(file, 'utf8') === 'hi';
  },
  'file read later': async () => {
    const dir = folder();
    writeFileSync(path.join(dir, 'a.json'), '{"a":1}');
    const { a } = JSON.parse(await readFile(path.join(dir, 'a.json'), 'utf8'));
    await rm(dir, { recursive: true });
    return a === 1;
  },
  path: () => path.basename('/a/b.txt', '.txt') === 'b' && path.extname('b.txt') === '.txt',
  hash: () => createHash('sha256').update('a').digest('hex').length === 64,
  'keyed hash': () => createHmac('sha256', 'k').update('a').digest('base64').length === 44,
  'random bytes': () => randomBytes(8).toString('hex').length === 16,
  'web crypto': async () => (await crypto.subtle.digest('SHA-256', new TextEncoder().encode('a'))).byteLength === 32,
  blob: async () => (await new Blob(['ab']).text()) === 'ab',
  form: () => new FormData().get('x') === null,
  request: () => new Request('https://example.com', { method: 'POST' }).method === 'POST',
  'stream of the web': async () => {
    const stream = new ReadableStream({
      start(control) {
        control.enqueue('a');
        control.close();
      },
    });
    const parts = [];
    for await (const part of stream) parts.push(part);
    return parts.join('') === 'a';
  },
  'stream of Node': async () => {
    const parts = [];
    for await (const part of Readable.from(['a', 'b'])) parts.push(part);
    return parts.join('') === 'ab';
  },
  compress: () => gunzipSync(gzipSync('text')).toString() === 'text',
  emitter: async () => {
    const emitter = new EventEmitter();
    const heard = once(emitter, 'x');
    emitter.emit('x', 1);
    return (await heard)[0] === 1;
  },
  inspect: () => inspect({ a: [1] }).includes('a'),
  'unicode escape of a property': () => /^\p{Lu}/u.test('Ä'),
  'number of a language': () => new Intl.NumberFormat('de-DE').format(1234.5) === '1.234,5',
  'date of a language': () => new Intl.DateTimeFormat('en-US', { timeZone: 'UTC' }).format(new Date(0)) === '1/1/1970',
  'parts of a text': () => [...new Intl.Segmenter('en').segment('ab')].length === 2,
  process: () => typeof process.version === 'string' && process.env['NOT_THERE'] === undefined,
  'time of the process': () => process.hrtime.bigint() > 0n && process.memoryUsage().heapUsed > 0,
  global: () => global === globalThis,
  'indices of a match': () => /a(b)/d.exec('ab')?.indices?.[1]?.[0] === 1,
  'weak reference': () => new WeakRef(idioms).deref() === idioms,
  'marks of time': () => performance.mark('a').name === 'a',
  'address that parses': () => URL.canParse('https://example.com'),
  console: () => {
    console.table([{ a: 1 }]);
    console.dir({ a: 1 });
    console.time('t');
    console.timeEnd('t');
    console.group('g');
    console.groupEnd();
    return true;
  },
};

export default async function main() {
  const failed = [];
  for (const [name, works] of Object.entries(idioms)) {
    try {
      if (!(await works())) failed.push(name);
    } catch (error) {
      failed.push(`${name}: ${error.message}`);
    }
  }
  return { tried: Object.keys(idioms).length, failed };
}
