// Common JavaScript that every engine runs. Each idiom returns true when it works.
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const words = ['pear', 'fig', 'apple'];

class Stack {
  #items = [];
  static of(...items) {
    const stack = new Stack();
    for (const item of items) stack.push(item);
    return stack;
  }
  push(item) {
    this.#items.push(item);
    return this;
  }
  get size() {
    return this.#items.length;
  }
  *[Symbol.iterator]() {
    yield* this.#items;
  }
}

class NotFound extends Error {
  constructor(name, options) {
    super(`${name} was not found`, options);
    this.name = 'NotFound';
  }
}

function* count(to) {
  for (let n = 1; n <= to; n++) yield n;
}

async function* ticks(to) {
  for (let n = 1; n <= to; n++) {
    await sleep(0);
    yield n;
  }
}

const idioms = {
  'wait with a promise': async () => (await new Promise((r) => setTimeout(r, 1))) === undefined,
  'wait with a helper': async () => (await sleep(1)) === undefined,
  'timer with arguments': () => new Promise((done) => setTimeout((a, b) => done(a + b === 3), 0, 1, 2)),
  'interval that ends': () =>
    new Promise((done) => {
      let n = 0;
      const timer = setInterval(() => {
        if (++n === 2) {
          clearInterval(timer);
          done(true);
        }
      }, 0);
    }),
  immediate: () => new Promise((done) => setImmediate(() => done(true))),
  microtask: () => new Promise((done) => queueMicrotask(() => done(true))),
  'time out a promise': async () => (await Promise.race([sleep(1000), sleep(1).then(() => 'late')])) === 'late',
  'all promises': async () => same(await Promise.all([1, Promise.resolve(2)]), [1, 2]),
  'settled promises': async () =>
    (await Promise.allSettled([Promise.reject(new Error('no')), 1]))[0].status === 'rejected',
  'any promise': async () => (await Promise.any([Promise.reject(new Error('no')), Promise.resolve(1)])) === 1,
  finally: async () => {
    let ended = false;
    await Promise.resolve(1).finally(() => (ended = true));
    return ended;
  },
  retry: async () => {
    let tries = 0;
    const attempt = async () => {
      if (++tries < 3) throw new Error('again');
      return tries;
    };
    for (;;) {
      try {
        return (await attempt()) === 3;
      } catch {
        continue;
      }
    }
  },
  'batches in parallel': async () => {
    const found = [];
    for (let n = 0; n < 6; n += 2) found.push(...(await Promise.all([n, n + 1].map(async (m) => m * 2))));
    return found.at(-1) === 10;
  },
  'async iteration': async () => {
    let sum = 0;
    for await (const n of ticks(3)) sum += n;
    return sum === 6;
  },
  generator: () => same([...count(3)], [1, 2, 3]),
  'iterator by hand': () => count(1).next().value === 1,
  'class with a private field': () => new Stack().push(1).size === 1,
  'class that iterates': () => same([...Stack.of(1, 2)], [1, 2]),
  'error with a cause': () => new NotFound('x', { cause: new Error('y') }).cause instanceof Error,
  'error of a class': () => {
    try {
      throw new NotFound('x');
    } catch (error) {
      return error instanceof NotFound && error.message === 'x was not found';
    }
  },
  'aggregate error': () => new AggregateError([new Error('a')], 'all').errors.length === 1,
  destructuring: () => {
    const { a, ...rest } = { a: 1, b: 2 };
    return a === 1 && same(rest, { b: 2 });
  },
  'default of a parameter': () => ((n = 2) => n)() === 2,
  swap: () => {
    let [a, b] = [1, 2];
    [a, b] = [b, a];
    return a === 2 && b === 1;
  },
  'optional chain': () => /** @type {any} */ ({}).a?.b?.[0]?.() === undefined,
  'nullish assignment': () => {
    /** @type {{ n?: number }} */
    const o = {};
    o.n ??= 3;
    return o.n === 3;
  },
  'spread of objects': () => same({ ...{ a: 1 }, b: 2 }, { a: 1, b: 2 }),
  'computed key': () => ({ ['a' + 1]: 1 }).a1 === 1,
  template: () => `${1 + 1}` === '2',
  'tagged template': () => String.raw`\n`.length === 2,
  'numeric separator': () => 1_000 === 1000,
  'big integer': () => 2n ** 64n === 18446744073709551616n,
  label: () => {
    let n = 0;
    outer: for (const a of [1, 2]) {
      for (const b of [1, 2]) {
        if (b === 2) continue outer;
        n += a;
      }
    }
    return n === 3;
  },
  'map, filter, reduce': () =>
    [1, 2, 3]
      .map((n) => n * 2)
      .filter((n) => n > 2)
      .reduce((a, b) => a + b, 0) === 10,
  'flat map': () =>
    same(
      [1, 2].flatMap((n) => [n, n]),
      [1, 1, 2, 2],
    ),
  'sort by a key': () => [...words].sort((a, b) => a.localeCompare(b))[0] === 'apple',
  'sorted copy': () => words.toSorted()[0] === 'apple' && words[0] === 'pear',
  'reversed copy': () => words.toReversed()[0] === 'apple',
  'replaced copy': () => words.with(0, 'kiwi')[0] === 'kiwi',
  'spliced copy': () => words.toSpliced(0, 1).length === 2,
  'last of a list': () => words.at(-1) === 'apple',
  'find last': () => words.findLast((word) => word.startsWith('f')) === 'fig',
  'find last index': () => words.findLastIndex((word) => word === 'fig') === 1,
  'list of a length': () =>
    same(
      Array.from({ length: 2 }, (_, n) => n),
      [0, 1],
    ),
  'filled list': () => same(new Array(2).fill(0), [0, 0]),
  'without repeats': () => [...new Set([1, 1, 2])].length === 2,
  'entries of an object': () => same(Object.entries({ a: 1 }), [['a', 1]]),
  'object of entries': () => same(Object.fromEntries([['a', 1]]), { a: 1 }),
  'own property': () => Object.hasOwn({ a: 1 }, 'a'),
  frozen: () => Object.isFrozen(Object.freeze({})),
  'grouped by a reduce': () => {
    const groups = words.reduce((all, word) => ({ ...all, [word.length]: [...(all[word.length] ?? []), word] }), {});
    return Object.keys(groups).length === 3;
  },
  'counted in a map': () => {
    const counts = new Map();
    for (const letter of 'banana') counts.set(letter, (counts.get(letter) ?? 0) + 1);
    return counts.get('a') === 3;
  },
  'sorted map': () =>
    [
      ...new Map([
        ['b', 1],
        ['a', 2],
      ]),
    ].sort(([a], [b]) => (a < b ? -1 : 1))[0][0] === 'a',
  'weak map': () => new WeakMap([[words, 1]]).get(words) === 1,
  symbol: () => Symbol('s').description === 's',
  proxy: () => new Proxy({}, { get: (_, name) => String(name) })['x'] === 'x',
  reflect: () => Reflect.ownKeys({ a: 1 }).length === 1,
  'getter and setter': () => {
    const o = {
      value: 1,
      get double() {
        return this.value * 2;
      },
      set double(n) {
        this.value = n / 2;
      },
    };
    o.double = 8;
    return o.value === 4;
  },
  'pad and trim': () => ' x '.trim().padStart(3, '0') === '00x',
  'replace all': () => 'a-b-c'.replaceAll('-', '') === 'abc',
  'split and join': () => 'a,b'.split(',').join(';') === 'a;b',
  'match all': () => [...'a1b2'.matchAll(/([a-z])(\d)/g)].length === 2,
  'named groups': () => /(?<year>\d{4})/.exec('in 2026')?.groups?.year === '2026',
  'replace with a function': () => 'a1'.replace(/\d/, (digit) => String(Number(digit) + 1)) === 'a2',
  'class of letters': () => /^[A-ZÄÖÜ]/u.test('Ä'),
  'sticky pattern': () => /a/y.test('ab'),
  lookbehind: () => /(?<=\$)\d+/.exec('$12')?.[0] === '12',
  'code points': () => [...'a😀'].length === 2,
  'normal form': () => 'é'.normalize('NFD').length === 2,
  'json with a replacer': () => JSON.stringify({ a: 1, b: 2 }, ['a']) === '{"a":1}',
  'json with a reviver': () =>
    JSON.parse('{"a":1}', (_, value) => (typeof value === 'number' ? value + 1 : value)).a === 2,
  'deep copy': () => {
    const copy = structuredClone({ a: new Date(0), b: new Map([[1, 2]]) });
    return copy.a.getTime() === 0 && copy.b.get(1) === 2;
  },
  'date to ISO': () => new Date(0).toISOString().startsWith('1970-01-01'),
  'date from parts': () => new Date(Date.UTC(2026, 0, 31)).getUTCDate() === 31,
  'difference of dates': () => (Date.parse('2026-01-02') - Date.parse('2026-01-01')) / 86_400_000 === 1,
  'rounded number': () => (1.005).toFixed(1) === '1.0',
  'parsed number': () => Number.parseInt('ff', 16) === 255 && Number.isNaN(Number('x')),
  'grouped digits': () => (1234.5).toLocaleString('en-US') === '1,234.5',
  'greatest and least': () => Math.max(...[1, 3, 2]) === 3 && Math.min(1, 2) === 1,
  clamp: () => Math.min(Math.max(5, 0), 3) === 3,
  address: () => new URL('/a?b=1', 'https://example.com').searchParams.get('b') === '1',
  query: () => new URLSearchParams({ a: '1', b: 'x y' }).toString() === 'a=1&b=x+y',
  'escaped address': () => encodeURIComponent('a b/ü') === 'a%20b%2F%C3%BC',
  'text to bytes': () => new TextEncoder().encode('ü').length === 2,
  'bytes to text': () => new TextDecoder().decode(new Uint8Array([195, 188])) === 'ü',
  base64: () => atob(btoa('hello')) === 'hello',
  'buffer to hex': () => Buffer.from('hi').toString('hex') === '6869',
  'buffers joined': () => Buffer.concat([Buffer.from('a'), Buffer.from('b')]).toString() === 'ab',
  'buffer by number': () => Buffer.from([1, 2, 3, 4]).readUInt32BE(0) === 16909060,
  'data view': () => new DataView(new ArrayBuffer(4)).getInt32(0) === 0,
  'typed array': () => Float64Array.from([1, 2]).reduce((a, b) => a + b) === 3,
  'random UUID': () => crypto.randomUUID().length === 36,
  'random bytes': () => crypto.getRandomValues(new Uint8Array(4)).length === 4,
  clock: () => performance.now() >= 0,
  cancel: () => {
    const cancel = new AbortController();
    cancel.signal.addEventListener('abort', () => undefined, { once: true });
    cancel.abort();
    return cancel.signal.aborted;
  },
  'signal that ends by itself': () => !AbortSignal.timeout(1000).aborted,
  'signal of several': () => AbortSignal.any([AbortSignal.abort()]).aborted,
  'event target': () => {
    const target = new EventTarget();
    let heard = 0;
    target.addEventListener('x', () => heard++);
    target.dispatchEvent(new Event('x'));
    return heard === 1;
  },
  'answer and headers': async () => {
    const answer = new Response('{"a":1}', { status: 201, headers: { 'Content-Type': 'application/json' } });
    return answer.ok && answer.headers.get('content-type') === 'application/json' && (await answer.json()).a === 1;
  },
  console: () => {
    console.log('text %s', 'x', { a: 1 });
    console.info('info');
    console.debug('debug');
    console.warn('warn');
    console.error('error');
    console.table([{ a: 1 }]);
    console.dir({ a: { b: 1 } }, { depth: 1 });
    console.group('group');
    console.groupEnd();
    console.time('t');
    console.timeLog('t');
    console.timeEnd('t');
    console.count();
    console.assert(true, 'never');
    console.trace('trace');
    return true;
  },
  'global object': () => typeof globalThis.setTimeout === 'function',
};

/**
 * @param {Input} input
 * @param {Ctx} ctx
 */
export default async function main(input, ctx) {
  const failed = [];
  for (const [name, works] of Object.entries(idioms)) {
    try {
      if (!(await works())) failed.push(name);
    } catch (error) {
      failed.push(`${name}: ${error.message}`);
    }
  }
  ctx.log('info', 'tried', { count: Object.keys(idioms).length });
  ctx.progress(1, 1);
  return { tried: Object.keys(idioms).length, failed };
}
