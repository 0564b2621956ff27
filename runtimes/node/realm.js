// Gives a fresh context what Node's own has beyond the language, but for Node's modules. Classes of the web are those of
// the process, frozen or lent; the rest is made here.
(host, inner, web) => {
  "use strict";
  const define = (target, members) => {
    for (const [name, value] of Object.entries(members)) Object.defineProperty(target, name, { value, writable: true, configurable: true });
  };
  const offer = (target, name, get) => Object.defineProperty(target, name, {
    configurable: true, get, set: (value) => Object.defineProperty(target, name, { value, writable: true, configurable: true }),
  });

  class Timeout {
    #id;
    constructor(id) {
      this.#id = id;
    }
    ref() {
      return this;
    }
    unref() {
      return this;
    }
    hasRef() {
      return true;
    }
    close() {
      host.clear(this.#id);
      return this;
    }
    [Symbol.toPrimitive]() {
      return this.#id;
    }
  }
  const callable = (callback) => {
    if (typeof callback !== "function") throw new TypeError("The callback of a timer is not a function");
    return callback;
  };
  const timer = (repeat) => (callback, delay, ...args) => {
    callable(callback);
    const ms = Number(delay);
    return new Timeout(host.timer(() => callback(...args), ms >= 1 && ms <= 2147483647 ? Math.trunc(ms) : 1, repeat));
  };
  const clear = (id) => host.clear(Number(id ?? 0));

  let depth = 0;
  const counts = new Map(), times = new Map();
  const line = (stream) => (...args) => {
    const text = host.format(args), margin = "  ".repeat(depth);
    host.print(stream, (margin === "" ? text : margin + text.replaceAll("\n", "\n" + margin)) + "\n");
  };
  const out = line(1), err = line(2);
  const group = (...args) => {
    if (args.length > 0) out(...args);
    depth++;
  };
  const since = (label) => {
    const began = times.get(String(label));
    return began === undefined ? undefined : `${label}: ${(host.now() - began).toFixed(3)}ms`;
  };
  const console = {
    log: out, info: out, debug: out, warn: err, error: err, dir: (value) => out(value), dirxml: out, group, groupCollapsed: group,
    trace: (...args) => err("Trace:", ...args),
    groupEnd: () => { depth = Math.max(0, depth - 1); },
    assert: (holds, ...args) => { if (!holds) err("Assertion failed" + (args.length > 0 ? ":" : ""), ...args); },
    count: (label = "default") => { counts.set(label, (counts.get(label) ?? 0) + 1); out(`${label}: ${counts.get(label)}`); },
    countReset: (label = "default") => { counts.delete(label); },
    time: (label = "default") => { times.set(String(label), host.now()); },
    timeLog: (label = "default", ...args) => { const text = since(label); if (text) out(text, ...args); },
    timeEnd: (label = "default") => { const text = since(label); if (text) out(text); times.delete(String(label)); },
    table: out,
  };

  const env = JSON.parse(host.env);
  define(globalThis, {
    console, global: globalThis, fetch: inner.fetch,
    setTimeout: timer(false), setInterval: timer(true), setImmediate: (callback, ...args) => timer(false)(callback, 1, ...args),
    clearTimeout: clear, clearInterval: clear, clearImmediate: clear,
    queueMicrotask: (callback) => { callable(callback); Promise.resolve().then(() => callback()); },
    performance: { now: () => host.now(), timeOrigin: host.origin },
    crypto: { randomUUID: () => host.uuid(), getRandomValues: (view) => { host.random(view); return view; } },
    process: {
      env, argv: ["/usr/bin/node", "/work/program.js"], version: host.version, versions: { node: host.version.slice(1) }, platform: "linux",
      exit: (code) => host.exit(Number(code ?? 0)), nextTick: (callback, ...args) => { callable(callback); Promise.resolve().then(() => callback(...args)); },
      hrtime: { bigint: () => BigInt(Math.round(host.now() * 1e6)) }, cwd: () => "/work", on: () => {}, stdout: { write: (text) => host.print(1, String(text)) }, stderr: { write: (text) => host.print(2, String(text)) },
    },
  });
  for (const name of host.shared) offer(globalThis, name, () => web(name));
  for (const name of host.lent) {
    const target = name in Atomics ? Atomics : globalThis, own = target[name];
    offer(target, name, () => {
      host.last();
      return own ?? web(name);
    });
  }
}
