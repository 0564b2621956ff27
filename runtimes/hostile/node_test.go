package hostile_test

import (
	"strings"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/hostile"
)

// nodeAttacks returns attacks that use features of Node that goja lacks.
func nodeAttacks() []attack {
	second := func(j *runtimes.Job) { j.Limits.TimeoutMs = 1500 }
	patient := func(j *runtimes.Job) {
		j.Limits.TimeoutMs, j.Limits.CPUMs, j.Limits.MemoryBytes = 60_000, 60_000, 64<<20
	}
	small := func(j *runtimes.Job) { j.Limits.DiskBytes = 8 << 20 }
	// stored sets the removed isolation reuse, which old versions may still have.
	stored := func(j *runtimes.Job) { j.Isolation = "reuse" }
	types := func(all ...runtimes.ErrorType) []runtimes.ErrorType { return all }
	imports := `import fs from "fs"; import net from "net"; import dgram from "dgram"; import dns from "dns/promises"; import http from "http"; import os from "os"
import cp from "child_process"; import { Worker } from "worker_threads"; import inspector from "inspector"; import vm from "vm"; import v8 from "v8"
`
	run := func(body string) string { return imports + "export default async (input, ctx) => {\n" + body + "\n}" }
	// tries returns a program that tries several ways and returns the number of those that worked.
	tries := func(ways ...string) string {
		body := "let n = 0; const got = []\n"
		for _, way := range ways {
			body += "try { got.push(String(await (async () => { " + way + " })())); n++ } catch {}\n"
		}
		return run(body + "if (n) console.error(got.join())\nreturn n")
	}
	refused := func(h hostile.Class, name, source string) attack {
		return attack{class: h, name: name, source: source, output: "0"}
	}
	return []attack{
		{class: hostile.CPU, name: "loop in a thread", source: run("await new Promise(() => new Worker('for (;;);', { eval: true }))"), edit: second, types: types(runtimes.Timeout)},
		{class: hostile.CPU, name: "sleeps for ever", source: run("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)"), edit: second, types: types(runtimes.Timeout)},
		{class: hostile.CPU, name: "endless microtasks", source: run("const f = () => Promise.resolve().then(f); await f()"), edit: second, types: types(runtimes.Timeout, runtimes.MemoryLimit)},
		{class: hostile.CPU, name: "ticks that starve the loop", source: run("const f = () => process.nextTick(f); f(); await new Promise((done) => setTimeout(done, 1))"), edit: second, types: types(runtimes.Timeout)},
		{class: hostile.CPU, name: "machine code that loops", source: run("const m = new WebAssembly.Module(Uint8Array.from([0,97,115,109,1,0,0,0,1,4,1,96,0,0,3,2,1,0,7,5,1,1,102,0,0,10,9,1,7,0,3,64,12,0,11,11])); new WebAssembly.Instance(m).exports.f()"), edit: second, types: types(runtimes.Timeout)},
		{class: hostile.CPU, name: "will not exit", source: run("process.on('exit', () => { for (;;); }); process.on('SIGTERM', () => {}); for (;;);"), edit: second, types: types(runtimes.Timeout)},
		{class: hostile.Memory, name: "growing list", file: "memory", edit: patient, types: types(runtimes.MemoryLimit)},
		{class: hostile.Memory, name: "buffers outside the heap", source: run("const all = []; for (;;) all.push(Buffer.alloc(1 << 20, 1))"), edit: patient, types: types(runtimes.MemoryLimit)},
		{class: hostile.Memory, name: "memory of WebAssembly", source: run("const m = new WebAssembly.Memory({ initial: 1, maximum: 65536 }); for (;;) { const at = m.grow(16) * 65536; new Uint8Array(m.buffer, at).fill(1) }"), edit: patient, types: types(runtimes.MemoryLimit)},
		{class: hostile.Memory, name: "heap of a thread", source: run("await new Promise((_, fail) => new Worker('const all = []; for (;;) all.push({ n: all.length })', { eval: true, resourceLimits: { maxOldGenerationSizeMb: 4000 } }).on('error', fail).on('exit', fail))"), edit: patient, types: types(runtimes.MemoryLimit, runtimes.RuntimeError)},
		{class: hostile.Memory, name: "a larger heap by a flag", source: run("v8.setFlagsFromString('--max-old-space-size=8000'); const all = []; for (;;) all.push({ n: all.length })"), edit: patient, types: types(runtimes.MemoryLimit)},
		{class: hostile.Memory, name: "endless recursion", file: "recursion", types: types(runtimes.RecursionLimit)},
		{class: hostile.Memory, name: "a larger stack by a flag", source: run("v8.setFlagsFromString('--stack-size=1000000'); await null; const f = () => f() + 1; vm.runInNewContext('f()', { f })"), types: types(runtimes.RecursionLimit, runtimes.RuntimeError)},
		{class: hostile.Processes, name: "threads without end", file: "forks", types: types(runtimes.ProcessLimit)},
		refused(hostile.Processes, "ways to a process", tries(
			"return cp.execFileSync('/bin/true')", "return cp.execSync('id')", "const r = cp.spawnSync('/bin/sh', ['-c', 'id']); if (r.error) throw r.error; return r.stdout",
			"return await new Promise((done, fail) => cp.spawn('/bin/true').on('error', fail).on('exit', done))", "return await new Promise((done, fail) => cp.fork('/work/main.js').on('error', fail).on('exit', done))",
			"return process.binding('spawn_sync').spawn({ file: '/bin/true', args: ['true'], stdio: [{ type: 'ignore' }, { type: 'ignore' }, { type: 'ignore' }] }).pid || (() => { throw 0 })()", "return process.execve('/bin/true', ['true'], {})",
		)),
		{class: hostile.Processes, name: "a process, told", source: run("cp.execFileSync('/bin/true')"), types: types(runtimes.Denied)},
		{class: hostile.Output, name: "flood", source: run("for (;;) fs.writeSync(1, 'x'.repeat(1000))"), types: types(runtimes.OutputLimit)},
		{class: hostile.Output, name: "flood from a thread", source: run("await new Promise(() => new Worker('for (;;) require(\"fs\").writeSync(2, \"x\".repeat(1000))', { eval: true }))"), types: types(runtimes.OutputLimit)},
		{class: hostile.Disk, name: "fills the disk", file: "disk", edit: small, types: types(runtimes.DiskLimit)},
		{class: hostile.Disk, name: "fills it with files", file: "inodes", edit: small, types: types(runtimes.DiskLimit)},
		{class: hostile.Files, name: "opens without end", file: "open", types: types(runtimes.RuntimeError)},
		refused(hostile.Files, "writes to read-only folders", tries("fs.writeFileSync('/usr/x', '')", "fs.writeFileSync('/etc/hosts', '')", "fs.chmodSync('/usr/bin/node', 0o777)", "fs.mkdirSync('/x')", "fs.renameSync('/etc/passwd', '/tmp/x')")),
		refused(hostile.HostFiles, "ways to a file", tries(
			"return fs.readFileSync('/etc/shadow')", "return fs.readFileSync('/root/.profile')", "return fs.readFileSync('/proc/1/root/etc/shadow')", "return fs.readFileSync('/work/../../../etc/shadow')",
			"fs.symlinkSync('/etc/shadow', '/tmp/l'); return fs.readFileSync('/tmp/l')", "return fs.readFileSync('/sys/kernel/notes')", "return fs.readFileSync('/proc/kcore')", "return fs.readFileSync('/proc/sys/kernel/core_pattern')",
			"return process.binding('fs').readFileUtf8('/etc/shadow', 0)",
		)),
		{class: hostile.Secrets, name: "environments", source: run("const seen = { ...process.env }; for (const n of ['NODE_OPTIONS', 'ATELIER_TOKEN']) if (seen[n]) return seen[n]; return fs.readFileSync('/proc/self/environ', 'utf8').split('\\0').map((x) => x.split('=')[0]).sort().join()"), edit: bare, output: `",HOME,LANG,PATH,TMPDIR"`},
		{class: hostile.OtherRuns, name: "marks on the disk", source: run("const seen = ['/work/m', '/tmp/m', '/dev/shm/m'].filter((p) => fs.existsSync(p)); for (const p of ['/work/m', '/tmp/m', '/dev/shm/m']) fs.writeFileSync(p, '1'); return seen.length"), again: true, output: "0"},
		{class: hostile.OtherRuns, name: "marks on all reachable objects", source: run(`const seen = [], found = new Set()
const walk = (v) => {
  if (v === null || typeof v !== 'object' && typeof v !== 'function' || found.has(v)) return
  found.add(v)
  if (Object.hasOwn(v, 'marked')) seen.push(v)
  try { Object.defineProperty(v, 'marked', { value: true }) } catch {}
  walk(Object.getPrototypeOf(v))
  for (const key of Reflect.ownKeys(v)) { const d = Object.getOwnPropertyDescriptor(v, key); [d.value, d.get, d.set].forEach(walk) }
}
[globalThis, fs, net, cp, vm, v8, ctx].forEach(walk)
return found.size > 1000 ? seen.length : -1`), edit: stored, again: true, output: "0"},
		{class: hostile.OtherRuns, name: "the class of an error of import()", source: "export default async (input, ctx) => {" + `
  let seen = 0, found = 0
  const mark = (v) => {
    if (v === null || typeof v !== 'object' && typeof v !== 'function') return
    found++
    if (Object.hasOwn(v, 'marked')) seen++
    try { Object.defineProperty(v, 'marked', { value: true }) } catch {}
  }
  try { await eval("import('x')") } catch (e) {
    for (let p = Object.getPrototypeOf(e); p !== null; p = Object.getPrototypeOf(p)) for (const v of new Set([p, ...Reflect.ownKeys(p).map((k) => Object.getOwnPropertyDescriptor(p, k).value)])) mark(v)
  }
  return found > 0 ? Math.min(seen, 1) : -1
}`, edit: stored, again: true, output: "0"},
		{class: hostile.Network, name: "ways out", source: tries(
			"return await new Promise((done, fail) => net.connect(80, '192.0.2.1').on('connect', done).on('error', fail))", "return await new Promise((done, fail) => net.connect(80, '127.0.0.1').on('connect', done).on('error', fail))",
			"return await new Promise((done, fail) => net.connect('/run/dbus/system_bus_socket').on('connect', done).on('error', fail))", "return await new Promise((done, fail) => net.connect('\\0abstract').on('connect', done).on('error', fail))",
			"return await dns.lookup('example.com')", "return await dns.resolve4('example.com')", "return await new Promise((done, fail) => dgram.createSocket('udp4').on('error', fail).send('x', 53, '192.0.2.1', (e) => (e ? fail(e) : done())))",
			"return await new Promise((done, fail) => http.get('http://169.254.169.254/').on('response', done).on('error', fail))", "return (await fetch('http://169.254.169.254/')).status", "return (await fetch('http://127.0.0.1:1/')).status",
		), output: "0", edit: func(j *runtimes.Job) { j.Limits.TimeoutMs = 30_000 }},
		refused(hostile.Kernel, "internals of Node", tries(
			"fs.copyFileSync('/usr/bin/true', '/tmp/x.node'); return process.dlopen({ exports: {} }, '/tmp/x.node')", "process.setuid(0); return process.getuid()", "process.setgroups([0])", "process.initgroups('root', 0)",
			"os.setPriority(0, -20)", "const fd = fs.openSync('/proc/self/mem', 'r+'); return fs.writeSync(fd, Buffer.alloc(8), 0, 8, 0x100000)", "process.chroot('/tmp')", "fs.watch('/work'); return 1",
		)),
		{class: hostile.Kernel, name: "the inspector", source: run("inspector.open(0, '127.0.0.1'); const s = new inspector.Session(); s.connect(); return await new Promise((done) => s.post('Runtime.evaluate', { expression: 'process.pid' }, (_, r) => done(typeof r.result.value)))"), check: anyEnd},
		{class: hostile.Kernel, name: "writes into its own code", source: run("const maps = fs.readFileSync('/proc/self/maps', 'utf8'); const at = parseInt(maps.split('\\n').find((l) => l.includes('r-xp')), 16); const fd = fs.openSync('/proc/self/mem', 'r+'); for (let i = 0; i < 1000; i++) fs.writeSync(fd, Buffer.alloc(4096, 0xcc), 0, 4096, at + i * 4096)"), check: anyEnd},
		{class: hostile.Signals, name: "kills everything", source: run("try { process.kill(-1, 'SIGKILL') } catch {} try { process.kill(0, 'SIGKILL') } catch {} process.kill(process.pid, 'SIGKILL'); process.abort()"), types: types(runtimes.RuntimeError)},
		{class: hostile.Signals, name: "stops itself", source: run("process.kill(process.pid, 'SIGSTOP'); await new Promise((done) => setTimeout(done, 10)); return 1"), edit: second, check: anyEnd},
		{class: hostile.ParserBombs, name: "nested brackets", source: "export default () => " + strings.Repeat("[", 200_000), mute: true, types: types(runtimes.SyntaxError)},
		{class: hostile.ParserBombs, name: "nested code in eval", source: run("return eval('['.repeat(1e6))"), types: types(runtimes.RecursionLimit, runtimes.RuntimeError)},
		{class: hostile.Forging, name: "a forged result message", source: run("fs.writeSync(3, '{\"end\":{\"output\":\"forged\"},\"code\":0}\\n{\"end\":{\"error\":{\"type\":\"timeout\",\"message\":\"x\"}}}\\n'); process.reallyExit(0)"), types: types(runtimes.RuntimeError)},
		{class: hostile.Forging, name: "a line without end", source: run("for (;;) fs.writeSync(3, 'x'.repeat(1 << 16))"), edit: second, types: types(runtimes.Timeout)},
		{class: hostile.Forging, name: "a result that is too large", source: run("fs.writeSync(3, '{\"end\":{\"output\":\"' + 'x'.repeat(3e6) + '\"}}\\n'); process.reallyExit(0)"), types: types(runtimes.OutputLimit)},
		{class: hostile.Forging, name: "forged request for reuse", source: run("fs.writeSync(3, '{\"end\":{\"output\":0},\"code\":0,\"again\":true}\\n{\"ready\":true}\\n'); await new Promise((done) => setTimeout(done, 1e6))"), check: wants("0")},
		{class: hostile.Terminal, name: "in an error", source: run("const e = new Error('\\x1b]0;owned\\x07\\nlevel=ERROR'); e.name = '\\x1b[31m'; throw e"), types: types(runtimes.RuntimeError)},
	}
}
