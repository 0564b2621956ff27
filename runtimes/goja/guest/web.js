// Globals of the web platform that goja lacks, in plain JavaScript. This file runs only in programs that contain the
// name of one of them.
(function (native) {
  "use strict";
  const hidden = (target, members) => {
    for (const [key, value] of Object.entries(members)) Object.defineProperty(target, key, { value, writable: true, configurable: true });
  };
  const coded = (error, code) => Object.assign(error, { code });
  const tag = (target, name) => Object.defineProperty(target.prototype, Symbol.toStringTag, { value: name, configurable: true });

  class DOMException extends Error {
    constructor(message = "", name = "Error") {
      super(message);
      const given = typeof name === "object" && name !== null ? (name.name ?? "Error") : String(name);
      hidden(this, { name: given });
      if (typeof name === "object" && name !== null && "cause" in name) hidden(this, { cause: name.cause });
    }
    get code() {
      return { DataCloneError: 25, AbortError: 20, InvalidCharacterError: 5, TimeoutError: 23, SyntaxError: 12, TypeMismatchError: 17, QuotaExceededError: 22 }[this.name] ?? 0;
    }
  }
  tag(DOMException, "DOMException");

  class Event {
    #stopped = false;
    constructor(type, init = {}) {
      this.type = String(type);
      this.cancelable = Boolean(init.cancelable);
      this.defaultPrevented = false;
      this.target = null;
      this.currentTarget = null;
      hidden(this, { stopped: () => this.#stopped });
    }
    preventDefault() {
      if (this.cancelable) this.defaultPrevented = true;
    }
    stopImmediatePropagation() {
      this.#stopped = true;
    }
    stopPropagation() {}
  }
  tag(Event, "Event");

  class EventTarget {
    #listeners = new Map();
    addEventListener(type, listener, options) {
      if (listener === null || listener === undefined) return;
      const list = this.#listeners.get(type) ?? [];
      if (list.some((entry) => entry.listener === listener)) return;
      const entry = { listener, once: typeof options === "object" && options !== null && Boolean(options.once) };
      const signal = typeof options === "object" && options !== null ? options.signal : undefined;
      if (signal?.aborted) return;
      signal?.addEventListener("abort", () => this.removeEventListener(type, listener));
      this.#listeners.set(type, [...list, entry]);
    }
    removeEventListener(type, listener) {
      this.#listeners.set(type, (this.#listeners.get(type) ?? []).filter((entry) => entry.listener !== listener));
    }
    dispatchEvent(event) {
      event.target = this;
      event.currentTarget = this;
      const handler = this["on" + event.type];
      if (typeof handler === "function") handler.call(this, event);
      for (const entry of this.#listeners.get(event.type) ?? []) {
        if (event.stopped()) break;
        if (entry.once) this.removeEventListener(event.type, entry.listener);
        if (typeof entry.listener === "function") entry.listener.call(this, event);
        else entry.listener.handleEvent(event);
      }
      return !event.defaultPrevented;
    }
  }
  tag(EventTarget, "EventTarget");

  const making = Symbol("making");
  const aborts = new WeakMap();
  class AbortSignal extends EventTarget {
    #aborted = false;
    #reason = undefined;
    constructor(key) {
      super();
      if (key !== making) throw coded(new TypeError("Illegal constructor"), "ERR_ILLEGAL_CONSTRUCTOR");
      hidden(this, { onabort: null });
      aborts.set(this, (reason = new DOMException("This operation was aborted", "AbortError")) => {
        if (this.#aborted) return;
        this.#aborted = true;
        this.#reason = reason;
        this.dispatchEvent(new Event("abort"));
      });
    }
    get aborted() {
      return this.#aborted;
    }
    get reason() {
      return this.#reason;
    }
    throwIfAborted() {
      if (this.#aborted) throw this.#reason;
    }
    static abort(reason) {
      const signal = new AbortSignal(making);
      aborts.get(signal)(reason);
      return signal;
    }
    static timeout(milliseconds) {
      const signal = new AbortSignal(making);
      native.setTimeout(() => aborts.get(signal)(new DOMException("The operation was aborted due to timeout", "TimeoutError")), milliseconds);
      return signal;
    }
    static any(signals) {
      const all = new AbortSignal(making);
      for (const signal of signals) {
        if (signal.aborted) {
          aborts.get(all)(signal.reason);
          break;
        }
        signal.addEventListener("abort", () => aborts.get(all)(signal.reason));
      }
      return all;
    }
  }
  tag(AbortSignal, "AbortSignal");

  class AbortController {
    #signal = new AbortSignal(making);
    get signal() {
      return this.#signal;
    }
    abort(reason) {
      aborts.get(this.#signal)(reason);
    }
  }
  tag(AbortController, "AbortController");

  const bytesOf = (input) => {
    if (input === undefined) return [new ArrayBuffer(0), 0, 0];
    if (input instanceof ArrayBuffer) return [input, 0, input.byteLength];
    if (ArrayBuffer.isView(input)) return [input.buffer, input.byteOffset, input.byteLength];
    throw new TypeError("The input must be an ArrayBuffer or a view of one");
  };

  class TextEncoder {
    get encoding() {
      return "utf-8";
    }
    encode(text = "") {
      return new Uint8Array(native.encode(String(text)));
    }
    encodeInto(text, target) {
      let read = 0;
      let written = 0;
      for (const character of String(text)) {
        const bytes = this.encode(character);
        if (written + bytes.length > target.length) break;
        target.set(bytes, written);
        written += bytes.length;
        read += character.length;
      }
      return { read, written };
    }
  }
  tag(TextEncoder, "TextEncoder");

  const labels = {
    "utf-8": "utf-8", utf8: "utf-8", "unicode-1-1-utf-8": "utf-8", "utf-16le": "utf-16le", "utf-16": "utf-16le", ucs2: "utf-16le",
    latin1: "windows-1252", "iso-8859-1": "windows-1252", ascii: "windows-1252", "us-ascii": "windows-1252", "windows-1252": "windows-1252",
  };
  class TextDecoder {
    #label;
    #pending = new Uint8Array(0);
    constructor(label = "utf-8", options = {}) {
      this.#label = labels[String(label).trim().toLowerCase()];
      if (this.#label === undefined) throw coded(new RangeError(`The encoding "${label}" is not available in the goja runtime`), "ERR_ENCODING_NOT_SUPPORTED");
      hidden(this, { fatal: Boolean(options.fatal), ignoreBOM: Boolean(options.ignoreBOM) });
    }
    get encoding() {
      return this.#label;
    }
    decode(input, options = {}) {
      let [buffer, offset, length] = bytesOf(input);
      if (this.#pending.length > 0) {
        const joined = new Uint8Array(this.#pending.length + length);
        joined.set(this.#pending);
        joined.set(new Uint8Array(buffer, offset, length), this.#pending.length);
        [buffer, offset, length] = [joined.buffer, 0, joined.length];
        this.#pending = new Uint8Array(0);
      }
      if (options.stream) {
        const rest = unfinished(new Uint8Array(buffer, offset, length), this.#label);
        this.#pending = new Uint8Array(buffer, offset + length - rest, rest).slice();
        length -= rest;
      }
      const text = native.decode(buffer, offset, length, this.#label, this.fatal);
      if (text === undefined) throw coded(new TypeError("The encoded data was not valid for encoding " + this.#label), "ERR_ENCODING_INVALID_ENCODED_DATA");
      return !this.ignoreBOM && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
    }
  }
  tag(TextDecoder, "TextDecoder");

  // unfinished returns the number of bytes of an incomplete character at the end.
  const unfinished = (bytes, label) => {
    if (label === "utf-16le") return bytes.length % 2;
    if (label !== "utf-8") return 0;
    for (let back = 1; back <= Math.min(3, bytes.length); back++) {
      const byte = bytes[bytes.length - back];
      if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
      if (byte < 0x80) return 0;
    }
    return 0;
  };

  const errors = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
  const cannot = (value) => {
    throw new DOMException(`${typeof value === "function" ? "A function" : typeof value === "symbol" ? "A symbol" : "The object"} could not be cloned.`, "DataCloneError");
  };
  const clone = (value, seen) => {
    if (typeof value === "function" || typeof value === "symbol") cannot(value);
    if (typeof value !== "object" || value === null) return value;
    if (seen.has(value)) return seen.get(value);
    const keep = (copy) => {
      seen.set(value, copy);
      return copy;
    };
    const kind = Object.prototype.toString.call(value).slice(8, -1);
    if (Array.isArray(value)) {
      const copy = keep(new Array(value.length));
      for (const key of Object.keys(value)) copy[key] = clone(value[key], seen);
      return copy;
    }
    if (value instanceof Date) return keep(new Date(value.getTime()));
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
    if (value instanceof Map) {
      const copy = keep(new Map());
      for (const [k, v] of value) copy.set(clone(k, seen), clone(v, seen));
      return copy;
    }
    if (value instanceof Set) {
      const copy = keep(new Set());
      for (const v of value) copy.add(clone(v, seen));
      return copy;
    }
    if (value instanceof ArrayBuffer) return keep(value.slice(0));
    if (ArrayBuffer.isView(value)) {
      const buffer = clone(value.buffer, seen);
      if (value instanceof DataView) return keep(new DataView(buffer, value.byteOffset, value.byteLength));
      const own = Object.getPrototypeOf(Uint8Array.prototype);
      const name = Object.getOwnPropertyDescriptor(own, Symbol.toStringTag).get.call(value);
      return keep(new globalThis[name](buffer, value.byteOffset, value.length));
    }
    if (value instanceof Error) {
      const base = errors[value.name] ?? Error;
      const copy = keep(new base(String(value.message)));
      hidden(copy, { stack: value.stack });
      if ("cause" in value) hidden(copy, { cause: clone(value.cause, seen) });
      return copy;
    }
    if (["Number", "String", "Boolean", "BigInt"].includes(kind) && typeof value.valueOf() !== "object") return keep(Object(value.valueOf()));
    if (["Promise", "WeakMap", "WeakSet", "WeakRef", "Symbol", "Generator"].includes(kind)) cannot(value);
    const copy = keep({});
    for (const key of Object.keys(value)) {
      Object.defineProperty(copy, key, { value: clone(value[key], seen), writable: true, enumerable: true, configurable: true });
    }
    return copy;
  };
  const structuredClone = (...args) => {
    if (args.length === 0) throw coded(new TypeError("structuredClone needs a value"), "ERR_MISSING_ARGS");
    return clone(args[0], new Map());
  };
  Object.defineProperty(structuredClone, "name", { value: "structuredClone" });

  // This WeakRef keeps its target alive, which the language allows. A run is short and releases all memory at its end.
  class WeakRef {
    #target;
    constructor(target) {
      if ((typeof target !== "object" || target === null) && typeof target !== "function" && typeof target !== "symbol") {
        throw new TypeError("WeakRef: the target must be an object");
      }
      this.#target = target;
    }
    deref() {
      return this.#target;
    }
  }
  tag(WeakRef, "WeakRef");

  // This FinalizationRegistry never calls its callback, which the language allows. Targets are not released before the
  // end of the run.
  class FinalizationRegistry {
    #tokens = new Set();
    constructor(callback) {
      if (typeof callback !== "function") throw new TypeError("FinalizationRegistry: cleanup must be callable");
    }
    register(target, held, token = undefined) {
      if ((typeof target !== "object" || target === null) && typeof target !== "function" && typeof target !== "symbol") {
        throw new TypeError("FinalizationRegistry.prototype.register: invalid target");
      }
      if (target === held) throw new TypeError("FinalizationRegistry.prototype.register: target and holdings must not be same");
      if (token !== undefined) this.#tokens.add(token);
    }
    unregister(token) {
      return this.#tokens.delete(token);
    }
  }
  tag(FinalizationRegistry, "FinalizationRegistry");

  const extendBuffer = (Buffer) => {
    const as = (bytes) => Object.setPrototypeOf(bytes, Buffer.prototype);
    const bytes = (value, encoding) => (typeof value === "string" ? Buffer.from(value, encoding) : typeof value === "number" ? Buffer.from([value & 255]) : value);
    const compare = (a, b) => {
      for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
      return Math.sign(a.length - b.length);
    };
    const missing = (target, members) => {
      for (const [key, value] of Object.entries(members)) if (!Object.hasOwn(target, key)) hidden(target, { [key]: value });
    };
    // goja_nodejs supports utf8, hex and base64, and treats every other name as utf8.
    const known = { utf8: "utf8", "utf-8": "utf8", hex: "hex", base64: "base64", base64url: "base64url", latin1: "latin1", binary: "latin1", ascii: "ascii", utf16le: "utf16le", "utf-16le": "utf16le", ucs2: "utf16le", "ucs-2": "utf16le" };
    const encodingOf = (name) => {
      const encoding = name === undefined || name === null ? "utf8" : known[String(name).toLowerCase()];
      if (encoding === undefined) throw new TypeError(`Unknown encoding: ${name}`);
      return encoding;
    };
    const { from } = Buffer;
    const { toString } = Buffer.prototype;
    hidden(Buffer, {
      from(value, encoding, length) {
        if (value?.type === "Buffer" && Array.isArray(value.data)) return from.call(Buffer, value.data);
        if (typeof value !== "string") return from.call(Buffer, value, encoding, length);
        switch (encodingOf(encoding)) {
          case "base64url":
          case "base64":
            return from.call(Buffer, value.replace(/-/g, "+").replace(/_/g, "/"), "base64");
          case "ascii":
          case "latin1":
            return from.call(Buffer, Array.from({ length: value.length }, (_, i) => value.charCodeAt(i) & 255));
          case "utf16le":
            return from.call(Buffer, Array.from({ length: value.length * 2 }, (_, i) => (value.charCodeAt(i >> 1) >> (8 * (i & 1))) & 255));
        }
        return from.call(Buffer, value, encodingOf(encoding));
      },
    });
    hidden(Buffer.prototype, {
      toString(encoding, start, end) {
        switch (encodingOf(encoding)) {
          case "base64url":
            return toString.call(this, "base64", start, end).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
          case "ascii":
            return Array.from(this.subarray(start, end), (byte) => String.fromCharCode(byte & 127)).join("");
          case "latin1":
            return Array.from(this.subarray(start, end), (byte) => String.fromCharCode(byte)).join("");
          case "utf16le":
            return new TextDecoder("utf-16le").decode(this.subarray(start, end));
        }
        return toString.call(this, encodingOf(encoding), start, end);
      },
    });
    const { fill } = Uint8Array.prototype;
    const swap = (buffer, size) => {
      if (buffer.length % size !== 0) throw Object.assign(new RangeError(`Buffer size must be a multiple of ${size * 8}-bits`), { code: "ERR_INVALID_BUFFER_SIZE" });
      for (let i = 0; i < buffer.length; i += size) Uint8Array.prototype.reverse.call(buffer.subarray(i, i + size));
      return buffer;
    };
    const range = (name, value, least, most) => {
      if (!(value >= least && value <= most)) throw Object.assign(new RangeError(`The value of "${name}" is out of range. It must be >= ${least} && <= ${most}. Received ${value}`), { code: "ERR_OUT_OF_RANGE" });
    };
    hidden(Buffer.prototype, {
      fill(value, start, end, encoding) {
        if (typeof start === "string") [start, end, encoding] = [undefined, undefined, start];
        else if (typeof end === "string") [end, encoding] = [undefined, end];
        start = start ?? 0;
        end = end ?? this.length;
        range("offset", start, 0, this.length);
        range("end", end, 0, this.length);
        if (typeof value === "boolean") value = Number(value);
        const wanted = bytes(value ?? 0, encoding);
        if (wanted.length === 0 && typeof value !== "string") throw Object.assign(new TypeError("The argument 'value' is invalid"), { code: "ERR_INVALID_ARG_VALUE" });
        if (wanted.length < 2) return fill.call(this, wanted[0] ?? 0, start, end);
        for (let i = start; i < end; i++) this[i] = wanted[(i - start) % wanted.length];
        return this;
      },
      lastIndexOf(value, from = this.length, encoding) {
        if (typeof from === "string") [from, encoding] = [this.length, from];
        const wanted = bytes(value, encoding);
        from = Number.isNaN(Number(from)) ? this.length : Math.trunc(from);
        for (let i = Math.min(from < 0 ? this.length + from : from, this.length - wanted.length); i >= 0; i--) {
          let j = 0;
          while (j < wanted.length && this[i + j] === wanted[j]) j++;
          if (j === wanted.length) return i;
        }
        return -1;
      },
      swap16() {
        return swap(this, 2);
      },
      swap32() {
        return swap(this, 4);
      },
      swap64() {
        return swap(this, 8);
      },
    });
    Object.defineProperty(Buffer.prototype, "parent", { get() { return this.buffer; }, enumerable: true, configurable: true });
    Object.defineProperty(Buffer, "name", { value: "Buffer", configurable: true });
    function Species(...args) {
      return as(new Uint8Array(...args));
    }
    Object.defineProperty(Buffer, Symbol.species, { get: () => Species, configurable: true });
    missing(Buffer, {
      isBuffer: (value) => value instanceof Buffer,
      isEncoding: (name) => typeof name === "string" && Object.hasOwn(known, name.toLowerCase()),
      byteLength: (value, encoding) => (typeof value === "string" ? Buffer.from(value, encoding).length : value.byteLength),
      allocUnsafe: (size) => Buffer.alloc(size),
      compare,
    });
    missing(Buffer.prototype, {
      subarray(start, end) {
        const view = Uint8Array.prototype.subarray.call(new Uint8Array(this.buffer, this.byteOffset, this.length), start, end);
        return as(view);
      },
      slice(start, end) {
        return this.subarray(start, end);
      },
      copy(target, at = 0, start = 0, end = this.length) {
        const part = this.subarray(start, Math.min(end, start + target.length - at));
        target.set(part, at);
        return part.length;
      },
      compare(other) {
        return compare(this, other);
      },
      indexOf(value, from = 0, encoding) {
        if (typeof from === "string") [from, encoding] = [0, from];
        const wanted = bytes(value, encoding);
        for (let i = from < 0 ? Math.max(0, this.length + from) : from; i + wanted.length <= this.length; i++) {
          let j = 0;
          while (j < wanted.length && this[i + j] === wanted[j]) j++;
          if (j === wanted.length) return i;
        }
        return -1;
      },
      includes(value, from, encoding) {
        return this.indexOf(value, from, encoding) >= 0;
      },
      toJSON() {
        return { type: "Buffer", data: Array.from(this) };
      },
    });
    return Buffer;
  };

  class Headers {
    #map = new Map();
    constructor(init) {
      if (init === undefined || init === null) return;
      const list = typeof init[Symbol.iterator] === "function" ? init : Object.entries(init);
      for (const [name, value] of list) this.append(name, value);
    }
    #name(name) {
      name = String(name);
      if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) throw new TypeError(`Headers: ${JSON.stringify(name)} is not a valid header name`);
      return name.toLowerCase();
    }
    append(name, value) {
      name = this.#name(name);
      value = String(value).trim();
      this.#map.set(name, this.#map.has(name) ? this.#map.get(name) + ", " + value : value);
    }
    set(name, value) {
      this.#map.set(this.#name(name), String(value).trim());
    }
    get(name) {
      return this.#map.get(this.#name(name)) ?? null;
    }
    has(name) {
      return this.#map.has(this.#name(name));
    }
    delete(name) {
      this.#map.delete(this.#name(name));
    }
    forEach(run, self) {
      for (const [name, value] of this) run.call(self, value, name, this);
    }
    entries() {
      return [...this.#map].sort(([a], [b]) => (a < b ? -1 : 1))[Symbol.iterator]();
    }
    keys() {
      return [...this.entries()].map(([name]) => name)[Symbol.iterator]();
    }
    values() {
      return [...this.entries()].map(([, value]) => value)[Symbol.iterator]();
    }
    [Symbol.iterator]() {
      return this.entries();
    }
  }
  tag(Headers, "Headers");

  const viewOf = (body) =>
    body instanceof ArrayBuffer ? [body, 0, body.byteLength] : ArrayBuffer.isView(body) ? [body.buffer, body.byteOffset, body.byteLength] : undefined;

  class Response {
    #body;
    #used = false;
    constructor(body = null, init = {}) {
      const view = viewOf(body);
      this.#body = body === null || body === undefined ? new ArrayBuffer(0) : view ? view[0].slice(view[1], view[1] + view[2]) : native.encode(String(body));
      const status = init.status ?? 200;
      const fixed = { status, statusText: init.statusText ?? "", headers: new Headers(init.headers), url: "", redirected: false, type: "default" };
      for (const [key, value] of Object.entries(fixed)) Object.defineProperty(this, key, { value, enumerable: true, configurable: true });
    }
    get ok() {
      return this.status >= 200 && this.status < 300;
    }
    get bodyUsed() {
      return this.#used;
    }
    async arrayBuffer() {
      if (this.#used) throw new TypeError("Response: the body has already been read");
      this.#used = true;
      return this.#body;
    }
    async bytes() {
      return new Uint8Array(await this.arrayBuffer());
    }
    async text() {
      const body = await this.arrayBuffer();
      const text = native.decode(body, 0, body.byteLength, "utf-8", false);
      return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
    }
    async json() {
      return JSON.parse(await this.text());
    }
    clone() {
      if (this.#used) throw new TypeError("Response: the body has already been read");
      const copy = new Response(this.#body.slice(0), this);
      for (const key of ["url", "redirected"]) Object.defineProperty(copy, key, { value: this[key], enumerable: true, configurable: true });
      return copy;
    }
  }
  tag(Response, "Response");

  // The host makes the request, because a worker has no network. The worker waits meanwhile, so requests run in sequence.
  const fetch = async (input, init = {}) => {
    init.signal?.throwIfAborted();
    const headers = new Headers(init.headers);
    const args = { url: String(input), method: String(init.method ?? "GET"), redirect: String(init.redirect ?? "follow") };
    const { body } = init;
    const view = viewOf(body);
    if (view) args.base64 = native.toBase64(...view);
    else if (body !== undefined && body !== null) {
      args.body = String(body);
      const type = Object.prototype.toString.call(body) === "[object URLSearchParams]" || body.constructor?.name === "URLSearchParams" ? "application/x-www-form-urlencoded" : "text/plain";
      if (!headers.has("content-type")) headers.set("content-type", type + ";charset=UTF-8");
    }
    if ((view || body) && /^(GET|HEAD)$/i.test(args.method)) throw new TypeError(`fetch: a ${args.method.toUpperCase()} request has no body`);
    args.headers = [...headers];
    let told;
    try {
      told = native.fetch(args);
    } catch (error) {
      if (error.code === "denied") throw error;
      throw Object.defineProperty(new TypeError(error.message), "cause", { value: error, configurable: true, writable: true });
    }
    const response = new Response(told.base64 === undefined ? (told.text ?? "") : native.fromBase64(told.base64), told);
    for (const key of ["url", "redirected"]) Object.defineProperty(response, key, { value: told[key], enumerable: true, configurable: true });
    return response;
  };
  Object.defineProperty(fetch, "name", { value: "fetch" });

  return { fetch, Headers, Response, structuredClone, AbortController, AbortSignal, Event, EventTarget, DOMException, TextEncoder, TextDecoder, WeakRef, FinalizationRegistry, extendBuffer };
});
