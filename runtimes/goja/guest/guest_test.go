package guest_test

import (
	"encoding/json"
	"net"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/goja/guest"
)

// server is the other end of the guest's connection. It sends jobs and records the messages it receives.
type server struct {
	tb  testing.TB
	out *frames.Writer
	in  *frames.Reader
	// onCall answers host calls; nil answers each with null.
	onCall func(frames.Call) frames.Answer
	// onStart is called when the program starts.
	onStart func()
	// onOutput receives output as it arrives.
	onOutput func(string)
}

// answer is the outcome of a job.
type answer struct {
	frames.Result
	need           bool // the worker asked for the program
	stdout, stderr string
	order          []string // kinds of frames and names of calls, in order of arrival
	calls          []frames.Call
}

func newServer(tb testing.TB) *server {
	tb.Helper()
	ours, theirs := net.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- guest.Serve(theirs) }()
	tb.Cleanup(func() {
		_ = ours.Close()
		if err := <-ended; err != nil {
			tb.Errorf("Serve: %v", err)
		}
	})
	return &server{tb: tb, out: frames.NewWriter(ours), in: frames.NewReader(ours, map[frames.Kind]int{
		frames.Need: 0, frames.Started: 20, frames.Stdout: 64 << 10, frames.Stderr: 64 << 10, frames.CallReq: 2 << 20, frames.Done: 20 << 20,
	})}
}

// run sends a job and waits for its result.
func (s *server) run(job guest.Job) answer {
	s.tb.Helper()
	if err := s.out.WriteJSON(frames.Job, job); err != nil {
		s.tb.Fatal(err)
	}
	var a answer
	for {
		kind, payload, err := s.in.Read()
		if err != nil {
			s.tb.Fatalf("read: %v", err)
		}
		switch kind {
		case frames.Need:
			a.need = true
			return a
		case frames.Started:
			a.order = append(a.order, "started")
			if s.onStart != nil {
				s.onStart()
			}
		case frames.Stdout:
			a.stdout += string(payload)
			a.order = append(a.order, "stdout")
			if s.onOutput != nil {
				s.onOutput(string(payload))
			}
		case frames.Stderr:
			a.stderr += string(payload)
			a.order = append(a.order, "stderr")
		case frames.CallReq:
			var call frames.Call
			if err := json.Unmarshal(payload, &call); err != nil {
				s.tb.Fatal(err)
			}
			a.calls = append(a.calls, call)
			a.order = append(a.order, call.Name)
			reply := frames.Answer{ID: call.ID, Result: json.RawMessage("null")}
			if s.onCall != nil {
				reply = s.onCall(call)
			}
			if err := s.out.WriteJSON(frames.Reply, reply); err != nil {
				s.tb.Fatal(err)
			}
		case frames.Done:
			if err := json.Unmarshal(payload, &a.Result); err != nil {
				s.tb.Fatal(err)
			}
			return a
		}
	}
}

// js returns a job with one file. The memory of all tests in this process counts, so the job has a very high memory
// limit.
func js(source, input string) guest.Job {
	limits := runtimes.DefaultLimits()
	limits.MemoryBytes = 0
	return guest.Job{
		Files: map[string]string{"main.js": source}, Entrypoint: "main.js", Language: runtimes.JavaScript,
		Input: json.RawMessage(input), Limits: limits,
	}
}

func text(e *runtimes.ProgramError) string {
	if e == nil {
		return ""
	}
	raw, _ := json.Marshal(e)
	return string(raw)
}

// TestResults runs programs on one worker, one after another, and compares their results.
func TestResults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ source, input, want string }{
		"default export":              {`export default (input) => ({ greeting: "Hello, " + input.name })`, `{"name":"Ada"}`, `{"greeting":"Hello, Ada"}`},
		"exported main":               {`export function main(input) { return input.n * 2 }`, `{"n":21}`, `42`},
		"top-level main":              {`function main(input) { return input }`, `[1,2]`, `[1,2]`},
		"top-level const":             {`const main = async (input) => input`, `"x"`, `"x"`},
		"a module with a hidden main": {`import "./none.json"; function main() { return 1 }`, `null`, `1`},
		"default before main":         {`export default () => 1; export const main = () => 2`, `null`, `1`},
		"CommonJS function":           {`module.exports = (i) => i + 1`, `1`, `2`},
		"CommonJS main":               {`exports.main = async (i) => i + 1`, `1`, `2`},
		"CommonJS default":            {`exports.default = (i) => i + 1`, `1`, `2`},
		"default object with main":    {`export default { main: () => 3 }`, `null`, `3`},
		"this of a module":            {`const t = this; export default () => t === undefined`, `null`, `true`},
		"no input":                    {`export default (input) => input === null`, ``, `true`},

		"undefined is null":      {`export default () => {}`, `null`, `null`},
		"undefined in an object": {`export default () => ({ a: undefined, b: [undefined], c: null })`, `null`, `{"b":[null],"c":null}`},
		"holes":                  {`export default () => [1, , 3]`, `null`, `[1,null,3]`},
		"dates":                  {`export default () => ({ at: new Date(0) })`, `null`, `{"at":"1970-01-01T00:00:00.000Z"}`},
		"toJSON":                 {`class P { constructor(x) { this.x = x } toJSON(key) { return key + this.x } }; export default () => ({ k: new P(1) })`, `null`, `{"k":"k1"}`},
		"boxed":                  {`export default () => [new Number(1), new String("s"), new Boolean(false), Object(true)]`, `null`, `[1,"s",false,true]`},
		"text as it is":          {`export default (i) => i`, `"<a href=\"x\">&amp;\u2028 \u00e9 世界 🎉\u0001"`, "\"<a href=\\\"x\\\">&amp;\u2028 é 世界 🎉\\u0001\""},
		"keys keep their order":  {`export default (i) => i`, `{"z":1,"a":2,"m":{"y":1,"b":2}}`, `{"z":1,"a":2,"m":{"y":1,"b":2}}`},
		"__proto__ is a key":     {`export default (i) => [i.__proto__, Object.keys(i), ({}).x]`, `{"__proto__":{"x":1}}`, `[{"x":1},["__proto__"],null]`},
		"minus zero":             {`export default (i) => [i, 1 / i]`, `-0`, ``},
		"proxies":                {`export default () => new Proxy([1, 2], {})`, `null`, `[1,2]`},
		"getters":                {`export default () => ({ get a() { return 1 } })`, `null`, `{"a":1}`},
		"null prototype":         {`export default () => Object.assign(Object.create(null), { a: 1 })`, `null`, `{"a":1}`},
		"numbers":                {`export default () => [1e21, 1e-7, 0.1 + 0.2, 123456789012345680000]`, `null`, `[1e+21,1e-7,0.30000000000000004,123456789012345680000]`},

		"big integers pass":             {`export default (i) => ({ same: i.id, list: [i.id] })`, `{"id":12345678901234567890}`, `{"same":12345678901234567890,"list":[12345678901234567890]}`},
		"big integers compare":          {`export default (i) => i.all.find((x) => x.id === i.id)?.name`, `{"id":9007199254740993,"all":[{"id":9007199254740992,"name":"no"},{"id":9007199254740993,"name":"yes"}]}`, `"yes"`},
		"big integers as text":          {"export default (i) => `${i} ${JSON.stringify({ i })}`", `-9007199254740993`, `"-9007199254740993 {\"i\":-9007199254740993}"`},
		"integers that fit are numbers": {`export default (i) => i.map((x) => typeof x)`, `[9007199254740991,100000000000000000000,1152921504606846976,-1]`, `["number","number","bigint","number"]`},
		"raw JSON":                      {`export default () => JSON.rawJSON("9007199254740993")`, `null`, `9007199254740993`},

		"async":                {`export default async () => { await null; const [a, b] = await Promise.all([1, Promise.resolve(2)]); return a + b }`, `null`, `3`},
		"timers in order":      {`export default () => new Promise((done) => { const s = []; setTimeout(() => s.push("late"), 1e6); setTimeout(() => s.push("a"), 1); setTimeout((x) => { s.push(x); done(s) }, 1, "b") })`, `null`, `["a","b"]`},
		"microtasks first":     {`export default async () => { const s = []; setTimeout(() => s.push(4), 0); queueMicrotask(() => s.push(2)); Promise.resolve().then(() => s.push(3)); s.push(1); await new Promise((r) => setTimeout(r, 2)); return s }`, `null`, `[1,2,3,4]`},
		"intervals":            {`export default () => new Promise((done) => { let n = 0; const id = setInterval(() => { if (++n === 3) { clearInterval(id); setTimeout(() => done(n), 5) } }, 1) })`, `null`, `3`},
		"pending timers":       {`export default () => { setTimeout(() => console.log("late"), 100000); setInterval(() => {}, 1); return 1 }`, `null`, `1`},
		"immediates":           {`export default () => new Promise((r) => setImmediate(r, "now"))`, `null`, `"now"`},
		"cleared":              {`export default async () => { let x = 0; const t = setTimeout(() => x++, 1); clearTimeout(t); clearTimeout(t); clearTimeout(undefined); await new Promise((r) => setTimeout(r, 3)); return x }`, `null`, `0`},
		"thenables":            {`export default () => ({ then(done) { done(7) } })`, `null`, `7`},
		"async generators":     {`async function* g() { yield 1; yield 2 } export default async () => { const all = []; for await (const x of g()) all.push(x); return all }`, `null`, `[1,2]`},
		"Symbol.asyncIterator": {`export default async () => { let n = 0; const it = { [Symbol.asyncIterator]() { return { next: async () => ({ done: n > 2, value: n++ }) } } }; const all = []; for await (const x of it) all.push(x); return [all, typeof Symbol.asyncIterator, String(Symbol.asyncIterator)] }`, `null`, `[[0,1,2],"symbol","Symbol(Symbol.asyncIterator)"]`},
		"handled later":        {`export default async () => { const p = Promise.reject(new Error("x")); p.catch(() => {}); await null; try { await p } catch (e) { return e.message } }`, `null`, `"x"`},
		"environment":          {`export default (_, ctx) => ctx.env`, `null`, `{"UNITS":"metric"}`},
	}
	s := newServer(t)
	for name, tt := range tests {
		job := js(tt.source, tt.input)
		job.Files["none.json"] = "{}"
		job.Environment = map[string]string{"UNITS": "metric"}
		got := s.run(job)
		if name == "minus zero" {
			if got.Error == nil || !strings.Contains(got.Error.Message, "output[1]: -Infinity is not JSON") {
				t.Errorf("%s: %s %s", name, got.Output, text(got.Error))
			}
			continue
		}
		if got.Error != nil || string(got.Output) != tt.want {
			t.Errorf("%s: got %s %s, want %s", name, got.Output, text(got.Error), tt.want)
		}
	}
}
