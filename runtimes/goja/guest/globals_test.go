package guest_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes/goja/guest"
)

// evaluate returns a program whose entry returns the value of an expression.
func evaluate(expression string) guest.Job {
	return js("export default async () => ("+expression+")", "null")
}

func TestGlobals(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		// URL
		`new URL("/b?x=1#h", "https://user@example.com:8080/a").href`:                                                                               `"https://user@example.com:8080/b?x=1#h"`,
		`(() => { const u = new URL("https://e.com/?a=1"); u.searchParams.append("b", "ü &"); return [u.search, u.host, u.origin, u.pathname] })()`: `["?a=1&b=%C3%BC+%26","e.com","https://e.com","/"]`,
		`[...new URLSearchParams({ a: "1", b: "2" })].join()`:                                                                                       `"a,1,b,2"`,
		`new URLSearchParams("a=1&a=2").getAll("a")`:                                                                                                `["1","2"]`,
		`new URL("https://e.com").searchParams instanceof URLSearchParams`:                                                                          `true`,
		`(() => { try { new URL("nope") } catch (e) { return [e.name, e.code] } })()`:                                                               `["TypeError","ERR_INVALID_URL"]`,
		// text
		`[...new TextEncoder().encode("ü€🎉")]`:                                                                                                                    `[195,188,226,130,172,240,159,142,137]`,
		`new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 195, 188]))`:                                                                                  `"ü"`,
		`new TextDecoder().decode(new Uint8Array([97, 0xff, 98]))`:                                                                                                `"a�b"`,
		`(() => { try { new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([0xff])) } catch (e) { return e.name } })()`:                              `"TypeError"`,
		`(() => { const d = new TextDecoder(); return d.decode(new Uint8Array([226, 130]), { stream: true }) + d.decode(new Uint8Array([172])) })()`:              `"€"`,
		`await new Response("1e400").json() > 1`:                                                                                                                  `true`,
		`await new Response("\ufeff[1]").json()`:                                                                                                                  `[1]`,
		`new TextDecoder("latin1").decode(new Uint8Array([0xfc]))`:                                                                                                `"ü"`,
		`new TextDecoder("utf-16le").decode(new Uint8Array([0xfc, 0]).buffer)`:                                                                                    `"ü"`,
		`(() => { class Odd extends Uint8Array { get byteLength() { return 1e9 } } try { new TextDecoder().decode(new Odd(1)) } catch (e) { return e.name } })()`: `"RangeError"`,
		`await fetch("http://x.test/", { method: "POST", body: Object.defineProperty(new ArrayBuffer(1), "byteLength", { value: 1e9 }) }).catch((e) => e.name)`:   `"RangeError"`,
		`await fetch("http://x.test/", { method: "POST", body: Object.defineProperty(new Uint8Array(8), "byteOffset", { value: -1 }) }).catch((e) => e.name)`:     `"RangeError"`,
		`(() => { try { crypto.getRandomValues(Object.defineProperty(new Uint8Array(1), "byteOffset", { value: 2 })) } catch (e) { return e.name } })()`:          `"RangeError"`,
		`new TextEncoder().encodeInto("aü", new Uint8Array(2))`:                                                                                                   `{"read":1,"written":1}`,
		`[btoa("hello"), atob("aGVsbG8="), atob(" aGVs bG8"), atob("/w==").charCodeAt(0)]`:                                                                        `["aGVsbG8=","hello","hello",255]`,
		`(() => { try { btoa("€") } catch (e) { return e.name } })()`:                                                                                             `"InvalidCharacterError"`,
		`(() => { try { atob("a") } catch (e) { return e.name } })()`:                                                                                             `"InvalidCharacterError"`,
		// structuredClone
		`(() => { const a = { d: new Date(0), m: new Map([[1, { x: new Set([1]) }]]), l: [1, , 3], r: /x/gi, u: new Uint8Array([1, 2]), e: new TypeError("t"), n: null }; a.self = a; const b = structuredClone(a); return [b !== a, b.self === b, b.d.getTime(), b.m.get(1).x.has(1), b.l.length, 1 in b.l, String(b.r), b.u[1], b.u !== a.u, b.e instanceof TypeError, b.e.message, b.n] })()`: `[true,true,0,true,3,false,"/x/gi",2,true,true,"t",null]`,
		`(() => { try { structuredClone({ f() {} }) } catch (e) { return [e.name, e instanceof DOMException, e instanceof Error] } })()`: `["DataCloneError",true,true]`,
		`structuredClone(Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } }))`:                                      `{"own":2}`,
		// abort
		`(() => { const c = new AbortController(); let n = 0; c.signal.addEventListener("abort", () => n++); c.signal.onabort = () => n++; c.abort(); c.abort("again"); return [n, c.signal.aborted, c.signal.reason.name] })()`: `[2,true,"AbortError"]`,
		`(() => { try { AbortSignal.abort("why").throwIfAborted() } catch (e) { return e } })()`:                                                                                                                                 `"why"`,
		`await new Promise((r) => AbortSignal.timeout(1).addEventListener("abort", (e) => r([e.type, e.target.reason.name])))`:                                                                                                   `["abort","TimeoutError"]`,
		`(() => { try { new AbortSignal() } catch (e) { return e.message } })()`:                                                                                                                                                 `"Illegal constructor"`,
		// time and random numbers
		`[typeof performance.now(), performance.now() >= 0, performance.timeOrigin > 1e12]`:                           `["number",true,true]`,
		`/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())`:           `true`,
		`crypto.randomUUID() !== crypto.randomUUID()`:                                                                 `true`,
		`(() => { const a = new Uint32Array(8); return [crypto.getRandomValues(a) === a, a.some((x) => x > 0)] })()`:  `[true,true]`,
		`(() => { const a = new Uint8Array(8); crypto.getRandomValues(a.subarray(4)); return [...a.slice(0, 4)] })()`: `[0,0,0,0]`,
		`(() => { try { crypto.getRandomValues(new Float64Array(1)) } catch (e) { return e.name } })()`:               `"TypeMismatchError"`,
		// Buffer
		`Buffer.from("ü€").toString("base64")`:                   `"w7zigqw="`,
		`Buffer.from("c3ViamVjdHM_X2Q", "base64url").toString()`: `"subjects?_d"`,
		`[Buffer.from("ü", "latin1").length, Buffer.from("ü", "utf16le").toString("utf16le"), Buffer.from([0xfc, 0xff, 0xfe]).toString("latin1"), Buffer.from([255, 254, 253]).toString("base64url")]`: `[1,"ü","üÿþ","__79"]`,
		`(() => { try { Buffer.from("x", "nope") } catch (e) { return e.message } })()`:                                                                                                                `"Unknown encoding: nope"`,
		`Buffer.from("ff00", "hex").readUInt16BE(0)`:                                                     `65280`,
		`Buffer.concat([Buffer.from("a"), Buffer.alloc(2, "b")]).toString()`:                             `"abb"`,
		`[Buffer.isBuffer(Buffer.from("")), Buffer.isBuffer(new Uint8Array(1)), Buffer.byteLength("ü")]`: `[true,false,2]`,
		`(() => { const b = Buffer.from("hello"); const s = b.subarray(1, 3); return [s.toString(), Buffer.isBuffer(s), b.slice(-2).toString(), b.indexOf("lo"), b.includes("x"), Buffer.compare(b, Buffer.from("help")), b.equals(Buffer.from("hello"))] })()`: `["el",true,"lo",3,false,-1,true]`,
		`JSON.stringify(Buffer.from([1, 2]))`:    `"{\"type\":\"Buffer\",\"data\":[1,2]}"`,
		`Buffer.from("x") instanceof Uint8Array`: `true`,
		// globals that exist and globals that do not
		`["console", "setTimeout", "setInterval", "clearTimeout", "clearInterval", "queueMicrotask", "URL", "URLSearchParams", "TextEncoder", "TextDecoder", "atob", "btoa", "structuredClone", "AbortController", "performance", "crypto", "Buffer"].filter((n) => typeof globalThis[n] === "undefined")`: `[]`,
		`typeof process + typeof require`:                                `"undefinedfunction"`,
		`Object.keys(globalThis)`:                                        `[]`,
		`eval("typeof " + "URL") + new Function("return typeof atob")()`: `"functionfunction"`,
		`(() => { URL = 1; return URL })()`:                              `1`,
	}
	s := newServer(t)
	for expression, want := range tests {
		job := evaluate(expression)
		if strings.Contains(expression, "URL = 1") {
			job = js("function main() { URL = 1; return URL }", "null")
		}
		if got := s.run(job); got.Error != nil || string(got.Output) != want {
			t.Errorf("%s\n got %s %s\nwant %s", expression, got.Output, text(got.Error), want)
		}
	}
}

func TestPatchedGaps(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		// property escapes
		`/\p{L}/.test("p{L}")`: `true`,
		`(() => { try { new RegExp("\\p{Nope}", "u") } catch (e) { return e.name } })()`:                                                                                                         `"SyntaxError"`,
		`(() => { const r = new RegExp("a", "g"); return [r instanceof RegExp, r.constructor === RegExp, "aba".split(new RegExp("b")), new RegExp(/x/g, "i").flags, /x/ instanceof RegExp] })()`: `[true,true,["a","a"],"i",true]`,
		`(() => { class R extends RegExp { test(s) { return "mine" } }; return new R("a").test("b") })()`:                                                                                        `"mine"`,
		`(() => { try { new RegExp("(", "u") } catch (e) { return e.name } })()`:                                                                                                                 `"SyntaxError"`,
		// strings
		`["a", "\ud800", "x\udc00y", "🎉"].map((s) => s.isWellFormed())`: `[true,false,false,true]`,
		`["a\ud800b".toWellFormed(), "🎉".toWellFormed()]`:               `["a�b","🎉"]`,
		// JSON
		`JSON.parse("1e400") === Infinity && JSON.parse("-1e400") === -Infinity`:                `true`,
		`JSON.parse('{"a":[1,{"b":null}],"c":"\\u00fc\\n","__proto__":1}')`:                     `{"a":[1,{"b":null}],"c":"ü\n","__proto__":1}`,
		`JSON.parse("[1,2,3]", (k, v) => (Array.isArray(v) ? v : v === 2 ? undefined : v * 2))`: `[2,null,6]`,
		`JSON.parse('{"a":{"b":1}}', function (k, v) { return k === "b" ? this.b + 1 : v })`:    `{"a":{"b":2}}`,
		`JSON.parse(" 12345678901234567890 ")`:                                                  `12345678901234567000`,
		`['{"a":1,}', "[1,]", "01", "1.", "+1", "'a'", '"\\x"', '"\t"', "nul", "", "{", '"a', "[1] 2", '{"a" 1}', "-", "1e"].map((s) => { try { JSON.parse(s); return s } catch (e) { return e.name } }).filter((n) => n !== "SyntaxError")`: `[]`,
		`(() => { try { JSON.parse('{"a":1,}') } catch (e) { return e.message } })()`: `"Unexpected token } in JSON at position 7"`,
		`JSON.parse('"\\ud83c\\udf89\\ud800"').length`:                                `3`,
		// numbers
		`[(-1.5e-7).toString(2) === "-" + (1.5e-7).toString(2), (-255).toString(16), (255).toString(), (-5).toString(10), Number.prototype.toString.call(-3, 2)]`: `[true,"-ff","255","-5","-11"]`,
		`(() => { try { (1).toString(99) } catch (e) { return e.name } })()`:                                                                                      `"RangeError"`,
		// locale
		`[(1234567.891).toLocaleString(), (1234.5).toLocaleString("en-US"), (0).toLocaleString(), (-1234).toLocaleString(["en-US", "de"]), NaN.toLocaleString(), (1e21).toLocaleString()]`:                       `["1,234,567.891","1,234.5","0","-1,234","NaN","1,000,000,000,000,000,000,000"]`,
		`[12345678901234567890n.toLocaleString(), [1234.5, new Date(NaN)].toLocaleString()]`:                                                                                                                     `["12,345,678,901,234,567,890","1,234.5,Invalid Date"]`,
		`["de-DE", "fr"].map((l) => { try { return (1).toLocaleString(l) } catch (e) { return e.name } })`:                                                                                                       `["RangeError","RangeError"]`,
		`["a10", "a2"].sort((x, y) => x.localeCompare(y, undefined, { numeric: true }))`:                                                                                                                         `["a2","a10"]`,
		`["a".localeCompare("Á", undefined, { sensitivity: "base" }), "a".localeCompare("á", "en", { sensitivity: "accent" }), "a".localeCompare("A", "en", { sensitivity: "accent" }), "a".localeCompare("b")]`: `[0,-1,0,-1]`,
		`(() => { try { "a".localeCompare("b", "en", { caseFirst: "upper" }) } catch (e) { return e.name } })()`:                                                                                                 `"RangeError"`,
		`[(1234.5).toLocaleString("en-US", { maximumFractionDigits: 2 }), (2).toLocaleString(undefined, { minimumFractionDigits: 2 }), (-0).toLocaleString(), (-Infinity).toLocaleString()]`:                     `["1,234.5","2.00","-0","-∞"]`,
		`["de", "en-US"].map((l) => { try { return (1.5).toLocaleString(l, { style: l === "de" ? undefined : "percent" }) } catch (e) { return e.message } })`:                                                   `["toLocaleString: the locale \"de\" needs the node runtime: goja supports only \"en-US\"","toLocaleString: the option style needs the node runtime: format the value in the program instead"]`,
		// others
		`(() => { const o = {}; return new WeakRef(o).deref() === o })()`: `true`,
	}
	s := newServer(t)
	for expression, want := range tests {
		if got := s.run(evaluate(expression)); got.Error != nil || string(got.Output) != want {
			t.Errorf("%s\n got %s %s\nwant %s", expression, got.Output, text(got.Error), want)
		}
	}
}

func TestLoweredSyntax(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ source, want string }{
		"accessor":              {`class A { accessor x = 1; static accessor y = 2 } export default () => { const a = new A(); a.x++; return [a.x, A.y, Object.keys(a)] }`, `[2,2,[]]`},
		"decorators":            {`const log = []; const d = (v, c) => { log.push(c.kind + " " + String(c.name)); return v }; @d class A { @d m() {} @d static f = 1 } export default () => { new A(); return log }`, `["method m","field f","class A"]`},
		"async generator":       {`async function* g() { try { yield* [1, 2]; yield 3 } finally { log.push("done") } } const log = []; export default async () => { for await (const x of g()) { log.push(x); if (x === 2) break } return log }`, `[1,2,"done"]`},
		"for await of promises": {`export default async () => { const all = []; for await (const x of [Promise.resolve(1), 2]) all.push(x); return all }`, `[1,2]`},
		"using":                 {`const log = []; export default () => { { using r = { [Symbol.dispose]() { log.push("disposed") } }; log.push("used") } return log }`, `["used","disposed"]`},
		"private members":       {`class A { #x = 1; static #n = 0; get #y() { return this.#x + 1 } static make() { A.#n++; return [new A().#y, A.#n, #x in new A()] } } export default () => A.make()`, `[2,1,true]`},
		"logical":               {`export default () => { let a = null, b = 1; a ??= 5; b &&= a?.x ?? 7; return [a, b, 2 ** 3, 1_000] }`, `[5,7,8,1000]`},
		"dynamic import":        {`export default async () => (await import("./lib.js")).value`, `42`},
		"namespace":             {`import * as lib from "./lib.js"; export default () => Object.keys(lib)`, `["value"]`},
		"strict modules":        {`export default () => { try { undeclared = 1; return "sloppy" } catch (e) { return e.name } }`, `"ReferenceError"`},
		"sloppy scripts":        {`function main() { undeclared = 1; return undeclared }`, `1`},
		"unicode names":         {`const grüße = "ü"; export default () => ({ grüße, "日本": /[ä-ü]/.test("ö") })`, `{"grüße":"ü","日本":true}`},
		"no leak of names":      {`const exports_ = 1; export default () => [typeof exports, typeof module, typeof __atelier_main__]`, `["undefined","undefined","function"]`},
	}
	s := newServer(t)
	for name, tt := range tests {
		job := js(tt.source, "null")
		job.Files["lib.js"] = "export const value = 42"
		if got := s.run(job); got.Error != nil || string(got.Output) != tt.want {
			t.Errorf("%s: got %s %s, want %s", name, got.Output, text(got.Error), tt.want)
		}
	}
}
