package routing_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/routing"
	"github.com/atelier-run/atelier/studio/specs"
)

// server has a list of runtimes, a fixed list of runs, and Node for JavaScript programs that contain Intl.
type server struct {
	*specs.Checker
	has  []runtimes.Name // runtimes of the server, in addition to the local ones
	runs []registry.Run
	read int
}

func newServer(has ...runtimes.Name) *server {
	s := &server{Checker: specs.New(specs.NewValidator(schema.NewCache(4)), runtimes.DefaultLimits(), runtimes.DefaultCeilings()), has: has}
	s.CheckFeatures(s.features)
	return s
}

func (s *server) features(name runtimes.Name) ([]runtimes.Feature, bool) {
	switch name {
	case runtimes.Bacalhau:
		return []runtimes.Feature{runtimes.FilesFeature, runtimes.HostsFeature, runtimes.SubprocessFeature, runtimes.StrictFeature, runtimes.GPUFeature}, true
	case runtimes.E2BEngine:
		return []runtimes.Feature{runtimes.FilesFeature, runtimes.HostsFeature, runtimes.SubprocessFeature, runtimes.StrictFeature}, true
	}
	return runtimes.Features()[:8], true
}

func (s *server) lacks(name runtimes.Name) string {
	if name.Remote() && !slices.Contains(s.has, name) {
		return "Set its address."
	}
	return ""
}

func (s *server) Local(_ context.Context, spec registry.Spec) (runtimes.Name, string, error) {
	if strings.Contains(string(spec.Files[spec.Entrypoint]), "Intl") {
		return runtimes.NodeEngine, "Node was chosen: Intl.", nil
	}
	name, err := s.Runtime(spec)
	return name, "", err
}

func (s *server) ListRuns(_ context.Context, workspace string, f registry.RunFilter) (registry.RunPage, error) {
	s.read++
	if workspace != "w" || f.Agent != "a" || f.Version != "1.0.0" || f.Status != registry.Succeeded {
		return registry.RunPage{}, nil
	}
	return registry.RunPage{Items: s.runs}, nil
}

func (s *server) router(t *testing.T, table string) *routing.Router {
	t.Helper()
	parsed, err := routing.Shipped()
	if table != "" {
		parsed, err = routing.Parse("router.yaml", []byte(table))
	}
	if err != nil {
		t.Fatal(err)
	}
	return routing.New(routing.Options{Table: parsed, Specs: s, Engines: s, Lacks: s.lacks, Features: s.features, Runs: s})
}

func draft(language runtimes.Language, code string, change ...func(*routing.Call)) routing.Call {
	entry := specs.Entrypoint(language)
	c := routing.Call{Workspace: "w", Spec: registry.Spec{Language: language, Runtime: runtimes.Auto, Entrypoint: entry, Files: map[string]registry.File{entry: registry.File(code)}}}
	for _, f := range change {
		f(&c)
	}
	return c
}

func hints(h routing.Hints) func(*routing.Call) { return func(c *routing.Call) { c.Hints = h } }

// published changes a call to one of a version whose runtime was chosen when it was published.
func published(name runtimes.Name, choice *registry.RuntimeChoice) func(*routing.Call) {
	return func(c *routing.Call) {
		c.Spec.Runtime = name
		c.Version = &registry.Version{AgentID: "a", Version: "1.0.0", RuntimeAuto: true, RuntimeChoice: choice, Spec: c.Spec}
	}
}

func explicit(name runtimes.Name) func(*routing.Call) {
	return func(c *routing.Call) { c.Spec.Runtime = name }
}

func TestRoute_ShippedTable(t *testing.T) {
	t.Parallel()
	const python = runtimes.Python
	both := []runtimes.Name{runtimes.E2BEngine, runtimes.Bacalhau}
	remote, gpu, long := routing.Hints{Isolation: routing.RemoteIsolation}, routing.Hints{GPU: true}, routing.Hints{LongJob: true}
	tests := map[string]struct {
		has     []runtimes.Name
		call    routing.Call
		runtime runtimes.Name
		rule    string
		refused fault.Code
		says    string
	}{
		"nothing special":            {both, draft(python, "1"), runtimes.PythonEngine, "local", "", "No earlier rule applies."},
		"short":                      {both, draft(python, "1", hints(routing.Hints{ExpectedMs: 20})), runtimes.PythonEngine, "short", "", "The call expects 20 ms."},
		"needs Node":                 {both, draft(runtimes.JavaScript, "Intl"), runtimes.NodeEngine, "local", "", "Node was chosen: Intl."},
		"explicit":                   {both, draft(python, "1", explicit(runtimes.E2BEngine), hints(long)), runtimes.E2BEngine, "explicit", "", "sets the runtime e2b"},
		"vm2":                        {both, draft(runtimes.JavaScript, "1", explicit("vm2")), runtimes.Goja, "explicit", "", "sets the runtime goja"},
		"subprocess":                 {both, draft(python, "1", explicit("subprocess")), runtimes.PythonEngine, "explicit", "", "sets the runtime python"},
		"explicit, remote":           {both, draft(python, "1", explicit(runtimes.PythonEngine), hints(remote)), "", "explicit", fault.InvalidInput, "/hints/isolation"},
		"explicit, GPU":              {both, draft(python, "1", explicit(runtimes.E2BEngine), hints(gpu)), "", "explicit", fault.InvalidInput, "/hints/gpu"},
		"long job":                   {both, draft(python, "1", hints(long)), runtimes.Bacalhau, "long-job", "", "The call sets longJob."},
		"long job, no Bacalhau":      {nil, draft(python, "1", hints(long)), runtimes.PythonEngine, "local", "", ""},
		"remote":                     {both, draft(python, "1", hints(remote)), runtimes.E2BEngine, "remote-isolation", "", "isolation: remote"},
		"remote, only Bacalhau":      {both[1:], draft(python, "1", hints(remote)), runtimes.Bacalhau, "remote-isolation", "", ""},
		"remote, nothing":            {nil, draft(python, "1", hints(remote)), "", "remote-isolation", fault.RuntimeUnavailable, "e2b: Set its address. bacalhau: Set its address."},
		"remote and long, nothing":   {nil, draft(python, "1", hints(routing.Hints{LongJob: true, Isolation: routing.RemoteIsolation})), "", "remote-isolation", fault.RuntimeUnavailable, ""},
		"remote and long":            {both, draft(python, "1", hints(routing.Hints{LongJob: true, Isolation: routing.RemoteIsolation})), runtimes.Bacalhau, "long-job", "", ""},
		"GPU":                        {both, draft(python, "1", hints(gpu)), runtimes.Bacalhau, "gpu", "", "The call sets gpu."},
		"GPU, no Bacalhau":           {both[:1], draft(python, "1", hints(gpu)), "", "gpu", fault.RuntimeUnavailable, "bacalhau: Set its address."},
		"GPU with packages":          {both, draft(python, "1", hints(gpu), func(c *routing.Call) { c.Spec.Packages = []string{"numpy==2.0.0"} }), "", "gpu", fault.InvalidInput, "/hints/gpu"},
		"remote and personal data":   {both, draft(python, "1", hints(remote), func(c *routing.Call) { c.Private = true }), "", "remote-isolation", fault.InvalidInput, "pii_risk"},
		"long and personal data":     {both, draft(python, "1", hints(long), func(c *routing.Call) { c.Private = true }), runtimes.PythonEngine, "local", "", ""},
		"module":                     {both, draft(runtimes.WASM, "1"), runtimes.WASMEngine, "wasm", "", "The language is wasm."},
		"version":                    {both, draft(runtimes.JavaScript, "1", published(runtimes.Goja, nil)), runtimes.Goja, "local", "", ""},
		"version, CPU-heavy":         {both, draft(runtimes.JavaScript, "1", published(runtimes.NodeEngine, &registry.RuntimeChoice{Reason: registry.RuntimeSlow, Message: "Slow."})), runtimes.NodeEngine, "cpu-heavy-javascript", "", "Slow."},
		"version, long job":          {both, draft(runtimes.JavaScript, "1", published(runtimes.Goja, nil), hints(long)), runtimes.Bacalhau, "long-job", "", ""},
		"strict":                     {both, draft(python, "1", hints(routing.Hints{Isolation: routing.StrictIsolation})), runtimes.PythonEngine, "local", "", ""},
		"an unknown isolation":       {both, draft(python, "1", hints(routing.Hints{Isolation: "far"})), "", "", fault.InvalidInput, "/hints/isolation"},
		"a negative expected time":   {both, draft(python, "1", hints(routing.Hints{ExpectedMs: -1})), "", "", fault.InvalidInput, "/hints/expectedMs"},
		"a port that E2B cannot do":  {both[:1], draft(python, "1", hints(remote), func(c *routing.Call) { c.Spec.Capabilities.Hosts = []string{"a.example:22"} }), "", "remote-isolation", fault.InvalidInput, "port 80 or 443"},
		"version, explicit and long": {both, draft(python, "1", published(runtimes.PythonEngine, nil), func(c *routing.Call) { c.Version.RuntimeAuto = false }, hints(long)), runtimes.PythonEngine, "explicit", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newServer(tt.has...).router(t, "")
			got, route, err := r.Route(t.Context(), tt.call)
			text := route.Reason
			if err != nil {
				got, text = "", said(err)
			}
			if fault.CodeOf(err) != tt.refused || got != tt.runtime || route.Rule != tt.rule || !strings.Contains(text, tt.says) {
				t.Errorf("%s by %q: %s (%v)", got, route.Rule, text, err)
			}
			e, err := r.Explain(t.Context(), tt.call)
			if tt.rule == "" {
				return
			}
			if err != nil || e.Runtime != tt.runtime || e.Rule != tt.rule || (e.Refused != nil) != (tt.refused != "") || e.Considered[len(e.Considered)-1].Rule != tt.rule {
				t.Errorf("explained as %+v, %v", e, err)
			}
		})
	}
}

// said returns the text of an error, including its details.
func said(err error) string {
	text := err.Error()
	if f, ok := err.(*fault.Error); ok { //nolint:errorlint // the error is not wrapped
		for _, d := range f.Details {
			text += " " + d.Pointer + " " + d.Message
		}
	}
	return text
}

func TestRoute_HostileTenants_OnAnotherMachine(t *testing.T) {
	t.Parallel()
	const table = "rules:\n  - {name: hostile, when: {workspaces: [w]}, runtimes: [e2b], otherwise: refuse}\n  - {name: rest, runtimes: [local]}\n"
	r := newServer(runtimes.E2BEngine).router(t, table)
	if got, route, err := r.Route(t.Context(), draft(runtimes.Python, "1")); got != runtimes.E2BEngine || route.Rule != "hostile" || err != nil {
		t.Errorf("%s, %+v, %v", got, route, err)
	}
	_, _, err := newServer().router(t, table).Route(t.Context(), draft(runtimes.Python, "1"))
	if !fault.Is(err, fault.RuntimeUnavailable) {
		t.Errorf("without E2B: %v", err)
	}
	got, _, err := r.Route(t.Context(), draft(runtimes.Python, "1", func(c *routing.Call) { c.Workspace = "other" }))
	if got != runtimes.PythonEngine || err != nil {
		t.Errorf("another workspace: %s, %v", got, err)
	}
	named := func(name runtimes.Name, workspace string) routing.Call {
		return draft(runtimes.Python, "1", func(c *routing.Call) { c.Spec.Runtime, c.Workspace = name, workspace })
	}
	if _, _, err := r.Route(t.Context(), named(runtimes.PythonEngine, "w")); !fault.Is(err, fault.RuntimeUnavailable) || !strings.Contains(err.Error(), "only e2b") {
		t.Errorf("a listed workspace left the rule by naming a runtime: %v", err)
	}
	for name, workspace := range map[runtimes.Name]string{runtimes.E2BEngine: "w", runtimes.PythonEngine: "other"} {
		if got, route, err := r.Route(t.Context(), named(name, workspace)); got != name || route.Rule != routing.ExplicitRule || err != nil {
			t.Errorf("%s in %s: %s, %+v, %v", name, workspace, got, route, err)
		}
	}
	if of := r.State("other").Rules[0].When.Workspaces; of == nil || len(of) != 0 {
		t.Errorf("another workspace sees %v", of)
	}
	if s := r.State("w"); s.Source != "file" || !slices.Equal(s.Rules[0].When.Workspaces, []string{"w"}) {
		t.Errorf("%+v", s)
	}
}

// A hint must not send secrets to a service that the program does not name.
func TestRoute_SecretsAndRules_StayHere(t *testing.T) {
	t.Parallel()
	r := newServer(runtimes.E2BEngine, runtimes.Bacalhau).router(t, "")
	for name, change := range map[string]func(*routing.Call){
		"secrets": func(c *routing.Call) { c.Spec.Secrets = []string{"KEY"} },
		"rules":   func(c *routing.Call) { c.Spec.Rules = &runtimes.Rules{Pack: runtimes.Restricted} },
	} {
		call := draft(runtimes.Python, "1", change)
		call.Hints = routing.Hints{LongJob: true}
		if got, _, err := r.Route(t.Context(), call); got != runtimes.PythonEngine || err != nil {
			t.Errorf("%s: %s, %v", name, got, err)
		}
		call.Hints = routing.Hints{Isolation: routing.RemoteIsolation}
		if got, _, err := r.Route(t.Context(), call); err == nil {
			t.Errorf("%s with isolation remote: %s", name, got)
		}
	}
}

// The median duration of a version's runs replaces a missing hint. It is read only once, and new runs are added to it.
func TestRoute_LearnedDurations(t *testing.T) {
	t.Parallel()
	s := newServer()
	for _, ms := range []float64{10, 900, 20} {
		s.runs = append(s.runs, registry.Run{Metrics: registry.Metrics{RunMs: ms}})
	}
	r := s.router(t, "")
	call := draft(runtimes.Python, "1", published(runtimes.PythonEngine, nil))
	check := func(rule, says string) {
		t.Helper()
		if _, route, err := r.Route(t.Context(), call); route.Rule != rule || !strings.Contains(route.Reason, says) || err != nil {
			t.Errorf("%+v, %v", route, err)
		}
	}
	check("short", "Runs take 20 ms (median of 3).")
	for range 4 {
		r.Ended(registry.Run{Workspace: "w", AgentID: "a", Version: "1.0.0", Status: registry.Succeeded, Metrics: registry.Metrics{RunMs: 500}})
	}
	r.Ended(registry.Run{Workspace: "w", AgentID: "a", Version: "1.0.0", Status: registry.Failed})
	check("local", "")
	if e, err := r.Explain(t.Context(), call); e.ExpectedMs != 500 || e.LearnedFrom != 7 || err != nil {
		t.Errorf("%+v, %v", e, err)
	}
	if s.read != 1 {
		t.Errorf("read %d times", s.read)
	}
	call.Hints.ExpectedMs = 5
	check("short", "The call expects 5 ms.")
}

func TestParse_WrongFile_LineAndFieldNamed(t *testing.T) {
	t.Parallel()
	const last = "  - {name: rest, runtimes: [local]}\n"
	for text, want := range map[string]string{
		"rules: [": "router.yaml:1: is not valid YAML",
		"rules:\n  - {name: a, runtimes: [moon]}\n" + last:                                             "router.yaml:2: /rules/0/runtimes/0 must be one of",
		"rules:\n  - name: a\n    runtime: [local]\n" + last:                                           "router.yaml:2: /rules/0",
		"rules:\n  - name: a\n    when:\n      gpu: maybe\n    runtimes: [bacalhau]\n" + last:          "router.yaml:4: /rules/0/when/gpu",
		"rules:\n  - {name: rest, runtimes: [goja]}\n" + last:                                          "router.yaml:3: /rules/1/name must be unique",
		"rules:\n  - {name: explicit, runtimes: [goja]}\n" + last:                                      "router.yaml:2: /rules/0/name must be unique and not explicit.",
		"rules:\n  - {name: a, when: {minMs: 9, maxMs: 8}, runtimes: [goja]}\n" + last:                 "router.yaml:2: /rules/0/when/minMs must be at most maxMs.",
		"rules:\n  - {name: a, when: {minCpuMs: 9, languages: [python]}, runtimes: [python]}\n" + last: "router.yaml:2: /rules/0/when/minCpuMs must be combined only",
		"rules:\n  - {name: a, when: {gpu: true}, runtimes: [local]}\n":                                "router.yaml:2: /rules/0 must have no conditions",
		"rules:\n  - {name: a, runtimes: [goja]}\n":                                                    "router.yaml:2: /rules/0 must have no conditions",
		strings.Repeat("#", routing.MaxTable+1):                                                        "router.yaml must have at most",
		"rules: []\n":                                                                                  "router.yaml:1: /rules",
	} {
		_, err := routing.Parse("router.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
}

// A rule may name each runtime of each language, except remote.
func TestParse_RuntimeOfAnyLanguage_Accepted(t *testing.T) {
	t.Parallel()
	for _, language := range specs.Languages() {
		for _, name := range specs.Runtimes(language) {
			_, err := routing.Parse("router.yaml", []byte("rules:\n  - {name: a, runtimes: ["+string(name)+"]}\n  - {name: rest, runtimes: [local]}\n"))
			if refused := err != nil; refused != (name == runtimes.RemoteEngine) {
				t.Errorf("%s of %s: %v", name, language, err)
			}
		}
	}
}

func TestParseHints_WrongHint_FieldNamedInPlainWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`:                     "/hints must be an object. Its members may be expectedMs, longJob, isolation and gpu.",
		`{"expectedMs":"soon"}`:  "/hints/expectedMs must be a whole number.",
		`{"expectedMs":1.5}`:     "/hints/expectedMs must be a whole number.",
		`{"expectedMs":0}`:       "/hints/expectedMs must be between 1 and 86400000.",
		`{"gpu":1}`:              "/hints/gpu must be true or false.",
		`{"isolation":"far"}`:    "/hints/isolation must be strict or remote.",
		`{"longjob":true}`:       `/hints must not contain "longjob". The hints are expectedMs, longJob, isolation and gpu.`,
		`{"gpu":true} and prose`: "/hints must be an object. Its members may be expectedMs, longJob, isolation and gpu.",
	} {
		var refused *fault.Error
		_, err := routing.ParseHints([]byte(text), "/hints")
		if !errors.As(err, &refused) || len(refused.Details) != 1 || refused.Details[0].Pointer+" "+refused.Details[0].Message != want {
			t.Errorf("%s: %+v, want %s", text, refused, want)
		}
	}
	hints, err := routing.ParseHints([]byte(`{"expectedMs":5,"gpu":true,"isolation":"remote","longJob":true}`), "/hints")
	if err != nil || hints != (routing.Hints{ExpectedMs: 5, GPU: true, Isolation: routing.RemoteIsolation, LongJob: true}) {
		t.Errorf("%+v, %v", hints, err)
	}
}
