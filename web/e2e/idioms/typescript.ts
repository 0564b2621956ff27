// Common TypeScript that every engine runs. Each idiom returns true when it works.
type Idiom = () => boolean | Promise<boolean>;
interface Point {
  readonly x: number;
  readonly y: number;
  label?: string;
}
type Shape = { kind: 'circle'; radius: number } | { kind: 'square'; side: number };
type Result<T, E extends Error = Error> = { ok: true; value: T } | { ok: false; error: E };
type Keys<T> = { [K in keyof T]: K }[keyof T];
type Getters<T> = { [K in keyof T as `get${Capitalize<string & K>}`]: () => T[K] };
type ElementOf<T> = T extends readonly (infer E)[] ? E : never;
type Brand<T, B extends string> = T & { readonly __brand: B };
type UserId = Brand<string, 'UserId'>;
type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

enum Level {
  Low = 1,
  High,
}
const enum Direction {
  Up = 'up',
}
namespace Geometry {
  export const origin: Point = { x: 0, y: 0 };
}

abstract class Animal {
  protected constructor(readonly name: string) {}
  abstract sound(): string;
  speak(): string {
    return `${this.name}: ${this.sound()}`;
  }
}
class Dog extends Animal implements Iterable<string> {
  static #made = 0;
  static {
    Dog.#made = 0;
  }
  private tricks: string[] = [];
  constructor(
    name: string,
    public age = 1,
  ) {
    super(name);
    Dog.#made++;
  }
  static get made(): number {
    return Dog.#made;
  }
  override sound(): string {
    return 'woof';
  }
  learn(trick: string): this {
    this.tricks.push(trick);
    return this;
  }
  *[Symbol.iterator](): Generator<string> {
    yield* this.tricks;
  }
}
class Box<T> {
  constructor(private readonly content: T) {}
  map<U>(change: (content: T) => U): Box<U> {
    return new Box(change(this.content));
  }
  get value(): T {
    return this.content;
  }
}
class HttpError extends Error {
  constructor(
    readonly status: number,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
const isString = (value: unknown): value is string => typeof value === 'string';
function assertNumber(value: unknown): asserts value is number {
  if (typeof value !== 'number') throw new TypeError('not a number');
}
function parse(text: string): number;
function parse(text: string, fallback: string): number | string;
function parse(text: string, fallback?: string): number | string {
  const n = Number(text);
  return Number.isNaN(n) ? (fallback ?? n) : n;
}
function area(shape: Shape): number {
  switch (shape.kind) {
    case 'circle':
      return Math.PI * shape.radius ** 2;
    case 'square':
      return shape.side ** 2;
    default: {
      const never: never = shape;
      return never;
    }
  }
}
const attempt = <T>(work: () => T): Result<T> => {
  try {
    return { ok: true, value: work() };
  } catch (cause) {
    return { ok: false, error: cause instanceof Error ? cause : new Error(String(cause)) };
  }
};
function groupBy<T, K extends PropertyKey>(items: readonly T[], key: (item: T) => K): Record<K, T[]> {
  const groups = {} as Record<K, T[]>;
  for (const item of items) (groups[key(item)] ??= []).push(item);
  return groups;
}
function debounce<A extends unknown[]>(run: (...args: A) => void, ms: number): (...args: A) => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...args), ms);
  };
}
async function mapLimit<T, U>(items: readonly T[], limit: number, work: (item: T) => Promise<U>): Promise<U[]> {
  const results: U[] = new Array<U>(items.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++;
      const item = items[at];
      if (item !== undefined) results[at] = await work(item);
    }
  };
  await Promise.all(Array.from({ length: limit }, worker));
  return results;
}
async function* pages(): AsyncGenerator<number[], void, undefined> {
  yield [1, 2];
  await sleep(0);
  yield [3];
}

const palette = { red: '#f00', green: '#0f0' } as const satisfies Record<string, `#${string}`>;
const routes = ['home', 'about'] as const;
const words: readonly string[] = ['pear', 'fig', 'apple'];

const idioms: Record<string, Idiom> = {
  'wait with a promise': async () => (await new Promise((r) => setTimeout(r, 1))) === undefined,
  'wait with a typed promise': async () => (await new Promise<void>((resolve) => setTimeout(resolve, 1))) === undefined,
  'wait with a helper': async () => (await sleep(1)) === undefined,
  'timer with arguments': () => new Promise((done) => setTimeout((a: number, b: number) => done(a + b === 3), 0, 1, 2)),
  'timer that is cleared': () => {
    const timer: ReturnType<typeof setTimeout> = setTimeout(() => undefined, 1000);
    clearTimeout(timer);
    return true;
  },
  debounce: () => new Promise((done) => debounce((on: boolean) => done(on), 0)(true)),
  'time out a promise': async () => {
    const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error('late')), 1));
    return (await Promise.race([late, sleep(1000)]).catch((error: Error) => error.message)) === 'late';
  },
  'all promises': async () => {
    const [n, text] = await Promise.all([Promise.resolve(1), Promise.resolve('a')]);
    return n.toFixed() + text.toUpperCase() === '1A';
  },
  'settled promises': async () => {
    const [first] = await Promise.allSettled([Promise.reject(new Error('no'))]);
    return first?.status === 'rejected' && (first.reason as Error).message === 'no';
  },
  'limited in parallel': async () => same(await mapLimit([1, 2, 3], 2, async (n) => n * 2), [2, 4, 6]),
  retry: async () => {
    for (let tries = 1; ; tries++) {
      try {
        if (tries < 3) throw new HttpError(503, 'again');
        return tries === 3;
      } catch (error) {
        if (!(error instanceof HttpError)) throw error;
        await sleep(0);
      }
    }
  },
  pages: async () => {
    const all: number[] = [];
    for await (const page of pages()) all.push(...page);
    return all.length === 3;
  },
  'union by its kind': () => area({ kind: 'square', side: 2 }) === 4,
  result: () => {
    const read = attempt(() => JSON.parse('{') as unknown);
    return !read.ok && read.error instanceof SyntaxError;
  },
  'type guard': () => [1, 'a'].filter(isString)[0]?.length === 1,
  assertion: () => {
    const value: unknown = 1;
    assertNumber(value);
    return value.toFixed(1) === '1.0';
  },
  overload: () => parse('1') === 1 && parse('x', 'none') === 'none',
  'generic function': () => groupBy(words, (word) => word.length)[3]?.[0] === 'fig',
  'generic class': () => new Box(1).map(String).value === '1',
  'conditional type': () => {
    const word: ElementOf<typeof routes> = 'home';
    return word === 'home';
  },
  'mapped type': () => {
    const getters: Getters<{ name: string }> = { getName: () => 'x' };
    return getters.getName() === 'x';
  },
  'keys of a type': () => {
    const key: Keys<Point> = 'x';
    return key === 'x';
  },
  'template literal type': () => {
    const size: `${number}px` = '12px';
    return Number.parseInt(size) === 12;
  },
  'branded type': () => ('u1' as UserId).length === 2,
  'recursive type': () => {
    const value: Json = { a: [1, { b: null }] };
    return same(value, { a: [1, { b: null }] });
  },
  'const assertion': () => routes.includes('home'),
  satisfies: () => palette.red.slice(1) === 'f00',
  'keyof typeof': () => {
    const colour: keyof typeof palette = 'green';
    return palette[colour] === '#0f0';
  },
  'partial, pick, omit': () => {
    const a: Partial<Point> = { x: 1 };
    const b: Pick<Point, 'x'> = { x: 1 };
    const c: Omit<Point, 'x' | 'label'> = { y: 1 };
    return a.x === b.x && c.y === 1;
  },
  'required and readonly': () => {
    const p: Readonly<Required<Point>> = { x: 1, y: 2, label: 'p' };
    return p.label.length === 1;
  },
  record: () => {
    const counts: Record<string, number> = {};
    for (const letter of 'banana') counts[letter] = (counts[letter] ?? 0) + 1;
    return counts['a'] === 3;
  },
  'exclude and extract': () => {
    const a: Exclude<'a' | 'b', 'b'> = 'a';
    const b: Extract<'a' | 'b', 'b'> = 'b';
    return a + b === 'ab';
  },
  'parameters and return type': () => {
    const args: Parameters<typeof parse> = ['1', 'x'];
    const out: ReturnType<typeof sleep> = Promise.resolve();
    return args.length === 2 && out instanceof Promise;
  },
  awaited: () => {
    const n: Awaited<Promise<number>> = 1;
    return n === 1;
  },
  'non-null': () => {
    const found = new Map([['a', 1]]).get('a')!;
    return found === 1;
  },
  tuple: () => {
    const pair: [name: string, age: number] = ['a', 1];
    const [name, age] = pair;
    return name + age === 'a1';
  },
  'rest of a tuple': () => {
    const args: [string, ...number[]] = ['a', 1, 2];
    return args.length === 3;
  },
  enum: () => Level.High === 2 && Level[1] === 'Low',
  'const enum': () => Direction.Up === 'up',
  namespace: () => Geometry.origin.x === 0,
  'abstract class': () => new Dog('Rex').speak() === 'Rex: woof',
  'parameter property': () => new Dog('Rex', 3).age === 3,
  'chained methods': () => same([...new Dog('Rex').learn('sit').learn('roll')], ['sit', 'roll']),
  'private static': () => Dog.made > 0,
  'error of a class': () => {
    const error = new HttpError(404, 'none', { cause: new Error('x') });
    return error.name === 'HttpError' && error.status === 404 && error.cause instanceof Error;
  },
  'unknown in catch': () => {
    try {
      throw new Error('x');
    } catch (error: unknown) {
      return (error instanceof Error ? error.message : '') === 'x';
    }
  },
  'index signature': () => {
    const o: { [name: string]: number | undefined } = { a: 1 };
    return o['b'] === undefined;
  },
  'function type': () => {
    const add: (a: number, b: number) => number = (a, b) => a + b;
    return add(1, 2) === 3;
  },
  'optional parameter': () => {
    const greet = (name?: string): string => `hi ${name ?? 'you'}`;
    return greet() === 'hi you';
  },
  'rest parameter': () => ((...all: number[]) => all.length)(1, 2) === 2,
  'this parameter': () => {
    function who(this: { name: string }): string {
      return this.name;
    }
    return who.call({ name: 'x' }) === 'x';
  },
  'bound function': () => Math.max.bind(null, 5)(3) === 5,
  'optional call': () => {
    const handlers: { done?: () => number } = {};
    return handlers.done?.() === undefined;
  },
  'logical assignment': () => {
    let name: string | undefined;
    name ||= 'x';
    return name === 'x';
  },
  'destructured parameter': () => (({ x, y = 2 }: { x: number; y?: number }) => x + y)({ x: 1 }) === 3,
  spread: () => same({ ...Geometry.origin, x: 1 }, { x: 1, y: 0 }),
  'entries of an object': () => Object.entries({ a: 1 }).every(([key, n]) => key === 'a' && n === 1),
  'object of entries': () => Object.fromEntries(words.map((word) => [word, word.length]))['fig'] === 3,
  'typed reduce': () => words.reduce<Record<string, number>>((all, w) => ({ ...all, [w]: w.length }), {})['fig'] === 3,
  sum: () => [1, 2, 3].reduce((a, b) => a + b) === 6,
  'sort by two keys': () => [...words].sort((a, b) => a.length - b.length || a.localeCompare(b))[0] === 'fig',
  'sorted copy': () => words.toSorted().at(0) === 'apple',
  'last that fits': () => words.findLast((w) => w.includes('p')) === 'apple',
  chunks: () => {
    const chunks = Array.from({ length: 2 }, (_, n) => words.slice(n * 2, n * 2 + 2));
    return chunks[1]?.[0] === 'apple';
  },
  zip: () => same(words.map((w, n) => [n, w] as const)[1], [1, 'fig']),
  'without repeats': () => [...new Set([1, 1])].length === 1,
  'sets combined': () => {
    const a = new Set([1, 2]);
    const b = new Set([2, 3]);
    return [...a].filter((n) => b.has(n)).length === 1;
  },
  'map of lists': () => {
    const lists = new Map<string, number[]>();
    lists.set('a', [...(lists.get('a') ?? []), 1]);
    return lists.get('a')?.length === 1;
  },
  cache: () => {
    const cache = new Map<number, number>();
    const square = (n: number): number => {
      const known = cache.get(n);
      if (known !== undefined) return known;
      cache.set(n, n * n);
      return n * n;
    };
    return square(3) === square(3);
  },
  'weak map of objects': () => new WeakMap<object, number>([[palette, 1]]).get(palette) === 1,
  'memory of a class': () => Object.getPrototypeOf(new Dog('a')) === Dog.prototype,
  'generator with a type': () => {
    function* ids(): Generator<string, void, undefined> {
      yield 'a';
    }
    return [...ids()][0] === 'a';
  },
  'iterator protocol': () => {
    const range: Iterable<number> = {
      *[Symbol.iterator]() {
        yield 1;
      },
    };
    return Array.from(range).length === 1;
  },
  'big integer': () => BigInt('9007199254740993') === 9007199254740993n,
  bits: () => 0b1010 >>> 1 === 5 && ~0 >>> 0 === 0xffffffff,
  date: () => new Date(Date.UTC(2026, 0, 1)).toISOString().slice(0, 10) === '2026-01-01',
  'date plus days': () => {
    const date = new Date('2026-01-31T00:00:00Z');
    date.setUTCDate(date.getUTCDate() + 1);
    return date.getUTCMonth() === 1;
  },
  'regular expression': () => {
    const match = /^(?<major>\d+)\.(?<minor>\d+)$/.exec('1.2');
    return match?.groups?.['minor'] === '2' && match[1] === '1';
  },
  'all matches': () => Array.from('a1b22'.matchAll(/\d+/g), ([digits]) => digits.length).join() === '1,2',
  'replace by a table': () => '{a}'.replace(/\{(\w+)\}/g, (_, key: string) => ({ a: 'x' })[key] ?? '') === 'x',
  capitalized: () => 'abc'.charAt(0).toUpperCase() + 'abc'.slice(1) === 'Abc',
  slug: () =>
    'Ünïcode Text'
      .normalize('NFD')
      .replace(/[\u0300-\u036f]/g, '')
      .toLowerCase()
      .replaceAll(' ', '-') === 'unicode-text',
  'json with a type': () => (JSON.parse('{"x":1,"y":2}') as Point).y === 2,
  'json for people': () => JSON.stringify({ a: 1 }, null, 2).includes('\n'),
  'deep copy': () => structuredClone({ a: { b: [1] } }).a.b[0] === 1,
  address: () => {
    const url = new URL('https://example.com/a');
    url.searchParams.set('q', 'x y');
    return String(url) === 'https://example.com/a?q=x+y';
  },
  'query in a loop': () => [...new URLSearchParams('a=1&b=2')].map(([key]) => key).join('') === 'ab',
  bytes: () => new Uint8Array(new TextEncoder().encode('ab').buffer).length >= 2,
  'bytes as hex': () => [...new Uint8Array([1, 255])].map((b) => b.toString(16).padStart(2, '0')).join('') === '01ff',
  'base64 of text': () => Buffer.from('ü', 'utf8').toString('base64') === 'w7w=',
  'data view': () => {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat32(0, 1.5, true);
    return view.getFloat32(0, true) === 1.5;
  },
  random: () => crypto.randomUUID() !== crypto.randomUUID(),
  'random bytes': () => crypto.getRandomValues(new Uint32Array(1)).length === 1,
  clock: () => Math.round(performance.now()) >= 0,
  'cancel by a signal': async () => {
    const control = new AbortController();
    const work = new Promise<string>((_, reject) => {
      control.signal.addEventListener('abort', () => reject(control.signal.reason as Error), { once: true });
    });
    control.abort(new Error('stop'));
    return (await work.catch((error: Error) => error.message)) === 'stop';
  },
  'signal of a fetch': () => {
    const init = { method: 'POST', body: JSON.stringify({}), signal: AbortSignal.timeout(1000) };
    const ask = (): Promise<Response> => fetch('https://example.com', init);
    return typeof ask === 'function';
  },
  headers: () => new Headers({ Accept: 'text/plain' }).get('accept') === 'text/plain',
  answer: async () => ((await new Response('[1]').json()) as number[])[0] === 1,
  'import of a type': () => {
    const response: Pick<Response, 'status'> = { status: 200 };
    return response.status === 200;
  },
  console: () => {
    console.log('%s', 'x');
    console.table([{ a: 1 }]);
    console.time('t');
    console.timeEnd('t');
    console.dir({ a: 1 });
    console.group('g');
    console.groupEnd();
    return true;
  },
  'symbol as a key': () => {
    const key = Symbol('key');
    return { [key]: 1 }[key] === 1;
  },
  microtask: () => new Promise((done) => queueMicrotask(() => done(true))),
};

export default async function main(input: Input, ctx: Ctx): Promise<Output> {
  const failed: string[] = [];
  for (const [name, works] of Object.entries(idioms)) {
    try {
      if (!(await works())) failed.push(name);
    } catch (error) {
      failed.push(`${name}: ${String(error)}`);
    }
  }
  ctx.log('info', 'tried', { count: Object.keys(idioms).length });
  return { tried: Object.keys(idioms).length, failed };
}
