package node_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

func reuse(j *runtimes.Job) { j.Isolation = runtimes.Reuse }

// TestReuseKeepsTheProcess: the runs of one program of one workspace have one process; others never have it.
func TestReuseKeepsTheProcess(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	started := func() int64 { return engine.Stats().Started }
	run := func(source string, edit ...func(*runtimes.Job)) runtimes.Outcome {
		t.Helper()
		outcome, _ := runtimetest.Run(t, engine, p.Job(source, append([]func(*runtimes.Job){reuse}, edit...)...))
		return outcome
	}
	const source = "let n = 0\nexport default (input) => { n++; return [n, input.name] }"
	first := run(source)
	if string(first.Output) != `[1,"Ada"]` || !strings.HasSuffix(first.Level, ", reuse") {
		t.Fatalf("%s, %+v, level %q", first.Output, first.Error, first.Level)
	}
	before := started()
	for range 20 {
		if o := run(source); string(o.Output) != `[1,"Ada"]` {
			t.Fatalf("module state: %s, %+v", o.Output, o.Error)
		}
	}
	if n := started(); n != before {
		t.Errorf("%d more processes for 20 runs", n-before)
	}
	run(source, func(j *runtimes.Job) { j.Workspace = "other" })
	if n := started(); n <= before {
		t.Error("two workspaces share a process")
	}
	before = started()
	if o := run(source + " "); o.Error != nil {
		t.Error(o.Error)
	}
	if n := started(); n <= before {
		t.Error("two programs share a process")
	}
}

// TestReuseFailureEndsTheProcess: whatever goes wrong in a run, the next one has another process.
func TestReuseFailureEndsTheProcess(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	const source = `export default async ({ do: what }) => {
  if (what === "throw") throw new Error("boom")
  if (what === "timer") await new Promise(() => setTimeout(() => { throw new Error("late") }, 1))
  if (what === "reject") { Promise.reject(new Error("lost")); await new Promise((done) => setTimeout(done, 20)) }
  if (what === "forever") await new Promise(() => {})
  if (what === "loop") for (;;);
  if (what === "after") { (async () => { for (;;) await null })() }
  if (what === "heap") { const all = []; for (;;) all.push([all.length]) }
  if (what === "exit") process.exit(3)
  if (what === "output") return NaN
  return 1
}`
	for what, want := range map[string]runtimes.ErrorType{
		"throw": runtimes.RuntimeError, "timer": runtimes.RuntimeError, "reject": runtimes.RuntimeError, "forever": runtimes.RuntimeError,
		"loop": runtimes.Timeout, "after": "", "heap": runtimes.MemoryLimit, "exit": runtimes.RuntimeError, "output": runtimes.InvalidOutput,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			own := func(j *runtimes.Job) {
				j.Workspace = what
				j.Limits.MemoryBytes = 48 << 20
			}
			do := func(what string) runtimes.Outcome {
				outcome, _ := runtimetest.Run(t, engine, p.Job(source, reuse, own, func(j *runtimes.Job) {
					j.Input = json.RawMessage(`{"do":"` + what + `"}`)
					if what == "loop" { // which nothing else ends
						j.Limits.TimeoutMs = 2000
					}
				}))
				return outcome
			}
			if o := do(""); o.Error != nil {
				t.Fatal(o.Error)
			}
			o := do(what)
			if want == "" && o.Error != nil || want != "" && (o.Error == nil || o.Error.Type != want) {
				t.Errorf("%+v, want %s", o.Error, want)
			}
			if want == runtimes.RuntimeError && what != "exit" && o.Error.File != "main.js" {
				t.Errorf("no position: %+v", o.Error)
			}
			if o := do(""); o.Error != nil || string(o.Output) != "1" {
				t.Errorf("after it: %s, %+v", o.Output, o.Error)
			}
		})
	}
}

// TestReuseLeavesNothing: what a run changes of what it can reach is not there in the next one.
func TestReuseLeavesNothing(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	tests := map[string]string{ // each answers what an earlier run left
		"globals":    "const seen = globalThis.mark; globalThis.mark = 1; return seen",
		"prototypes": "const seen = [({}).mark, [].mark, (() => 1).mark, Promise.prototype.mark].find(Boolean); Object.prototype.mark = Array.prototype.mark = Function.prototype.mark = Promise.prototype.mark = 1; return seen",
		"classes of the web": "const seen = [DOMException.mark, DOMException.prototype.mark, structuredClone.mark].find(Boolean);" +
			"for (const c of [DOMException, DOMException.prototype, structuredClone]) { try { c.mark = 1 } catch {} try { Object.defineProperty(c, 'mark', { value: 1 }) } catch {} } return seen",
		"what is behind them": "const protos = []; for (const c of [DOMException, structuredClone]) for (let p = c; p; p = Object.getPrototypeOf(p)) protos.push(p, p.prototype ?? p, p.constructor);" +
			"const seen = protos.find((p) => p.left); for (const p of protos) { try { if (p !== Object && p !== Function && !Object.isFrozen(p)) p.left = 1 } catch {} } return seen && String(seen)",
		"an error of Node's": "globalThis.String = () => 5; let e; try { process.stdout.write('') } catch (x) { e = x } const seen = e.mark; for (let p = Object.getPrototypeOf(e); p; p = Object.getPrototypeOf(p)) { try { p.mark = 1 } catch {} } return seen",
		"what is behind values": `const known = new Set([globalThis]), found = []
const walk = (v) => {
  if (v === null || typeof v !== 'object' && typeof v !== 'function' || known.has(v)) return
  known.add(v); found.push(v); walk(Object.getPrototypeOf(v))
  for (const key of Reflect.ownKeys(v)) { const d = Object.getOwnPropertyDescriptor(v, key); [d.value, d.get, d.set].forEach(walk); try { walk(v[key]) } catch {} }
}
let thrown; try { structuredClone(() => 1) } catch (e) { thrown = e }
;[thrown, new Error('x').stack, structuredClone([{}, new Map([[1, 1]]), new Set([1]).keys().next(), new Date(), /x/, new Error('x'), 1n, new ArrayBuffer(1), new Uint8Array(1)])].forEach(walk)
;[DOMException, structuredClone, setTimeout, setTimeout(() => 1), console, process, performance, crypto].forEach(walk)
const seen = found.find((v) => v.left)
for (const v of found) { try { Object.defineProperty(v, 'left', { value: 1 }) } catch {} }
return seen && String(seen)`,
		"console":               "const seen = console.mark ?? console.log.mark; console.mark = console.log.mark = 1; return seen",
		"process":               "const seen = process.mark ?? process.env.MARK; process.mark = 1; process.env.MARK = 1; return seen",
		"a timer":               "const seen = globalThis.ticked; setInterval(() => { globalThis.ticked = 1; console.log('tick') }, 1); return seen",
		"a dead promise":        "Promise.resolve().then(function again() { globalThis.n = (globalThis.n ?? 0) + 1; if (globalThis.n < 50) return Promise.resolve().then(again) }); return undefined",
		"an escape":             "const get = (f) => { try { return f() } catch (e) { return undefined } }; const made = [DOMException, structuredClone, structuredClone({})].map((x) => get(() => x.constructor.constructor('return process')())).find(Boolean); return made && made.version ? 'the process' : undefined",
		"an escape by an error": "try { structuredClone(() => 1) } catch (e) { try { return e.constructor.constructor('return process')() ? 'the process' : undefined } catch { return undefined } }",
		"an escape by a stack":  "Error.prepareStackTrace = (_, sites) => sites.map((s) => [s.getThis(), s.getFunction()]).flat().find((x) => x && x !== globalThis && typeof x === 'object' && x.process); const found = new Error('x').stack; return found ? 'the process' : undefined",
		"an escape by inspect":  "let got; console.log({ [Symbol.for('nodejs.util.inspect.custom')](...args) { got = args; return '' } }); return got && 'inspect'",
		"Node's modules":        "return typeof require === 'function' ? 'require' : typeof process.binding + typeof process.dlopen + typeof process.getBuiltinModule === 'undefinedundefinedundefined' ? undefined : 'bindings'",
	}
	for name, body := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := "export default () => { " + body + " }"
			if name == "Node's modules" {
				source = "export default () => { " + strings.Replace(body, "typeof require", "typeof globalThis.require", 1) + " }"
			}
			for range 3 {
				outcome, host := runtimetest.Run(t, engine, p.Job(source, reuse))
				if outcome.Error != nil || string(outcome.Output) != "null" {
					t.Fatalf("%s, %+v: %s", outcome.Output, outcome.Error, host.Stderr(t))
				}
				if !strings.HasSuffix(outcome.Level, ", reuse") {
					t.Fatalf("not reused: %q", outcome.Level)
				}
			}
		})
	}
}

// TestReuseLends: what would go on after a run, or keep something of it, is there and ends the process of the run that took
// it. A program that names it does not share a process to begin with.
func TestReuseLends(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	run := func(t *testing.T, source, name string) runtimes.Outcome {
		t.Helper()
		outcome, _ := runtimetest.Run(t, engine, p.Job(source, reuse, func(j *runtimes.Job) {
			j.Workspace, j.Input = name, json.RawMessage(`["`+name+`"]`)
		}))
		if outcome.Error != nil {
			t.Errorf("%s: %+v", name, outcome.Error)
		}
		return outcome
	}
	const hidden = "export default ([name]) => typeof (globalThis[name] ?? Atomics[name])"
	for _, name := range []string{
		"AbortController", "AbortSignal", "Blob", "Buffer", "Event", "EventTarget", "FinalizationRegistry", "FormData", "Headers", "Request",
		"Response", "TextDecoder", "TextEncoder", "URL", "URLSearchParams", "WebAssembly", "atob", "btoa", "waitAsync",
	} {
		first := run(t, hidden, name)
		before := engine.Stats().Started
		second := run(t, hidden, name)
		if engine.Stats().Started == before {
			t.Errorf("%s: the process was used again", name)
		}
		if got := string(second.Output); got == `"undefined"` || string(first.Output) != got || !strings.HasSuffix(first.Level, ", reuse") {
			t.Errorf("%s: %s, then %s, level %q", name, first.Output, got, first.Level)
		}
	}
	run(t, hidden, "structuredClone")
	before := engine.Stats().Started
	if run(t, hidden, "structuredClone"); engine.Stats().Started != before {
		t.Error("structuredClone: the process was not used again")
	}
}

// TestReuseLateWork: what a run leaves that goes on by itself does not fail the next one.
func TestReuseLateWork(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	for name, body := range map[string]string{
		"a signal": "globalThis[['Abort', 'Signal'].join('')].timeout(1).addEventListener('abort', ghost)",
		"a module": "globalThis[['Web', 'Assembly'].join('')].compile(Uint8Array.from([0, 97, 115, 109, 1, 0, 0, 0])).then(ghost)",
	} {
		source := "const ghost = () => { throw new Error('ghost') }\nexport default async (first) => { if (first) " + body + "; else await new Promise((done) => setTimeout(done, 50)) }"
		for _, input := range []string{"true", "false", "true", "false"} {
			outcome, _ := runtimetest.Run(t, engine, p.Job(source, reuse, func(j *runtimes.Job) { j.Input = json.RawMessage(input) }))
			if outcome.Error != nil {
				t.Errorf("%s, %s: %+v", name, input, outcome.Error)
			}
		}
	}
}

// TestReuseChannel: a program that changes what its messages are made with can say what it likes for itself, and neither
// gets the job of the next run nor leaves it an answer that is not its own.
func TestReuseChannel(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	const lines = `'1}\n{"end":{"output":"mine"},"code":0,"again":true}\n{"ready":true}'`
	for name, body := range map[string]string{
		"in a result":  "JSON.stringify = () => " + lines + "; return 'x'",
		"in a call":    "JSON.stringify = () => " + lines + "; try { ctx.call('x', { a: 'b' }) } catch {} return 1",
		"in a promise": "Promise.prototype.then = function (win) { win(" + lines + ") }; return 1",
		"in an error":  "JSON.stringify = () => " + lines + "; throw new Error('x')",
		"not a text":   "Promise.prototype.then = function (win) { let n = 0; win({ toString: () => n++ === 0 ? '1' : " + lines + " }) }; return 1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := "export default async (input, ctx) => { if (input !== 'evil') return input; " + body + " }"
			for _, input := range []string{`"evil"`, `"a"`, `"evil"`, `"evil"`, `"b"`, `"c"`} {
				outcome, _ := runtimetest.Run(t, engine, p.Job(source, reuse, func(j *runtimes.Job) { j.Input = json.RawMessage(input) }))
				if input == `"evil"` && string(outcome.Output) == `"mine"` {
					t.Error("its own line was believed")
				}
				if input != `"evil"` && (outcome.Error != nil || string(outcome.Output) != input) {
					t.Errorf("%s after it: %s, %+v", input, outcome.Output, outcome.Error)
				}
			}
		})
	}
}

// TestReuseMemory: what a run leaves in memory is not held against the next one.
func TestReuseMemory(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	const source = "export default () => { const a = []; for (let i = 0; i < 150; i++) a.push(new Uint8Array(new SharedArrayBuffer(1 << 20)).fill(1)); return a.length }"
	for range 5 {
		if o, _ := runtimetest.Run(t, engine, p.Job(source, reuse)); string(o.Output) != "150" {
			t.Errorf("%s, %+v", o.Output, o.Error)
		}
	}
}

// TestReuseContract: a program finds the same in a context as in a process of its own.
func TestReuseContract(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	for name, tt := range map[string]contract{
		"big integers":  {source: "export default (input) => [typeof input.id, input]", input: `{"id":9007199254740993}`, output: `["bigint",{"id":9007199254740993}]`},
		"the web":       {source: "export default async () => [new URL('https://a/b?c=1').searchParams.get('c'), new TextDecoder().decode(new TextEncoder().encode('ü')), atob(btoa('x')), Buffer.from('x').toString('hex'), structuredClone({ a: 1 }), crypto.randomUUID().length, typeof performance.now(), await new Response('{\"a\":2}').json(), new AbortController().signal.aborted]", output: `["1","ü","x","78",{"a":1},36,"number",{"a":2},false]`},
		"timers":        {source: "export default () => new Promise((done) => { let n = 0; const t = setInterval(() => { if (++n === 3) { clearInterval(t); setImmediate(done, n) } }, 1) })", output: `3`},
		"environment":   {source: "export default (_, ctx) => [ctx.env.A, process.env.A]", output: `["1","1"]`, edit: func(j *runtimes.Job) { j.Environment = map[string]string{"A": "1"} }},
		"logs in order": {source: "export default (_, ctx) => { console.log('one', { a: [1] }); ctx.log('info', 'two'); console.group('three'); console.log('four') }", output: `null`, stdout: "one { a: [ 1 ] }\nthree\n  four\n"},
		"eval and wasm": {source: "export default () => [eval('6*7'), new Function('return 1')(), new WebAssembly.Module(Uint8Array.from([0, 97, 115, 109, 1, 0, 0, 0])) instanceof WebAssembly.Module, new Intl.NumberFormat('de').format(1.5)]", output: `[42,1,true,"1,5"]`},
		"a position":    {source: "const f = (x) => {\n  return x.y.z\n}\nexport default () => f({})", want: runtimes.ProgramError{Type: runtimes.RuntimeError, File: "main.js", Line: 2, Column: 14}},
		"recursion":     {source: "const f = (x) => f(x) + 1\nexport default () => f(1)", want: runtimes.ProgramError{Type: runtimes.RecursionLimit, File: "main.js", Line: 1}},
		"a cycle":       {source: "export default () => { const a = {}; a.a = a; return a }", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "output.a: the object contains itself"}},
		"a map":         {source: "export default () => new Map()", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "a Map is not JSON"}},
		"syntax":        {source: "export default () => {\n  return /(?<a>x)(?<a>y)/\n}", want: runtimes.ProgramError{Type: runtimes.SyntaxError, File: "main.js", Line: 2}},
		"fetch":         {source: "export default async () => {\n  return (await fetch('https://example.com/x')).status\n}", want: runtimes.ProgramError{Type: runtimes.Denied, File: "main.js", Line: 2, Remedy: "example.com:443"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := tt.edit
			tt.edit = func(j *runtimes.Job) {
				reuse(j)
				if inner != nil {
					inner(j)
				}
			}
			tt.check(t, engine, p)
			tt.check(t, engine, p) // and once more, where it may be in the same process
		})
	}
}

// TestReuseOfModules: a program with modules of Node, or what is lent, gets a process of its own, and the level of its run says so.
func TestReuseOfModules(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	for _, edit := range []func(*runtimes.Job){
		func(j *runtimes.Job) {
			j.Files["main.js"] = []byte("import fs from 'fs'\nexport default () => typeof fs")
		},
		func(j *runtimes.Job) { j.Files["main.js"] = []byte("export default () => typeof Buffer") },
		func(j *runtimes.Job) { j.Files["main.js"] = []byte("export default () => typeof fetch") },
		func(j *runtimes.Job) { j.Capabilities.Subprocess = true },
		func(j *runtimes.Job) { j.CodeDigest = "" },
	} {
		outcome, _ := runtimetest.Run(t, engine, p.Job("export default () => 1", reuse, edit))
		if outcome.Error != nil || strings.Contains(outcome.Level, "reuse") {
			t.Errorf("%+v, level %q", outcome.Error, outcome.Level)
		}
	}
}
