// Removes the functions that make code from text. Functions keep their prototypes, so that instanceof works.
(function (native) {
  "use strict";
  const refused = (name) => ({ [name]: function () { native.refuse(name); } })[name];
  const set = (target, name, value, writable) => Object.defineProperty(target, name, { value, writable, enumerable: false, configurable: true });
  for (const form of [function () {}, async function () {}, function* () {}]) {
    const prototype = Object.getPrototypeOf(form);
    const value = refused(prototype.constructor.name);
    Object.defineProperty(value, "prototype", { value: prototype, writable: false });
    set(prototype, "constructor", value, prototype === Function.prototype);
  }
  set(globalThis, "Function", Function.prototype.constructor, true);
  set(globalThis, "eval", refused("eval"), true);
  return {};
})
