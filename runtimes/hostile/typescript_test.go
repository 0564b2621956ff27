package hostile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/hostile"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

// typescript returns the attacks that are specific to TypeScript: its syntax, types and settings. The attacks of
// JavaScript cover all else.
func typescript() []attack {
	second := func(j *runtimes.Job) { j.Limits.TimeoutMs = 1000 }
	with := func(name, text string) func(*runtimes.Job) {
		return func(j *runtimes.Job) { j.Files[name] = []byte(text) }
	}
	refused := []runtimes.ErrorType{runtimes.SyntaxError, runtimes.MemoryLimit}
	const plain = "export default (): number => 1\n"
	return []attack{
		{class: hostile.CPU, name: "infinite loop in a constructor of an enum", source: "function f(): number { for (;;) {} }\nenum E { A = f() }\nexport default () => E.A", edit: second, types: []runtimes.ErrorType{runtimes.Timeout}},
		{class: hostile.CPU, name: "infinite loop in a decorator", source: "const d = (...x: unknown[]): any => { for (;;) {} }\nclass A { @d m(): void {} }\nexport default () => new A()", edit: second, types: []runtimes.ErrorType{runtimes.Timeout}},
		{class: hostile.CPU, name: "types that take for ever to check", source: "type B<N extends number, A extends 0[] = []> = A['length'] extends N ? A : B<N, [...A, 0, ...A]>\ntype X = B<99999>\n" + plain, output: "1"},
		{class: hostile.Memory, name: "growing list", source: "export default () => { const all: unknown[] = []; for (;;) all.push({ n: all.length, text: 'x' + all.length }) }", edit: func(j *runtimes.Job) { j.Limits.MemoryBytes = 64 << 20 }, types: []runtimes.ErrorType{runtimes.MemoryLimit}},
		{class: hostile.Output, name: "output flood", source: "export default (): never => { for (;;) console.log('x'.repeat(1000) satisfies string) }", types: []runtimes.ErrorType{runtimes.OutputLimit}},
		{class: hostile.HostFiles, name: "a reference", source: "/// <reference path=\"/etc/passwd\" />\n/// <reference types=\"/etc\" />\n" + plain, output: "1"},
		{class: hostile.HostFiles, name: "a namespace of the host", source: "import x = require('/etc/passwd')\nexport default () => x", mute: true, types: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.RuntimeError}},
		{class: hostile.HostFiles, name: "settings that extend the host's", source: plain, edit: with("tsconfig.json", `{"extends":"/etc/passwd","compilerOptions":{"baseUrl":"/etc","paths":{"*":["/etc/*"]},"rootDirs":["/"]}}`), output: "1"},
		{class: hostile.HostFiles, name: "settings that lead out", source: "import x from 'passwd'\nexport default () => x", edit: with("tsconfig.json", `{"compilerOptions":{"baseUrl":"/etc","paths":{"*":["/etc/*","../../../../etc/*"]}}}`), mute: true, types: []runtimes.ErrorType{runtimes.SyntaxError}},
		{class: hostile.HostFiles, name: "JSX of the host", source: "/** @jsxImportSource /etc */\n" + plain, output: "1"},
		{class: hostile.Network, name: "types from afar", source: "import type { T } from 'http://127.0.0.1:1/x.ts'\nexport default (): T | number => 1", output: "1"},
		{class: hostile.ParserBombs, name: "brackets", source: strings.Repeat("[", 200_000), mute: true, types: refused},
		{class: hostile.ParserBombs, name: "type arguments", source: "type X = " + strings.Repeat("A<", 200_000) + "0" + strings.Repeat(">", 200_000) + "\n" + plain, mute: true, check: oneOrRefused},
		{class: hostile.ParserBombs, name: "conditional types", source: "type X = " + strings.Repeat("0 extends 1 ? 2 : ", 200_000) + "3\n" + plain, mute: true, types: refused},
		{class: hostile.ParserBombs, name: "function types", source: "type X = " + strings.Repeat("() => ", 200_000) + "void\n" + plain, mute: true, check: oneOrRefused},
		{class: hostile.ParserBombs, name: "casts", source: "export default () => " + strings.Repeat("<any>", 200_000) + "1", mute: true, types: refused},
		{class: hostile.ParserBombs, name: "namespaces", source: strings.Repeat("namespace a {", 100_000) + strings.Repeat("}", 100_000) + "\n" + plain, mute: true, types: refused},
		{class: hostile.ParserBombs, name: "settings", source: plain, edit: with("tsconfig.json", strings.Repeat("[", 500_000)), mute: true, types: refused},
		{class: hostile.Forging, name: "a private member of the result", source: "class A { private secret = 1; declare type: 'interrupted'; toJSON(): string { return 'forged' } }\nexport default () => new A()", output: `"forged"`},
		{class: hostile.Terminal, name: "in a name", source: "const enum E { '\\x1b]0;owned\\x07' = 1 }\nexport default () => { console.log(E['\\x1b]0;owned\\x07'], '\\x1b[2J'); return '\\x1b[31m' }", output: "\"\\u001b[31m\""},
	}
}

// oneOrRefused accepts the output 1 and a syntax error. The parser may skip types without parsing them, which is as
// safe as an error.
func oneOrRefused(t *testing.T, o runtimes.Outcome, _ *runtimetest.Host) {
	t.Helper()
	refused := o.Error != nil && slices.Contains([]runtimes.ErrorType{runtimes.SyntaxError, runtimes.MemoryLimit}, o.Error.Type)
	if string(o.Output) != "1" && !refused {
		t.Errorf("%s, %+v", o.Output, o.Error)
	}
}
