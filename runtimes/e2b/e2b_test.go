package e2b_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/e2b"
	"github.com/atelier-run/atelier/runtimes/e2b/e2btest"
	"github.com/atelier-run/atelier/runtimes/node"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

func newEngine(t *testing.T, s *e2btest.Service, change ...func(*e2b.Options)) *e2b.Engine {
	t.Helper()
	o := e2b.Options{
		Key: e2btest.Key, API: s.URL, Sandboxes: s.URL, Owner: "owner", Backoff: time.Millisecond,
		Ceiling: func(string) hostpattern.Ceiling { return hostpattern.Ceiling{All: true} },
	}
	for _, c := range change {
		c(&o)
	}
	engine := e2b.New(o)
	t.Cleanup(engine.Close)
	return engine
}

// programs returns the test programs of Python, adapted to this runtime.
func programs() runtimetest.Programs { return adapted(runtimetest.Python()) }

// adapted adapts test programs to this runtime. The programs in State leave their mark in /dev/shm, the only folder that
// the simulated sandboxes do not share.
func adapted(p runtimetest.Programs) runtimetest.Programs {
	p.Runtime = runtimes.E2BEngine
	p.State = map[runtimes.Language]string{
		runtimes.Python:     "import os\ndef main():\n    seen = os.path.exists('/dev/shm/mark')\n    open('/dev/shm/mark', 'w').close()\n    return seen\n",
		runtimes.JavaScript: "import fs from 'node:fs'\nexport default () => { const seen = fs.existsSync('/dev/shm/mark'); fs.writeFileSync('/dev/shm/mark', ''); return seen }",
		runtimes.Bash:       "seen=false; [[ ! -e /dev/shm/mark ]] || seen=true; : >/dev/shm/mark; echo $seen",
	}[p.Language]
	return p
}

// TestConformance runs the test suite of all runtimes in each language, and expects that no sandbox is left.
func TestConformance(t *testing.T) {
	t.Parallel()
	v8 := node.New(node.Options{Jailer: worker.FromSandbox(sandboxtest.New(t, sandboxtest.Exe(t)))})
	t.Cleanup(v8.Close)
	for _, p := range []runtimetest.Programs{programs(), adapted(runtimetest.JavaScript()), adapted(runtimetest.Bash())} {
		t.Run(string(p.Language), func(t *testing.T) {
			t.Parallel()
			s := e2btest.New(t)
			t.Run("suite", func(t *testing.T) {
				runtimetest.Conformance(t, newEngine(t, s, func(o *e2b.Options) { o.Bundle = v8.Bundle }), p)
			})
			if left := s.Sandboxes(); len(left) > 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

// TestFaults_OfTheService_TypedAndNothingLeft lets each operation of the service fail. It expects an error of the right
// type, and that no sandbox is left.
func TestFaults_OfTheService_TypedAndNothingLeft(t *testing.T) {
	t.Parallel()
	at := func(method, path string, first int64, do func(http.ResponseWriter)) func(http.ResponseWriter, *http.Request) bool {
		var n atomic.Int64
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != method || !strings.HasPrefix(r.URL.Path, path) || n.Add(1) > first {
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
	tests := map[string]struct {
		before func(http.ResponseWriter, *http.Request) bool
		key    string
		code   fault.Code         // of the server's error
		want   runtimes.ErrorType // of the outcome
	}{
		"wrong key":             {key: "e2b_other", code: fault.RuntimeUnavailable},
		"no template":           {before: at("POST", "/sandboxes", 99, status(404)), code: fault.RuntimeUnavailable},
		"busy, then created":    {before: at("POST", "/sandboxes", 2, status(429))},
		"always busy":           {before: at("POST", "/sandboxes", 99, status(503)), code: fault.RuntimeUnavailable},
		"create breaks":         {before: at("POST", "/sandboxes", 99, breakOff), code: fault.RuntimeUnavailable},
		"create is not JSON":    {before: at("POST", "/sandboxes", 99, text("<html>")), code: fault.RuntimeUnavailable},
		"an odd sandbox":        {before: at("POST", "/sandboxes", 99, text(`{"sandboxID":"a/../b"}`)), code: fault.RuntimeUnavailable},
		"upload fails":          {before: at("POST", "/files", 99, status(507)), code: fault.RuntimeUnavailable},
		"start fails":           {before: at("POST", "/process.Process/Start", 99, status(500)), code: fault.RuntimeUnavailable},
		"start breaks":          {before: at("POST", "/process.Process/Start", 99, breakOff), code: fault.RuntimeUnavailable},
		"start cut in half":     {before: at("POST", "/process.Process/Start", 99, text("\x00\x00\x00\x01\x00{")), code: fault.RuntimeUnavailable},
		"an endless message":    {before: at("POST", "/process.Process/Start", 99, text("\x00\xff\xff\xff\xff{")), code: fault.RuntimeUnavailable},
		"refused in the stream": {before: at("POST", "/process.Process/Start", 99, text("\x02\x00\x00\x00\x1d{\"error\":{\"code\":\"internal\"}}")), code: fault.RuntimeUnavailable},
		"no result":             {before: at("GET", "/files", 99, status(404)), want: runtimes.RuntimeError},
		"reading breaks":        {before: at("GET", "/files", 99, breakOff), want: runtimes.Interrupted},
		"result is not JSON":    {before: at("GET", "/files", 99, text("hello")), want: runtimes.RuntimeError},
		"result without end":    {before: at("GET", "/files", 99, text(strings.Repeat("x", 2<<20))), want: runtimes.OutputLimit},
		"delete fails once":     {before: at("DELETE", "/sandboxes", 1, status(500))},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := e2btest.New(t)
			s.Before = tt.before
			engine := newEngine(t, s, func(o *e2b.Options) {
				if tt.key != "" {
					o.Key = tt.key
				}
			})
			outcome, err := engine.Run(t.Context(), programs().Job(programs().Hello), runtimetest.NewHost())
			switch {
			case tt.code != "" && !fault.Is(err, tt.code):
				t.Errorf("%v, want %s", err, tt.code)
			case tt.code == "" && err != nil:
				t.Error(err)
			case tt.want == "" && outcome.Error != nil, tt.want != "" && (outcome.Error == nil || outcome.Error.Type != tt.want):
				t.Errorf("%+v, want %q", outcome.Error, tt.want)
			}
			if left := s.Sandboxes(); len(left) > 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

// TestSandboxDies_RunInterrupted ends the sandbox during a run, and expects the error type interrupted.
func TestSandboxDies_RunInterrupted(t *testing.T) {
	t.Parallel()
	s := e2btest.New(t)
	host := runtimetest.NewHost()
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		if host.Wait(t.Context(), t, "started") == nil {
			for _, id := range s.Sandboxes() {
				s.Kill(id)
			}
		}
	}()
	outcome, err := newEngine(t, s).Run(t.Context(), programs().Job(programs().Forever), host)
	<-killed
	if err != nil || outcome.Error == nil || outcome.Error.Type != runtimes.Interrupted {
		t.Errorf("%+v, %v", outcome.Error, err)
	}
}

// TestSweep_SandboxesOfAKilledServer_Deleted checks that Sweep deletes the sandboxes that no run of this server uses, and
// leaves those of another server.
func TestSweep_SandboxesOfAKilledServer_Deleted(t *testing.T) {
	t.Parallel()
	s := e2btest.New(t)
	started := func(owner string) *runtimetest.Host {
		host := runtimetest.NewHost()
		engine := newEngine(t, s, func(o *e2b.Options) { o.Owner = owner })
		go func() { _, _ = engine.Run(t.Context(), programs().Job(programs().Forever), host) }()
		if err := host.Wait(t.Context(), t, "started"); err != nil {
			t.Error(err)
		}
		return host
	}
	started("owner")
	other := s.Sandboxes()
	started("another")
	if len(other) != 1 || len(s.Sandboxes()) != 2 {
		t.Fatalf("%v, then %v", other, s.Sandboxes())
	}
	if err := newEngine(t, s).Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	if left := s.Sandboxes(); len(left) != 1 || left[0] == other[0] {
		t.Errorf("left %v, want only that of another server", left)
	}
}

// TestNetwork_GrantedHosts_ListedAtE2B checks that the granted hosts are in E2B's list of allowed destinations, and that
// hosts that E2B cannot grant are refused.
func TestNetwork_GrantedHosts_ListedAtE2B(t *testing.T) {
	t.Parallel()
	s := e2btest.New(t)
	engine := newEngine(t, s)
	run := func(change func(*runtimes.Job)) *runtimes.ProgramError {
		t.Helper()
		outcome, _ := runtimetest.Run(t, engine, programs().Job(programs().Hello, change))
		return outcome.Error
	}
	if e := run(func(j *runtimes.Job) {
		j.Capabilities.Hosts = []string{"b.example:80", "*.a.example:443", "b.example:443"}
	}); e != nil {
		t.Errorf("%+v", e)
	}
	body := s.Created()[0]
	network, _ := body["network"].(map[string]any)
	if list, _ := network["allowOut"].([]any); body["allow_internet_access"] != false || body["secure"] != true || len(list) != 2 || list[0] != "*.a.example" || list[1] != "b.example" {
		t.Errorf("%v", body)
	}
	for name, change := range map[string]func(*runtimes.Job){
		"port":    func(j *runtimes.Job) { j.Capabilities.Hosts = []string{"a.example:22"} },
		"private": func(j *runtimes.Job) { j.Capabilities.Hosts = []string{"10.0.0.1:80"} },
		"rules":   func(j *runtimes.Job) { j.Rules = &runtimes.Rules{} },
		"bound":   func(j *runtimes.Job) { j.Bound = []runtimes.BoundSecret{{Name: "KEY"}} },
	} {
		if e := run(change); e == nil || e.Type != runtimes.Denied || e.Remedy == "" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if len(s.Created()) != 1 {
		t.Errorf("%d sandboxes", len(s.Created()))
	}
}

// TestWithoutKey_Unavailable checks that an engine without a key refuses runs with RuntimeUnavailable and has the Remedy.
func TestWithoutKey_Unavailable(t *testing.T) {
	t.Parallel()
	engine := e2b.New(e2b.Options{})
	t.Cleanup(engine.Close)
	if _, err := engine.Run(t.Context(), programs().Job(programs().Hello), runtimetest.NewHost()); !fault.Is(err, fault.RuntimeUnavailable) || engine.Lacks() != e2b.Remedy {
		t.Errorf("%v", err)
	}
}
