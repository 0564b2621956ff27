package guest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
)

func TestConsole(t *testing.T) {
	t.Parallel()
	// Node shows some of the rarer values with more detail.
	tests := map[string]string{
		`"plain", 1, true, null, undefined, -0, 10n, Symbol("s")`:                                "plain 1 true null undefined -0 10n Symbol(s)",
		`"%s is %d years, %i, %f, %j %o %% %x", "Ada", 36.5, 36.9, "1.5", { a: 1 }, [1], "rest"`: "Ada is 36.5 years, 36, 1.5, {\"a\":1} [ 1 ] % %x rest",
		`"100%", "a%"`: "100% a%",
		`{ a: 1, b: "x", "c-d": [1, 2], e: { f: { g: { h: 1 } } } }`:                        "{ a: 1, b: 'x', 'c-d': [ 1, 2 ], e: { f: { g: [Object] } } }",
		`["it's", 'say "hi"', "a\nb"]`:                                                      `[ "it's", 'say "hi"', 'a\nb' ]`,
		`new Map([["a", { b: 1 }]]), new Set([1, "x"])`:                                     "Map(1) { 'a' => { b: 1 } } Set(2) { 1, 'x' }",
		`new Date(0), new Date(NaN), /x/gi`:                                                 "1970-01-01T00:00:00.000Z Invalid Date /x/gi",
		`function f() {}, () => {}, class A {}, class B extends Map {}, async () => {}`:     "[Function: f] [Function (anonymous)] [class A] [class B] [AsyncFunction (anonymous)]",
		`(() => { const a = { n: 1 }; a.self = a; return a })()`:                            "{ n: 1, self: [Circular] }",
		`Promise.resolve(1), new Promise(() => {})`:                                         "Promise { 1 } Promise { <pending> }",
		`new Uint8Array([1, 2]), new ArrayBuffer(2)`:                                        "Uint8Array(2) [ 1, 2 ] ArrayBuffer {}",
		`new (class Point { x = 1 })(), Object.create(null)`:                                "Point { x: 1 } [Object: null prototype] {}",
		`{ get a() { throw 1 }, set b(v) {}, [Symbol("k")]: 1 }`:                            "{ a: [Getter], b: undefined }",
		`[1, , 3], [, ,], []`:                                                               "[ 1, <empty>, 3 ] [ <empty>, <empty> ] []",
		`new Number(1), new String("s"), Object(true)`:                                      "[Number: 1] [String: s] [Boolean: true]",
		`new Proxy({ a: 1 }, { get() { throw 1 } })`:                                        "{ a: 1 }",
		`{}, { a: {} }, { a: undefined }`:                                                   "{} { a: {} } { a: undefined }",
		`[["a", 1], ["b", 2]]`:                                                              "[ [ 'a', 1 ], [ 'b', 2 ] ]",
		``:                                                                                  "",
		`Array.from({ length: 3 }, (_, i) => ({ id: i, name: "a rather long name " + i }))`: "[\n  { id: 0, name: 'a rather long name 0' },\n  { id: 1, name: 'a rather long name 1' },\n  { id: 2, name: 'a rather long name 2' }\n]",
		`new WeakMap()`:                                                                     "WeakMap {}",
	}
	s := newServer(t)
	for expression, want := range tests {
		got := s.run(js("export default () => { console.log("+expression+") }", "null"))
		if got.Error != nil || got.stdout != want+"\n" {
			t.Errorf("%s %s\n%s", expression, text(got.Error), cmp.Diff(want+"\n", got.stdout))
		}
	}
}

func TestConsoleMethods(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	got := s.run(js(`export default () => {
  console.group("outer"); console.info("a\nb"); console.group(); console.debug("c"); console.groupEnd(); console.groupEnd(); console.groupEnd()
  console.count(); console.count("x"); console.count(); console.countReset(); console.count()
  console.assert(true, "no"); console.assert(1 === 2, "sum of %d", 3)
  console.dir({ a: 1 }); console.warn("w")
  console.timeEnd("never")
  const where = () => console.trace("here"); where()
}`, "null"))
	if got.Error != nil {
		t.Fatal(text(got.Error))
	}
	if diff := cmp.Diff("outer\n  a\n  b\n    c\ndefault: 1\nx: 1\ndefault: 2\ndefault: 1\n{ a: 1 }\n", got.stdout); diff != "" {
		t.Error(diff)
	}
	want := "Assertion failed: sum of 3\nw\nWarning: No such label 'never' for console.timeLog()\nTrace: here\n    at where (main.js:7:31)\n    at main_default (main.js:7:46)\n"
	if diff := cmp.Diff(want, got.stderr); diff != "" {
		t.Error(diff)
	}
}

func TestConsoleShowsErrorsWithTheirPlace(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	got := s.run(js("class Bad extends Error { constructor(m, o) { super(m, o); this.name = 'Bad'; this.code = 7 } }\nfunction f() {\n  return new Bad('no', { cause: 1 })\n}\nexport default () => {\n  console.error(f())\n  console.log(f().stack.split('\\n').slice(0, 3).map((l) => l.trim()))\n}", "null"))
	if got.Error != nil {
		t.Fatal(text(got.Error))
	}
	if !strings.Contains(got.stderr, "Bad: no\n    at main.js:1:") || !strings.Contains(got.stderr, "at f (main.js:3:10)") || !strings.Contains(got.stderr, "[cause]: 1,\n  code: 7\n}") {
		t.Errorf("stderr %q", got.stderr)
	}
	if !strings.Contains(got.stdout, "main.js:3:10") {
		t.Errorf("err.stack %q", got.stdout)
	}
}

// TestConsoleReachedByOtherWays runs programs that call console methods without naming them.
func TestConsoleReachedByOtherWays(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	got := s.run(js(`export default (level) => { console[level]("a"); const c = console; c[level + ""]("b"); const { log } = console; log("c") }`, `"error"`))
	if got.Error != nil || got.stdout != "c\n" || got.stderr != "a\nb\n" {
		t.Errorf("%s %q %q", text(got.Error), got.stdout, got.stderr)
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.onCall = func(call frames.Call) frames.Answer {
		switch call.Name {
		case "add":
			return frames.Answer{ID: call.ID, Result: json.RawMessage(`{"sum":9007199254740993}`)}
		case "nope":
			return frames.Answer{ID: call.ID, Error: &runtimes.CallError{Code: "denied", Message: "The host function nope is not granted."}}
		}
		return frames.Answer{ID: call.ID, Result: json.RawMessage("null")}
	}
	got := s.run(js(`export default (input, ctx) => {
  console.log("one")
  ctx.log("info", "two", { n: 2, big: input })
  ctx.log("just text")
  ctx.log("warning", { an: "object" })
  console.error("three")
  ctx.progress(1, 2, "half")
  ctx.progress(0.5)
  let refused
  try { ctx.call("nope", { x: 1 }) } catch (e) { refused = [e.code, e.message, e instanceof Error] }
  let wrong = []
  for (const f of [() => ctx.log("loud", "x"), () => ctx.call("x", { a: NaN }), () => ctx.call("x", () => {})]) { try { f() } catch (e) { wrong.push(e.name + ": " + e.message) } }
  return [ctx.call("add", { a: 1 }).sum, refused, wrong, ctx.env]
}`, "12345678901234567890"))
	if got.Error != nil {
		t.Fatal(text(got.Error))
	}
	want := `[9007199254740993,["denied","The host function nope is not granted.",true],["TypeError: log level \"loud\" must be debug, info, warn or error","TypeError: x.a: NaN is not JSON.","TypeError: x: a function is not JSON."],{}]`
	if string(got.Output) != want {
		t.Errorf("got  %s\nwant %s", got.Output, want)
	}
	var calls []string
	for _, call := range got.calls {
		calls = append(calls, call.Name+" "+string(call.Args))
	}
	wantCalls := []string{
		`log {"level":"info","message":"two","fields":{"n":2,"big":12345678901234567890}}`, `log {"level":"info","message":"just text"}`,
		`log {"level":"warn","message":"{ an: 'object' }"}`, `progress {"done":1,"total":2,"message":"half"}`, `progress {"done":0.5,"total":0}`,
		`nope {"x":1}`, `add {"a":1}`,
	}
	if diff := cmp.Diff(wantCalls, calls); diff != "" {
		t.Error(diff)
	}
	wantOrder := []string{"started", "stdout", "log", "log", "log", "stderr", "progress", "progress", "nope", "add"}
	if !slices.Equal(got.order, wantOrder) {
		t.Errorf("order %v, want %v", got.order, wantOrder)
	}
	if after := s.run(js("export default (_, ctx) => ctx.call('nope')", "null")); after.Error == nil || after.Error.Type != runtimes.Denied || after.Error.Line != 1 {
		t.Errorf("a refusal that is not caught: %s", text(after.Error))
	}
}

func TestInterruptInACall(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.onCall = func(call frames.Call) frames.Answer {
		if err := s.out.WriteJSON(frames.Interrupt, frames.Reason{Type: runtimes.Cancelled}); err != nil {
			t.Error(err)
		}
		return frames.Answer{ID: call.ID + 1000} // matches no call
	}
	got := s.run(js("export default (_, ctx) => { for (;;) { try { ctx.call('slow') } catch {} } }", "null"))
	if got.Error == nil || got.Error.Type != runtimes.Cancelled {
		t.Fatalf("got %s", text(got.Error))
	}
}

// TestNothingStays runs programs that pollute everything they can reach. The next run checks that nothing remains.
func TestNothingStays(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	polluter := `let count = 0
export default () => {
  globalThis.mark = 1
  for (const target of [Object.prototype, Array.prototype, Function.prototype, String.prototype, Promise.prototype, RegExp.prototype, JSON, Math, Reflect, console, URL, URL.prototype, Buffer, Map.prototype, Error, Symbol, crypto]) target.mark = 1
  JSON.parse = JSON.stringify = Math.random = console.log = Array.prototype.push = () => "evil"
  Object.defineProperty(Object.prototype, "toJSON", { get() { return () => "evil" } })
  setTimeout(() => { globalThis.late = 1 }, 1)
  return ++count
}`
	looker := `let count = 0
export default (i) => {
  const marks = [globalThis, {}, [], () => {}, "", Promise.resolve(), /x/, JSON, Math, Reflect, console, URL, Buffer, new Map(), Error, Symbol, crypto].map((t) => t.mark).filter((m) => m !== undefined)
  console.log(JSON.stringify({ a: 1 }))
  return [marks, typeof late, ++count, JSON.parse("[1]"), i]
}`
	for range 3 {
		if got := s.run(js(polluter, "null")); string(got.Output) != `"evil"` && string(got.Output) != "1" {
			t.Fatalf("polluter: %s %s", got.Output, text(got.Error))
		}
		got := s.run(js(looker, `{"a":1}`))
		if string(got.Output) != `[[],"undefined",1,[1],{"a":1}]` || got.stdout != "{\"a\":1}\n" {
			t.Fatalf("got %s %s %q", got.Output, text(got.Error), got.stdout)
		}
	}
}

// TestCache checks that a program is compiled once. The digest and the entrypoint form the key.
func TestCache(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for i := range 200 { // more than the cache holds
		job := js("export default () => "+json.Number(string(rune('0'+i%10))).String(), "null")
		job.Files["other.js"] = "export default () => 'other'"
		if i%2 == 1 {
			job.Digest = "sha256:" + string(rune('0'+i%10))
		}
		if got := s.run(job); string(got.Output) != string(rune('0'+i%10)) {
			t.Fatalf("run %d: %s %s", i, got.Output, text(got.Error))
		}
		job.Entrypoint = "other.js"
		if got := s.run(job); string(got.Output) != `"other"` {
			t.Fatalf("run %d: %s %s", i, got.Output, text(got.Error))
		}
	}
}

// TestBriefJobs sends jobs that name a program without its source. The worker runs a cached program and asks for an
// unknown one.
func TestBriefJobs(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	whole := js(`import { text } from "./lib.js"; export default (n) => { if (n) throw new Error(text); return require(["lib.js"][n]) }`, "1")
	whole.Files["lib.js"] = `export const text = "from the library"`
	whole.Digest = "sha256:1"
	brief := whole
	brief.Files = nil
	if got := s.run(brief); !got.need {
		t.Errorf("a program that the worker never saw: %s %s", got.Output, text(got.Error))
	}
	first := s.run(whole)
	if first.need || first.Error == nil || first.Error.Line != 1 || first.Error.File != "main.js" || first.Error.Message != "Error: from the library" {
		t.Errorf("the whole job: %v %s %s", first.need, first.Output, text(first.Error))
	}
	if again := s.run(brief); again.need || text(again.Error) != text(first.Error) {
		t.Errorf("in brief: %v %s, want %s", again.need, text(again.Error), text(first.Error))
	}
	brief.Input, whole.Input = json.RawMessage("0"), json.RawMessage("0")
	if again, want := s.run(brief), s.run(whole); text(again.Error) != text(want.Error) || want.Error == nil || !strings.Contains(want.Error.Message, `"./lib.js"`) {
		t.Errorf("names of files in brief: %s, want %s", text(again.Error), text(want.Error))
	}
	brief.Entrypoint = "lib.js"
	if got := s.run(brief); !got.need {
		t.Error("another entrypoint is the same program")
	}
}

// TestBriefJobs_LargePackages_StayCached expects that unused files of a package do not push programs out of the cache.
func TestBriefJobs_LargePackages_StayCached(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, name := range []string{"a", "b"} {
		whole := js(`export default () => 1`, "1")
		whole.Files["node_modules/large/index.js"] = strings.Repeat("// unused\n", 600_000)
		whole.Digest = name
		if got := s.run(whole); got.Error != nil {
			t.Fatal(text(got.Error))
		}
	}
	brief := js(`export default () => 1`, "1")
	brief.Files, brief.Digest = nil, "a"
	if got := s.run(brief); got.need {
		t.Error("the first program is not in the cache any more")
	}
}
