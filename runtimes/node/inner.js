// This part of the guest shares objects with the program. A program can access the objects here and change the
// built-ins that they use. So guest.js, the other part, exchanges only text, numbers and objects that the program
// created with it.
(host) => {
  "use strict";
  const { types } = host;
  const DEPTH = 256, MESSAGE = 16_000, STACK = 16_384, CALL = 1 << 20, PIECE = 1 << 16, ISSUES = 50, FIELD = 250;
  const PROGRAM = "/work/(program)", INNER = "/work/(atelier)";
  const LEVELS = { debug: "debug", info: "info", warn: "warn", warning: "warn", error: "error" };
  const ADVICE = "export a default function, export a function main, or declare function main(input, ctx).";
  const CUT = 'Cut strings between characters: [...text].slice(0, n).join("").';

  class Stop extends Error {
    constructor(report) {
      super(report.message);
      this.report = report;
    }
  }

  // ---- JSON: own functions, because JSON.parse rounds large integers and JSON.stringify changes or omits values

  let exact = new Set(); // integers of the input that a JavaScript number cannot represent exactly
  const decode = (text) => {
    if (!/\d{16}/.test(text)) return JSON.parse(text);
    let mark;
    do mark = "\u0000" + Math.random() + ":";
    while (text.includes(mark));
    let found = false;
    const marked = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) => {
      if (token[0] === '"' || !/^-?\d{16,}$/.test(token) || Number.isSafeInteger(Number(token))) return token;
      found = true;
      return JSON.stringify(mark + token);
    });
    if (!found) return JSON.parse(text);
    return JSON.parse(marked, (_, value) => {
      if (typeof value !== "string" || !value.startsWith(mark)) return value;
      const big = BigInt(value.slice(mark.length));
      exact.add(big);
      return big;
    });
  };

  const member = (key) => (/^[A-Za-z_$][\w$]*$/.test(key) ? "." + key : `[${JSON.stringify(key)}]`);
  const kinds = [
    [(v) => typeof v === "function", "a function is not JSON", ""],
    [(v) => types.isMap(v), "a Map is not JSON", "Return Object.fromEntries(map)."],
    [(v) => types.isSet(v), "a Set is not JSON", "Return [...set]."],
    [(v) => types.isWeakMap(v) || types.isWeakSet(v), "a weak collection is not JSON", ""],
    [(v) => types.isPromise(v), "a promise is not JSON", "Await it first."],
    [(v) => types.isRegExp(v), "a regular expression is not JSON", "Return its source."],
    [(v) => types.isNativeError(v), "an Error is not JSON", "Return its message."],
    [(v) => types.isBigIntObject(v), "a BigInt is not JSON", "Return Number(value) or String(value)."],
    [(v) => types.isSymbolObject(v), "a symbol is not JSON", "Return its description."],
    [(v) => ArrayBuffer.isView(v) || types.isAnyArrayBuffer(v), "bytes are not JSON", "Return text, for instance Base64, or Array.from(bytes)."],
  ];
  // Encodes a result as JSON. JSON.stringify turns NaN, functions and maps into null or omits them; encode reports such
  // a value as an error with its path. undefined becomes null at the top level and in arrays, and is omitted from
  // objects. encode calls toJSON.
  const encode = (value, limit, root) => {
    const out = [], path = [], above = [];
    let size = 0;
    const put = (text) => {
      out.push(text);
      if ((size += text.length) > limit) throw new Stop({ type: "output_limit", message: "" });
    };
    const refuse = (what, remedy) => {
      let where = root + path.join("");
      if (where.length > 300) where = where.slice(0, 300) + "…";
      throw new Stop({ type: "invalid_output", message: `${where}: ${what}.`, remedy });
    };
    const quote = (text, what) => {
      if (text.length > limit) throw new Stop({ type: "output_limit", message: "" });
      if (!text.isWellFormed()) refuse(what, CUT);
      put(JSON.stringify(text));
    };
    const primitive = (v) => {
      switch (typeof v) {
        case "undefined":
          return put("null");
        case "number":
          return Number.isFinite(v) ? put(String(v)) : refuse(`${v} is not JSON`, "Return null or a string instead.");
        case "string":
          return quote(v, "an incomplete surrogate pair is not text");
        case "boolean":
          return put(String(v));
        case "bigint":
          return exact.has(v) ? put(String(v)) : refuse("a BigInt is not JSON", "Return Number(value) or String(value).");
        case "symbol":
          return refuse("a symbol is not JSON", "Return its description.");
        default:
          return put("null");
      }
    };
    const any = (v, key) => {
      if (v === null || (typeof v !== "object" && typeof v !== "function")) return primitive(v);
      const bytes = ArrayBuffer.isView(v) || types.isAnyArrayBuffer(v); // Buffer's toJSON would create a list of numbers
      if (!bytes && typeof v.toJSON === "function") {
        v = v.toJSON(key);
        if (v === null || (typeof v !== "object" && typeof v !== "function")) return primitive(v);
      }
      if (above.length >= DEPTH) refuse(`the result is nested more than ${DEPTH} deep`, "");
      if (above.includes(v)) refuse("the object contains itself, a cycle is not JSON", "Return a copy without the reference back.");
      above.push(v);
      object(v);
      above.pop();
    };
    const object = (v) => {
      for (const [is, what, remedy] of kinds) if (is(v)) refuse(what, remedy);
      if (types.isNumberObject(v)) return primitive(Number(v));
      if (types.isStringObject(v)) return primitive(String(v));
      if (types.isBooleanObject(v)) return primitive(v.valueOf());
      if (JSON.isRawJSON?.(v)) return put(v.rawJSON);
      if (Array.isArray(v)) {
        put("[");
        for (let i = 0; i < v.length; i++) {
          if (i > 0) put(",");
          path.push(`[${i}]`);
          any(v[i], String(i));
          path.pop();
        }
        return put("]");
      }
      let first = true;
      put("{");
      for (const key of Object.keys(v)) {
        const item = v[key];
        if (item === undefined) continue;
        if (!first) put(",");
        first = false;
        path.push(member(key));
        quote(key, "a key with an incomplete surrogate pair is not text");
        put(":");
        any(item, key);
        path.pop();
      }
      put("}");
    };
    any(value, "");
    const text = out.join("");
    if (size < limit && size * 3 <= limit) return text;
    if (host.bytes(text) > limit) throw new Stop({ type: "output_limit", message: "" });
    return text;
  };

  // ---- errors, with positions in the agent's files

  const prepare = (error, sites) => {
    const lines = [];
    for (const site of sites) {
      const name = site.getFileName() ?? "";
      if (name === PROGRAM) {
        const at = host.source(site.getLineNumber(), site.getColumnNumber());
        if (at) lines.push("    at " + site.toString().replace(/\/work\/\(program\):\d+:\d+/, () => at));
      } else if (!name.startsWith("node:internal") && name !== "[eval]" && name !== INNER) {
        lines.push("    at " + site.toString());
      }
    }
    return [title(error), ...lines].join("\n");
  };
  const title = (error) => {
    try {
      const name = error.name === undefined ? "Error" : String(error.name);
      const message = error.message === undefined ? "" : String(error.message);
      return message === "" ? name : name === "" ? message : `${name}: ${message}`;
    } catch {
      return "An error was thrown that cannot be displayed.";
    }
  };
  const place = (stack) => {
    for (const line of stack.split("\n")) {
      const at = /^ {4}at (?:.*\()?(.+):(\d+):(\d+)\)?$/.exec(line);
      if (at && host.own(at[1])) return { file: at[1], line: Number(at[2]), column: Number(at[3]) };
    }
    return {};
  };
  const denied = new WeakMap();
  const quietly = (look, otherwise) => {
    try {
      return look() ?? otherwise;
    } catch {
      return otherwise; // a program can throw any value, also one whose properties throw
    }
  };
  const isError = (value) => types.isNativeError(value) || quietly(() => value instanceof Error, false);
  const describe = (error, note = "") => {
    if (error instanceof Stop) return error.report;
    if (!isError(error)) {
      return { type: "runtime_error", message: quietly(() => ("Uncaught " + host.inspect(error)).slice(0, MESSAGE), "Uncaught value that cannot be displayed.") };
    }
    const stack = quietly(() => String(error.stack), "");
    const report = { type: kindOf(error), message: title(error).slice(0, MESSAGE) + note, ...place(stack), stack: stack.slice(0, STACK) };
    const cause = quietly(() => error.cause, undefined);
    if (cause !== undefined) report.stack += "\n  [cause]: " + quietly(() => host.inspect(cause).slice(0, STACK).replaceAll("\n", "\n  "), "");
    if (Array.isArray(quietly(() => error.errors, undefined))) {
      report.stack += "\n  [errors]: " + quietly(() => host.inspect(error.errors).slice(0, STACK).replaceAll("\n", "\n  "), "");
    }
    const why = denied.get(error) ?? (report.type === "runtime_error" ? quietly(() => denial(error), undefined) : undefined);
    if (why) Object.assign(report, { type: "denied" }, why);
    if (report.message.includes("Cannot mix BigInt and other types")) {
      report.remedy = "Input integers beyond 2^53 are BigInt to keep all digits. Convert them with Number(value) if rounding is acceptable.";
    }
    return report;
  };
  const kindOf = (error) => {
    const code = quietly(() => error.code, undefined), message = quietly(() => String(error.message), "");
    if (error instanceof RangeError && message === "Maximum call stack size exceeded") return "recursion_limit";
    if (message === "Array buffer allocation failed" || ["ERR_MEMORY_ALLOCATION_FAILED", "ERR_WORKER_OUT_OF_MEMORY", "ENOMEM"].includes(code)) return "memory_limit";
    if (["ENOSPC", "EDQUOT", "EFBIG"].includes(code)) return "disk_limit";
    if (code === "ERR_WORKER_INIT_FAILED" || (code === "EAGAIN" && quietly(() => String(error.syscall).startsWith("spawn"), false))) return "process_limit";
    return "runtime_error";
  };
  // Returns the host, process or path that the sandbox denied, if the error contains it.
  const denial = (error) => {
    const { code, syscall = "", path, hostname, address, port } = error;
    if (["ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "ECONNREFUSED"].includes(code) && /^(connect|getaddrinfo|query|send)/.test(syscall)) {
      const host = hostname ?? address;
      const where = typeof host === "string" && Number.isInteger(port) && port > 0 ? `${host.includes(":") ? `[${host}]` : host}:${port}` : "";
      return { rule: "network", remedy: "Grant the host in capabilities.hosts and use fetch. There is no other network access.", ...(where && { grant: { hosts: [where] } }) };
    }
    if (["EPERM", "EACCES", "ENOSYS"].includes(code) && /^spawn/.test(syscall)) {
      return { rule: "subprocess", remedy: "Set capabilities.subprocess to true to allow the program to start processes." };
    }
    if (code === "ERR_DLOPEN_DISABLED") return { rule: "native addons", remedy: "The sandbox loads no native addons. No capability grants it." };
    if (["EACCES", "EROFS", "EPERM", "ENOSYS"].includes(code)) {
      // The sandbox allows writing here, so the program itself caused the error.
      if (typeof path === "string" && /^\/(work|tmp|dev\/shm)(\/|$)/.test(path)) return undefined;
      if (typeof path === "string" && code !== "EPERM") return { rule: "files", remedy: "A program can write to /work, /tmp and /dev/shm and read its language runtime. No capability grants more." };
      return { rule: "system calls", remedy: "The sandbox refuses this system call to all programs. No capability grants it." };
    }
    return undefined;
  };

  // ---- objects for the program

  const ask = (name, args) => {
    if (typeof name !== "string" || name.length < 1 || name.length > 64) throw new TypeError("the name of a host function must have 1 to 64 bytes");
    let text;
    try {
      text = encode(args, CALL, name);
    } catch (error) {
      if (error instanceof Stop) throw new TypeError(error.report.message || `${name}: the arguments have at most ${CALL} bytes`);
      throw error;
    }
    const answer = JSON.parse(host.ask(name, text));
    if (!answer.error) return answer.result ?? undefined;
    const { code, message, rule, remedy, grant, tool } = answer.error;
    const error = Object.assign(new Error(message), { code, ...(tool && { tool }) });
    if (code === "denied") denied.set(error, { rule, remedy, grant });
    throw error;
  };
  const context = (env) => ({
    env,
    log(level, message, fields) {
      if (arguments.length === 1) [level, message] = ["info", level];
      const known = LEVELS[level];
      if (known === undefined) throw new TypeError(`log level ${host.inspect(level)} must be debug, info, warn or error`);
      const args = { level: known, message: typeof message === "string" ? message : host.inspect(message) };
      if (fields !== undefined && fields !== null) args.fields = fields;
      ask("log", args);
    },
    progress(done, total, message) {
      const args = { done: Number(done), total: Number(total ?? 0) };
      if (message !== undefined) args.message = String(message);
      ask("progress", args);
    },
    call: (name, args) => ask(name, args ?? {}),
    callTool,
    // null and undefined become an empty text. Otherwise the model would read the word null or undefined.
    askLLM: async (prompt, context) => ask("askLLM", { prompt: String(prompt ?? ""), context: String(context ?? "") }),
    ...files,
  });
  const files = {
    async readFile(path) {
      let text = "";
      for (let offset = 0; ; ) {
        const piece = ask("readFile", { path: String(path), offset });
        text += piece.content;
        offset = piece.next;
        if (offset === 0) return text;
      }
    },
    async writeFile(path, content) {
      if (typeof content !== "string" || !content.isWellFormed()) throw new TypeError("writeFile: content must be a string without lone surrogates");
      for (let at = 0, offset = 0; ; ) {
        let end = Math.min(at + PIECE, content.length);
        if (end < content.length && content.charCodeAt(end - 1) >> 10 === 0x36) end--; // does not split a surrogate pair
        const piece = content.slice(at, end);
        ask("writeFile", { path: String(path), content: piece, offset, more: end < content.length });
        if (end === content.length) return true;
        at = end;
        offset += utf8Length(piece);
      }
    },
    deleteFile: async (path) => ask("deleteFile", { path: String(path) }),
    listDir: async (path = ".") => ask("listDir", { path: String(path) }),
    fileExists: async (path) => ask("fileExists", { path: String(path) }),
    searchFiles: async (pattern) => ask("searchFiles", { pattern: String(pattern) }),
    searchContent: async (pattern, path = ".") => ask("searchContent", { pattern: String(pattern), path: String(path) }),
    submitResult: async (summary, changedFiles = []) => ask("submitResult", { summary: String(summary), changedFiles: Array.from(changedFiles, String) }),
  };
  const utf8Length = (text) => {
    let length = 0;
    for (const character of text) {
      const code = character.codePointAt(0);
      length += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    }
    return length;
  };
  const callTool = async (reference, input) => ask("callTool", { reference: String(reference), input });
  // The exports of the module "agents": one function for each agent name. The names are not known in advance, so a
  // proxy creates the functions. It is the prototype, because the bundle copies own properties but keeps the prototype.
  const agents = Object.create(new Proxy({}, {
    get: (_, name) => (typeof name !== "string" || ["then", "default", "__esModule"].includes(name) ? undefined : (input) => callTool(name, input)),
  }));
  const fetch = async (input, init) => {
    const { Request, Response } = globalThis;
    const request = new Request(input, init);
    const body = request.body === null ? undefined : host.toBase64(await request.arrayBuffer());
    request.signal.throwIfAborted();
    let answer;
    try {
      answer = ask("fetch", {
        url: request.url, method: request.method, redirect: request.redirect,
        headers: [...request.headers], base64: body,
      });
    } catch (error) {
      if (error.code === "failed") throw new TypeError("fetch failed", { cause: error });
      throw error;
    }
    const empty = [101, 204, 205, 304].includes(answer.status);
    const response = new Response(empty ? null : (answer.text ?? host.fromBase64(answer.base64 ?? "")), {
      status: answer.status, statusText: answer.statusText, headers: answer.headers,
    });
    Object.defineProperties(response, { url: { value: answer.url }, redirected: { value: answer.redirected } });
    return response;
  };
  const entryOf = (exports, main) => {
    const candidates = [exports.default, exports.main];
    let kind = exports.default === undefined ? "" : exports.default === null ? "null" : `a${typeof exports.default === "object" ? "n" : ""} ${typeof exports.default}`;
    if (exports.default !== null && typeof exports.default === "object") {
      candidates.push(exports.default.default, exports.default.main);
      if (Object.keys(exports.default).length === 0) kind = "";
    }
    const entry = [...candidates, main].find((candidate) => typeof candidate === "function");
    if (entry) return entry;
    const message = kind === "" ? `The program has no entry point: ${ADVICE}` : `The default export is ${kind}, not a function: ${ADVICE}`;
    throw new Stop({ type: "runtime_error", message, file: host.entry, line: 1, column: 1 });
  };

  // A program may export schemas named input and output, from a library that implements Standard Schema, such as Zod.
  // They can check more than a JSON Schema. main receives the value that the input schema returns.
  const schemaOf = (exports, name) => {
    for (const holder of [exports, exports.default]) {
      const own = holder === undefined || holder === null ? undefined : holder[name]?.["~standard"];
      if (typeof own?.validate === "function") return own;
    }
    return undefined;
  };
  const parse = async (exports, name, value) => {
    const schema = schemaOf(exports, name);
    if (schema === undefined) return value;
    const result = await schema.validate(value);
    if (result?.issues === undefined || result.issues === null) return result?.value;
    const errors = [...result.issues].slice(0, ISSUES).map(({ message, path = [] }) => ({
      pointer: ("/" + name + [...path].map((at) => "/" + String(at?.key ?? at).replaceAll("~", "~0").replaceAll("/", "~1")).join("")).slice(0, FIELD),
      message: String(message || "is not valid.").slice(0, FIELD),
    }));
    const listed = errors.map((one) => `${one.pointer} ${one.message}`).join("; ");
    throw new Stop({ type: `invalid_${name}`, message: `The exported ${name} schema refuses the ${name}: ${listed}`.slice(0, MESSAGE), errors });
  };

  // ---- the rule pack "restricted": the check of the source finds direct uses of forbidden names; this part blocks the
  // uses that it cannot see

  let modules; // the modules that a program may import; undefined without the rule pack
  const refuse = (rule, message, remedy) => {
    const error = new Error(message);
    denied.set(error, { rule, remedy });
    throw error;
  };
  const refused = (name) => ({ [name]: function () {
    refuse("restricted/node-code", `${name} is not available to this program.`, "Parse data with JSON.parse, and choose among functions with an object.");
  } })[name];
  const restrict = (listed) => {
    modules = new Set(listed);
    const set = (target, name, value, writable) => Object.defineProperty(target, name, { value, writable, enumerable: false, configurable: true });
    for (const form of [function () {}, async function () {}, function* () {}, async function* () {}]) {
      const prototype = Object.getPrototypeOf(form);
      const value = refused(prototype.constructor.name);
      Object.defineProperty(value, "prototype", { value: prototype, writable: false });
      set(prototype, "constructor", value, prototype === Function.prototype);
    }
    set(globalThis, "Function", Function.prototype.constructor, true);
    set(globalThis, "eval", refused("eval"), true);
    for (const name of ["binding", "dlopen", "getBuiltinModule"]) set(process, name, refused(`process.${name}`), true);
  };
  const load = (name) => {
    if (modules && !modules.has(String(name).replace(/^node:/, ""))) {
      refuse("restricted/node-import", `The module ${JSON.stringify(String(name).slice(0, 100))} is not among the modules that this program may import.`, "Use the standard objects of the language, or a file of the agent.");
    }
    return host.load(name);
  };

  Error.prepareStackTrace = prepare;
  Error.stackTraceLimit = 50;
  return {
    fetch,
    agents,
    restrict,
    failure: (error, note) => JSON.stringify({ error: describe(error, note) }),
    compile(make) {
      try {
        return make();
      } catch (error) {
        const at = /^\/work\/\(program\):(\d+)/.exec(String(error.stack));
        const [file, line] = at ? host.source(Number(at[1]), 1e9).split(":") : [];
        throw new Stop({ type: "syntax_error", message: title(error), ...(file && { file, line: Number(line), column: 1 }) });
      }
    },
    async run(start, input, env, largest) {
      let main;
      const exports = await start(load, (found) => (main = found));
      const entry = entryOf(exports, main);
      const result = await entry(await parse(exports, "input", decode(input)), context(JSON.parse(env)));
      return `{"output":${encode(await parse(exports, "output", result), largest, "output")}}`;
    },
  };
}
