export default async (input, ctx) => {
  const found = []
  for (const name of [ctx.env.CANARY, "file://" + ctx.env.CANARY, "../../../../.." + ctx.env.CANARY, "fs", "node:fs", "/etc/passwd", "child_process", "os", "module"]) {
    try {
      await import(name)
      found.push(name)
    } catch {}
  }
  for (const name of ["require", "process", "Deno", "Bun", "read", "readFile", "load", "importScripts", "XMLHttpRequest", "FileReader", "File", "open", "global"])
    if (name in globalThis) found.push(name)
  try {
    if (console.log.constructor.constructor("return this")().process) found.push("constructor")
  } catch {}
  try {
    eval("1\n//# sourceMappingURL=file://" + ctx.env.CANARY)
    new Error("x").stack.includes(ctx.env.SECRET) && found.push("source map")
  } catch {}
  return found
}
