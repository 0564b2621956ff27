// Corrections of goja's built-in classes, in plain JavaScript. Each function corrects one class of the VM.
(function () {
  "use strict";
  const replace = (target, name, make) => {
    const value = make(target[name]);
    Object.defineProperty(value, "name", { value: name, configurable: true });
    Object.defineProperty(target, name, { value, writable: true, configurable: true });
  };

  return {
    // goja's from accepts no primitive values, such as strings.
    typedArrays() {
      replace(Object.getPrototypeOf(Uint8Array), "from", (from) => function (source, ...rest) {
        return from.call(this, source === null || source === undefined ? source : Object(source), ...rest);
      });
    },
    // goja truncates a BigInt to 64 bits.
    numbers() {
      const plain = Number;
      const numeric = (args) => {
        if (args.length === 0) return args;
        const value = typeof args[0] === "object" && args[0] !== null ? args[0].valueOf() : args[0];
        return [typeof value === "bigint" ? plain(String(value)) : args[0]];
      };
      // The engine's own instanceof does not support proxies.
      Object.defineProperty(plain, Symbol.hasInstance, { value(x) { return typeof x === "object" && x !== null && Object.prototype.isPrototypeOf.call(this.prototype, x); } });
      const proxy = new Proxy(plain, {
        apply: (target, self, args) => plain(...numeric(args)),
        construct: (target, args, newTarget) => Reflect.construct(plain, numeric(args), newTarget),
      });
      Object.defineProperty(globalThis, "Number", { value: proxy, writable: true, configurable: true });
      Object.defineProperty(plain.prototype, "constructor", { value: proxy, writable: true, configurable: true });
    },
    // Node writes the long name of the time zone, and six digits for a year before 0.
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
    errors() {
      replace(Error, "captureStackTrace", () => function (target) {
        const frames = new Error().stack.split("\n").slice(2);
        const value = [Error.prototype.toString.call(target), ...frames].join("\n");
        Object.defineProperty(target, "stack", { value, writable: true, configurable: true });
      });
    },
  };
});
