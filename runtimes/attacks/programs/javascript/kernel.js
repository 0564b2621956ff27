export default () => {
  const found = []
  for (const name of ["WebAssembly", "SharedArrayBuffer", "Atomics", "process", "Worker", "syscall", "ffi", "gc", "performance.now.native"]) {
    try {
      if (name in globalThis && !["SharedArrayBuffer", "Atomics"].includes(name)) found.push(name)
    } catch {}
  }
  const outer = [Function, (async () => {}).constructor, (function* () {}).constructor]
  for (const make of outer) {
    try {
      const it = make("return typeof process + typeof require")()
      if (typeof it === "string" && it !== "undefinedundefined") found.push("constructor")
    } catch {}
  }
  for (const value of [console.log, Promise.resolve, setTimeout, JSON.parse]) {
    for (const key of Reflect.ownKeys(value)) if (!["length", "name", "prototype"].includes(String(key))) found.push(String(key))
  }
  return found
}
