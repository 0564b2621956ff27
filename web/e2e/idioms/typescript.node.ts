// Common TypeScript that only Node runs, so that the choice "auto" means Node. Each idiom returns true when it works.
import { strict as assert } from 'node:assert';
import { AsyncLocalStorage } from 'node:async_hooks';
import * as crypto from 'node:crypto';
import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import type { PathLike } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { PassThrough, Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect, promisify } from 'node:util';
import zlib from 'node:zlib';

const gzip = promisify(zlib.gzip);
const storage = new AsyncLocalStorage<{ id: number }>();

class Upper extends Transform {
  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    done(null, chunk.toString('utf8').toUpperCase());
  }
}

const idioms: Record<string, () => boolean | Promise<boolean>> = {
  'wait of a module': async () => (await delay(1, 'x')) === 'x',
  'wait with a promise': async () => (await new Promise((r) => setTimeout(r, 1))) === undefined,
  'timer of Node': () => {
    const timer: NodeJS.Timeout = setTimeout(() => undefined, 10);
    timer.unref();
    clearTimeout(timer);
    return true;
  },
  assert: () => {
    assert.deepEqual({ a: 1 }, { a: 1 });
    return true;
  },
  'storage of a call': () => storage.run({ id: 1 }, () => storage.getStore()?.id === 1),
  'hash of text': () => crypto.createHash('sha1').update('a').digest('hex').length === 40,
  'equal in constant time': () => crypto.timingSafeEqual(Buffer.from('a'), Buffer.from('a')),
  'web crypto': async () => (await globalThis.crypto.subtle.digest('SHA-1', new Uint8Array(1))).byteLength === 20,
  'typed emitter': () => {
    const emitter = new EventEmitter();
    let heard = '';
    emitter.on('x', (text: string) => (heard = text));
    emitter.emit('x', 'a');
    return heard === 'a';
  },
  file: () => {
    const path: PathLike = join(fs.mkdtempSync(join(tmpdir(), 'idioms-')), 'a');
    fs.writeFileSync(path, Buffer.from('a'));
    return fs.statSync(path).size === 1 && fs.existsSync(path);
  },
  lines: async () => {
    const stream = new PassThrough();
    stream.end('a\nb\n');
    const lines: string[] = [];
    for await (const line of createInterface({ input: stream })) lines.push(line);
    return lines.length === 2;
  },
  pipeline: async () => {
    const source = new PassThrough();
    const target = new Upper();
    const parts: string[] = [];
    target.on('data', (part: Buffer) => parts.push(part.toString()));
    source.end('a');
    await pipeline(source, target);
    return parts.join('') === 'A';
  },
  compressed: async () => (await gzip('a')).length > 0,
  process: () => process.platform.length > 0 && (process.env['NONE'] ?? '') === '',
  inspected: () => inspect(new Map([['a', 1]])).includes('a'),
  currency: () => new Intl.NumberFormat('en-US', { style: 'currency', currency: 'EUR' }).format(1) === '€1.00',
  'relative time': () => new Intl.RelativeTimeFormat('en').format(-1, 'day') === '1 day ago',
  'date of a time zone': () =>
    new Date(0).toLocaleDateString('en-US', { timeZone: 'UTC', dateStyle: 'medium' }) === 'Jan 1, 1970',
  blob: () => new Blob(['a'], { type: 'text/plain' }).size === 1,
  'stream of the web': async () => {
    const reader = new Blob(['a']).stream().getReader();
    const { value } = await reader.read();
    return value?.length === 1;
  },
  'weak reference': () => new WeakRef(idioms).deref() === idioms,
};

export default async function main(): Promise<{ tried: number; failed: string[] }> {
  const failed: string[] = [];
  for (const [name, works] of Object.entries(idioms)) {
    try {
      if (!(await works())) failed.push(name);
    } catch (error) {
      failed.push(`${name}: ${String(error)}`);
    }
  }
  return { tried: Object.keys(idioms).length, failed };
}
