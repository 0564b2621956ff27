package bacalhau_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bacalhau"
	"github.com/atelier-run/atelier/runtimes/bacalhau/bacalhautest"
	"github.com/atelier-run/atelier/runtimes/elsewhere"
	"github.com/atelier-run/atelier/runtimes/node"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

func newEngine(t *testing.T, at bacalhautest.Address, change ...func(*bacalhau.Options)) *bacalhau.Engine {
	t.Helper()
	o := bacalhau.Options{
		Host: at.Host, Port: at.Port, Key: bacalhautest.Key, Owner: "owner", Poll: 5 * time.Millisecond,
		Ceiling: func(string) hostpattern.Ceiling { return hostpattern.Ceiling{All: true} },
	}
	for _, c := range change {
		c(&o)
	}
	engine := bacalhau.New(o)
	t.Cleanup(engine.Close)
	return engine
}

// programs returns the test programs of Python, adapted to this runtime.
func programs() runtimetest.Programs { return adapted(runtimetest.Python()) }

// adapted adapts test programs to this runtime. The programs in State look for files of earlier runs in the folders that
// are writable in a container.
func adapted(p runtimetest.Programs) runtimetest.Programs {
	p.Runtime = runtimes.Bacalhau
	p.State = map[runtimes.Language]string{
		runtimes.Python:     "import os\ndef main():\n    seen = any(os.path.exists(d + '/mark') for d in ('/tmp', '/dev/shm', '.'))\n    for d in ('/tmp', '/dev/shm', '.'):\n        open(d + '/mark', 'w').close()\n    return seen\n",
		runtimes.JavaScript: "import fs from 'node:fs'\nexport default () => ['/tmp', '/dev/shm', '.'].map((d) => { const seen = fs.existsSync(d + '/mark'); fs.writeFileSync(d + '/mark', ''); return seen }).includes(true)",
		runtimes.Bash:       "seen=false; for d in /tmp /dev/shm .; do [[ ! -e $d/mark ]] || seen=true; : >$d/mark; done; echo $seen",
	}[p.Language]
	return p
}

// TestConformance runs the test suite of all runtimes in each language, and expects that no job is left running.
func TestConformance(t *testing.T) {
	t.Parallel()
	v8 := node.New(node.Options{Jailer: worker.FromSandbox(sandboxtest.New(t, sandboxtest.Exe(t)))})
	t.Cleanup(v8.Close)
	for _, p := range []runtimetest.Programs{programs(), adapted(runtimetest.JavaScript()), adapted(runtimetest.Bash())} {
		t.Run(string(p.Language), func(t *testing.T) {
			t.Parallel()
			s := bacalhautest.New(t)
			t.Run("suite", func(t *testing.T) {
				runtimetest.Conformance(t, newEngine(t, s.Address, func(o *bacalhau.Options) { o.Bundle = v8.Bundle }), p)
			})
			if left := s.Running(); len(left) > 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

func moduleJob(code []byte) runtimes.Job {
	return runtimes.Job{
		RunID: "run", Workspace: "workspace", Language: runtimes.WASM, Runtime: runtimes.Bacalhau, Files: map[string][]byte{"main.wasm": code}, Entrypoint: "main.wasm",
		Input: json.RawMessage(`{}`), Limits: runtimes.DefaultLimits(),
	}
}

// TestModule_RunsAndPrintsItsOutput checks that the stdout of a module is its output. The module has no name section and
// no exit code, which Bacalhau reports as -1.
func TestModule_RunsAndPrintsItsOutput(t *testing.T) {
	t.Parallel()
	s := bacalhautest.NewNetwork(t)
	engine := newEngine(t, s.Address)
	outcome, host := runtimetest.Run(t, engine, moduleJob(bacalhautest.Module(`{"answer":42}`)))
	if outcome.Error != nil || string(outcome.Output) != `{"answer":42}` || host.Stdout(t) != `{"answer":42}` || outcome.Level != elsewhere.Level || outcome.Usage.Remote <= 0 {
		t.Errorf("%+v %+v", outcome, outcome.Error)
	}
	if outcome, _ := runtimetest.Run(t, engine, moduleJob(bacalhautest.Module("hello"))); outcome.Error == nil || outcome.Error.Type != runtimes.InvalidOutput {
		t.Errorf("%+v", outcome)
	}
	if left := s.Running(); len(left) > 0 || s.Jobs() != 2 {
		t.Errorf("%d jobs, left %v", s.Jobs(), left)
	}
}

// endings are modules that do not end well, by the type of the error and a part of its message.
func endings() []ending {
	return []ending{
		{"trap", bacalhautest.Module("x", 0), runtimes.RuntimeError, "stopped: unreachable."},
		{"endless calls", []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x07\x0a\x01\x06_start\x00\x00\x0a\x06\x01\x04\x00\x10\x00\x0b"), runtimes.RecursionLimit, "deeply"},
		{"memory", bytes.Replace(bacalhautest.Module("x"), []byte("\x05\x03\x01\x00\x01"), []byte("\x05\x05\x01\x00\x80\x80\x02"), 1), runtimes.MemoryLimit, "256 MiB"},
		{"endless loop", bacalhautest.Module("x", 0x03, 0x40, 0x0c, 0, 0x0b), runtimes.Timeout, "500 ms"},
	}
}

type ending struct {
	name string
	code []byte
	want runtimes.ErrorType
	says string
}

// ends runs a module that does not end well.
func (e ending) ends(t *testing.T, engine *bacalhau.Engine) {
	t.Helper()
	job := moduleJob(e.code)
	job.Limits.TimeoutMs = 20_000
	if e.want == runtimes.Timeout {
		job.Limits.TimeoutMs = 500
	}
	began := time.Now()
	outcome, err := engine.Run(t.Context(), job, runtimetest.NewHost())
	if err != nil || outcome.Error == nil || outcome.Error.Type != e.want || !strings.Contains(outcome.Error.Message, e.says) {
		t.Errorf("%v, %+v, want %s with %q", err, outcome.Error, e.want, e.says)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
}

// TestModule_Fails_SaysHow expects the module's own end, although Bacalhau executes it once more and keeps its job then.
func TestModule_Fails_SaysHow(t *testing.T) {
	t.Parallel()
	s := bacalhautest.NewNetwork(t)
	engine := newEngine(t, s.Address)
	for _, one := range endings() {
		t.Run(one.name, func(t *testing.T) { one.ends(t, engine) })
	}
	if left := s.Running(); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// TestCancelled_JobIsStopped cancels a module that never ends.
func TestCancelled_JobIsStopped(t *testing.T) {
	t.Parallel()
	s := bacalhautest.NewNetwork(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for len(s.Running()) == 0 && ctx.Err() == nil {
			goruntime.Gosched()
		}
		cancel()
	}()
	outcome, err := newEngine(t, s.Address).Run(ctx, moduleJob([]byte(bacalhautest.Idle)), runtimetest.NewHost())
	if err != nil || outcome.Error == nil || outcome.Error.Type != runtimes.Cancelled || len(s.Running()) > 0 || s.Jobs() != 1 {
		t.Errorf("%v, %+v, jobs %v", err, outcome.Error, s.Running())
	}
}

// TestFaults_OfTheNetwork_TypedAndNothingLeft expects refusals of jobs that a network does not accept or cannot execute.
func TestFaults_OfTheNetwork_TypedAndNothingLeft(t *testing.T) {
	t.Parallel()
	s := bacalhautest.NewNetwork(t)
	for name, tt := range map[string]struct {
		job    func(*runtimes.Job)
		change func(*bacalhau.Options)
		says   string
		jobs   int
	}{
		"no key":            {change: func(o *bacalhau.Options) { o.Key = "" }, says: "BACALHAU_API_KEY"},
		"wrong key":         {change: func(o *bacalhau.Options) { o.Key = "other" }, says: "BACALHAU_API_KEY"},
		"down":              {change: func(o *bacalhau.Options) { o.Port = "1" }, says: "BACALHAU_API_HOST"},
		"never starts":      {job: func(j *runtimes.Job) { j.Limits.MemoryBytes = 1 << 50 }, says: "did not start", jobs: 1},
		"tried without end": {job: func(j *runtimes.Job) { j.Files["main.wasm"] = []byte("\x00asm") }, says: "invalid", jobs: 1},
	} {
		t.Run(name, func(t *testing.T) {
			before := s.Jobs()
			engine := newEngine(t, s.Address, func(o *bacalhau.Options) {
				o.Queued = 5 * time.Second
				if tt.change != nil {
					tt.change(o)
				}
			})
			job := moduleJob(bacalhautest.Module("1"))
			if tt.job != nil {
				tt.job(&job)
			}
			outcome, err := engine.Run(t.Context(), job, runtimetest.NewHost())
			if e := outcome.Error; e != nil && e.Type == runtimes.Interrupted { // the node was seen to begin with it
				err = fault.New(fault.RuntimeUnavailable, "%s", e.Message)
			}
			if !fault.Is(err, fault.RuntimeUnavailable) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, want %q", err, tt.says)
			}
			if left := s.Running(); len(left) > 0 || s.Jobs() != before+tt.jobs {
				t.Errorf("%d jobs after %d, left %v", s.Jobs(), before, left)
			}
		})
	}
}

// TestTimeLimit_NodeBusy_WaitDoesNotCount expects that a job that waits at a node for longer than its time limit succeeds.
// Bacalhau shows it as one that runs.
func TestTimeLimit_NodeBusy_WaitDoesNotCount(t *testing.T) {
	t.Parallel()
	s := bacalhautest.NewNetwork(t)
	release := s.Occupy(0)
	defer release()
	time.AfterFunc(time.Second, release)
	job := moduleJob(bacalhautest.Module("42"))
	job.Limits.TimeoutMs = 300
	if outcome, _ := runtimetest.Run(t, newEngine(t, s.Address), job); outcome.Error != nil || string(outcome.Output) != "42" {
		t.Errorf("%+v %s", outcome.Error, outcome.Output)
	}
}

// archive makes a result with entries of any names.
func archive(entries ...tar.Header) string {
	var text bytes.Buffer
	zipped := gzip.NewWriter(&text)
	out := tar.NewWriter(zipped)
	for _, e := range entries {
		if e.Typeflag == 0 {
			e.Typeflag = tar.TypeReg
		}
		_ = out.WriteHeader(&e) // to memory
		_, _ = out.Write(bytes.Repeat([]byte("x"), int(e.Size)))
	}
	_, _ = out.Close(), zipped.Close()
	return text.String()
}

// TestFaults_OfTheService_TypedAndNothingLeft lets each operation of the service fail. It expects an error of the right
// type, and that no job is left running.
func TestFaults_OfTheService_TypedAndNothingLeft(t *testing.T) {
	t.Parallel()
	at := func(method, path string, first int64, do func(http.ResponseWriter)) func(http.ResponseWriter, *http.Request) bool {
		var n atomic.Int64
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != method || !strings.Contains(r.URL.Path, path) || n.Add(1) > first {
				return false
			}
			do(w)
			return true
		}
	}
	status := func(code int) func(http.ResponseWriter) { return func(w http.ResponseWriter) { w.WriteHeader(code) } }
	breakOff := func(http.ResponseWriter) { panic(http.ErrAbortHandler) }
	text := func(body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { _, _ = w.Write([]byte(body)) }
	}
	link := tar.Header{Name: "outputs/result.json", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}
	tests := map[string]struct {
		before func(http.ResponseWriter, *http.Request) bool
		change func(*bacalhautest.Service, *bacalhau.Options)
		code   fault.Code         // of the server's error
		says   string             // of its message
		want   runtimes.ErrorType // of the outcome
	}{
		"no key":                 {change: func(_ *bacalhautest.Service, o *bacalhau.Options) { o.Key = "" }, code: fault.RuntimeUnavailable, says: "BACALHAU_API_KEY"},
		"wrong key":              {change: func(_ *bacalhautest.Service, o *bacalhau.Options) { o.Key = "other" }, code: fault.RuntimeUnavailable, says: "BACALHAU_API_KEY"},
		"down":                   {change: func(_ *bacalhautest.Service, o *bacalhau.Options) { o.Port = "1" }, code: fault.RuntimeUnavailable, says: "BACALHAU_API_HOST"},
		"busy, then accepted":    {before: at("PUT", "/jobs", 2, status(429))},
		"submit breaks":          {before: at("PUT", "/jobs", 99, breakOff), code: fault.RuntimeUnavailable},
		"submit is not JSON":     {before: at("PUT", "/jobs", 99, text("<html>")), code: fault.RuntimeUnavailable},
		"never starts":           {change: func(s *bacalhautest.Service, o *bacalhau.Options) { s.Idle, o.Queued = true, 50*time.Millisecond }, code: fault.RuntimeUnavailable},
		"tried without end":      {change: func(s *bacalhautest.Service, _ *bacalhau.Options) { s.Broken = "image not found" }, code: fault.RuntimeUnavailable, says: "image not found"},
		"looking fails once":     {before: at("GET", "/jobs/", 1, status(500))},
		"job is unknown":         {before: at("GET", "/jobs/", 99, status(404)), code: fault.RuntimeUnavailable, says: "does not know the job"},
		"no live output":         {before: at("GET", "/logs", 99, status(500))},
		"live output is cut":     {before: at("GET", "/logs", 1, breakOff)},
		"result cannot be read":  {before: at("GET", "/published", 99, status(404)), want: runtimes.Interrupted},
		"result is cut in half":  {before: at("GET", "/published", 99, text(archive(tar.Header{Name: "stdout", Size: 1 << 10})[:40])), want: runtimes.Interrupted},
		"result is no archive":   {before: at("GET", "/published", 99, text("<html>")), want: runtimes.Interrupted},
		"result is not JSON":     {before: at("GET", "/published", 99, text(archive(tar.Header{Name: "outputs/result.json", Size: 9}))), want: runtimes.RuntimeError},
		"result outside":         {before: at("GET", "/published", 99, text(archive(tar.Header{Name: "../outputs/result.json", Size: 9}))), want: runtimes.RuntimeError},
		"result is a link":       {before: at("GET", "/published", 99, text(archive(link))), want: runtimes.RuntimeError},
		"result twice":           {before: at("GET", "/published", 99, text(archive(tar.Header{Name: "stdout"}, tar.Header{Name: "./stdout"}))), want: runtimes.Interrupted},
		"result over its limit":  {before: at("GET", "/published", 99, text(archive(tar.Header{Name: "outputs/result.json", Size: 2 << 20}))), want: runtimes.OutputLimit},
		"archive over its limit": {before: at("GET", "/published", 99, text(archive(tar.Header{Name: "outputs/other", Size: 200 << 20}))), want: runtimes.OutputLimit},
		"stopping fails once":    {before: at("DELETE", "/jobs", 1, status(500))},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := bacalhautest.New(t)
			s.Intercept(tt.before)
			engine := newEngine(t, s.Address, func(o *bacalhau.Options) {
				if tt.change != nil {
					tt.change(s, o)
				}
			})
			host := runtimetest.NewHost()
			outcome, err := engine.Run(t.Context(), programs().Job(programs().Hello), host)
			switch {
			case tt.code != "" && (!fault.Is(err, tt.code) || !strings.Contains(err.Error(), tt.says)):
				t.Errorf("%v, want %s with %q", err, tt.code, tt.says)
			case tt.code == "" && err != nil:
				t.Error(err)
			case tt.want == "" && outcome.Error != nil, tt.want != "" && (outcome.Error == nil || outcome.Error.Type != tt.want):
				t.Errorf("%+v, want %q", outcome.Error, tt.want)
			case tt.want == "" && tt.code == "" && host.Stdout(t) != "hello Ada\n":
				t.Errorf("stdout %q", host.Stdout(t))
			}
			if left := s.Running(); len(left) > 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

// TestJob_TooLarge_Refused expects an error with the size limit and a remedy, and that no job is submitted.
func TestJob_TooLarge_Refused(t *testing.T) {
	t.Parallel()
	s := bacalhautest.New(t)
	noise := make([]byte, 800_000)
	_, _ = rand.Read(noise) // it never fails
	outcome, _ := runtimetest.Run(t, newEngine(t, s.Address), programs().Job(programs().Echo, func(j *runtimes.Job) { j.Input = json.RawMessage(`"` + hex.EncodeToString(noise) + `"`) }))
	if e := outcome.Error; e == nil || e.Rule != "bacalhau.job" || !strings.Contains(e.Message, "at most 977 KiB") || e.Remedy == "" || s.Jobs() != 0 {
		t.Errorf("%+v, %d jobs", e, s.Jobs())
	}
}

// TestPythonModule runs Python programs in an interpreter that is a module. A node adds variables to the environment of a
// module, has no clock to sleep with, and cannot create files.
func TestPythonModule(t *testing.T) {
	t.Parallel()
	module := bacalhautest.PythonModule(t)
	if module == "" {
		t.Skipf("no Python interpreter for WebAssembly: set %s to the path that scripts/python-wasm.sh prints", bacalhautest.Interpreter)
	}
	s := bacalhautest.NewNetwork(t)
	engine := newEngine(t, s.Address, func(o *bacalhau.Options) { o.PythonModule = module })
	job := programs().Job(`import asyncio, os, sys
from lib.words import count

async def work(done):
    loop = asyncio.get_running_loop()
    loop.call_soon_threadsafe(done.append, "called")
    await asyncio.gather(asyncio.sleep(0.01), asyncio.sleep(0.02))

def refused(what):
    try:
        return repr(what())
    except OSError as e:
        return "OSError"

def main(input, ctx):
    done = []
    asyncio.run(work(done))
    print("hello", sys.platform)
    ctx.log("info", "counted", {"words": count(input)})
    print("careful", file=sys.stderr)
    return {"done": done, "env": dict(os.environ), "files": os.listdir("."), "exists": os.path.exists("a"),
            "read": refused(lambda: open("a")), "write": refused(lambda: open("a", "w"))}
`, func(j *runtimes.Job) {
		j.Files["lib/words.py"] = []byte("def count(text):\n    return len(text.split())\n")
		j.Input, j.Environment = json.RawMessage(`"one two"`), map[string]string{"MODE": "fast"}
		j.Limits.TimeoutMs = 60_000
	})
	const want = `{"done":["called"],"env":{"MODE":"fast"},"files":[],"exists":false,"read":"OSError","write":"OSError"}`
	outcome, host := runtimetest.Run(t, engine, job)
	if outcome.Error != nil || string(outcome.Output) != want || host.Stdout(t) != "hello wasi\n" || host.Stderr(t) != "careful\n" {
		t.Errorf("%+v %s, printed %q and %q", outcome.Error, outcome.Output, host.Stdout(t), host.Stderr(t))
	}
	logged := func(e runtimes.Event) bool {
		return e.Kind == runtimes.KindLog && strings.Contains(string(e.Data), `"words": 2`)
	}
	if !slices.ContainsFunc(host.Events(), logged) {
		t.Errorf("events %+v", host.Events())
	}
	// It has an exit code, so it ended itself and was not stopped by the node.
	slow := programs().Job(`import asyncio, time
async def main(input, ctx):
    while True:
        try:
            time.sleep(0)
            await asyncio.sleep(0)
        except Exception:
            pass
`, func(j *runtimes.Job) { j.Limits.TimeoutMs = 200 })
	if outcome, _ := runtimetest.Run(t, engine, slow); outcome.Error == nil || outcome.Error.Type != runtimes.Timeout || outcome.ExitCode == nil {
		t.Errorf("%+v, exit code %v", outcome.Error, outcome.ExitCode)
	}
	if left := s.Running(); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// TestPythonModule_NotSuitable_RunsInContainer expects a container for a program with a subprocess, and a refusal of a
// program that is too large for a job, because nodes unpack only programs in the job itself.
func TestPythonModule_NotSuitable_RunsInContainer(t *testing.T) {
	t.Parallel()
	s, d := bacalhautest.New(t), newDepot(t)
	engine := newEngine(t, s.Address, func(o *bacalhau.Options) { o.PythonModule = d.URL + "/python.wasm" })
	engine.Lend(d)
	const code = "import subprocess\ndef main(input, ctx):\n    return subprocess.run(['echo', 'hello'], capture_output=True, text=True).stdout\n"
	outcome, _ := runtimetest.Run(t, engine, programs().Job(code, func(j *runtimes.Job) { j.Capabilities.Subprocess = true }))
	if outcome.Error != nil || string(outcome.Output) != `"hello\n"` {
		t.Errorf("%+v %s", outcome.Error, outcome.Output)
	}
	noise := make([]byte, 800_000)
	_, _ = rand.Read(noise) // it never fails
	outcome, _ = runtimetest.Run(t, engine, programs().Job(programs().Echo, func(j *runtimes.Job) { j.Input = json.RawMessage(`"` + hex.EncodeToString(noise) + `"`) }))
	if e := outcome.Error; e == nil || e.Rule != "bacalhau.job" || s.Jobs() != 1 || d.lent != 0 {
		t.Errorf("%+v, %d jobs, %d inputs lent", e, s.Jobs(), d.lent)
	}
}

// depot is a Depot that stores content in memory and serves it over HTTP.
type depot struct {
	*httptest.Server

	mu   sync.Mutex
	kept map[string][]byte
	lent int
}

func newDepot(t *testing.T) *depot {
	t.Helper()
	d := &depot{kept: map[string][]byte{}}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		defer d.mu.Unlock()
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(d.kept[strings.TrimPrefix(r.URL.Path, "/")])) // with its size, which a node needs
	}))
	t.Cleanup(d.Close)
	return d
}

func (d *depot) Lend(_ context.Context, name string, content []byte, during time.Duration) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if during < time.Minute {
		return "", fmt.Errorf("%s is lent for %s", name, during)
	}
	d.kept[name] = content
	d.lent++
	return d.URL + "/" + name, nil
}

func (d *depot) TakeBack(_ context.Context, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.kept, name)
	return nil
}

func (d *depot) TakeBackIf(_ context.Context, useless func(string, time.Time) bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.kept, func(name string, _ []byte) bool { return useless(name, time.Now()) })
	return nil
}

// TestJob_TooLarge_NodesDownloadItsInputs checks that the depot only stores the inputs of large jobs, and that they are
// removed when the job has ended.
func TestJob_TooLarge_NodesDownloadItsInputs(t *testing.T) {
	t.Parallel()
	containers, modules, d := bacalhautest.New(t), bacalhautest.NewNetwork(t), newDepot(t)
	noise := make([]byte, 800_000)
	_, _ = rand.Read(noise) // it never fails
	large := func(j *runtimes.Job) { j.Input = json.RawMessage(`"` + hex.EncodeToString(noise) + `"`) }
	answer := moduleJob(bacalhautest.Module(`{"answer":42}`))
	largeAnswer := answer
	large(&largeAnswer)
	for _, one := range []struct {
		at   bacalhautest.Address
		job  runtimes.Job
		want string
		lent int
	}{
		{modules.Address, answer, `{"answer":42}`, 0},
		{modules.Address, largeAnswer, `{"answer":42}`, 2},
		{containers.Address, programs().Job("def main(input, ctx):\n    return len(input)\n", large), "1600000", 3},
	} {
		engine := newEngine(t, one.at)
		engine.Lend(d)
		if outcome, _ := runtimetest.Run(t, engine, one.job); outcome.Error != nil || string(outcome.Output) != one.want || d.lent != one.lent {
			t.Errorf("%+v %.100s, %d inputs lent", outcome.Error, outcome.Output, d.lent)
		}
	}
	if len(d.kept) != 0 || len(containers.Running()) != 0 || len(modules.Running()) != 0 {
		t.Errorf("left %d inputs, jobs %v and %v", len(d.kept), containers.Running(), modules.Running())
	}
}

// TestSweep_JobEndedWithoutRun_ItsInputsAreRemoved leaves a job running, as a server does that shuts down. The next engine
// must remove the inputs in the depot only after the job has ended.
func TestSweep_JobEndedWithoutRun_ItsInputsAreRemoved(t *testing.T) {
	t.Parallel()
	s, d := bacalhautest.NewNetwork(t), newDepot(t)
	first := newEngine(t, s.Address)
	first.Lend(d)
	noise := make([]byte, 800_000)
	_, _ = rand.Read(noise) // it never fails
	ctx, stop := context.WithCancelCause(t.Context())
	host := runtimetest.NewHost()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		job := moduleJob([]byte(bacalhautest.Idle))
		job.Input = json.RawMessage(`"` + hex.EncodeToString(noise) + `"`)
		_, _ = first.Run(ctx, job, host) // ends when ctx is cancelled, as at a shutdown of the server
	}()
	for len(s.Running()) == 0 {
		goruntime.Gosched()
	}
	stop(runtimes.ErrDetached)
	<-ended
	kept := func() int {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.kept)
	}
	spared := true
	second := newEngine(t, s.Address)
	second.Lend(d)
	second.Spare(func(context.Context) (map[string]bool, error) { return map[string]bool{"run": spared}, nil })
	if err := second.Sweep(t.Context()); err != nil || kept() != 2 || len(s.Running()) != 1 {
		t.Errorf("%v, %d inputs, jobs %v", err, kept(), s.Running())
	}
	spared = false
	for range 2 { // the first stops the job
		if err := second.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if kept() != 0 || len(s.Running()) != 0 {
		t.Errorf("%d inputs, jobs %v", kept(), s.Running())
	}
}

// network is a Bacalhau network that lists its jobs.
type network interface{ Running() []string }

// leave leaves a job running, as a server does that was killed.
func leave(t *testing.T, s network, at bacalhautest.Address, owner string) {
	t.Helper()
	ctx, detach := context.WithCancelCause(t.Context())
	before := len(s.Running())
	ended := make(chan struct{})
	leaving := newEngine(t, at, func(o *bacalhau.Options) { o.Owner = owner })
	go func() {
		defer close(ended)
		_, _ = leaving.Run(ctx, moduleJob([]byte(bacalhautest.Idle)), runtimetest.NewHost()) // its end is that of the server
	}()
	for len(s.Running()) == before {
		goruntime.Gosched()
	}
	detach(runtimes.ErrDetached)
	<-ended
}

// TestSweep_JobBehindThousands_IsStopped leaves a job behind more jobs that have ended than ten pages have.
func TestSweep_JobBehindThousands_IsStopped(t *testing.T) {
	t.Parallel()
	s := bacalhautest.New(t)
	leave(t, s, s.Address, "owner")
	s.AddEnded("owner", 2500)
	if err := newEngine(t, s.Address).Sweep(t.Context()); err != nil || len(s.Running()) != 0 {
		t.Errorf("%v, jobs %v", err, s.Running())
	}
}

// TestSweep_ListIsCutOff_StopsTheJobsRead lets the second page of the list fail.
func TestSweep_ListIsCutOff_StopsTheJobsRead(t *testing.T) {
	t.Parallel()
	s := bacalhautest.New(t)
	leave(t, s, s.Address, "owner")
	s.AddEnded("owner", 150)
	leave(t, s, s.Address, "owner")
	s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		fails := r.URL.Query().Has("next_token")
		if fails {
			w.WriteHeader(http.StatusBadRequest)
		}
		return fails
	})
	if err := newEngine(t, s.Address).Sweep(t.Context()); err == nil || len(s.Running()) != 1 {
		t.Errorf("%v, jobs %v", err, s.Running())
	}
}

// TestSweep_ManyLargeJobs_StopsOwnJobWithoutRun leaves a job behind many that have ended, whose inputs Bacalhau lists, too. It
// expects that Sweep stops it, also at a second time, and no job of another server.
func TestSweep_ManyLargeJobs_StopsOwnJobWithoutRun(t *testing.T) {
	t.Parallel()
	s := bacalhautest.NewNetwork(t)
	engine := newEngine(t, s.Address)
	leave(t, s, s.Address, "owner")
	noise := make([]byte, 300_000)
	_, _ = rand.Read(noise) // it never fails
	s.SetPage(7)
	for range 9 {
		job := moduleJob(bacalhautest.Module("{}"))
		job.Input = json.RawMessage(`"` + hex.EncodeToString(noise) + `"`)
		if outcome, _ := runtimetest.Run(t, engine, job); outcome.Error != nil {
			t.Fatalf("%+v", outcome.Error)
		}
	}
	leave(t, s, s.Address, "other")
	leave(t, s, s.Address, "owner-2")
	for range 2 {
		if err := engine.Sweep(t.Context()); err != nil || len(s.Running()) != 2 {
			t.Errorf("%v, jobs %v", err, s.Running())
		}
		leave(t, s, s.Address, "owner")
	}
	if err := engine.Sweep(t.Context()); err != nil || len(s.Running()) != 2 {
		t.Errorf("%v, jobs %v", err, s.Running())
	}
}

// TestNetwork_GrantedHosts_AreDomains expects the hosts of the version as domains, and a refusal of those that Bacalhau
// cannot grant.
func TestNetwork_GrantedHosts_AreDomains(t *testing.T) {
	t.Parallel()
	s := bacalhautest.NewNetwork(t)
	engine := newEngine(t, s.Address)
	run := func(change func(*runtimes.Job)) *runtimes.ProgramError {
		job := moduleJob(bacalhautest.Module("1"))
		change(&job)
		outcome, _ := runtimetest.Run(t, engine, job)
		return outcome.Error
	}
	if e := run(func(j *runtimes.Job) {
		j.Capabilities.Hosts = []string{"b.example:443", "*.a.example:80", "b.example:80"}
	}); e != nil {
		t.Errorf("%+v", e)
	}
	if got := s.Networks(); len(got) != 1 || !slices.Equal(got[0], []string{"HTTP", ".a.example", "b.example"}) {
		t.Errorf("%v", got)
	}
	for name, change := range map[string]func(*runtimes.Job){
		"port":    func(j *runtimes.Job) { j.Capabilities.Hosts = []string{"a.example:22"} },
		"address": func(j *runtimes.Job) { j.Capabilities.Hosts = []string{"10.0.0.1:80"} },
		"rules":   func(j *runtimes.Job) { j.Rules = &runtimes.Rules{} },
		"bound":   func(j *runtimes.Job) { j.Bound = []runtimes.BoundSecret{{Name: "KEY"}} },
	} {
		if e := run(change); e == nil || e.Type != runtimes.Denied || e.Remedy == "" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if s.Jobs() != 1 {
		t.Errorf("%d jobs", s.Jobs())
	}
}

// TestWithoutHost_Unavailable checks that an engine without a host refuses runs with RuntimeUnavailable and has the Remedy.
func TestWithoutHost_Unavailable(t *testing.T) {
	t.Parallel()
	engine := bacalhau.New(bacalhau.Options{})
	t.Cleanup(engine.Close)
	if _, err := engine.Run(t.Context(), programs().Job(programs().Hello), runtimetest.NewHost()); !fault.Is(err, fault.RuntimeUnavailable) || engine.Lacks() != bacalhau.Remedy {
		t.Errorf("%v", err)
	}
}
