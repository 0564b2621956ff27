package engines_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/digest"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/worker"
	"github.com/atelier-run/atelier/studio/engines"
)

// server is a test server with a real inspector, a fixed list of runs, and optionally Node.
type server struct {
	*inspect.Inspector
	looked atomic.Int64
	runs   []registry.Run
	lacks  string
}

func newServer(t *testing.T) *server {
	t.Helper()
	h := &server{Inspector: inspect.New(inspect.Options{Jailer: worker.FromSandbox(sandboxtest.New(t, sandboxtest.Exe(t)))})}
	t.Cleanup(h.Close)
	return h
}

func (h *server) Check(ctx context.Context, req inspect.Request) (inspect.Report, error) {
	h.looked.Add(1)
	return h.Inspector.Check(ctx, req)
}

func (h *server) ListRuns(_ context.Context, workspace string, f registry.RunFilter) (registry.RunPage, error) {
	if workspace != "w" || f.Agent != "a" || f.Version != registry.DraftVersion {
		return registry.RunPage{}, nil
	}
	return registry.RunPage{Items: h.runs}, nil
}

// Runtime implements engines.Specs: auto means goja for JavaScript and python for Python.
func (h *server) Runtime(spec registry.Spec) (runtimes.Name, error) {
	switch {
	case spec.Runtime != runtimes.Auto:
		return spec.Runtime, nil
	case spec.Language == runtimes.Python:
		return runtimes.PythonEngine, nil
	}
	return runtimes.Goja, nil
}

func (h *server) chooser() *engines.Chooser {
	return engines.New(engines.Options{Inspector: h, Specs: h, Runs: h, Lacks: func(runtimes.Name) string { return h.lacks }, SlowMs: func(runtimes.Language) float64 { return 100 }})
}

func program(source string) registry.Spec {
	return registry.Spec{Language: runtimes.TypeScript, Runtime: runtimes.Auto, Files: map[string]registry.File{"main.ts": registry.File(source)}, Entrypoint: "main.ts"}
}

func run(t *testing.T, spec registry.Spec, cpu float64, change func(*registry.Run)) registry.Run {
	t.Helper()
	sum, err := digest.Code(spec.Files, spec.Entrypoint)
	if err != nil {
		t.Fatal(err)
	}
	r := registry.Run{Status: registry.Succeeded, CodeDigest: sum, Runtime: runtimes.Goja, Metrics: registry.Metrics{CPUMs: cpu}}
	if change != nil {
		change(&r)
	}
	return r
}

const (
	plain = "export default () => 1"
	intl  = "export default () =>\n  new Intl.NumberFormat('de').format(1)"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	other := program("export default () => 2")
	tests := map[string]struct {
		source  string
		runs    []registry.Run
		lacks   string
		runtime runtimes.Name
		reason  registry.RuntimeReason
		says    string
	}{
		"plain":          {plain, nil, "", runtimes.Goja, registry.RuntimeFits, "Runs in the fast engine (goja)."},
		"quick":          {plain, []registry.Run{run(t, program(plain), 20, nil)}, "", runtimes.Goja, registry.RuntimeFits, "About 20 ms of CPU time per run."},
		"a global":       {intl, nil, "", runtimes.NodeEngine, registry.RuntimeGap, "Node was chosen: Intl is not available in the goja runtime (main.ts:2)."},
		"no Node":        {intl, nil, "Install it.", runtimes.Goja, registry.RuntimeUnavailable, "Node would be the better choice: Intl is not available in the goja runtime (main.ts:2). This server uses goja instead. Install it."},
		"many gaps":      {"export default () => [Blob, File, FormData, Intl]", nil, "", runtimes.NodeEngine, registry.RuntimeGap, "; and 1 more."},
		"slow":           {plain, []registry.Run{run(t, program(plain), 90, nil), run(t, program(plain), 140, nil), run(t, program(plain), 500, nil)}, "", runtimes.NodeEngine, registry.RuntimeSlow, "Node was chosen: about 140 ms of CPU time per run (median of 3) in goja; from 100 ms on, Node is faster."},
		"slow, no Node":  {plain, []registry.Run{run(t, program(plain), 140, nil)}, "Install it.", runtimes.Goja, registry.RuntimeUnavailable, "140 ms"},
		"slow to failed": {plain, []registry.Run{run(t, program(plain), 30_000, func(r *registry.Run) { r.Status = registry.TimedOut })}, "", runtimes.NodeEngine, registry.RuntimeSlow, "30000 ms"},
		"other runs": {plain, []registry.Run{
			run(t, other, 500, nil), run(t, program(plain), 500, func(r *registry.Run) { r.Status = registry.StatusCancelled }),
			run(t, program(plain), 500, func(r *registry.Run) { r.Runtime = runtimes.NodeEngine }),
		}, "", runtimes.Goja, registry.RuntimeFits, "Runs in the fast engine (goja)."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newServer(t)
			h.runs, h.lacks = tt.runs, tt.lacks
			got, choice, err := h.chooser().Choose(t.Context(), "w", "a", program(tt.source))
			if err != nil || choice == nil {
				t.Fatal(choice, err)
			}
			if got != tt.runtime || choice.Runtime != tt.runtime || choice.Reason != tt.reason || !strings.Contains(choice.Message, tt.says) {
				t.Errorf("%s, %+v", got, *choice)
			}
			if hasGaps := len(choice.Gaps) > 0; hasGaps != (tt.source == intl || name == "many gaps") {
				t.Errorf("gaps %+v", choice.Gaps)
			}
		})
	}
}

// If a program cannot be bundled, no reason for an engine may be given. If it imports a Node module, it must still run
// in Node, so that the errors are only about its other imports.
func TestChoose_ProgramDoesNotBundle_NoChoice(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]runtimes.Name{
		"export default () => Intl.":                                                         runtimes.Goja,
		"import _ from \"lodash\"\nexport default () => _":                                   runtimes.Goja,
		"import _ from \"lodash\"\nimport fs from \"node:fs\"\nexport default () => [_, fs]": runtimes.NodeEngine,
	} {
		c := newServer(t).chooser()
		got, choice, err := c.Choose(t.Context(), "w", "a", program(source))
		if got != want || choice != nil || err != nil {
			t.Errorf("%s: chose %s, %+v, %v", source, got, choice, err)
		}
		if got, err := c.Runtime(t.Context(), program(source)); got != want || err != nil {
			t.Errorf("%s: runs in %s, %v", source, got, err)
		}
	}
}

// There is no reason if the program names its runtime, or its language has only one.
func TestNothingToChoose(t *testing.T) {
	t.Parallel()
	h := newServer(t)
	named, python := program(intl), registry.Spec{Language: runtimes.Python, Runtime: runtimes.Auto}
	named.Runtime = runtimes.Goja
	for want, spec := range map[runtimes.Name]registry.Spec{runtimes.Goja: named, runtimes.PythonEngine: python} {
		if got, choice, err := h.chooser().Choose(t.Context(), "w", "a", spec); got != want || choice != nil || err != nil {
			t.Errorf("%s: %s, %v, %v", want, got, choice, err)
		}
	}
	if n := h.looked.Load(); n != 0 {
		t.Errorf("looked at code %d times", n)
	}
}

// The engine of a draft must depend on the features that the code uses, and not on the CPU time of earlier runs. The
// same code must be inspected only once.
func TestRunsOfADraft(t *testing.T) {
	t.Parallel()
	h := newServer(t)
	h.runs = []registry.Run{run(t, program(plain), 500, nil)}
	c := h.chooser()
	for range 3 {
		for source, want := range map[string]runtimes.Name{plain: runtimes.Goja, intl: runtimes.NodeEngine} {
			if got, err := c.Runtime(t.Context(), program(source)); got != want || err != nil {
				t.Errorf("%s: %s, %v", source, got, err)
			}
		}
	}
	if n := h.looked.Load(); n != 2 {
		t.Errorf("looked at code %d times, want 2", n)
	}
	h.lacks = "Install it."
	if got, err := c.Runtime(t.Context(), program(intl)); got != runtimes.Goja || err != nil {
		t.Errorf("without Node: %s, %v", got, err)
	}
}

// A failed inspection is an internal error, and not a reason for an engine.
func TestInspectionThatFails(t *testing.T) {
	t.Parallel()
	h := newServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.chooser().Runtime(ctx, program(plain)); err == nil {
		t.Error("a run was let through")
	}
	if _, _, err := h.chooser().Choose(ctx, "w", "a", program(plain)); err == nil {
		t.Error("a version was let through")
	}
}

// hurried is an inspector whose first call runs out of time.
type hurried struct {
	*server
	looked bool
}

func (h *hurried) Check(ctx context.Context, req inspect.Request) (inspect.Report, error) {
	if !h.looked {
		h.looked = true
		return inspect.Report{Errors: []fault.Detail{{File: req.Entrypoint, Code: "syntax_error", Message: "The source takes too long to parse. Make it smaller."}}}, nil
	}
	return h.server.Check(ctx, req)
}

// An error that happens under high load must not determine the permanent runtime of a version.
func TestErrorsAreNotRemembered(t *testing.T) {
	t.Parallel()
	h := newServer(t)
	c := engines.New(engines.Options{Inspector: &hurried{server: h}, Specs: h, Runs: h, Lacks: func(runtimes.Name) string { return "" }})
	for _, want := range []runtimes.Name{runtimes.Goja, runtimes.NodeEngine} {
		if got, err := c.Runtime(t.Context(), program(intl)); got != want || err != nil {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}
