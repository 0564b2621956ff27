package runtimetest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/runtimes"
)

// Conformance runs the test suite on a runtime. Its tests are parallel, so that runs overlap.
func Conformance(t *testing.T, rt runtimes.Runtime, p Programs) {
	t.Helper()
	s := suite{rt, p}
	tests := map[string]struct {
		source string
		check  func(*testing.T)
	}{
		"hello":                    {p.Hello, s.hello},
		"input comes as it is":     {p.Echo, s.echo},
		"events keep their order":  {p.Order, s.order},
		"stderr":                   {p.Stderr, s.stderr},
		"environment":              {p.Env, s.environment},
		"unicode":                  {p.Unicode, s.unicode},
		"result that is not JSON":  {p.Invalid, s.invalid},
		"error with its position":  {p.Fail, s.fail},
		"syntax error":             {p.Syntax, s.syntax},
		"timeout":                  {p.Forever, s.timeout},
		"cancel":                   {p.Forever, s.cancel},
		"cancelled before it runs": {p.Hello, s.cancelled},
		"flood":                    {p.Flood, s.flood},
		"result that is too large": {p.BigResult, s.bigResult},
		"nothing leaks":            {p.State, s.state},
		"several files":            {p.Multi, s.multi},
		"host function not there":  {p.Denied, s.denied},
		"many at once":             {p.Hello, s.many},
	}
	if lacks(rt, runtimes.FilesFeature) && p.Multi == "" {
		delete(tests, "several files")
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.source == "" {
				t.Fatal("no program, and the runtime does not declare that it lacks the feature")
			}
			tt.check(t)
		})
	}
}

// lacks reports whether an engine declares its features and the given feature is not among these.
func lacks(rt runtimes.Runtime, feature runtimes.Feature) bool {
	declared, ok := rt.(interface{ Features() []runtimes.Feature })
	return ok && !slices.Contains(declared.Features(), feature)
}

type suite struct {
	rt runtimes.Runtime
	Programs
}

// run runs a program that must succeed and returns its output.
func (s suite) run(t *testing.T, source string, edit ...func(*runtimes.Job)) (string, *Host) {
	t.Helper()
	outcome, host := Run(t, s.rt, s.Job(source, edit...))
	if outcome.Error != nil {
		t.Fatalf("%+v\nstdout %.500s\nstderr %.500s", outcome.Error, host.Stdout(t), host.Stderr(t))
	}
	return string(outcome.Output), host
}

// fails runs a program that must fail with one type of error, and then a program that must succeed.
func (s suite) fails(t *testing.T, source string, want runtimes.ErrorType, edit ...func(*runtimes.Job)) (*runtimes.ProgramError, *Host) {
	t.Helper()
	outcome, host := Run(t, s.rt, s.Job(source, edit...))
	if outcome.Error == nil {
		t.Fatalf("succeeded with %.200s, want %s", outcome.Output, want)
	}
	if outcome.Error.Type != want {
		t.Fatalf("%+v, want %s\nstderr %.500s", outcome.Error, want, host.Stderr(t))
	}
	if outcome.Error.Message == "" || outcome.Output != nil {
		t.Errorf("a failure with message %q and output %.100s", outcome.Error.Message, outcome.Output)
	}
	s.hello(t)
	return outcome.Error, host
}

func (s suite) hello(t *testing.T) {
	t.Helper()
	outcome, host := Run(t, s.rt, s.Job(s.Hello))
	if outcome.Error != nil {
		t.Fatalf("%+v\nstderr %.500s", outcome.Error, host.Stderr(t))
	}
	same(t, "output", string(outcome.Output), `{"greeting":"Hello, Ada"}`)
	same(t, "stdout", host.Stdout(t), "hello Ada\n")
	if outcome.Usage.Run <= 0 || outcome.Level == "" {
		t.Errorf("usage %+v, level %q", outcome.Usage, outcome.Level)
	}
}

func (s suite) echo(t *testing.T) {
	for _, input := range []string{
		`{"big":123456789012345678901234567890,"b":1,"a":-0.5,"nested":[[],{}],"html":"<a href=\"x\">&</a>","text":"grüß 世界 🎉 \u0000"}`,
		`[1,"two",null,true,{"":0}]`, `"text"`, `9007199254740993`, `null`,
		`{"long":"` + strings.Repeat("0123456789", 20_000) + `"}`,
	} {
		got, _ := s.run(t, s.Echo, func(j *runtimes.Job) { j.Input = json.RawMessage(input) })
		same(t, "output", normal(t, got), normal(t, input))
	}
	// The result is within the limit unless each < and > is escaped, which needs six bytes.
	page := `"` + strings.Repeat("<p>&</p>", 100_000) + `"`
	got, _ := s.run(t, s.Echo, func(j *runtimes.Job) { j.Input = json.RawMessage(page) })
	same(t, "a page", got, page)
}

func (s suite) order(t *testing.T) {
	_, host := s.run(t, s.Order)
	var got []string
	for _, e := range host.Events() {
		switch e.Kind {
		case runtimes.KindStdout:
			got = append(got, "stdout "+strings.TrimSuffix(chunk(t, e), "\n"))
		case runtimes.KindLog, runtimes.KindProgress:
			got = append(got, string(e.Kind)+" "+normal(t, string(e.Data)))
		default:
			got = append(got, string(e.Kind))
		}
	}
	same(t, "events", got, []string{
		"stdout one", `log {"fields":{"n":2},"level":"info","message":"two"}`,
		"stdout three", `progress {"done":1,"message":"half","total":2}`, "stdout four",
	})
}

func (s suite) stderr(t *testing.T) {
	_, host := s.run(t, s.Stderr)
	same(t, "stdout", host.Stdout(t), "fine\n")
	same(t, "stderr", host.Stderr(t), "oops\n")
}

func (s suite) environment(t *testing.T) {
	got, _ := s.run(t, s.Env, func(j *runtimes.Job) {
		j.Environment = map[string]string{"UNITS": "metric", "TEXT": "a \"b\" 世界\nc"}
	})
	var seen map[string]string
	if err := json.Unmarshal([]byte(got), &seen); err != nil {
		t.Fatal(err)
	}
	if seen["UNITS"] != "metric" || seen["TEXT"] != "a \"b\" 世界\nc" {
		t.Errorf("the program sees %q", seen)
	}
	serverErrors := map[string]bool{
		"UNITS": true, "TEXT": true, "PATH": true, "HOME": true, "LANG": true, "TMPDIR": true,
		"INPUT": true, "INPUT_FILE": true, "OUTPUT": true, "PWD": true, "SHLVL": true, "_": true, "OLDPWD": true,
	}
	for name := range seen {
		if !serverErrors[name] {
			t.Errorf("the program sees %s=%q", name, seen[name])
		}
	}
}

func (s suite) unicode(t *testing.T) {
	got, host := s.run(t, s.Unicode)
	same(t, "output", normal(t, got), `{"text":"grüß 世界 🎉"}`)
	same(t, "stdout", host.Stdout(t), "grüß 世界 🎉\n")
}

func (s suite) invalid(t *testing.T) {
	e, _ := s.fails(t, s.Invalid, runtimes.InvalidOutput)
	if !strings.Contains(e.Message, s.InvalidPath) {
		t.Errorf("message %q, want it to name %s", e.Message, s.InvalidPath)
	}
}

func (s suite) fail(t *testing.T) {
	e, _ := s.fails(t, s.Fail, runtimes.RuntimeError)
	if !strings.Contains(e.Message, "boom") || e.File != s.Entrypoint || e.Line != s.FailLine {
		t.Errorf("%+v, want boom at %s:%d", e, s.Entrypoint, s.FailLine)
	}
}

func (s suite) syntax(t *testing.T) {
	e, _ := s.fails(t, s.Syntax, runtimes.SyntaxError)
	if e.File != s.Entrypoint || e.Line != s.SyntaxLine {
		t.Errorf("%+v, want %s:%d", e, s.Entrypoint, s.SyntaxLine)
	}
}

func (s suite) timeout(t *testing.T) {
	e, host := s.fails(t, s.Forever, runtimes.Timeout, func(j *runtimes.Job) { j.Limits.TimeoutMs = 1000 })
	if !strings.Contains(e.Message, "1000 ms") || !strings.Contains(e.Remedy, "limits.timeoutMs") {
		t.Errorf("message %q, remedy %q", e.Message, e.Remedy)
	}
	same(t, "stdout", host.Stdout(t), "started\n")
}

func (s suite) cancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	host := NewHost()
	var waiter sync.WaitGroup
	waiter.Go(func() {
		if err := host.Wait(ctx, t, "started"); err != nil {
			t.Error(err)
		}
		cancel()
	})
	outcome, err := s.rt.Run(ctx, s.Job(s.Forever), host)
	cancel()
	waiter.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if outcome.Error == nil || outcome.Error.Type != runtimes.Cancelled {
		t.Errorf("%+v, want cancelled", outcome.Error)
	}
	same(t, "stdout", host.Stdout(t), "started\n")
	s.hello(t)
}

func (s suite) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	outcome, err := s.rt.Run(ctx, s.Job(s.Hello), NewHost())
	if err != nil || outcome.Error == nil || outcome.Error.Type != runtimes.Cancelled {
		t.Errorf("%+v, %v, want cancelled", outcome.Error, err)
	}
}

func (s suite) flood(t *testing.T) {
	const limit = 100_000
	e, host := s.fails(t, s.Flood, runtimes.OutputLimit, func(j *runtimes.Job) { j.Limits.OutputBytes = limit })
	if !strings.Contains(e.Message, "limit of 98 KiB.") || !strings.Contains(e.Remedy, "(now 98 KiB)") {
		t.Errorf("message %q, remedy %q", e.Message, e.Remedy)
	}
	if n := len(host.Stdout(t)); n > limit || n < limit-3 {
		t.Errorf("%d bytes of output kept, want %d", n, limit)
	}
	events := host.Events()
	if last := events[len(events)-1]; last.Kind != runtimes.KindDropped || host.Dropped(t) <= 0 {
		t.Errorf("last event %s %s, want what was dropped", last.Kind, last.Data)
	}
}

func (s suite) bigResult(t *testing.T) {
	e, _ := s.fails(t, s.BigResult, runtimes.OutputLimit)
	if !strings.Contains(e.Message, "limit of 1 MiB.") || !strings.Contains(e.Remedy, "limits.outputBytes") {
		t.Errorf("message %q, remedy %q", e.Message, e.Remedy)
	}
}

func (s suite) state(t *testing.T) {
	for range 3 {
		got, _ := s.run(t, s.State)
		same(t, "an earlier run is seen", got, "false")
	}
}

func (s suite) multi(t *testing.T) {
	got, _ := s.run(t, s.Multi, func(j *runtimes.Job) {
		for name, text := range s.Lib {
			j.Files[name] = []byte(text)
		}
	})
	same(t, "output", got, `{"answer":42}`)
}

func (s suite) denied(t *testing.T) {
	outcome, _ := Run(t, s.rt, s.Job(s.Denied))
	if outcome.Error == nil || outcome.Error.Type != runtimes.Denied && outcome.Error.Type != runtimes.RuntimeError {
		t.Errorf("%+v, want denied", outcome.Error)
	}
}

func (s suite) many(t *testing.T) {
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			host := NewHost()
			outcome, err := s.rt.Run(t.Context(), s.Job(s.Hello), host)
			if err != nil || outcome.Error != nil || host.Stdout(t) != "hello Ada\n" {
				t.Errorf("%+v, %v, stdout %q", outcome.Error, err, host.Stdout(t))
			}
		})
	}
	all.Wait()
}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%.2000s", what, diff)
	}
}

// normal returns a JSON text with sorted keys. It does not change how numbers are written.
func normal(t *testing.T, text string) string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("not JSON: %.200s", text)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
