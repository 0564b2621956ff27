// Runs one agent's program on a machine without the server. The folder contains the program, its input and its job.
// This script writes the result to result.json. Calls of host functions are marked lines of stdout.
(require, here, inner) => {
  "use strict";
  const fs = require("node:fs");
  const vm = require("node:vm");
  const util = require("node:util");
  const { Writable } = require("node:stream");
  const { SourceMap, builtinModules, createRequire } = require("node:module");
  const read = (name) => fs.readFileSync(here + "/" + name, "utf8");
  const job = JSON.parse(read("job.json"));
  const files = new Set(job.files), known = new Set(builtinModules);
  const real = createRequire(here + "/program/");
  const pause = new Int32Array(new SharedArrayBuffer(4));

  const write = (fd, bytes) => {
    for (let at = 0; at < bytes.length; ) {
      try {
        at += fs.writeSync(fd, bytes, at, bytes.length - at);
      } catch (error) {
        if (error.code !== "EAGAIN") throw error; // the pipe is full, and the machine has made it non-blocking
        Atomics.wait(pause, 0, 0, 5);
      }
    }
  };
  const mark = (line) => write(1, Buffer.from("\0" + job.mark + line + "\n"));

  let map;
  const host = {
    types: util.types,
    entry: job.entry,
    own: (name) => files.has(name),
    bytes: (text) => Buffer.byteLength(text),
    inspect: (value) => util.inspect(value),
    source: (line, column) => {
      map ??= new SourceMap(JSON.parse(read("program.js.map")));
      const entry = map.findEntry(line - 1, column);
      return entry?.originalSource === undefined ? "" : `${entry.originalSource}:${entry.originalLine + 1}:${entry.originalColumn}`;
    },
    load: (name) => {
      const text = String(name);
      if (known.has(text.replace(/^node:/, ""))) return real(text);
      throw Object.assign(new Error(`File "${text}" does not exist: only Node modules and relative imports of the agent's own files are possible.`), { code: "MODULE_NOT_FOUND" });
    },
    ask: (name, args) => {
      if (name !== "log" && name !== "progress") return JSON.stringify({ error: { code: "denied", message: `The host function ${name} is not available in this runtime.` } });
      mark(`{"call":${JSON.stringify(name)},"args":${args}}`);
      return "{}";
    },
  };
  const mine = inner(host);

  let over = false;
  const finish = (told, code) => {
    if (over) return;
    over = true;
    const out = job.out || here + "/out";
    fs.mkdirSync(out, { recursive: true });
    fs.writeFileSync(out + "/result.json", told);
    process.reallyExit(code & 255);
  };
  const failed = (message) => JSON.stringify({ error: { type: "runtime_error", message, file: job.entry } });
  const left = (code) => (code === 0 ? '{"output":null}' : failed(`The program exited with code ${code}.`));
  const fail = (error, more) => finish(mine.failure(error, more), 1);

  for (const [name, fd] of [["stdout", 1], ["stderr", 2]]) {
    const stream = new Writable({ decodeStrings: true, write: (chunk, _, done) => { write(fd, chunk); done(); } });
    Object.assign(stream, { fd, isTTY: false });
    Object.defineProperty(process, name, { value: stream, writable: true, configurable: true, enumerable: true });
  }
  console.log; // reading log binds the console to the streams above
  process.argv = ["/usr/bin/node", "/work/program.js"];
  process.execArgv = [];
  fs.mkdirSync(process.env.HOME, { recursive: true });
  process.chdir(here + "/program");
  Object.assign(process.env, job.env);
  Object.defineProperty(globalThis, "__atelier_agents__", { value: mine.agents });
  process.on("exit", (code) => finish(left(code), code));
  process.on("beforeExit", () => finish(failed("The program waits forever: main returned a promise that can never settle."), 1));
  process.on("uncaughtException", (error) => {
    if (process.listenerCount("uncaughtException") === 1) fail(error);
  });
  process.on("unhandledRejection", (reason) => {
    if (process.listenerCount("unhandledRejection") === 1) fail(reason, util.types.isNativeError(reason) ? " (in a promise that was not awaited)" : "");
  });
  setImmediate(() => {
    mark('{"call":"start"}'); // the time limit of the program starts here
    const program = () => new vm.Script(read("program.js"), { filename: "/work/(program)" }).runInThisContext();
    (async () => mine.run(mine.compile(program), read("input.json"), JSON.stringify(job.env), job.largest))().then((told) => finish(told, 0), (error) => fail(error));
  });
}
