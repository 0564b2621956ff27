package guest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/goja/guest"
)

func TestFailures(t *testing.T) {
	t.Parallel()
	type want struct {
		kind    runtimes.ErrorType
		message string // part of the message
		line    int
		column  int
		stack   string // part of the stack trace
		file    string
	}
	tests := map[string]struct {
		source string
		want   want
	}{
		"type error":             {"export default (input) => {\n  const x = null\n  return x.name\n}", want{runtimes.RuntimeError, "TypeError: Cannot read property 'name' of", 3, 12, "main.js:3:12", "main.js"}},
		"thrown":                 {"export default () => {\n  throw new RangeError('boom')\n}", want{runtimes.RuntimeError, "RangeError: boom", 2, 9, "at ", "main.js"}},
		"deep":                   {"const a = () => b()\nconst b = () => c()\nfunction c() { throw new Error('deep') }\nexport default () => a()", want{runtimes.RuntimeError, "Error: deep", 3, 22, "at c (main.js:3:22)\n    at b (main.js:2:17)\n    at a (main.js:1:17)", "main.js"}},
		"async":                  {"const later = async () => {\n  await null\n  throw new Error('late')\n}\nexport default async () => { await later() }", want{runtimes.RuntimeError, "Error: late", 3, 9, "main.js:3:9", "main.js"}},
		"in a timer":             {"export default () => new Promise(() => setTimeout(() => {\n  undefinedName\n}, 1))", want{runtimes.RuntimeError, "ReferenceError: undefinedName is not defined", 2, 3, "", "main.js"}},
		"at the top":             {"const x = JSON.parse('{')\nexport default () => x", want{runtimes.RuntimeError, "SyntaxError: Unexpected end of JSON input", 1, 16, "", "main.js"}},
		"a string":               {"export default () => {\n  throw 'boom'\n}", want{runtimes.RuntimeError, "Uncaught 'boom'", 2, 3, "", "main.js"}},
		"an object":              {"export default () => { throw { code: 7 } }", want{runtimes.RuntimeError, "Uncaught { code: 7 }", 1, 24, "", "main.js"}},
		"nothing":                {"export default () => { throw undefined }", want{runtimes.RuntimeError, "Uncaught undefined", 1, 24, "", "main.js"}},
		"async null":             {"export default async () => { throw null }", want{runtimes.RuntimeError, "Uncaught null", 0, 0, "", ""}},
		"own class":              {"class MyError extends Error { name = 'MyError' }\nexport default () => { throw new MyError('mine') }", want{runtimes.RuntimeError, "MyError: mine", 2, 30, "", "main.js"}},
		"cause":                  {"export default () => { throw new Error('outer', { cause: new Error('inner') }) }", want{runtimes.RuntimeError, "Error: outer", 1, 30, "[cause]: Error: inner", "main.js"}},
		"nobody awaits":          {"export default async () => { Promise.reject(new Error('lost')); await new Promise((r) => setTimeout(r, 50)) }", want{runtimes.RuntimeError, "Error: lost (in a promise that was not awaited)", 1, 45, "", "main.js"}},
		"microtask throws":       {"export default async () => { queueMicrotask(() => { throw new Error('micro') }); await new Promise((r) => setTimeout(r, 50)) }", want{runtimes.RuntimeError, "Error: micro", 1, 59, "", "main.js"}},
		"hostile error":          {"export default () => { const e = new Error('x'); Object.defineProperty(e, 'message', { get() { throw 1 } }); throw e }", want{runtimes.RuntimeError, "cannot be displayed", 1, 34, "", "main.js"}},
		"deadlock":               {"export default () => new Promise(() => {})", want{runtimes.RuntimeError, "waits forever", 0, 0, "", "main.js"}},
		"recursion":              {"function f() { return f() + 1 }\nexport default () => f()", want{runtimes.RecursionLimit, "more than 1000 levels deep", 1, 23, "at f (main.js:1:23)", "main.js"}},
		"recursion is final":     {"function f() { try { f() } catch { f() } }\nexport default () => f()", want{runtimes.RecursionLimit, "more than 1000 levels deep", 1, 22, "", "main.js"}},
		"recursion async":        {"const f = async (n) => { await null; const g = () => g(); g() }\nexport default () => f(0)", want{runtimes.RecursionLimit, "1000 levels deep", 1, 54, "", "main.js"}},
		"recursion by sort":      {"const f = () => [2, 1].sort(f)\nexport default () => f()", want{runtimes.RecursionLimit, "1000 levels deep", 1, 24, "", "main.js"}},
		"syntax":                 {"export default () => {\n  const x = ;\n}", want{runtimes.SyntaxError, "Unexpected \";\"", 2, 13, "", "main.js"}},
		"no entry":               {"const helper = 1", want{runtimes.RuntimeError, "The program has no entry", 1, 1, "", "main.js"}},
		"default is no function": {"export default { a: 1 }", want{runtimes.RuntimeError, "The default export is an object, not a function", 1, 1, "", "main.js"}},
		"a module of Node":       {"import fs from 'fs'\nexport default () => fs.readFileSync('/etc/passwd')", want{runtimes.SyntaxError, "The Node module \"fs\" is not available", 1, 16, "", "main.js"}},
		"a computed import":      {"export default async (i, c) => {\n  const name = 'f' + 's'\n  return await import(name)\n}", want{runtimes.RuntimeError, "The Node module \"fs\" is not available", 3, 16, "", "main.js"}},
		"a computed require":     {"module.exports = () => {\n  return require(['child', 'process'].join('_'))\n}", want{runtimes.RuntimeError, "The Node module \"child_process\" is not available", 2, 10, "", "main.js"}},
		"flag d":                 {"export default () => {\n  return /a/d.exec('a').indices\n}", want{runtimes.SyntaxError, "flag d needs the node runtime", 2, 10, "", "main.js"}},
		"flag v":                 {"const r = /[a--b]/v\nexport default () => r", want{runtimes.SyntaxError, "flag v needs the node runtime", 1, 11, "", "main.js"}},
		"flag v at run time":     {"export default () => {\n  return new RegExp('a', 'v')\n}", want{runtimes.RuntimeError, "flag v needs the node runtime", 2, 10, "", "main.js"}},
		"unknown property":       {"export default () => {\n  return /\\p{Nope}/u.test('a')\n}", want{runtimes.SyntaxError, "\\p{…} in a regular expression needs the node runtime", 2, 10, "", "main.js"}},
		"Intl":                   {"export default () => {\n  return new Intl.NumberFormat('de').format(1)\n}", want{runtimes.RuntimeError, "ReferenceError: Intl is not defined", 2, 14, "", "main.js"}},
		"a locale":               {"export default () => (1234.5).toLocaleString('de-DE')", want{runtimes.RuntimeError, `the locale "de-DE" needs the node runtime`, 1, 31, "", "main.js"}},

		"NaN":                     {"export default () => ({ items: [1, NaN] })", want{runtimes.InvalidOutput, "output.items[1]: NaN is not JSON", 0, 0, "", ""}},
		"infinity":                {"export default () => [[-Infinity]]", want{runtimes.InvalidOutput, "output[0][0]: -Infinity is not JSON", 0, 0, "", ""}},
		"bigint":                  {"export default () => ({ 'a b': 10n })", want{runtimes.InvalidOutput, `output["a b"]: a BigInt is not JSON`, 0, 0, "", ""}},
		"bytes":                   {"export default () => ({ data: new Uint8Array(3) })", want{runtimes.InvalidOutput, "output.data: bytes are not JSON", 0, 0, "", ""}},
		"buffer":                  {"export default () => Buffer.from('x')", want{runtimes.InvalidOutput, "output: bytes are not JSON", 0, 0, "", ""}},
		"floats":                  {"export default () => new Float64Array(2)", want{runtimes.InvalidOutput, "output: bytes are not JSON", 0, 0, "", ""}},
		"array buffer":            {"export default () => new ArrayBuffer(2)", want{runtimes.InvalidOutput, "output: bytes are not JSON", 0, 0, "", ""}},
		"cycle":                   {"export default () => { const a = { b: {} }; a.b.c = a; return a }", want{runtimes.InvalidOutput, "output.b.c: the object contains itself", 0, 0, "", ""}},
		"function":                {"export default () => ({ f() {} })", want{runtimes.InvalidOutput, "output.f: a function is not JSON", 0, 0, "", ""}},
		"symbol":                  {"export default () => [Symbol('x')]", want{runtimes.InvalidOutput, "output[0]: a symbol is not JSON", 0, 0, "", ""}},
		"map":                     {"export default () => ({ m: new Map([[1, 2]]) })", want{runtimes.InvalidOutput, "output.m: a Map is not JSON", 0, 0, "", ""}},
		"promise inside":          {"export default () => ({ p: Promise.resolve(1) })", want{runtimes.InvalidOutput, "output.p: a promise is not JSON", 0, 0, "", ""}},
		"lone surrogate in a key": {"export default () => ({ ['\\ud800']: 1 })", want{runtimes.InvalidOutput, "output: a key with an incomplete surrogate pair", 0, 0, "", ""}},
		"lone surrogate":          {"export default () => ['\\ud800x']", want{runtimes.InvalidOutput, "output[0]: an incomplete surrogate pair", 0, 0, "", ""}},
		"too deep":                {"export default () => { let a = []; for (let i = 0; i < 300; i++) a = [a]; return a }", want{runtimes.InvalidOutput, "nested more than 256 levels deep", 0, 0, "", ""}},
		"too large":               {"export default () => 'x'.repeat(2_000_000)", want{runtimes.OutputLimit, "", 0, 0, "", ""}},
		"many":                    {"export default () => Array(2_000_000).fill(0)", want{runtimes.OutputLimit, "", 0, 0, "", ""}},
		"sparse":                  {"export default () => { const a = []; a.length = 2 ** 32 - 1; return a }", want{runtimes.OutputLimit, "", 0, 0, "", ""}},
		"toJSON throws":           {"export default () => ({ toJSON() {\n throw new Error('no') } })", want{runtimes.RuntimeError, "Error: no", 2, 8, "", "main.js"}},
		"getter throws":           {"export default () => ({ get a() { throw new Error('no') } })", want{runtimes.RuntimeError, "Error: no", 1, 41, "", "main.js"}},
		"revoked proxy":           {"export default () => { const p = Proxy.revocable({}, {}); p.revoke(); return p.proxy }", want{runtimes.RuntimeError, "TypeError", 0, 0, "", ""}},
		"mixed numbers":           {"export default (i) => i.id + 1", want{runtimes.RuntimeError, "Cannot mix BigInt", 1, 23, "", "main.js"}},
	}
	s := newServer(t)
	for name, tt := range tests {
		got := s.run(js(tt.source, `{"id":12345678901234567890}`))
		if got.Error == nil {
			t.Errorf("%s: it succeeded with %s", name, got.Output)
			continue
		}
		e := got.Error
		if e.Type != tt.want.kind || !strings.Contains(e.Message, tt.want.message) || e.File != tt.want.file || e.Line != tt.want.line || e.Column != tt.want.column || !strings.Contains(e.Stack, tt.want.stack) {
			t.Errorf("%s: got %s, want %+v", name, text(e), tt.want)
		}
		if after := s.run(js("export default (i) => i", `1`)); string(after.Output) != "1" {
			t.Fatalf("%s: the next run failed: %s", name, text(after.Error))
		}
	}
}

func TestFailureInTypeScriptFiles(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	got := s.run(guest.Job{
		Files: map[string]string{
			"main.ts":         "import { area, type Shape } from './lib/shapes'\n\nexport default function main(input: Shape): number {\n  return area(input)\n}\n",
			"lib/shapes.ts":   "export interface Shape {\n  kind: 'circle' | 'square'\n}\n\nenum Kind { A, B }\n\nexport function area(shape: Shape): number {\n  if (shape.kind === 'circle') return Kind.B\n  throw new Error(`unknown shape ${shape.kind}`)\n}\n",
			"my file ü%41.js": "export const x = 1",
		},
		Entrypoint: "main.ts", Language: runtimes.TypeScript, Input: json.RawMessage(`{"kind":"cone"}`), Limits: runtimes.DefaultLimits(),
	})
	want := "Error: unknown shape cone\n    at area (lib/shapes.ts:9:9)\n    at main (main.ts:4:10)"
	if got.Error == nil || got.Error.File != "lib/shapes.ts" || got.Error.Line != 9 || got.Error.Column != 9 || got.Error.Stack != want {
		t.Fatalf("got %s, want %q", text(got.Error), want)
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		source string
		line   int
	}{
		"busy":             {"export default () => {\n  for (;;) {}\n}", 2},
		"busy with catch":  {"export default () => {\n  for (;;) { try { for (;;) {} } catch {} finally {} }\n}", 2},
		"asleep":           {"export default () => new Promise((r) => setTimeout(r, 1e9))", 0},
		"microtasks":       {"export default async () => { for (;;) await null\n }", 1},
		"at the top":       {"for (;;) {}\nexport default () => 1", 1},
		"in toJSON":        {"export default () => ({ toJSON() { for (;;) {} } })", 1},
		"timers":           {"export default () => new Promise(() => { const f = () => setTimeout(f, 0); f() })", 0},
		"export getter":    {"module.exports = { get default() { for (;;) {} } }", 1},
		"then getter":      {"export default () => ({ get then() { for (;;) {} } })", 1},
		"thenable":         {"export default () => ({ then() { for (;;) {} } })", 1},
		"thrown proxy":     {"export default async () => { throw new Proxy({}, { getPrototypeOf() { for (;;) {} }, get() { for (;;) {} } }) }", 0},
		"cause":            {"export default async () => { const e = new Error('x'); Object.defineProperty(e, 'cause', { get() { for (;;) {} } }); throw e }", 0},
		"errors in errors": {"export default () => { throw { get a() { for (;;) {} }, [Symbol.toPrimitive]() { for (;;) {} }, get message() { for (;;) {} } } }", 0},
	}
	s := newServer(t)
	for name, tt := range tests {
		s.onStart = func() {
			if err := s.out.WriteJSON(frames.Interrupt, frames.Reason{Type: runtimes.Timeout}); err != nil {
				t.Error(err)
			}
		}
		got := s.run(js(tt.source, ""))
		s.onStart = nil
		if strings.Contains("errors in errors thrown proxy cause", name) && got.Error != nil && got.Error.Type == runtimes.RuntimeError {
			continue // the program may end before the interrupt
		}
		if got.Error == nil || got.Error.Type != runtimes.Timeout {
			t.Errorf("%s: got %s %s", name, got.Output, text(got.Error))
		}
		if after := s.run(js("export default (i) => i", `1`)); string(after.Output) != "1" {
			t.Fatalf("%s: the next run failed: %s", name, text(after.Error))
		}
	}
}

func TestInterruptTellsTheLine(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.onOutput = func(string) {
		if err := s.out.WriteJSON(frames.Interrupt, frames.Reason{Type: runtimes.Cancelled}); err != nil {
			t.Error(err)
		}
	}
	got := s.run(js("export default () => {\n\n  console.log('started'); for (let i = 0;; i++) {}\n}", ""))
	if got.Error == nil || got.Error.Type != runtimes.Cancelled || got.Error.Line != 3 || got.Error.File != "main.js" {
		t.Fatalf("got %s", text(got.Error))
	}
}
