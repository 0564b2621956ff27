package wasm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/wasm"
	"github.com/atelier-run/atelier/runtimes/worker"
)

func newEngine(tb testing.TB) *wasm.Engine {
	tb.Helper()
	engine := wasm.New(wasm.Options{Jailer: worker.FromSandbox(sandboxtest.New(tb, sandboxtest.Exe(tb)))})
	tb.Cleanup(engine.Close)
	return engine
}

// build compiles a Go program to a WASI command.
func build(tb testing.TB, folder string) []byte {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "main.wasm")
	cmd := exec.CommandContext(tb.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, ".")
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %s", err, text)
	}
	module, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return module
}

// jobOf returns a job with enough time for a busy machine to compile the module with the race detector.
func jobOf(module []byte, input string) runtimes.Job {
	limits := runtimes.DefaultLimits()
	limits.TimeoutMs, limits.CPUMs = 600_000, 600_000
	return runtimes.Job{
		RunID: "run", Workspace: "one", Language: runtimes.WASM, Runtime: runtimes.WASMEngine, Entrypoint: "main.wasm", CodeDigest: "sha256:" + fmt.Sprint(len(module)),
		Files: map[string][]byte{"main.wasm": module}, Input: json.RawMessage(input), Limits: limits,
	}
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	engine, module := newEngine(t), build(t, "testdata/program")
	tests := map[string]struct {
		input  string
		edit   func(*runtimes.Job)
		output string
		fails  runtimes.ErrorType
		says   string // expected in the message
		prints string // expected on stderr
	}{
		"hello":           {input: `{"do":"hello","name":"Ada"}`, output: `{"greeting":"Hello, Ada"}`, prints: "hello Ada\n"},
		"echo":            {input: `{"do":"echo","big":12345678901234567890,"é":"🎉"}`, output: `{"do":"echo","big":12345678901234567890,"é":"🎉"}`},
		"nothing":         {input: `{"do":"nothing"}`, output: `null`},
		"no JSON":         {input: `{"do":"words"}`, fails: runtimes.InvalidOutput, says: "stdout"},
		"a key twice":     {input: `{"do":"key twice"}`, fails: runtimes.InvalidOutput},
		"deep":            {input: `{"do":"brackets","bytes":257}`, fails: runtimes.InvalidOutput, says: "nested deeper than 256 levels"},
		"at the border":   {input: `{"do":"brackets","bytes":10000}`, fails: runtimes.InvalidOutput, says: "nested deeper than 256 levels"},
		"too deep":        {input: `{"do":"brackets","bytes":20000}`, fails: runtimes.InvalidOutput, says: "nested deeper than 256 levels"},
		"exit code":       {input: `{"do":"exit"}`, fails: runtimes.RuntimeError, says: "code 3", prints: "going\n"},
		"panic":           {input: `{"do":"panic"}`, fails: runtimes.RuntimeError, says: "code 2"},
		"endless loop":    {input: `{"do":"loop"}`, edit: func(j *runtimes.Job) { j.Limits.TimeoutMs = 5000 }, fails: runtimes.Timeout, says: "5000 ms"},
		"long sleep":      {input: `{"do":"sleep"}`, edit: func(j *runtimes.Job) { j.Limits.TimeoutMs = 300 }, fails: runtimes.Timeout},
		"processor time":  {input: `{"do":"loop"}`, edit: func(j *runtimes.Job) { j.Limits.CPUMs = 300 }, fails: runtimes.Timeout, says: "CPU"},
		"memory":          {input: `{"do":"memory"}`, edit: func(j *runtimes.Job) { j.Limits.MemoryBytes = 64 << 20 }, fails: runtimes.MemoryLimit, says: "limit of 64 MiB."},
		"hardly memory":   {input: `{"do":"hello"}`, edit: func(j *runtimes.Job) { j.Limits.MemoryBytes = 1 << 20 }, fails: runtimes.MemoryLimit, says: "limit of 1 MiB."},
		"endless calls":   {input: `{"do":"deep"}`, fails: runtimes.RecursionLimit},
		"flood":           {input: `{"do":"flood"}`, fails: runtimes.OutputLimit},
		"large output":    {input: `{"do":"big","bytes":2000000}`, fails: runtimes.OutputLimit},
		"strict":          {input: `{"do":"hello","name":"Bo"}`, edit: func(j *runtimes.Job) { j.Isolation = runtimes.Strict }, output: `{"greeting":"Hello, Bo"}`},
		"without a name":  {input: `{"do":"mark"}`, edit: func(j *runtimes.Job) { j.CodeDigest = "" }, output: `1`},
		"no such file":    {input: `{}`, edit: func(j *runtimes.Job) { j.Entrypoint = "other.wasm" }, fails: runtimes.RuntimeError},
		"not a module":    {input: `{}`, edit: func(j *runtimes.Job) { j.Files["main.wasm"], j.CodeDigest = []byte("#!/bin/sh"), "sha256:sh" }, fails: runtimes.SyntaxError, says: "not valid"},
		"nothing at all":  {input: `{}`, edit: func(j *runtimes.Job) { j.Files["main.wasm"], j.CodeDigest = nil, "sha256:none" }, fails: runtimes.SyntaxError, says: "not valid"},
		"cut in the half": {input: `{}`, edit: func(j *runtimes.Job) { j.Files["main.wasm"], j.CodeDigest = module[:len(module)/2], "sha256:half" }, fails: runtimes.SyntaxError},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job, host := jobOf(module, tt.input), runtimetest.NewHost()
			if tt.edit != nil {
				tt.edit(&job)
			}
			outcome, err := engine.Run(t.Context(), job, host)
			switch {
			case err != nil:
				t.Fatal(err)
			case tt.fails == "" && (outcome.Error != nil || string(outcome.Output) != tt.output):
				t.Errorf("output %s, %+v", outcome.Output, outcome.Error)
			case tt.fails != "" && (outcome.Error == nil || outcome.Error.Type != tt.fails || !strings.Contains(outcome.Error.Message, tt.says)):
				t.Errorf("output %s, %+v, want %s", outcome.Output, outcome.Error, tt.fails)
			case tt.fails == runtimes.MemoryLimit && !strings.Contains(outcome.Error.Remedy, "(now "+bytesize.Text(job.Limits.MemoryBytes)+")"):
				t.Errorf("the remedy is %q", outcome.Error.Remedy)
			}
			if printed := host.Stderr(t); tt.prints != "" && printed != tt.prints {
				t.Errorf("stderr %q", printed)
			}
		})
	}
}

// TestCancel checks that output printed before a cancellation is reported, and that the next run succeeds.
func TestCancel(t *testing.T) {
	t.Parallel()
	engine, module := newEngine(t), build(t, "testdata/program")
	ctx, cancel := context.WithCancel(t.Context())
	host := runtimetest.NewHost()
	var waiter sync.WaitGroup
	waiter.Go(func() {
		if err := host.Wait(ctx, t, "started"); err != nil {
			t.Error(err)
		}
		cancel()
	})
	outcome, err := engine.Run(ctx, jobOf(module, `{"do":"loop"}`), host)
	cancel()
	waiter.Wait()
	if err != nil || outcome.Error == nil || outcome.Error.Type != runtimes.Cancelled {
		t.Errorf("%+v, %v", outcome.Error, err)
	}
	outcome, err = engine.Run(t.Context(), jobOf(module, `{"do":"hello","name":"Eve"}`), runtimetest.NewHost())
	if err != nil || string(outcome.Output) != `{"greeting":"Hello, Eve"}` {
		t.Errorf("%s, %+v, %v", outcome.Output, outcome.Error, err)
	}
}

// TestNothingLeaks checks that an instance of a module cannot read anything from earlier instances in the same worker, from
// the machine or from the server.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	engine, module := newEngine(t), build(t, "testdata/program")
	for range 3 {
		outcome, err := engine.Run(t.Context(), jobOf(module, `{"do":"mark"}`), runtimetest.NewHost())
		if err != nil || string(outcome.Output) != "1" {
			t.Fatalf("%s, %+v, %v", outcome.Output, outcome.Error, err)
		}
	}
	job := jobOf(module, `{"do":"surroundings"}`)
	job.Environment = map[string]string{"UNITS": "metric", "B": ""}
	outcome, err := engine.Run(t.Context(), job, runtimetest.NewHost())
	if err != nil || outcome.Error != nil {
		t.Fatalf("%+v, %v", outcome.Error, err)
	}
	var got any
	if err := json.Unmarshal(outcome.Output, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"env": []any{"B=", "UNITS=metric"}, "args": []any{"main.wasm"}, "host": "wasip1", "open": []any{false, false, false, false}, "year": true,
	}
	delete(got.(map[string]any), "host")
	delete(want, "host")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestSample builds the sample as its README describes, and runs it with its input.
func TestSample(t *testing.T) {
	t.Parallel()
	input, err := os.ReadFile("../../samples/words-wasm/input.json")
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := newEngine(t).Run(t.Context(), jobOf(build(t, "../../samples/words-wasm"), string(input)), runtimetest.NewHost())
	if err != nil || string(outcome.Output) != `{"words":8,"top":[{"word":"the","count":3},{"word":"and","count":2}]}` {
		t.Errorf("%s, %+v, %v", outcome.Output, outcome.Error, err)
	}
}

// section returns one section of a module's binary.
func section(id byte, content ...byte) []byte {
	return append([]byte{id, byte(len(content))}, content...)
}

func name(text string) []byte { return append([]byte{byte(len(text))}, text...) }

func binary(sections ...[]byte) []byte {
	return append([]byte{0, 'a', 's', 'm', 1, 0, 0, 0}, bytes.Join(sections, nil)...)
}

// TestTinyModules runs modules of a few bytes. Valid ones must start, and others must be rejected with the right reason.
func TestTinyModules(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	nothing := section(1, 1, 0x60, 0, 0) // type 0: () -> ()
	imports := func(from, what string, kind ...byte) []byte {
		return section(2, append(append(append([]byte{1}, name(from)...), name(what)...), kind...)...)
	}
	one, started := section(3, 1, 0), section(7, append(append([]byte{1}, name("_start")...), 0, 0)...)
	body := func(code ...byte) []byte {
		return section(10, append([]byte{1, byte(len(code) + 2), 0}, append(code, 0x0b)...)...)
	}
	tests := map[string]struct {
		module []byte
		fails  runtimes.ErrorType
		says   string
	}{
		"does nothing":      {binary(nothing, one, started, body()), "", ""},
		"traps":             {binary(nothing, one, started, body(0x00)), runtimes.RuntimeError, "unreachable"},
		"calls itself":      {binary(nothing, one, started, body(0x10, 0)), runtimes.RecursionLimit, "deeply"},
		"loops":             {binary(nothing, one, started, body(0x03, 0x40, 0x0c, 0, 0x0b)), runtimes.Timeout, ""},
		"no start":          {binary(nothing, one, body()), runtimes.SyntaxError, "_start"},
		"foreign function":  {binary(nothing, imports("env", "system", 0, 0)), runtimes.SyntaxError, `"system" of "env"`},
		"unknown in WASI":   {binary(nothing, imports("wasi_snapshot_preview1", "fork", 0, 0)), runtimes.SyntaxError, `"fork"`},
		"another signature": {binary(nothing, imports("wasi_snapshot_preview1", "proc_exit", 0, 0)), runtimes.SyntaxError, "(i32) -> ()"},
		"foreign memory":    {binary(nothing, imports("env", "memory", 2, 0, 1), one, started, body()), runtimes.SyntaxError, `memory "memory" of "env"`},
		"foreign table":     {binary(nothing, imports("env", "table", 1, 0x70, 0, 1), one, started, body()), runtimes.SyntaxError, `table "table" of "env"`},
		"foreign global":    {binary(nothing, imports("env", "g", 3, 0x7f, 0), one, started, body()), runtimes.SyntaxError, `global "g" of "env"`},
		"empty":             {binary(), runtimes.SyntaxError, "_start"},
		"too much memory":   {binary(nothing, one, section(5, 1, 0, 0x80, 0x80, 0x02), started, body()), runtimes.MemoryLimit, ""},
	}
	for label, tt := range tests {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			job := jobOf(tt.module, `{}`)
			job.CodeDigest, job.Limits.TimeoutMs = "sha256:"+label, 2000
			outcome, err := engine.Run(t.Context(), job, runtimetest.NewHost())
			switch {
			case err != nil:
				t.Fatal(err)
			case tt.fails == "" && (outcome.Error != nil || string(outcome.Output) != "null"):
				t.Errorf("output %s, %+v", outcome.Output, outcome.Error)
			case tt.fails != "" && (outcome.Error == nil || outcome.Error.Type != tt.fails || !strings.Contains(outcome.Error.Message, tt.says)):
				t.Errorf("output %s, %+v, want %s %s", outcome.Output, outcome.Error, tt.fails, tt.says)
			}
		})
	}
}
