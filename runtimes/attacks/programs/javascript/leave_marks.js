import { shared } from "./shared"
export default async () => {
  shared.mark = globalThis.mark = Object.prototype.mark = Array.prototype.mark = JSON.mark = console.mark = Promise.mark = Math.mark = "mark"
  Object.defineProperty(Array.prototype, "toJSON", { value: () => "mark", configurable: true })
  RegExp.prototype.exec = () => ["mark"]
  Symbol.for("mark").description
  setInterval(() => (globalThis.late = "mark"), 1)
  console.log("started")
  await new Promise(() => {})
}
