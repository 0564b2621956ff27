package goja_test

import (
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/goja"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

func newEngine(tb testing.TB) *goja.Engine {
	tb.Helper()
	box := sandboxtest.New(tb, sandboxtest.Exe(tb))
	engine := goja.New(goja.Options{Jailer: worker.FromSandbox(box)})
	tb.Cleanup(engine.Close)
	if err := engine.Warm(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return engine
}

func javascript() runtimetest.Programs {
	return runtimetest.Programs{
		Language: runtimes.JavaScript, Runtime: runtimes.Goja, Entrypoint: "main.js",
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
		Env:         `export default (_, ctx) => ctx.env`,
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
export default () => {
  const seen = here || globalThis.mark !== undefined || ({}).mark !== undefined || Array.prototype.mark !== undefined || JSON.mark !== undefined || console.mark !== undefined
  here = true
  globalThis.mark = Object.prototype.mark = Array.prototype.mark = JSON.mark = console.mark = 1
  setTimeout(() => { globalThis.late = 1 }, 0)
  return seen
}`,
		Lib:    map[string]string{"lib/numbers.js": "import two from '../two.json'\nexport const answer = () => 21 * two", "two.json": "2"},
		Multi:  `import { answer } from "./lib/numbers"; export default () => ({ answer: answer() })`,
		Denied: `export default (_, ctx) => ctx.call("nope", {})`,
	}
}

func typescript() runtimetest.Programs {
	p := javascript()
	p.Language, p.Entrypoint = runtimes.TypeScript, "main.ts"
	p.Hello = `interface Input { name: string }
export default function main({ name }: Input): { greeting: string } {
  console.log("hello " + name)
  return { greeting: "Hello, " + name }
}`
	p.Fail, p.FailLine = "type T = { a: string }\ninterface U extends T {}\nexport default async (input: U): Promise<void> => {\n  throw new Error('boom' as string)\n}", 4
	p.Forever = `export default (): Promise<never> => { console.log("started"); return new Promise(() => setInterval(() => {}, 10)) }`
	p.Lib = map[string]string{"lib/numbers.ts": "import two from '../two.json'\nexport const answer = (): number => 21 * two", "two.json": "2"}
	return p
}

func TestConformanceJavaScript(t *testing.T) {
	t.Parallel()
	runtimetest.Conformance(t, newEngine(t), javascript())
}

func TestConformanceTypeScript(t *testing.T) {
	t.Parallel()
	runtimetest.Conformance(t, newEngine(t), typescript())
}

func BenchmarkHello(b *testing.B) { runtimetest.Benchmark(b, newEngine(b), javascript()) }
