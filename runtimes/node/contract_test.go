package node_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

type contract struct {
	source, input string
	edit          func(*runtimes.Job)
	output        string                // expected output, if the run succeeds
	want          runtimes.ProgramError // expected error, if the run fails: message and remedy are substrings, line or column 0 is not compared
	stack         []string              // expected parts of the stack, in this order
	stdout        string
}

func TestContract(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	tests := map[string]contract{
		"exported main":      {source: "export const main = ({ a }) => a", input: `{"a":1}`, output: `1`},
		"top-level function": {source: "function main(input) { return input }", input: `{"a":1}`, output: `{"a":1}`},
		"CommonJS":           {source: "const fs = require('fs'); module.exports = ({ a }) => [a, typeof fs.readFileSync]", input: `{"a":1}`, output: `[1,"function"]`},
		"exports.main":       {source: "exports.main = async ({ a }) => a", input: `{"a":1}`, output: `1`},
		"top-level await":    {source: "const { readFile } = await import('node:fs/promises')\nexport default async () => (await readFile('main.js', 'utf8')).length > 0", output: `true`},
		"Intl and Unicode":   {source: `export default () => [new Intl.NumberFormat("de-DE").format(1234.5), /^\p{L}+$/v.test("Grüße"), "ab".at(-1), Object.groupBy === undefined]`, output: `["1.234,5",true,"b",true]`},
		"a thenable":         {source: "export default () => ({ then: (done) => setTimeout(done, 1, 5) })", output: `5`},
		"undefined":          {source: "export default () => {}", output: `null`},
		"undefined within":   {source: "export default () => ({ a: undefined, b: [undefined], d: new Date(0) })", output: `{"b":[null],"d":"1970-01-01T00:00:00.000Z"}`},
		"big integers":       {source: "export default (input) => [typeof input.id, input, input.id + 1n === 9007199254740994n, JSON.stringify(input.s)]", input: `{"id":9007199254740993,"s":"\"9007199254740993\\","f":0.12345678901234567}`, output: `["bigint",{"id":9007199254740993,"s":"\"9007199254740993\\","f":0.12345678901234566},true,"\"\\\"9007199254740993\\\\\""]`},
		"order of keys":      {source: "export default (input) => input", input: `{"z":1,"a":{"y":2,"b":3}}`, output: `{"z":1,"a":{"y":2,"b":3}}`},
		"BigInt":             {source: "export default () => ({ a: [1n] })", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "output.a[0]: a BigInt is not JSON"}},
		"a cycle":            {source: "export default () => { const a = { b: {} }; a.b.c = a; return a }", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "output.b.c: the object contains itself"}},
		"a function":         {source: "export default () => ({ 'a b': () => 1 })", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: `output["a b"]: a function is not JSON`}},
		"bytes":              {source: "export default () => Buffer.from('x')", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "output: bytes are not JSON"}},
		"a map":              {source: "export default () => [new Map()]", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "output[0]: a Map is not JSON", Remedy: "Object.fromEntries"}},
		"half a pair":        {source: `export default () => "\ud800"`, want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "output: an incomplete surrogate pair"}},
		"no entry":           {source: "export const x = 1", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "The program has no entry", File: "main.js", Line: 1}},
		"default of a number": {
			source: "export default 5", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "The default export is a number", File: "main.js"},
		},
		"position": {
			source: "const f = (x) => {\n  return x.y.z\n}\nexport default () => f({})",
			want:   runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "Cannot read properties of undefined", File: "main.js", Line: 2, Column: 14},
			stack:  []string{"at f (main.js:2:14)", "main.js:4:"},
		},
		"stack for the program": {source: "export default () => new Error('x').stack", output: `"Error: x\n    at main_default (main.js:1:22)"`},
		"a cause":               {source: "export default () => { throw new Error('a', { cause: new Error('b') }) }", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "Error: a", Line: 1}, stack: []string{"[cause]: Error: b"}},
		"throws no error":       {source: "export default () => { throw { a: 1 } }", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "Uncaught { a: 1 }"}},
		"error without words":   {source: "export default () => { throw new Proxy(new Error('x'), { get() { throw 1 } }) }", want: runtimes.ProgramError{Type: runtimes.RuntimeError}},
		"syntax that only V8 refuses": {
			source: "export default () => {\n  return /(?<a>x)(?<a>y)/\n}", want: runtimes.ProgramError{Type: runtimes.SyntaxError, Message: "Duplicate capture group name", File: "main.js", Line: 2},
		},
		"import that is not there": {source: "import x from 'lodash'\nexport default () => x", want: runtimes.ProgramError{Type: runtimes.SyntaxError, Message: `The package "lodash" is not installed`, File: "main.js", Line: 1}},
		"computed import":          {source: "export default async () => (await import('node:' + 'os')).EOL.length", output: `1`},
		"computed import of a file": {
			source: "export default (input) => import(input)", input: `"./x1"`, want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: `"./x1" does not exist`},
		},
		"recursion":            {source: "const f = (x) => f(x) + 1\nexport default () => f(1)", want: runtimes.ProgramError{Type: runtimes.RecursionLimit, File: "main.js", Line: 1}},
		"deep but not endless": {source: "const f = (n) => n ? f(n - 1) + 1 : 0\nexport default () => f(9000)", output: `9000`},
		"memory": {
			source: "export default () => { const all = []; for (;;) all.push({ a: all.length }) }", want: runtimes.ProgramError{Type: runtimes.MemoryLimit, Message: "memory limit of 256 MiB."},
		},
		"memory in buffers": {
			source: "export default () => { const all = []; for (;;) all.push(Buffer.alloc(1 << 20, 1)) }", want: runtimes.ProgramError{Type: runtimes.MemoryLimit, Message: "memory limit of 256 MiB."},
		},
		"garbage is no memory": {source: "export default () => { let n = 0; for (let i = 0; i < 2e6; i++) n += [i, i, i, i].concat([i]).length; return n }", output: `10000000`},
		"little memory": {
			source: "export default () => 'x'.repeat(1e6).length", output: `1000000`, edit: func(j *runtimes.Job) { j.Limits.MemoryBytes = 16 << 20 },
		},
		"much memory": {
			source: "export default () => { const a = []; for (let i = 0; i < 5e6; i++) a.push({ i, s: [i] }); return a.length }", output: `5000000`, edit: func(j *runtimes.Job) { j.Limits.MemoryBytes = 1 << 30 },
		},
		"a rejection that nobody handles": {
			source: "export default async () => { Promise.reject(new Error('lost')); await new Promise((done) => setTimeout(done, 50)) }",
			want:   runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "lost (in a promise that was not awaited)", File: "main.js", Line: 1},
		},
		"a rejection that is handled": {
			source: "export default async () => { const p = Promise.reject(new Error('x')); await p.catch(() => 1); return 2 }", output: `2`,
		},
		"an error in a timer": {
			source: "export default () => new Promise(() => setTimeout(() => {\n  throw new Error('late') }, 1))", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "late", File: "main.js", Line: 2},
		},
		"process.exit":            {source: "export default () => process.exit()", output: `null`},
		"process.exit beyond 255": {source: "export default () => process.exit(300)", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "exited with code 300"}},
		"process.exit in a hurry": {source: "export default () => { console.log('x'); process.exit(3) }", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "exited with code 3"}, stdout: "x\n"},
		"process.abort":           {source: "export default () => process.abort()", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "Node"}},
		"waits for nothing":       {source: "export default () => new Promise(() => {})", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "waits forever", File: "main.js"}},
		"timers that are left":    {source: "export default () => { setInterval(() => {}, 1); setTimeout(() => console.log('no'), 1e6); return 1 }", output: `1`},
		"endless timers":          {source: "export default () => new Promise(() => setInterval(() => {}, 1))", want: runtimes.ProgramError{Type: runtimes.Timeout}, edit: func(j *runtimes.Job) { j.Limits.TimeoutMs = 300 }},
		"CPU time":                {source: "export default () => { for (;;); }", want: runtimes.ProgramError{Type: runtimes.Timeout, Message: "CPU"}, edit: func(j *runtimes.Job) { j.Limits.CPUMs = 200 }},
		"the disk":                {source: "import fs from 'fs'\nexport default () => { for (let i = 0;; i++) fs.writeFileSync('f' + i, Buffer.alloc(1 << 20)) }", want: runtimes.ProgramError{Type: runtimes.DiskLimit, File: "main.js", Line: 2}},
		"threads": {
			source: "import { Worker } from 'worker_threads'\nexport default () => new Promise((done, fail) => new Worker('require(\"worker_threads\").parentPort.postMessage(6 * 7)', { eval: true }).on('message', done).on('error', fail))",
			output: `42`,
		},
		"too many threads": {
			source: "import { Worker } from 'worker_threads'\nexport default () => new Promise((done, fail) => { for (let i = 0; i < 200; i++) new Worker('setInterval(() => {}, 1000)', { eval: true }).on('error', fail) })",
			want:   runtimes.ProgramError{Type: runtimes.ProcessLimit},
		},
		"asynchronous files": {source: "import { writeFile, readFile } from 'fs/promises'\nexport default async () => { await writeFile('/tmp/a', 'x'); return readFile('/tmp/a', 'utf8') }", output: `"x"`},
		"crypto and streams": {
			source: "import { createHash, randomBytes } from 'crypto'\nimport { gzipSync, gunzipSync } from 'zlib'\nimport { pipeline } from 'stream/promises'\nimport { Readable } from 'stream'\nexport default async () => { let n = 0; await pipeline(Readable.from(['a', 'b']), async (s) => { for await (const x of s) n += x.length }); return [createHash('sha1').update('x').digest('hex').length, randomBytes(4).length, String(gunzipSync(gzipSync('x'))), n, crypto.randomUUID().length, (await crypto.subtle.digest('SHA-256', new Uint8Array(1))).byteLength] }",
			output: `[40,4,"x",2,36,32]`,
		},
		"WebAssembly": {
			source: "export default () => { const m = new WebAssembly.Module(Uint8Array.from([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 6, 1, 4, 0, 65, 42, 11])); return new WebAssembly.Instance(m).exports.f() }",
			output: `42`,
		},
		"a word that it stays": {
			source: "import fs from 'fs'\nexport default () => { fs.writeSync(3, '{\"end\":{\"output\":1},\"again\":true}\\n{\"ready\":true}\\n'); for (const until = Date.now() + 50; Date.now() < until;); return 2 }",
			output: `2`,
		},
		"only what programs have": {
			source: "export default () => [typeof globalThis.require, typeof globalThis.module, typeof fs, typeof __filename, process.argv.length, process.execArgv.length, typeof crypto.subtle, Object.keys(process.env).sort().join()]",
			output: `["undefined","undefined","undefined","undefined",2,0,"object","HOME,LANG,PATH,TMPDIR"]`,
		},
		"a refusal can be caught": {
			source: "export default (_, ctx) => { try { ctx.call('readFile', { path: 'x' }) } catch (e) { return [e.code, e.message] } }",
			output: `["denied","The host function readFile is not granted."]`,
		},
		"a file of the host":  {source: "import fs from 'fs'\nexport default () => fs.readFileSync('/etc/shadow')", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "ENOENT", File: "main.js", Line: 2}},
		"a file of the jail":  {source: "import fs from 'fs'\nexport default () => fs.writeFileSync('/etc/hosts', '')", want: runtimes.ProgramError{Type: runtimes.Denied, File: "main.js", Line: 2, Rule: "files"}},
		"a process":           {source: "import { execSync } from 'child_process'\n\nexport default () => String(execSync('echo hi'))", want: runtimes.ProgramError{Type: runtimes.Denied, File: "main.js", Line: 3, Rule: "subprocess", Remedy: "capabilities.subprocess"}},
		"a process, later":    {source: "import { spawn } from 'child_process'\nexport default () => new Promise((done, fail) => spawn('/bin/echo').on('error', fail).on('exit', done))", want: runtimes.ProgramError{Type: runtimes.Denied, Rule: "subprocess", Remedy: "capabilities.subprocess"}},
		"a process, granted":  {source: "import { execFileSync } from 'child_process'\nexport default () => String(execFileSync('/bin/echo', ['hi']))", output: `"hi\n"`, edit: func(j *runtimes.Job) { j.Capabilities.Subprocess = true }},
		"a socket":            {source: "import net from 'net'\nexport default () => new Promise((done, fail) => net.connect(80, '192.0.2.1').on('error', fail).on('connect', done))", want: runtimes.ProgramError{Type: runtimes.Denied, Rule: "capabilities.hosts", Remedy: "192.0.2.1:80"}},
		"a name":              {source: "import dns from 'dns/promises'\nexport default () => dns.lookup('example.com')", want: runtimes.ProgramError{Type: runtimes.Denied, Rule: "network"}},
		"fetch, not granted":  {source: "export default async () => {\n  return (await fetch('https://example.com/x')).status\n}", want: runtimes.ProgramError{Type: runtimes.Denied, File: "main.js", Line: 2, Remedy: "example.com:443"}},
		"a native addon":      {source: "import fs from 'fs'\nexport default () => { fs.copyFileSync('/usr/bin/true', '/work/x.node'); process.dlopen({ exports: {} }, '/work/x.node') }", want: runtimes.ProgramError{Type: runtimes.Denied, Rule: "native addons"}},
		"processors":          {source: "import os from 'os'\nexport default () => [os.cpus().length, os.availableParallelism() > 0]", output: `[0,true]`},
		"console of anything": {source: "export default () => { console.log({ a: [1, { b: 2 }] }, 'x', 5n); process.stdout.write('no end') }", output: `null`, stdout: "{ a: [ 1, { b: 2 } ] } x 5n\nno end"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.check(t, engine, p)
		})
	}
}

func (tt contract) check(t *testing.T, engine runtimes.Runtime, p runtimetest.Programs) {
	t.Helper()
	outcome, host := runtimetest.Run(t, engine, p.Job(tt.source, func(j *runtimes.Job) {
		j.Input = json.RawMessage(tt.input)
		if tt.edit != nil {
			tt.edit(j)
		}
	}))
	if got := host.Stdout(t); got != tt.stdout {
		t.Errorf("stdout %q, want %q", got, tt.stdout)
	}
	if text := host.Stderr(t); strings.Contains(text, "Last few GCs") || strings.Contains(text, "FATAL") {
		t.Errorf("stderr has the last words of V8: %.200s", text)
	}
	if tt.output != "" {
		if outcome.Error != nil || string(outcome.Output) != tt.output {
			t.Errorf("%s, %+v, want %s\nstderr %.500s", outcome.Output, outcome.Error, tt.output, host.Stderr(t))
		}
		return
	}
	e := outcome.Error
	if e == nil {
		t.Fatalf("succeeded with %s", outcome.Output)
	}
	want := tt.want
	if e.Type != want.Type || !strings.Contains(e.Message, want.Message) || !strings.Contains(e.Remedy, want.Remedy) || e.File != want.File && want.File != "" ||
		e.Line != want.Line && want.Line != 0 || e.Column != want.Column && want.Column != 0 || e.Rule != want.Rule && want.Rule != "" {
		t.Errorf("%+v, want %+v\nstderr %.500s", e, want, host.Stderr(t))
	}
	rest := e.Stack
	for _, part := range tt.stack {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			t.Errorf("stack has no %q:\n%s", part, e.Stack)
		}
		rest = after
	}
}
