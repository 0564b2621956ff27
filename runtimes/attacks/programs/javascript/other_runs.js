import { shared } from "./shared"
export default () => {
  const found = []
  for (const [name, value] of Object.entries({ globalThis, object: {}, array: [], JSON, console, Promise, Math, shared })) {
    if (value.mark !== undefined) found.push(name)
    if (value.late !== undefined) found.push(name + " later")
  }
  if ([].toJSON !== undefined) found.push("toJSON")
  if (/a/.exec("b") !== null) found.push("exec")
  return found
}
