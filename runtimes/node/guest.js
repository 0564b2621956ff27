// This script runs one agent's program inside its sandbox. Node starts the script before the run. The script waits on
// descriptor 3 for one line with the job. On the same descriptor it calls the host (one line per call, one line per
// reply) and finally sends the result. The server checks everything that this script sends, because the program may
// change the script's behavior. The checks here only produce good error messages.
(() => {
  "use strict"; // the directive is inside of the function, because the server adds text before the script
  const fs = require("node:fs");
  const vm = require("node:vm");
  const util = require("node:util");
  const { Writable } = require("node:stream");
  const { SourceMap, builtinModules, createRequire } = require("node:module");
  const CHANNEL = 3, NEWLINE = 10, KEPT = 700_000; // KEPT is in bytes; a line has at most 1 MiB
  const PROGRAM = "/work/(program)", INNER = "/work/(atelier)";
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
      if (n === 0) process.reallyExit(1); // the server has closed the connection
      part = part.subarray(0, n);
    }
  };
  const write = (fd, bytes) => {
    for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at, bytes.length - at);
  };
  const send = (line) => write(CHANNEL, Buffer.from(line + "\n"));
  const ask = (name, args) => {
    send(`{"call":${JSON.stringify(String(name))},"args":${args}}`);
    return receive();
  };

  // ---- the program

  let program; // code, source map in base64, entry file and names of files
  let map;
  const source = (line, column) => {
    map ??= new SourceMap(JSON.parse(Buffer.from(program.map, "base64").toString()));
    const entry = map.findEntry(line - 1, column);
    return entry?.originalSource === undefined ? "" : `${entry.originalSource}:${entry.originalLine + 1}:${entry.originalColumn}`;
  };

  const known = new Set(builtinModules);
  const load = (name) => {
    const text = String(name);
    if (known.has(text.replace(/^node:/, ""))) return real(text);
    throw Object.assign(new Error(`File "${text}" does not exist: only Node modules and relative imports of the agent's own files are possible.`), { code: "MODULE_NOT_FOUND" });
  };

  // The functions that inner.js may call. inner.js shares its objects with the program; this script does not.
  const host = {
    types: util.types, get entry() { return program.entry; }, own: (name) => program.files.has(name), source, load,
    bytes: (text) => Buffer.byteLength(text),
    inspect: (value) => util.inspect(value),
    toBase64: (bytes) => Buffer.from(bytes).toString("base64"), fromBase64: (text) => Buffer.from(text, "base64"),
    ask,
  };

  // ---- the run

  let over = false;
  const finish = (report, code) => {
    if (over) return;
    over = true;
    send(`{"end":${report},"code":${code & 255}}`);
    process.reallyExit(code & 255);
  };
  const note = (reason) => (util.types.isNativeError(reason) ? " (in a promise that was not awaited)" : "");
  const FOREVER = () => JSON.stringify({ error: { type: "runtime_error", message: "The program waits forever: main returned a promise that can never settle.", file: program.entry } });
  const left = (code) => (code === 0 ? '{"output":null}' : JSON.stringify({ error: { type: "runtime_error", message: `The program exited with code ${code}.` } }));

  const settle = () => {
    // Node defines additional globals for scripts on its command line. A program must not have them.
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
    console.log; // reading log binds the console to the streams above
    process.argv = ["/usr/bin/node", "/work/program.js"];
    process.execArgv = [];
  };

  const run = async () => {
    settle();
    const mine = inner(host);
    // Run a small program before the job arrives, so that V8 has compiled the code that every run needs.
    const start = new vm.Script("(async function () { return { default: (input) => input } })", { filename: INNER }).runInThisContext();
    await mine.run(start, '{"a":[1,"b",true,null,{}]}', "{}", 1000);
    send('{"ready":true}');
    const job = JSON.parse(receive());
    program = { code: job.code, map: job.map, entry: job.entry, files: new Set(job.files) };
    // The compiled form of a large program is sent before the program runs. If the form is too large, an empty one is
    // sent. Otherwise the program could send the next line itself and so forge the form.
    const loadProgram = () => {
      const script = new vm.Script(program.code, { filename: PROGRAM, cachedData: job.compiled && Buffer.from(job.compiled, "base64") });
      if (job.keep) {
        const compiled = script.createCachedData();
        send(`{"kept":"${compiled.length <= KEPT ? compiled.toString("base64") : ""}"}`);
      }
      return script.runInThisContext();
    };
    Object.assign(process.env, job.env);
    send('{"start":true}'); // the time limit of the program starts here
    globalThis.fetch = mine.fetch;
    if (job.modules) mine.restrict(job.modules);
    Object.defineProperty(globalThis, "__atelier_agents__", { value: mine.agents });
    const fail = (error, more) => finish(mine.failure(error, more), 1);
    process.on("exit", (code) => finish(left(code), code & 255));
    process.on("beforeExit", () => finish(FOREVER(), 1));
    process.on("uncaughtException", (error) => {
      if (process.listenerCount("uncaughtException") === 1) fail(error);
    });
    process.on("unhandledRejection", (reason) => {
      if (process.listenerCount("unhandledRejection") === 1) fail(reason, note(reason));
    });
    const go = async () => mine.run(mine.compile(loadProgram), job.input, JSON.stringify(job.env), job.largest);
    go().then((report) => finish(report, 0), (error) => fail(error));
  };

  setImmediate(run); // setImmediate calls run after Node has finished its own work for the command line
})();
