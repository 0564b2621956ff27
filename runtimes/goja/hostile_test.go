package goja_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

func TestHostile(t *testing.T) {
	t.Parallel()
	second := func(j *runtimes.Job) { j.Limits.TimeoutMs = 1000 }
	// These have to end by their limit, however busy the machine is.
	patient := func(j *runtimes.Job) { j.Limits.TimeoutMs, j.Limits.CPUMs = 60_000, 60_000 }
	timeout := []runtimes.ErrorType{runtimes.Timeout}
	memory := []runtimes.ErrorType{runtimes.MemoryLimit}
	// One huge allocation may take the kernel longer than the program is given.
	either := []runtimes.ErrorType{runtimes.MemoryLimit, runtimes.Timeout}
	run := func(body string) string { return "export default async (input, ctx) => {\n" + body + "\n}" }
	runtimetest.Hostile(t, newEngine(t), javascript(), map[string]runtimetest.Attack{
		"infinite loop":              {Source: run("for (;;) {}"), Edit: second, Want: timeout},
		"infinite loop that catches": {Source: run("for (;;) { try { for (;;) {} } catch {} finally { continue } }"), Edit: second, Want: timeout},
		"infinite microtasks":        {Source: run("const f = () => Promise.resolve().then(f); await f()"), Edit: second, Want: either},
		"infinite timers":            {Source: run("await new Promise(() => { const f = () => setTimeout(f, 0); f() })"), Edit: second, Want: timeout},
		"burns processor time":       {Source: run("for (;;) {}"), Edit: func(j *runtimes.Job) { j.Limits.CPUMs = 300 }, Want: timeout},
		"catastrophic pattern":       {Source: run("return /^(?=a)(a+)+$/.test('a'.repeat(40) + '!')"), Edit: second, Want: timeout},
		"back reference pattern":     {Source: run("return /(x+x+)+\\1y/.test('x'.repeat(60))"), Edit: second, Want: timeout},
		"array of a billion":         {Source: run("return Array(1e9).fill(0).length"), Edit: second, Want: either},
		"array join":                 {Source: run("return Array(4294967295).join('x').length"), Edit: second, Want: either},
		"generic reverse":            {Source: run("Array.prototype.reverse.call({ length: 2 ** 53 - 1 })"), Edit: second, Want: either},
		"big integer power":          {Source: run("return String(2n ** 100000000n).length"), Edit: second, Want: either},
		"big integer shift":          {Source: run("return String(1n << (1n << 40n)).length"), Edit: patient, Want: append(memory, runtimes.RuntimeError)},
		"a tebibyte of text":         {Source: run("return 'x'.repeat(2 ** 40).length"), Edit: patient, Want: append(memory, runtimes.RuntimeError)},
		"a gibibyte of text":         {Source: run("return 'x'.repeat(2 ** 30).length"), Edit: second, Want: either},
		"4 gibibytes of unicode":     {Source: run("return 'ü'.repeat(3e9).length"), Edit: patient, Want: append(memory, runtimes.RuntimeError)},
		"padding":                    {Source: run("return 'x'.padEnd(4e9).length"), Edit: second, Want: either},
		"replaceAll bomb":            {Source: run("let s = 'x'; for (let i = 0; i < 40; i++) s = s.replaceAll('x', 'xx')"), Edit: second, Want: either},
		"doubling text":              {Source: run("let s = 'x'; for (;;) s += s"), Edit: patient, Want: memory},
		"growing list":               {Source: run("const all = []; for (;;) all.push({ n: all.length, text: 'x' + all.length })"), Edit: patient, Want: memory},
		"growing closures":           {Source: run("let f = null; for (;;) { const g = f; f = () => g }"), Edit: patient, Want: memory},
		"large typed array":          {Source: run("return new Uint8Array(8e9).fill(1).length"), Edit: patient, Want: append(memory, runtimes.RuntimeError)},
		"many typed arrays":          {Source: run("const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1))"), Edit: patient, Want: memory},
		"apply with many":            {Source: run("return Math.max.apply(null, { length: 4e9 })"), Edit: second, Want: either},
		"spread of many":             {Source: run("return Math.max(...Array(1e8).keys())"), Edit: second, Want: either},
		"output flood":               {Source: run("for (;;) console.error('x'.repeat(1000))"), Want: []runtimes.ErrorType{runtimes.OutputLimit}},
		"one large line":             {Source: run("console.log('x'.repeat(5e6)); for (;;) {}"), Want: []runtimes.ErrorType{runtimes.OutputLimit}},
		"deep inspection":            {Source: run("let o = {}; const p = 'x'.repeat(20000); for (let i = 0; i < 1e5; i++) o = { o, p }; for (let i = 0; i < 200; i++) console.log(o)"), Want: []runtimes.ErrorType{runtimes.OutputLimit}},
		"log flood":                  {Source: run("for (let i = 0; i < 20000; i++) ctx.log('info', 'x'.repeat(100)); return 1"), Check: wants(`1`)},
		"endless recursion":          {Source: run("const f = () => f(); f()"), Want: []runtimes.ErrorType{runtimes.RecursionLimit}},
		"recursion in getters":       {Source: run("const o = { get a() { return this.a } }; o.a"), Want: []runtimes.ErrorType{runtimes.RecursionLimit}},
		"recursion in proxies":       {Source: run("const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x"), Want: []runtimes.ErrorType{runtimes.RecursionLimit}},
		"recursion in toJSON":        {Source: run("const o = { toJSON() { return JSON.stringify(o) } }; return o"), Want: []runtimes.ErrorType{runtimes.RecursionLimit}},
		"proxies of proxies":         {Source: run("let p = {}; for (let i = 0; i < 1e6; i++) p = new Proxy(p, {}); return p.x"), Edit: patient, Want: []runtimes.ErrorType{runtimes.RecursionLimit, runtimes.MemoryLimit, runtimes.RuntimeError}},
		"chain of prototypes":        {Source: run("let p = {}; for (let i = 0; i < 3e6; i++) p = Object.create(p); return p.x"), Edit: patient, Want: []runtimes.ErrorType{runtimes.RecursionLimit, runtimes.MemoryLimit}},
		"nested JSON text":           {Source: run("return JSON.parse('['.repeat(5e6))"), Want: []runtimes.ErrorType{runtimes.RuntimeError}},
		"nested JSON value":          {Source: run("let o = []; for (let i = 0; i < 1e6; i++) o = [o]; return JSON.stringify(o).length"), Edit: patient, Want: []runtimes.ErrorType{runtimes.RecursionLimit, runtimes.MemoryLimit}},
		"nested result":              {Source: run("let o = []; for (let i = 0; i < 1e5; i++) o = [o]; return o"), Edit: patient, Want: []runtimes.ErrorType{runtimes.InvalidOutput}},
		"nested eval":                {Source: run("return eval('('.repeat(3e6) + '1' + ')'.repeat(3e6))"), Edit: patient, Want: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.MemoryLimit}},
		"nested Function":            {Source: run("return new Function('return ' + '!'.repeat(3e6) + '1')()"), Edit: patient, Want: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.MemoryLimit}},
		"nested pattern":             {Source: run("return new RegExp('('.repeat(1e6) + ')'.repeat(1e6)).test('')"), Edit: patient, Want: []runtimes.ErrorType{runtimes.RuntimeError, runtimes.RecursionLimit, runtimes.MemoryLimit, runtimes.SyntaxError}},
		"parser bomb of brackets":    {Source: strings.Repeat("[", 200_000), Want: []runtimes.ErrorType{runtimes.SyntaxError}},
		"parser bomb of templates":   {Source: strings.Repeat("`${", 200_000), Want: []runtimes.ErrorType{runtimes.SyntaxError}},
		"parser bomb of operators":   {Source: run("return " + strings.Repeat("!", 1_000_000) + "1"), Want: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.MemoryLimit}},
		"parser bomb of arrows":      {Source: run("return " + strings.Repeat("a=>", 300_000) + "1"), Want: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.MemoryLimit}},
		"parser bomb of conditions":  {Source: run(strings.Repeat("if (1) ", 200_000) + ";"), Want: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.MemoryLimit}},
		"parser bomb in a pattern":   {Source: run("return /" + strings.Repeat("(", 500_000) + strings.Repeat(")", 500_000) + "/"), Want: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.MemoryLimit}},
		"parser bomb of JSON":        {Source: "import x from './x.json'; export default () => x", Edit: func(j *runtimes.Job) { j.Files["x.json"] = []byte(strings.Repeat("[", 500_000)) }, Want: []runtimes.ErrorType{runtimes.SyntaxError}},
		"source map of the host":     {Source: run("return 1") + "\n//# sourceMappingURL=file:///dev/zero", Check: wants(`1`)},
		"source map in eval":         {Source: run("return eval('1\\n//# sourceMappingURL=file:///dev/zero')"), Check: wants(`1`)},
		"files of the host": {
			Source: run("const tried = []\nfor (const name of ['fs', 'node:fs', '/etc/passwd', '../../etc/passwd', 'child_process', 'os']) { try { await import(name); tried.push(name) } catch {} }\nreturn tried"),
			Check:  wants(`[]`),
		},
		"a file of the host, imported": {Source: "import x from '/etc/passwd'; export default () => x", Want: []runtimes.ErrorType{runtimes.SyntaxError}},
		"globals of other runtimes": {
			Source: run("return ['process', 'require', 'fetch', 'Deno', 'Bun', 'XMLHttpRequest', 'WebSocket', 'module', 'global'].filter((n) => n in globalThis)"),
			Check:  wants(`[]`),
		},
		"out by the constructor": {
			Source: run("const g = console.log.constructor.constructor('return this')(); return [typeof g.process, typeof g.require, Object.keys(g)]"),
			Check:  wants(`["undefined","undefined",[]]`),
		},
	})
}

// wants demands one output.
func wants(output string) func(*testing.T, runtimes.Outcome, *runtimetest.Host) {
	return func(t *testing.T, o runtimes.Outcome, _ *runtimetest.Host) {
		t.Helper()
		if string(o.Output) != output {
			t.Errorf("%s, want %s", o.Output, output)
		}
	}
}
