// URL and URLSearchParams of the WHATWG URL Standard. The Go code parses and changes URLs; this file implements the two
// classes.
(function (native) {
  "use strict";
  const failure = (code, message, more) => Object.assign(new TypeError(message), { code, ...more });
  const missing = (names) => failure("ERR_MISSING_ARGS", `The ${names} must be specified`);
  const text = (value) => native.text(`${value}`);
  const inspected = Symbol.for("nodejs.util.inspect.custom");

  let replace; // replaces the pairs of a URLSearchParams without changing its URL
  let connect; // sets the function that a URLSearchParams calls after each change

  const iteratorPrototype = Object.create(Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())));
  const cursors = new WeakMap();
  Object.defineProperties(iteratorPrototype, {
    next: {
      value() {
        const cursor = cursors.get(this);
        if (cursor === undefined) throw new TypeError("Value of \"this\" must be of type URLSearchParamsIterator");
        const pair = cursor.pairs()[cursor.index++];
        return pair === undefined ? { value: undefined, done: true } : { value: cursor.pick(pair), done: false };
      },
      enumerable: true, writable: true, configurable: true,
    },
    [Symbol.toStringTag]: { value: "URLSearchParams Iterator", configurable: true },
  });
  const iterate = (pairs, pick) => {
    const iterator = Object.create(iteratorPrototype);
    cursors.set(iterator, { pairs, pick, index: 0 });
    return iterator;
  };

  class URLSearchParams {
    #pairs = [];
    #changed = () => {};
    static {
      replace = (params, query) => (params.#pairs = native.decode(query));
      connect = (params, changed) => (params.#changed = changed);
    }

    constructor(init = undefined) {
      if (init === undefined || init === null) return;
      if (typeof init !== "object" && typeof init !== "function") {
        const query = `${init}`;
        this.#pairs = native.decode(query[0] === "?" ? query.slice(1) : query);
        return;
      }
      const iterator = init[Symbol.iterator];
      if (iterator === undefined || iterator === null) {
        const pairs = new Map(); // if two keys become the same text, the last value is used
        for (const key of Reflect.ownKeys(init)) {
          if (Reflect.getOwnPropertyDescriptor(init, key)?.enumerable) pairs.set(text(key), text(init[key]));
        }
        this.#pairs = [...pairs];
        return;
      }
      if (typeof iterator !== "function") throw failure("ERR_ARG_NOT_ITERABLE", "Query pairs must be iterable");
      for (const pair of init) {
        const tuple = () => failure("ERR_INVALID_TUPLE", "Each query pair must be an iterable [name, value] tuple");
        if (pair === null || (typeof pair !== "object" && typeof pair !== "function") || typeof pair[Symbol.iterator] !== "function") throw tuple();
        const list = [...pair];
        if (list.length !== 2) throw tuple();
        this.#pairs.push([text(list[0]), text(list[1])]);
      }
    }
    get size() {
      return this.#pairs.length;
    }
    append(name, value) {
      if (arguments.length < 2) throw missing('"name" and "value" arguments');
      this.#pairs.push([text(name), text(value)]);
      this.#changed();
    }
    delete(name, value = undefined) {
      if (arguments.length < 1) throw missing('"name" argument');
      name = text(name);
      if (value !== undefined) value = text(value);
      this.#pairs = this.#pairs.filter(([n, v]) => n !== name || (value !== undefined && v !== value));
      this.#changed();
    }
    get(name) {
      if (arguments.length < 1) throw missing('"name" argument');
      name = text(name);
      return this.#pairs.find(([n]) => n === name)?.[1] ?? null;
    }
    getAll(name) {
      if (arguments.length < 1) throw missing('"name" argument');
      name = text(name);
      return this.#pairs.filter(([n]) => n === name).map(([, value]) => value);
    }
    has(name, value = undefined) {
      if (arguments.length < 1) throw missing('"name" argument');
      name = text(name);
      if (value !== undefined) value = text(value);
      return this.#pairs.some(([n, v]) => n === name && (value === undefined || v === value));
    }
    set(name, value) {
      if (arguments.length < 2) throw missing('"name" and "value" arguments');
      name = text(name);
      const pair = [name, text(value)];
      const first = this.#pairs.findIndex(([n]) => n === name);
      if (first < 0) this.#pairs.push(pair);
      else this.#pairs = this.#pairs.map((old, i) => (i === first ? pair : old)).filter((kept) => kept === pair || kept[0] !== name);
      this.#changed();
    }
    sort() {
      this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#changed();
    }
    entries() {
      return iterate(() => this.#pairs, ([name, value]) => [name, value]);
    }
    forEach(callback, self = undefined) {
      if (typeof callback !== "function") throw failure("ERR_INVALID_ARG_TYPE", `The "callback" argument must be of type function. Received ${native.kind(callback)}`);
      for (let i = 0; i < this.#pairs.length; i++) callback.call(self, this.#pairs[i][1], this.#pairs[i][0], this);
    }
    keys() {
      return iterate(() => this.#pairs, ([name]) => name);
    }
    values() {
      return iterate(() => this.#pairs, ([, value]) => value);
    }
    toString() {
      return native.encode(this.#pairs);
    }
    [inspected](depth, options, inspect) {
      if (depth < 0) return "[Object]";
      const pairs = this.#pairs.map(([name, value]) => `${inspect(name)} => ${inspect(value)}`);
      return pairs.length === 0 ? "URLSearchParams {}" : `URLSearchParams { ${pairs.join(", ")} }`;
    }
  }
  const enumerable = (target, names) => {
    for (const name of names) Object.defineProperty(target, name, { enumerable: true });
  };
  enumerable(URLSearchParams.prototype, ["size", "append", "delete", "get", "getAll", "has", "set", "sort", "entries", "forEach", "keys", "values", "toString"]);
  Object.defineProperties(URLSearchParams.prototype, {
    [Symbol.toStringTag]: { value: "URLSearchParams", configurable: true },
    [Symbol.iterator]: { value: URLSearchParams.prototype.entries, writable: true, configurable: true },
  });

  const parse = (input, base) => native.parse(`${input}`, base === undefined ? undefined : `${base}`);

  // Names of the parts that have a simple getter and setter, in the order in which Node lists them.
  const parts = ["protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];

  class URL {
    #part;
    #params;
    constructor(input, base = undefined) {
      if (arguments.length === 0) throw missing('"url" argument');
      const part = parse(input, base);
      if (part === undefined) throw failure("ERR_INVALID_URL", "Invalid URL", base === undefined ? { input: `${input}` } : { input: `${input}`, base: `${base}` });
      this.#part = part;
    }
    static canParse(input, base = undefined) {
      if (arguments.length === 0) throw missing('"url" argument');
      return parse(input, base) !== undefined;
    }
    static parse(input, base = undefined) {
      if (arguments.length === 0) throw missing('"url" argument');
      return parse(input, base) === undefined ? null : new URL(input, base);
    }
    static {
      for (const name of parts) {
        Object.defineProperty(URL.prototype, name, {
          get() {
            return this.#part(name);
          },
          set(value) {
            this.#part(name, `${value}`);
            if (name === "search" && this.#params !== undefined) replace(this.#params, this.#part("query"));
          },
          enumerable: true,
          configurable: true,
        });
      }
    }
    get href() {
      return this.#part("href");
    }
    set href(value) {
      const part = parse(value);
      if (part === undefined) throw failure("ERR_INVALID_URL", "Invalid URL", { input: `${value}` });
      this.#part = part;
      if (this.#params !== undefined) replace(this.#params, part("query"));
    }
    get origin() {
      return this.#part("origin");
    }
    get searchParams() {
      if (this.#params === undefined) {
        this.#params = new URLSearchParams();
        replace(this.#params, this.#part("query"));
        connect(this.#params, () => this.#part("search", this.#params.toString()));
      }
      return this.#params;
    }
    toString() {
      return this.href;
    }
    toJSON() {
      return this.href;
    }
    [inspected](depth) {
      if (depth < 0) return `${this.constructor.name} {}`;
      const { href, origin, protocol, username, password, host, hostname, port, pathname, search, searchParams, hash } = this;
      const members = { href, origin, protocol, username, password, host, hostname, port, pathname, search, searchParams, hash };
      return Object.assign(Object.create({ constructor: this.constructor }), members);
    }
  }
  enumerable(URL.prototype, ["toString", "href", "origin", "searchParams", "toJSON"]);
  enumerable(URL, ["canParse", "parse"]);
  Object.defineProperty(URL.prototype, Symbol.toStringTag, { value: "URL", configurable: true });

  return { URL, URLSearchParams };
});
