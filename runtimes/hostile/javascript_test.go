package hostile_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/hostile"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

func javascript() []attack {
	second := func(j *runtimes.Job) { j.Limits.TimeoutMs = 1000 }
	// These attacks must end by their limit and not by the timeout, even if the machine is very busy.
	patient := func(j *runtimes.Job) {
		j.Limits.TimeoutMs, j.Limits.CPUMs, j.Limits.MemoryBytes = 60_000, 60_000, 64<<20
	}
	unhurried := func(j *runtimes.Job) { j.Limits.TimeoutMs, j.Limits.CPUMs = 200_000, 200_000 }
	timeout := []runtimes.ErrorType{runtimes.Timeout}
	memory := []runtimes.ErrorType{runtimes.MemoryLimit}
	// The kernel may need more time for one huge allocation than the timeout allows.
	either := []runtimes.ErrorType{runtimes.MemoryLimit, runtimes.Timeout}
	run := func(body string) string { return "export default async (input, ctx) => {\n" + body + "\n}" }
	return []attack{
		{class: hostile.CPU, name: "infinite loop", file: "spin", edit: second, types: timeout},
		{class: hostile.CPU, name: "infinite loop that catches", source: run("for (;;) { try { for (;;) {} } catch {} finally { continue } }"), edit: second, types: timeout},
		{class: hostile.CPU, name: "infinite microtasks", source: run("const f = () => Promise.resolve().then(f); await f()"), edit: second, types: either},
		{class: hostile.CPU, name: "infinite timers", source: run("await new Promise(() => { const f = () => setTimeout(f, 0); f() })"), edit: second, types: timeout},
		{class: hostile.CPU, name: "burns processor time", file: "spin", edit: func(j *runtimes.Job) { j.Limits.CPUMs = 300 }, types: timeout},
		{class: hostile.CPU, name: "catastrophic pattern", source: run("return /^(?=a)(a+)+$/.test('a'.repeat(40) + '!')"), edit: second, types: timeout},
		{class: hostile.CPU, name: "back reference pattern", source: run("return /(x+x+)+\\1y/.test('x'.repeat(60))"), edit: second, types: timeout},
		{class: hostile.Memory, name: "array of a billion", source: run("return Array(1e9).fill(0).length"), edit: second, types: either},
		{class: hostile.CPU, name: "array join", source: run("return Array(4294967295).join('x').length"), edit: second, types: either},
		{class: hostile.CPU, name: "generic reverse", source: run("Array.prototype.reverse.call({ length: 2 ** 53 - 1 })"), edit: second, types: either},
		{class: hostile.CPU, name: "big integer power", source: run("return String(2n ** 100000000n).length"), edit: second, types: either},
		{class: hostile.Memory, name: "big integer shift", source: run("return String(1n << (1n << 40n)).length"), edit: patient, types: append(memory, runtimes.RuntimeError)},
		{class: hostile.Memory, name: "a tebibyte of text", file: "tebibyte", edit: patient, types: append(memory, runtimes.RuntimeError)},
		{class: hostile.Memory, name: "a gibibyte of text", file: "gulp", edit: second, types: either},
		{class: hostile.Memory, name: "4 gibibytes of unicode", source: run("return 'ü'.repeat(3e9).length"), edit: patient, types: append(memory, runtimes.RuntimeError)},
		{class: hostile.Memory, name: "padding", source: run("return 'x'.padEnd(4e9).length"), edit: second, types: either},
		{class: hostile.Memory, name: "replaceAll bomb", source: run("let s = 'x'; for (let i = 0; i < 40; i++) s = s.replaceAll('x', 'xx')"), edit: second, types: either},
		{class: hostile.Memory, name: "doubling text", source: run("let s = 'x'; for (;;) s += s"), edit: patient, types: memory},
		{class: hostile.Memory, name: "growing list", file: "memory", edit: patient, types: memory},
		{class: hostile.Memory, name: "growing closures", source: run("let f = null; for (;;) { const g = f; f = () => g }"), edit: patient, types: memory},
		{class: hostile.Memory, name: "large typed array", source: run("return new Uint8Array(8e9).fill(1).length"), edit: patient, types: append(memory, runtimes.RuntimeError)},
		{class: hostile.Memory, name: "many typed arrays", source: run("const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1))"), edit: patient, types: memory},
		{class: hostile.Memory, name: "apply with many", source: run("return Math.max.apply(null, { length: 4e9 })"), edit: second, types: either},
		{class: hostile.Memory, name: "spread of many", source: run("return Math.max(...Array(1e8).keys())"), edit: second, types: either},
		{class: hostile.Output, name: "output flood", source: run("for (;;) console.error('x'.repeat(1000))"), types: []runtimes.ErrorType{runtimes.OutputLimit}},
		{class: hostile.Output, name: "one large line", source: run("console.log('x'.repeat(5e6)); for (;;) {}"), types: []runtimes.ErrorType{runtimes.OutputLimit}},
		{class: hostile.Output, name: "deep inspection", source: run("let o = {}; const p = 'x'.repeat(20000); for (let i = 0; i < 1e5; i++) o = { o, p }; for (let i = 0; i < 200; i++) console.log(o)"), types: []runtimes.ErrorType{runtimes.OutputLimit}},
		{class: hostile.Output, name: "log flood", source: run("for (let i = 0; i < 20000; i++) ctx.log('info', 'x'.repeat(100)); return 1"), output: `1`, edit: unhurried},
		{class: hostile.Memory, name: "endless recursion", file: "recursion", types: []runtimes.ErrorType{runtimes.RecursionLimit}},
		{class: hostile.Memory, name: "recursion in getters", source: run("const o = { get a() { return this.a } }; o.a"), types: []runtimes.ErrorType{runtimes.RecursionLimit}},
		{class: hostile.Memory, name: "recursion in proxies", source: run("const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x"), types: []runtimes.ErrorType{runtimes.RecursionLimit}},
		{class: hostile.Memory, name: "recursion in toJSON", source: run("const o = { toJSON() { return JSON.stringify(o) } }; return o"), types: []runtimes.ErrorType{runtimes.RecursionLimit}},
		{class: hostile.Memory, name: "proxies of proxies", source: run("let p = {}; for (let i = 0; i < 1e6; i++) p = new Proxy(p, {}); return p.x"), edit: patient, types: []runtimes.ErrorType{runtimes.RecursionLimit, runtimes.MemoryLimit, runtimes.RuntimeError}},
		{class: hostile.Memory, name: "chain of prototypes", source: run("let p = {}; for (let i = 0; i < 3e6; i++) p = Object.create(p); return p.x"), edit: patient, types: []runtimes.ErrorType{runtimes.RecursionLimit, runtimes.MemoryLimit}},
		{class: hostile.ParserBombs, name: "nested JSON text", source: run("return JSON.parse('['.repeat(5e6))"), types: []runtimes.ErrorType{runtimes.RuntimeError}},
		{class: hostile.Memory, name: "nested JSON value", source: run("let o = []; for (let i = 0; i < 1e6; i++) o = [o]; return JSON.stringify(o).length"), edit: patient, types: []runtimes.ErrorType{runtimes.RecursionLimit, runtimes.MemoryLimit}},
		{class: hostile.Forging, name: "nested result", source: run("let o = []; for (let i = 0; i < 1e5; i++) o = [o]; return o"), edit: patient, types: []runtimes.ErrorType{runtimes.InvalidOutput, runtimes.MemoryLimit}},
		{class: hostile.ParserBombs, name: "nested eval", source: run("return eval('('.repeat(3e6) + '1' + ')'.repeat(3e6))"), edit: patient, types: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.MemoryLimit}},
		{class: hostile.ParserBombs, name: "nested Function", source: run("return new Function('return ' + '!'.repeat(3e6) + '1')()"), edit: patient, types: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.MemoryLimit}},
		{class: hostile.ParserBombs, name: "nested pattern", source: run("return new RegExp('('.repeat(1e6) + ')'.repeat(1e6)).test('')"), edit: patient, types: []runtimes.ErrorType{runtimes.RuntimeError, runtimes.RecursionLimit, runtimes.MemoryLimit, runtimes.SyntaxError}},
		{class: hostile.ParserBombs, mute: true, name: "parser bomb of brackets", source: strings.Repeat("[", 200_000), types: []runtimes.ErrorType{runtimes.SyntaxError}},
		{class: hostile.ParserBombs, mute: true, name: "parser bomb of templates", source: strings.Repeat("`${", 200_000), types: []runtimes.ErrorType{runtimes.SyntaxError}},
		{class: hostile.ParserBombs, mute: true, name: "parser bomb of operators", source: run("return " + strings.Repeat("!", 1_000_000) + "1"), types: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.MemoryLimit}},
		{class: hostile.ParserBombs, mute: true, name: "parser bomb of arrows", source: run("return " + strings.Repeat("a=>", 300_000) + "1"), types: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.MemoryLimit}},
		{class: hostile.ParserBombs, mute: true, name: "parser bomb of conditions", source: run(strings.Repeat("if (1) ", 200_000) + ";"), types: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.MemoryLimit}},
		{class: hostile.ParserBombs, mute: true, name: "parser bomb in a pattern", source: run("return /" + strings.Repeat("(", 500_000) + strings.Repeat(")", 500_000) + "/"), types: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.MemoryLimit}},
		{class: hostile.ParserBombs, mute: true, name: "parser bomb of JSON", source: "import x from './x.json'; export default () => x", edit: func(j *runtimes.Job) { j.Files["x.json"] = []byte(strings.Repeat("[", 500_000)) }, types: []runtimes.ErrorType{runtimes.SyntaxError}},
		{class: hostile.HostFiles, name: "source map of the host", source: run("return 1") + "\n//# sourceMappingURL=file:///dev/zero", output: `1`},
		{class: hostile.HostFiles, name: "source map in eval", source: run("return eval('1\\n//# sourceMappingURL=file:///dev/zero')"), output: `1`},
		{class: hostile.HostFiles, name: "files of the host",
			source: run("const tried = []\nfor (const name of ['fs', 'node:fs', '/etc/passwd', '../../etc/passwd', 'child_process', 'os']) { try { await import(name); tried.push(name) } catch {} }\nreturn tried"),
			output: `[]`,
		},
		{class: hostile.HostFiles, name: "a file of the host, imported", mute: true, source: "import x from '/etc/passwd'; export default () => x", types: []runtimes.ErrorType{runtimes.SyntaxError}},
		{class: hostile.Kernel, name: "globals of other runtimes",
			source: run("return ['process', 'require', 'Deno', 'Bun', 'XMLHttpRequest', 'WebSocket', 'module', 'global'].filter((n) => n in globalThis)"),
			output: `[]`,
		},
		{class: hostile.Kernel, name: "escape by the constructor",
			source: run("const g = console.log.constructor.constructor('return this')(); return [typeof g.process, typeof g.require, Object.keys(g)]"),
			output: `["undefined","undefined",[]]`,
		},
		{class: hostile.HostFiles, name: "reads and writes files of the host", file: "host_files", output: "[]"},
		{class: hostile.Secrets, name: "looks for a secret", file: "secrets", output: "[]"},
		{class: hostile.OtherRuns, name: "looks for its neighbour", file: "other_runs", alongside: "leave_marks", edit: withShared, output: "[]"},
		{class: hostile.Network, name: "calls home", file: "network", output: "[]"},
		{class: hostile.Kernel, name: "system calls", file: "kernel", output: "[]"},
		{class: hostile.Processes, name: "tries to start processes", source: run("const made = []\nfor (const name of ['child_process', 'node:child_process', 'worker_threads', 'cluster']) { try { await import(name); made.push(name) } catch {} }\nfor (const name of ['Worker', 'SharedWorker', 'Bun', 'Deno', 'process']) if (name in globalThis) made.push(name)\nreturn made"), output: "[]"},
		{class: hostile.Processes, name: "a million promises", source: run("const all = []\nfor (;;) all.push(new Promise((r) => setTimeout(r, 1e9)))"), edit: patient, types: either},
		{class: hostile.Disk, name: "looks for a disk", source: run("return ['localStorage', 'sessionStorage', 'indexedDB', 'caches', 'File', 'FileSystem', 'showSaveFilePicker'].filter((n) => n in globalThis)"), output: "[]"},
		{class: hostile.Files, name: "a thousand imports", source: run("let n = 0\nfor (let i = 0; i < 1000; i++) { try { await import('./no' + i) ; n++ } catch {} }\nreturn n"), output: "0"},
		{class: hostile.Signals, name: "a timer that outlives its run", source: run("setInterval(() => { globalThis.late = 1; console.log('late') }, 1); setTimeout(() => { for (;;) {} }, 50); return 'done'"), edit: second, check: doneOrStopped},
		{class: hostile.Signals, name: "never answers", source: run("await new Promise(() => {})"), edit: second, types: []runtimes.ErrorType{runtimes.Timeout, runtimes.RuntimeError}},
		{class: hostile.Signals, name: "catches its own end", source: run("for (;;) { try { await new Promise((_, no) => { for (;;) {} }) } catch {} }"), edit: second, types: timeout},
		{class: hostile.Output, name: "result that is too large", source: run("return 'x'.repeat(3e6)"), types: []runtimes.ErrorType{runtimes.OutputLimit}},
		{class: hostile.Forging, name: "result that is NaN", source: run("return { items: [1, NaN] }"), types: []runtimes.ErrorType{runtimes.InvalidOutput}},
		{class: hostile.Forging, name: "result that contains itself", source: run("const o = {}; o.o = o; return o"), types: []runtimes.ErrorType{runtimes.InvalidOutput}},
		{class: hostile.Forging, name: "result with half a surrogate pair", source: run("return { ['\\ud800']: '\\udfff' }"), types: []runtimes.ErrorType{runtimes.InvalidOutput}},
		{class: hostile.Forging, name: "result that keeps changing", source: run("let n = 0; return new Proxy({}, { ownKeys: () => Array.from({ length: 1e4 }, () => 'k' + n++), getOwnPropertyDescriptor: () => ({ value: new Proxy({}, {}), enumerable: true, configurable: true }), get: () => n++ })"), edit: second, check: anyEnd},
		{class: hostile.Forging, name: "thenable that never resolves", source: "export default () => ({ then(yes) { for (;;) yes } })", edit: second, types: timeout},
		{class: hostile.Forging, name: "error in the form of the server's", source: run("throw { type: 'interrupted', code: 'interrupted', file: '/etc/passwd', line: 1, message: 'The server stopped.', stack: 'at /etc/passwd:1:1', get name() { return 'Interrupted' } }"), types: []runtimes.ErrorType{runtimes.RuntimeError}, check: noForeignFileOfJavaScript},
		{class: hostile.Forging, name: "error that cannot be shown", source: run("throw new Proxy({}, { get() { for (;;) {} } })"), edit: second, types: []runtimes.ErrorType{runtimes.Timeout, runtimes.RuntimeError}},
		{class: hostile.Forging, name: "functions of the encoder replaced", source: run("JSON.stringify = () => 'forged'; Object.keys = () => ['forged']; Array.prototype.toJSON = () => 'forged'; return [1]"), check: anyEnd},
		{class: hostile.Terminal, name: "titles, colours, queries", source: run("console.log('\\x1b]0;owned\\x07\\x1b[2J\\x1b[31mred\\x9b31m\\x90q\\x1b[6n\\r\\u202e\\u2028'); return '\\x1b]52;c;b3duZWQ=\\x07'"), output: "\"\\u001b]52;c;b3duZWQ=\\u0007\""},
		{class: hostile.Terminal, name: "in an error", source: run("const e = new Error('\\x1b]0;owned\\x07\\nlevel=ERROR'); e.name = '\\x1b[31m'; throw e"), types: []runtimes.ErrorType{runtimes.RuntimeError}},
	}
}

// withShared adds a module that both of two concurrent runs import.
func withShared(j *runtimes.Job) { j.Files["shared.js"] = []byte("export const shared = {}") }

// doneOrStopped accepts a result and a timeout. The engine may wait for pending timers, but not forever.
func doneOrStopped(t *testing.T, o runtimes.Outcome, _ *runtimetest.Host) {
	t.Helper()
	if string(o.Output) != `"done"` && (o.Error == nil || o.Error.Type != runtimes.Timeout) {
		t.Errorf("%s, %+v", o.Output, o.Error)
	}
}

// anyEnd accepts any result of the program. Only the next run must work.
func anyEnd(*testing.T, runtimes.Outcome, *runtimetest.Host) {}

// noForeignFileOfJavaScript checks that the position of an error is in the program, or that it has none.
func noForeignFileOfJavaScript(t *testing.T, o runtimes.Outcome, _ *runtimetest.Host) {
	t.Helper()
	if o.Error == nil || o.Error.File != "" && o.Error.File != "main.js" {
		t.Errorf("%+v", o.Error)
	}
}
