// Corrections of goja's built-in classes, in plain JavaScript. Each function corrects one class of the VM.
(function (native) {
  "use strict";
  const replace = (target, name, make) => {
    const value = make(target[name]);
    Object.defineProperty(value, "name", { value: name, configurable: true });
    Object.defineProperty(target, name, { value, writable: true, configurable: true });
  };

  // wrap replaces a built-in class by one whose constructor converts its arguments.
  const wrap = (name, convert) => {
    const plain = globalThis[name];
    // The engine's own instanceof does not support proxies.
    const value = function (x) {
      return typeof x === "object" && x !== null && Object.prototype.isPrototypeOf.call(this.prototype, x);
    };
    Object.defineProperty(plain, Symbol.hasInstance, { value });
    const proxy = new Proxy(plain, {
      apply: (target, self, args) => plain.apply(self, convert(args)),
      construct: (target, args, newTarget) => Reflect.construct(plain, convert(args), newTarget),
    });
    Object.defineProperty(globalThis, name, { value: proxy, writable: true, configurable: true });
    Object.defineProperty(plain.prototype, "constructor", { value: proxy, writable: true, configurable: true });
  };

  // english checks the arguments of a method that depends on the locale. Without the check, goja would ignore them, or
  // use the locale as a radix.
  const english = (method, locale, options = {}, known = []) => {
    const first = Array.isArray(locale) ? locale[0] : locale;
    if (first !== undefined && first !== "en-US" && first !== "en") {
      throw new RangeError(`${method}: the locale ${JSON.stringify(String(first))} needs the node runtime: goja supports only "en-US"`);
    }
    for (const key of Object.keys(options)) {
      if (options[key] !== undefined && !known.includes(key)) throw new RangeError(`${method}: the option ${key} needs the node runtime: format the value in the program instead`);
    }
    return options;
  };

  // digits returns the value of an option that is a number of digits.
  const digits = (options, key, otherwise) => {
    if (options[key] === undefined) return otherwise;
    const n = Math.floor(options[key]);
    if (!(n >= 0 && n <= 20)) throw new RangeError(`${key} value is out of range.`);
    return n;
  };
  const formatted = (value, locale, options) => {
    options = english("toLocaleString", locale, options, ["minimumFractionDigits", "maximumFractionDigits"]);
    const most = digits(options, "maximumFractionDigits");
    const least = digits(options, "minimumFractionDigits", 0);
    if (most < least) throw new RangeError("maximumFractionDigits value is out of range.");
    if (typeof value === "number" && !Number.isFinite(value)) return String(value).replace("Infinity", "∞");
    return native.decimal(Object.is(value, -0) ? "-0" : String(value), least, most ?? Math.max(3, least));
  };

  return {
    // goja's from rejects primitive values, such as strings.
    typedArrays() {
      replace(Object.getPrototypeOf(Uint8Array), "from", (from) => function (source, ...rest) {
        return from.call(this, source === null || source === undefined ? source : Object(source), ...rest);
      });
    },
    // goja truncates a BigInt to 64 bits.
    numbers() {
      const plain = Number;
      wrap("Number", (args) => {
        if (args.length === 0) return args;
        const value = typeof args[0] === "object" && args[0] !== null ? args[0].valueOf() : args[0];
        return [typeof value === "bigint" ? plain(String(value)) : args[0]];
      });
    },
    // goja's error does not explain which flag it lacks. goja also compiles property escapes, which then never match.
    regexps() {
      wrap("RegExp", (args) => {
        if (args[1] !== undefined) {
          const flags = String(args[1]);
          const source = args[0] instanceof RegExp ? args[0].source : String(args[0]);
          const advice = native.advice(source, flags);
          if (advice !== "") throw new SyntaxError(advice);
        }
        return args;
      });
    },
    // Node writes the long name of the time zone, and writes a year before 0 with six digits. goja does neither.
    dates() {
      for (const name of ["toString", "toTimeString"]) {
        replace(Date.prototype, name, (old) => function () {
          return old.call(this).replace("(UTC)", "(Coordinated Universal Time)");
        });
      }
      replace(Date.prototype, "toISOString", (old) => function () {
        return old.call(this).replace(/^-(\d{4})-/, "-00$1-");
      });
    },
    localeNumbers() {
      for (const { prototype } of [Number, BigInt]) {
        replace(prototype, "toLocaleString", () => function (locale, options) {
          return formatted(prototype.valueOf.call(this), locale, options);
        });
      }
    },
    localeDates() {
      const date = (d) => `${d.getMonth() + 1}/${d.getDate()}/${d.getFullYear()}`;
      const two = (n) => String(n).padStart(2, "0");
      const time = (d) => `${d.getHours() % 12 || 12}:${two(d.getMinutes())}:${two(d.getSeconds())} ${d.getHours() < 12 ? "AM" : "PM"}`;
      const forms = { toLocaleString: (d) => `${date(d)}, ${time(d)}`, toLocaleDateString: date, toLocaleTimeString: time };
      for (const [name, form] of Object.entries(forms)) {
        replace(Date.prototype, name, () => function (locale, options) {
          english(name, locale, options);
          const at = new Date(Date.prototype.getTime.call(this));
          if (Number.isNaN(at.getTime())) return "Invalid Date";
          if (at.getFullYear() < 1) throw new RangeError(`${name}: a year before 1 needs the node runtime`);
          return form(at);
        });
      }
    },
    localeCompare() {
      replace(String.prototype, "localeCompare", () => function (other, locale, options) {
        if (this === undefined || this === null) throw new TypeError("String.prototype.localeCompare called on null or undefined");
        options = english("localeCompare", locale, options, ["sensitivity", "numeric"]);
        const { sensitivity = "variant", numeric = false } = options;
        if (!["base", "accent", "case", "variant"].includes(sensitivity)) throw new RangeError(`Value ${sensitivity} out of range for Intl.Collator options property sensitivity`);
        return native.compare(String(this), String(other), sensitivity, numeric);
      });
    },
    errors() {
      replace(Error, "captureStackTrace", () => function (target) {
        const frames = new Error().stack.split("\n").slice(2);
        const value = [Error.prototype.toString.call(target), ...frames].join("\n");
        Object.defineProperty(target, "stack", { value, writable: true, configurable: true });
      });
    },
  };
});
