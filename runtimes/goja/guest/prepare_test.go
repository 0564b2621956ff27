package guest_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/goja/guest"
	"github.com/atelier-run/atelier/runtimes/packages/packagestest"
)

// stepped is a worker that a test executes step by step. Its frames are read after each step.
type stepped struct {
	guest.Worker
	tb  testing.TB
	out *bytes.Buffer
}

func newStepped(tb testing.TB) stepped {
	tb.Helper()
	out := &bytes.Buffer{}
	return stepped{guest.NewWorker(out).Unbounded(), tb, out}
}

// answerTo executes a job and returns the answer.
func (s stepped) answerTo(job guest.Job) (a answer) {
	s.tb.Helper()
	if err := s.Run(job); err != nil {
		s.tb.Fatal(err)
	}
	in := frames.NewReader(s.out, map[frames.Kind]int{frames.Started: 20, frames.Stdout: 64 << 10, frames.Stderr: 64 << 10, frames.Done: 20 << 20})
	for {
		kind, payload, err := in.Read()
		if err != nil {
			s.tb.Fatal(err)
		}
		switch kind {
		case frames.Stdout:
			a.stdout += string(payload)
		case frames.Stderr:
			a.stderr += string(payload)
		case frames.Done:
			if err := json.Unmarshal(payload, &a.Result); err != nil {
				s.tb.Fatal(err)
			}
			return a
		}
	}
}

// prepare loads the candidate ahead and reports whether there is a prepared run.
func (s stepped) prepare() bool {
	if s.Suggested() {
		s.Prepare(time.Minute)
	}
	return s.Prepared() > 0
}

// withPackages returns a job with packages: one file each, as npm lays them out.
func withPackages(source, input string, packages map[string]string) guest.Job {
	job := js(source, input)
	maps.Copy(job.Files, packages)
	job.Digest = source
	return job
}

// small returns small packages, one for each form that an npm package can have.
func small() map[string]string {
	return map[string]string{
		"node_modules/esm/package.json":      `{"name":"esm","type":"module","exports":"./index.js"}`,
		"node_modules/esm/index.js":          "import cjs from 'cjs'\nlet n = 0\nexport const next = () => ++n\nexport const fail = () => { throw new RangeError('from esm') }\nexport default class Thing { static made = cjs.kind }\n",
		"node_modules/cjs/package.json":      `{"name":"cjs","main":"main.js"}`,
		"node_modules/cjs/main.js":           "exports.kind = 'cjs'\nexports.fail = function deep() { return JSON.parse('{') }\nexports.self = this === exports\n",
		"node_modules/function/index.js":     "module.exports = function named(x) { return x + 1 }\nmodule.exports.default = 'default'\n",
		"node_modules/function/package.json": `{"name":"function"}`,
		"node_modules/interop/package.json":  `{"name":"interop"}`,
		"node_modules/interop/index.js":      "Object.defineProperty(exports, '__esModule', { value: true })\nexports.default = 'the default'\nexports.named = 'named'\n",
		"node_modules/data/package.json":     `{"name":"data","version":"1.2.3"}`,
		"node_modules/data/data.json":        `{"answer":42}`,
		"node_modules/patch/package.json":    `{"name":"patch"}`,
		"node_modules/patch/index.js":        "Array.prototype.last = function () { return this[this.length - 1] }\nglobalThis.patched = true\n",
		"node_modules/lazy/package.json":     `{"name":"lazy"}`,
		"node_modules/lazy/index.js":         "const log = console.log, later = setTimeout, random = Math.random, now = Date.now\nexports.log = log\nexports.later = (f) => later(f, 1)\nexports.pure = typeof random() \n",
		"node_modules/uses/package.json":     `{"name":"uses"}`,
		"node_modules/uses/index.js":         "const { log } = console, later = setTimeout\nexports.log = log\nexports.later = (f) => later(f, 1)\nexports.random = () => Math.random()\nexports.now = () => Date.now()\n",
		"node_modules/promises/package.json": `{"name":"promises"}`,
		"node_modules/promises/index.js":     "exports.order = []\nPromise.resolve().then(() => exports.order.push('package'))\n;(async () => { await null; exports.order.push('async') })()\n",
	}
}

// TestPrepared_SameAnswers expects the same answer from a program that is loaded in its run and from one loaded in advance.
func TestPrepared_SameAnswers(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"default import of ESM":      `import Thing from "esm"; export default () => Thing.made`,
		"named import of ESM":        `import { next } from "esm"; export default () => [next(), next()]`,
		"namespace of ESM":           `import * as all from "esm"; export default () => Object.keys(all).sort()`,
		"default import of CommonJS": `import cjs from "cjs"; export default () => cjs`,
		"named import of CommonJS":   `import { kind } from "cjs"; export default () => kind`,
		"namespace of CommonJS":      `import * as all from "cjs"; export default () => Object.keys(all).sort()`,
		"a function":                 `import f from "function"; export default () => [f(1), f.default, f.name]`,
		"__esModule":                 `import d, { named } from "interop"; export default () => [d, named]`,
		"require":                    `const cjs = require("cjs"), d = require("interop"); module.exports = () => [cjs.kind, cjs.self, d]`,
		"require of ESM":             `const { next } = require("esm"); exports.main = () => next()`,
		"require in main":            `function main() { return require("cjs").kind }`,
		"dynamic import":             `export default async () => (await import("esm")).next()`,
		"for its effect":             `import "patch"; export default () => [[1, 2].last(), patched]`,
		"JSON":                       `import { answer } from "data/data.json"; export default () => answer`,
		"own files between":          `import "./own.js"; import { next } from "esm"; export default () => [globalThis.own, next()]`,
		"an error in a package":      `import { fail } from "esm"; export default () => fail()`,
		"an error in CommonJS":       `import { fail } from "cjs"; export default () => {` + "\n\n" + ` return fail() }`,
		"an error of the program":    `import "cjs";` + "\n" + `export default () => { throw new Error("mine") }`,
		"a value is thrown":          `import "cjs"; export default () => { throw { code: 7 } }`,
		"output":                     `import { log } from "uses"; export default () => { log("one"); console.error("two"); return 3 }`,
		"timers":                     `import { later } from "uses"; export default () => new Promise((done) => later(() => done("late")))`,
		"clock":                      `import { now, random } from "uses"; export default () => [typeof now(), typeof random(), typeof performance.now()]`,
		"order of promises":          `import { order } from "promises"; order.push("program"); export default () => order`,
		"a rejection":                `import "cjs"; Promise.reject(new Error("early")); export default () => 1`,
		"environment and input":      `import "cjs"; export default (input, ctx) => [input, ctx.env]`,
		"big integers":               `import "cjs"; export default (input) => ({ id: input.id, text: JSON.stringify(input) })`,
		"globals of the program":     `import "cjs"; const before = typeof before2; var before2 = 1; globalThis.count = (globalThis.count ?? 0) + 1; export default () => [count, before]`,
		"web interfaces":             `import "cjs"; const u = new URL("https://a/b"); export default () => [u.href, structuredClone({ a: 1 }), new TextEncoder().encode("é").length]`,
		"top-level main":             `import "cjs"; function main(input) { return input }`,
		"an exported schema":         `import "cjs"; export const input = { "~standard": { validate: (value) => ({ value: { twice: value.id } }) } }; export default (i) => Object.keys(i)`,
		"no end":                     `import "cjs"; export default () => new Promise(() => {})`,
		"recursion":                  `import "cjs"; const f = () => f(); export default () => f()`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectSame(t, withPackages(source, `{"id":9007199254740993}`, small()))
		})
	}
}

// expectSame expects that a program that is loaded in advance gives the same answer as one that is loaded in its run.
func expectSame(t *testing.T, job guest.Job) {
	t.Helper()
	job.Files["own.js"] = "globalThis.own = 'own'\n"
	s := newStepped(t)
	first := s.answerTo(job)
	for range 2 {
		if !s.prepare() {
			t.Fatalf("it is not prepared after the answer %s %s", first.Output, text(first.Error))
		}
		if again := s.answerTo(job); !reflect.DeepEqual(first, again) {
			t.Errorf("in its run: %s %s %q %q\nahead: %s %s %q %q", first.Output, text(first.Error), first.stdout, first.stderr, again.Output, text(again.Error), again.stdout, again.stderr)
		}
	}
	if fresh := s.answerTo(job); !reflect.DeepEqual(first, fresh) {
		t.Errorf("first: %s %s\nlater: %s %s", first.Output, text(first.Error), fresh.Output, text(fresh.Error))
	}
}

// TestPrepared_RealPackages expects the same answers with lodash and zod, loaded in the run and loaded in advance.
func TestPrepared_RealPackages(t *testing.T) {
	t.Parallel()
	real := tarballs(t, "lodash", "zod")
	for name, source := range map[string]string{
		"lodash":        `import _ from "lodash"; export default () => [_.chunk([1, 2, 3], 2), _.camelCase("a b"), _.uniqueId()]`,
		"named":         `import { groupBy } from "lodash"; export default () => groupBy([1.2, 1.4, 2], Math.floor)`,
		"a file":        `import sum from "lodash/sum.js"; export default () => sum([1, 2])`,
		"required":      `const _ = require("lodash"); module.exports = () => _.template("<%= a %>")({ a: 1 })`,
		"zod":           `import { z } from "zod"; const s = z.object({ id: z.bigint() }); export default (i) => Object.keys(s.parse(i))`,
		"a zod error":   `import { z } from "zod";` + "\n" + `export default (i) => z.object({ id: z.string() }).parse(i)`,
		"zod's input":   `import * as z from "zod"; export const input = z.object({ id: z.string() }); export default (i) => i`,
		"zod/v3":        `import { z } from "zod/v3"; export default (i) => z.object({ id: z.any() }).safeParse(i).success`,
		"zod's schemas": `import { z } from "zod"; export default () => z.toJSONSchema(z.object({ a: z.number().int() }))`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectSame(t, withPackages(source, `{"id":9007199254740993}`, real))
		})
	}
}

// TestZod_OneRun_NothingCompiled expects that Zod compiles no function for a schema, because the VM serves one run.
func TestZod_OneRun_NothingCompiled(t *testing.T) {
	t.Parallel()
	s := newStepped(t)
	const source = `import { z } from "zod"; let made = 0; const given = z.object({ n: z.number() });
globalThis.Function = new Proxy(Function, { construct: (target, args) => { made++; return new target(...args) } });
export default (i) => [given.safeParse(i).success, given.safeParse({}).success, made]`
	if a := s.answerTo(withPackages(source, `{"n":1}`, tarballs(t, "zod"))); string(a.Output) != "[true,false,0]" {
		t.Errorf("%s %s", a.Output, text(a.Error))
	}
}

// tarballs returns the files of real packages that a program can import.
func tarballs(t *testing.T, names ...string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range names {
		found, err := filepath.Glob(filepath.Join(packagestest.Folder(t), name+"-*.tgz"))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", name, err)
		}
		file, err := os.Open(found[0])
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		unzipped, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		for archive := tar.NewReader(unzipped); ; {
			header, err := archive.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			inside := strings.TrimPrefix(header.Name, "package/")
			if strings.Contains(inside, ".") && !strings.HasSuffix(inside, ".ts") && !strings.HasSuffix(inside, ".cts") && !strings.HasSuffix(inside, ".md") {
				text, err := io.ReadAll(archive)
				if err != nil {
					t.Fatal(err)
				}
				files["node_modules/"+name+"/"+inside] = string(text)
			}
		}
	}
	return files
}

// TestPrepared_Impure expects that a program whose loading has visible effects is not loaded in advance, and that the effects
// happen in its runs.
func TestPrepared_Impure(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"prints":                 `console.log("loading")`,
		"prints an error":        `console.error("loading")`,
		"calls Date":             `Date()`,
		"reads the clock":        `Date.now()`,
		"makes a date":           `globalThis.at = new Date()`,
		"measures":               `console.time("x")`,
		"reads performance":      `performance.now()`,
		"Math.random":            `Math.random()`,
		"randomUUID":             `crypto.randomUUID()`,
		"getRandomValues":        `crypto.getRandomValues(new Uint8Array(4))`,
		"starts a timer":         `setTimeout(() => {}, 1)`,
		"starts a timer unasked": `AbortSignal.timeout(5)`,
		"in a promise":           `Promise.resolve().then(() => console.log("later"))`,
	} {
		for _, place := range []string{"package", "program"} {
			packages, source := small(), `import "cjs"; export default () => 1`
			if place == "package" {
				packages["node_modules/cjs/main.js"] = statement
			} else {
				source += "\n" + statement
			}
			s := newStepped(t)
			job := withPackages(source, "null", packages)
			first := s.answerTo(job)
			dated := place == "package" && (strings.Contains(statement, "Date"))
			if first.Error != nil || s.prepare() != dated {
				t.Errorf("a %s that %s: %s, prepared: %d", place, name, text(first.Error), s.Prepared())
			}
			if again := s.answerTo(job); again.stdout != first.stdout || again.Error != nil {
				t.Errorf("a %s that %s: %q, then %q", place, name, first.stdout, again.stdout)
			}
		}
	}
	t.Run("allocates much", func(t *testing.T) {
		t.Parallel()
		s := newStepped(t)
		s.Worker = guest.NewWorker(s.out)
		if a := s.answerTo(withPackages(`import "cjs"; new Array(5e6).fill(1); export default () => 1`, "null", small())); a.Error != nil || s.prepare() {
			t.Errorf("%s, prepared: %d", text(a.Error), s.Prepared())
		}
	})
	t.Run("without packages", func(t *testing.T) {
		t.Parallel()
		s := newStepped(t)
		if s.answerTo(js(`export default () => 1`, "null")); s.prepare() {
			t.Error("a program without packages is prepared")
		}
	})
}

// TestPrepared_Dated expects that a package that reads the clock while it is loaded in advance gets a time less than maxAge
// before its run.
func TestPrepared_Dated(t *testing.T) {
	packages := small()
	packages["node_modules/cjs/main.js"] = "exports.at = Date.now()\n"
	job := withPackages(`import { at } from "cjs"; export default () => Date.now() - at`, "null", packages)
	newStepped(t).answerTo(job) // creates what is created only once, outside of the bubble below
	synctest.Test(t, func(t *testing.T) {
		s := newStepped(t)
		for _, tt := range []struct {
			wait time.Duration
			want string
		}{{0, "0"}, {time.Second, "1000"}, {5 * time.Second, "5000"}, {6 * time.Second, "0"}, {time.Hour, "0"}} {
			<-time.After(tt.wait)
			if string(s.answerTo(job).Output) != tt.want || !s.prepare() {
				t.Errorf("after %v it is not %s ms old", tt.wait, tt.want)
			}
		}
	})
}

// TestPrepared_EffectLater_NothingSent expects that a package that prints, calls or waits only when it is loaded in advance
// sends nothing, because no job is there for it.
func TestPrepared_EffectLater_NothingSent(t *testing.T) {
	for _, effect := range []string{`console.log("late")`, `fetch("http://example.com")`, `setTimeout(() => {}, 1)`, `try { console.log("late") } catch {}`} {
		from := func(year int) guest.Job {
			packages := small()
			packages["node_modules/cjs/main.js"] = fmt.Sprintf("if (Date.now() > Date.UTC(%d, 0, 1, 1)) { %s }\n", year, effect)
			return withPackages(`import "cjs"; export default () => 1`, "null", packages)
		}
		job := from(2000)
		newStepped(t).answerTo(from(3000)) // scripts that are compiled once are not compiled in the bubble below
		synctest.Test(t, func(t *testing.T) {
			s := newStepped(t)
			if a := s.answerTo(job); string(a.Output) != "1" {
				t.Fatalf("%s: %s", effect, text(a.Error))
			}
			<-time.After(2 * time.Hour) // the clock of the bubble begins with the year 2000
			if s.prepare() || s.out.Len() > 0 {
				t.Errorf("%s: %d prepared runs, %q was sent", effect, s.Prepared(), s.out)
			}
		})
	}
}

// TestPrepared_OwnRules expects that a prepared run has the rules of its own job.
func TestPrepared_OwnRules(t *testing.T) {
	t.Parallel()
	s := newStepped(t)
	job := withPackages(`import "cjs"; export default () => (() => {}).constructor("return 1")()`, "null", small())
	for i, restricted := range []bool{true, true, false, false, true} {
		job.Restricted = restricted
		if a := s.answerTo(job); (a.Error != nil) != restricted {
			t.Errorf("run %d, restricted: %t: %s %s", i, restricted, a.Output, text(a.Error))
		}
		s.prepare()
	}
}

// TestPrepared_OwnJob expects that a prepared run has the limits, input and environment of its own job.
func TestPrepared_OwnJob(t *testing.T) {
	t.Parallel()
	s := newStepped(t)
	job := withPackages(`import "cjs"; export default (input, ctx) => { const f = (n) => n && 1 + f(n - 1); return [f(input), ctx.env.A] }`, "50", small())
	job.Environment = map[string]string{"A": "1"}
	if a := s.answerTo(job); string(a.Output) != `[50,"1"]` || !s.prepare() {
		t.Fatalf("%s %s", a.Output, text(a.Error))
	}
	job.Input, job.Environment = json.RawMessage("60"), map[string]string{"A": "2"}
	if a := s.answerTo(job); string(a.Output) != `[60,"2"]` || !s.prepare() {
		t.Fatalf("%s %s", a.Output, text(a.Error))
	}
	job.Limits.RecursionDepth = 20
	if a := s.answerTo(job); a.Error == nil || a.Error.Type != "recursion_limit" {
		t.Errorf("with a lower limit: %s %s", a.Output, text(a.Error))
	}
}

// TestPrepared_NoSharedState expects that a prepared run is used once, and that no other program sees it.
func TestPrepared_NoSharedState(t *testing.T) {
	t.Parallel()
	s := newStepped(t)
	one := withPackages(`import "patch"; import { next } from "esm"; export default () => [next(), [1].last(), globalThis.mark = (globalThis.mark ?? 0) + 1]`, "null", small())
	other := withPackages(`import "cjs"; export default () => [typeof patched, typeof mark, typeof [].last]`, "null", small())
	for range 3 {
		if a := s.answerTo(one); string(a.Output) != "[1,1,1]" {
			t.Errorf("%s %s", a.Output, text(a.Error))
		}
		s.prepare()
		if a := s.answerTo(other); string(a.Output) != `["undefined","undefined","undefined"]` {
			t.Errorf("%s %s", a.Output, text(a.Error))
		}
		s.prepare()
	}
}

// TestPrepared_Few expects at most maxPrepared prepared runs.
func TestPrepared_Few(t *testing.T) {
	t.Parallel()
	s := newStepped(t)
	for i := range 12 {
		s.answerTo(withPackages(fmt.Sprintf(`import "cjs"; export default () => %d`, i), "null", small()))
		s.prepare()
	}
	if s.Prepared() > 4 || s.Prepared() == 0 {
		t.Errorf("%d runs are prepared", s.Prepared())
	}
}

// TestPrepared_Endless expects that a program whose loading never ends is stopped by the time limit and by the next job,
// and that the next run is not interrupted.
func TestPrepared_Endless(t *testing.T) {
	t.Parallel()
	endless := withPackages(`import "cjs"; export default () => 1`, "null", map[string]string{
		"node_modules/cjs/package.json": `{"name":"cjs"}`, "node_modules/cjs/index.js": "for (;;) {}",
	})
	fine := withPackages(`import { next } from "esm"; export default () => next()`, "null", small())
	s := newStepped(t)
	s.answerTo(fine)
	if !s.prepare() {
		t.Fatal("it is not prepared")
	}

	s.Suggest(endless)
	s.Prepare(time.Millisecond)
	if s.Prepared() != 1 || s.Suggested() {
		t.Errorf("after the bound of time: %d prepared, suggested again: %t", s.Prepared(), s.Suggested())
	}

	s.Suggest(endless)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Prepare(time.Hour)
	}()
	for !s.Preparing() {
		select {
		case <-ended:
			t.Fatal("it ended by itself")
		default:
		}
	}
	s.Announce()
	<-ended
	s.Prepare(time.Hour) // must not begin, because a job has arrived
	s.Receive()
	for range 2 {
		if a := s.answerTo(fine); string(a.Output) != "1" {
			t.Errorf("the next run: %s %s", a.Output, text(a.Error))
		}
	}
}

// TestPrepared_WhileIdle expects that a waiting worker loads a program ahead, and that it answers jobs that arrive before
// or during that.
func TestPrepared_WhileIdle(t *testing.T) {
	job := withPackages(`import { next } from "esm"; export default () => next()`, "null", small())
	newStepped(t).answerTo(job) // creates what is created only once, outside of the bubble below
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		worker := guest.NewWorker(theirs)
		ended := make(chan error, 1)
		go func() { ended <- worker.Serve(theirs) }()
		s := &server{tb: t, out: frames.NewWriter(ours), in: frames.NewReader(ours, map[frames.Kind]int{frames.Need: 0, frames.Started: 20, frames.Done: 20 << 20})}
		for range 3 {
			for range 2 {
				if a := s.run(job); string(a.Output) != "1" {
					t.Fatalf("%s %s", a.Output, text(a.Error))
				}
			}
			<-time.After(time.Second)
			synctest.Wait()
			if worker.Prepared() != 1 {
				t.Fatalf("%d runs are prepared", worker.Prepared())
			}
		}
		_ = ours.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
