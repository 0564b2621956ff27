// Runs one agent's program inside its jail. It is there ahead of the run and waits on descriptor 3 for one line: what to
// run. On the same descriptor it asks the host (one line, one answer) and says at last how the program ended. Nothing of
// this can be trusted by the server, and is not: it only makes the messages good.
//
// Started to be reused, it runs each job in a context of its own, one after the other. What all contexts share is frozen,
// and no code is made from text outside of them. It has nothing of Node's modules, so nothing of the jail can be left behind.
// What is lent keeps something of a run, or goes on after it: a run that takes it is the last one of its process.
"use strict";
(() => {
  const fs = require("node:fs");
  const vm = require("node:vm");
  const util = require("node:util");
  const { Writable } = require("node:stream");
  const { SourceMap, builtinModules, createRequire } = require("node:module");
  const REUSE = process.argv.includes("reuse");
  const CHANNEL = 3, NEWLINE = 10;
  const PROGRAM = "/work/(program)", INNER = "/work/(atelier)";
  const SHARED = ["DOMException", "structuredClone"]; // all that they lead to is frozen
  const real = createRequire("/work/program.js");

  // ---- the channel

  let rest = Buffer.alloc(0);
  const receive = () => {
    const parts = [];
    let part = rest;
    for (;;) {
      const end = part.indexOf(NEWLINE);
      if (end >= 0) {
        parts.push(part.subarray(0, end));
        rest = part.subarray(end + 1);
        return parts.length === 1 ? parts[0].toString() : Buffer.concat(parts).toString();
      }
      parts.push(part);
      part = Buffer.allocUnsafe(1 << 16);
      const n = fs.readSync(CHANNEL, part, 0, part.length, null);
      if (n === 0) process.reallyExit(1); // there is nobody left to work for
      part = part.subarray(0, n);
    }
  };
  const write = (fd, bytes) => {
    for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at, bytes.length - at);
  };
  const send = (line) => write(CHANNEL, Buffer.from(line + "\n"));
  // Whether a text that was made among the program's objects is JSON, and no more than a part of one line.
  const sound = (text) => {
    try {
      return typeof text === "string" && !text.includes("\n") && JSON.parse(text) !== undefined;
    } catch {
      return false;
    }
  };
  const ask = (name, args) => {
    if (!sound(args)) throw new TypeError("the arguments of a host function must be JSON");
    send(`{"call":${JSON.stringify(String(name))},"args":${args}}`);
    return receive();
  };

  // ---- the program

  let program = {}; // code, map and names of files: what runs of one program have in common
  let map, script;
  const take = (job) => {
    if (job.code !== undefined) [program, map, script] = [{ code: job.code, map: job.map, entry: job.entry, files: new Set(job.files) }, undefined, undefined];
  };
  const source = (line, column) => {
    map ??= new SourceMap(program.map);
    const entry = map.findEntry(line - 1, column);
    return entry?.originalSource === undefined ? "" : `${entry.originalSource}:${entry.originalLine + 1}:${entry.originalColumn}`;
  };
  const compiled = () => (script ??= new vm.Script(program.code, { filename: PROGRAM }));

  const known = new Set(builtinModules);
  const load = (name) => {
    const text = String(name);
    if (!REUSE && known.has(text.replace(/^node:/, ""))) return real(text);
    throw Object.assign(new Error(`File "${text}" does not exist: only Node modules and relative imports of the agent's own files are possible.`), { code: "MODULE_NOT_FOUND" });
  };

  // A half answers the half that lives with a program.
  const half = (more) => ({
    types: util.types, get entry() { return program.entry; }, own: (name) => program.files.has(name), source, load,
    bytes: (text) => Buffer.byteLength(text),
    inspect: (value) => util.inspect(value, { customInspect: !REUSE }),
    toBase64: (bytes) => Buffer.from(bytes).toString("base64"), fromBase64: (text) => Buffer.from(text, "base64"),
    ask,
    ...more,
  });

  // ---- a run in a process of its own

  let over = false;
  const finish = (told, code) => {
    if (over) return;
    over = true;
    send(`{"end":${told},"code":${code & 255}}`);
    process.reallyExit(code & 255);
  };
  const note = (reason) => (util.types.isNativeError(reason) ? " (in a promise that was not awaited)" : "");
  const FOREVER = () => JSON.stringify({ error: { type: "runtime_error", message: "The program waits forever: main returned a promise that can never settle.", file: program.entry } });
  const UNSOUND = () => JSON.stringify({ error: { type: "invalid_output", message: "The program changed the serialisation of results: its answer is not JSON." } });
  const left = (code) => (code === 0 ? '{"output":null}' : JSON.stringify({ error: { type: "runtime_error", message: `The program exited with code ${code}.` } }));

  const settle = () => {
    // What Node does for a script on its command line is not for programs.
    for (const name of [...builtinModules, "module", "require", "exports", "__filename", "__dirname"]) {
      if (!["process", "console", "crypto", "performance"].includes(name)) delete globalThis[name];
    }
    const set = (name, value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: true });
    Object.defineProperty(globalThis, "crypto", {
      get: () => { const { webcrypto } = real("node:crypto"); set("crypto", webcrypto); return webcrypto; },
      set: (value) => { set("crypto", value); }, configurable: true, enumerable: true,
    });
    for (const [name, fd] of [["stdout", 1], ["stderr", 2]]) {
      const stream = new Writable({ decodeStrings: true, write: (chunk, _, done) => { write(fd, chunk); done(); } });
      Object.assign(stream, { fd, isTTY: false });
      Object.defineProperty(process, name, { value: stream, writable: true, configurable: true, enumerable: true });
    }
    console.log; // binds the console to the streams
    process.argv = ["/usr/bin/node", "/work/program.js"];
    process.execArgv = [];
  };

  const once = async () => {
    settle();
    const mine = inner(half());
    // What every run needs is compiled before the first one that counts.
    const start = new vm.Script("(async function () { return { default: (input) => input } })", { filename: INNER }).runInThisContext();
    await mine.run(start, '{"a":[1,"b",true,null,{}]}', "{}", 1000);
    send('{"ready":true}');
    const job = JSON.parse(receive());
    take(job);
    Object.assign(process.env, job.env);
    send('{"start":true}'); // from here it is the program's time
    globalThis.fetch = mine.fetch;
    const fail = (error, more) => finish(mine.failure(error, more), 1);
    process.on("exit", (code) => finish(left(code), code & 255));
    process.on("beforeExit", () => finish(FOREVER(), 1));
    process.on("uncaughtException", (error) => {
      if (process.listenerCount("uncaughtException") === 1) fail(error);
    });
    process.on("unhandledRejection", (reason) => {
      if (process.listenerCount("unhandledRejection") === 1) fail(reason, note(reason));
    });
    const go = async () => mine.run(mine.compile(() => compiled().runInThisContext()), job.input, JSON.stringify(job.env), job.largest);
    go().then((told) => finish(told, 0), (error) => fail(error));
  };

  // ---- runs in a process that is reused

  let current; // the run that is on, and nothing that a context left behind
  const frozen = new WeakSet();
  const freeze = (value) => {
    if (value === null || (typeof value !== "object" && typeof value !== "function") || frozen.has(value) || ArrayBuffer.isView(value)) return value;
    frozen.add(value);
    Reflect.deleteProperty(value, util.inspect.custom); // hands out util.inspect, whose options all runs would share
    for (const key of Reflect.ownKeys(value)) {
      const { get, set, value: held } = Object.getOwnPropertyDescriptor(value, key);
      [get, set, held].forEach(freeze);
    }
    freeze(Object.getPrototypeOf(value));
    return Object.freeze(value);
  };
  const web = REUSE ? freeze((name) => globalThis[name]) : undefined;
  if (REUSE) for (const name of SHARED) freeze(globalThis[name]);
  // Errors of Node's own have classes that nothing leads to, and that nobody froze.
  const plain = (make) => (...args) => {
    try {
      return make(...args);
    } catch (error) {
      throw new Error(String(error.message));
    }
  };

  const innerScript = new vm.Script("(" + inner.toString() + ")", { filename: INNER });
  const realmScript = new vm.Script("(" + realm.toString() + ")", { filename: INNER });

  const begin = (job) => {
    const timers = new Map();
    let alive = true, last = false, ids = 0;
    const stop = () => {
      alive = false;
      for (const clear of timers.values()) clear();
      timers.clear();
    };
    const guard = (make) => (...args) => {
      if (!alive) throw new Error("The run has finished.");
      return make(...args);
    };
    // A process from which a run did not come back well is used for no other.
    const lose = (told, code) => {
      if (!alive) return;
      stop();
      send(`{"end":${sound(told) ? told : UNSOUND()},"code":${code}}`);
      process.reallyExit(code);
    };
    const win = (told) => {
      if (last || !sound(told)) lose(told, 0);
      if (!alive) return;
      stop();
      current = undefined;
      send(`{"end":${told},"code":0,"again":true}`);
      setImmediate(next); // when what is left of the run has had its last turn
    };
    const context = vm.createContext(Object.create(null), { codeGeneration: { strings: true, wasm: true } });
    const mine = { fail: (error, more) => lose(JSON.stringify({ error: { type: "runtime_error", message: String(error) } }), 1) };
    const host = half({
      ask: guard(ask),
      format: (args) => util.formatWithOptions({ customInspect: false }, ...args),
      print: guard((stream, text) => write(stream === 2 ? 2 : 1, Buffer.from(text))),
      now: () => performance.now(), origin: performance.timeOrigin, uuid: () => real("node:crypto").randomUUID(),
      random: (view) => { real("node:crypto").webcrypto.getRandomValues(view); },
      timer: guard((callback, ms, repeat) => {
        const id = ++ids;
        const handle = (repeat ? setInterval : setTimeout)(() => {
          if (!repeat) timers.delete(id);
          try {
            callback();
          } catch (error) {
            mine.fail(error);
          }
        }, ms);
        timers.set(id, () => clearTimeout(handle));
        return id;
      }),
      clear: (id) => {
        timers.get(id)?.();
        timers.delete(id);
      },
      exit: (code) => lose(left(code), code & 255),
      env: JSON.stringify(job.env), version: process.version, shared: SHARED, lent,
      last: () => { last = true; },
    });
    for (const [name, value] of Object.entries(host)) host[name] = freeze(typeof value === "function" ? plain(value) : value);
    Object.freeze(host);
    current = mine;
    const made = innerScript.runInContext(context)(host);
    mine.fail = (error, more) => {
      if (alive) lose(made.failure(error, more), 1);
    };
    mine.forever = () => lose(FOREVER(), 1);
    realmScript.runInContext(context)(host, made, web);
    try {
      const start = made.compile(() => compiled().runInContext(context));
      made.run(start, job.input, host.env, job.largest).then(win, (error) => mine.fail(error));
    } catch (error) {
      mine.fail(error);
    }
  };

  const next = () => {
    send('{"ready":true}');
    const job = JSON.parse(receive());
    take(job);
    send('{"start":true}');
    begin(job);
  };

  const many = () => {
    settle();
    process.on("exit", (code) => process.reallyExit(code));
    process.on("beforeExit", () => current?.forever());
    process.on("uncaughtException", (error) => current?.fail(error));
    process.on("unhandledRejection", (reason) => current?.fail(reason, note(reason)));
    next();
  };

  setImmediate(REUSE ? many : once); // when Node has done with its command line
})();
