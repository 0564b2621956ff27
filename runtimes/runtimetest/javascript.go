package runtimetest

import "github.com/atelier-run/atelier/runtimes"

// JavaScript returns the test programs in JavaScript for Node.
func JavaScript() Programs {
	return Programs{
		Language: runtimes.JavaScript, Runtime: runtimes.NodeEngine, Entrypoint: "main.js",
		Hello: `export default function ({ name }) {
  console.log("hello " + name)
  return { greeting: "Hello, " + name }
}`,
		Echo: `export default (input) => input`,
		Order: `function main(input, ctx) {
  console.log("one")
  ctx.log("info", "two", { n: 2 })
  console.log("three")
  ctx.progress(1, 2, "half")
  console.log("four")
}`,
		Stderr:      `export default () => { console.log("fine"); console.error("oops") }`,
		Env:         `export default (_, ctx) => ({ ...ctx.env, ...process.env })`,
		Unicode:     `export default () => { console.log("grüß 世界 🎉"); return { text: "grüß 世界 🎉" } }`,
		Invalid:     `export default () => ({ items: [1, NaN] })`,
		InvalidPath: "output.items[1]",
		Fail:        "export default async () => {\n  await null\n\n  throw new Error('boom')\n}",
		FailLine:    4,
		Syntax:      "export default () => {\n  const x = = 1\n}",
		SyntaxLine:  2,
		Forever:     `export default () => { console.log("started"); for (;;) {} }`,
		Flood:       `export default () => { for (;;) console.log("0123456789012345678901234567890123456789") }`,
		BigResult:   `export default () => "x".repeat(2_000_000)`,
		State: `let here = false
import fs from "node:fs"
export default () => {
  const seen = here || globalThis.mark !== undefined || ({}).mark !== undefined || JSON.mark !== undefined || fs.mark !== undefined || process.mark !== undefined || fs.existsSync("/tmp/mark")
  here = true
  globalThis.mark = Object.prototype.mark = JSON.mark = fs.mark = process.mark = 1
  fs.writeFileSync("/tmp/mark", "1")
  setTimeout(() => { globalThis.late = 1 }, 0)
  return seen
}`,
		Lib:    map[string]string{"lib/numbers.js": "import two from '../two.json'\nexport const answer = () => 21 * two", "two.json": "2"},
		Multi:  `import { answer } from "./lib/numbers"; export default () => ({ answer: answer() })`,
		Denied: `export default (_, ctx) => ctx.call("nope", {})`,
	}
}
