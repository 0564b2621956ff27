package servertest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes/bacalhau/bacalhautest"
	"github.com/atelier-run/atelier/server/servertest"
	"github.com/atelier-run/atelier/studio/routing"
)

// routed is the part of a run that the router sets.
type routed struct {
	RunID      string
	Status     string
	Output     json.RawMessage
	Route      registry.Route
	Metrics    struct{ GPUMs float64 }
	Provenance struct{ Runtime string }
}

// TestRouter_TenCalls_AsDocumented compares the table in docs/router.md with the answers of the server.
func TestRouter_TenCalls_AsDocumented(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"e2b-api-key": "e2b_test", "bacalhau-api-host": "127.0.0.1"}))
	s.Create(t, map[string]any{"name": "loop", "language": "javascript", "code": "export default () => { let x = 0; for (let i = 0; i < 3e6; i++) x = (x + i * i) % 1000003; return x }\n"})
	s.Execute(t, "loop", "draft", map[string]any{})
	s.Publish(t, "loop", "1.0.0")
	const (
		python = `"program":{"language":"python","code":"def main(): return 1"`
		module = `"program":{"language":"wasm","files":{"main.wasm":{"base64":"AGFzbQEAAAA="}}}`
	)
	var rows strings.Builder
	measured := regexp.MustCompile(`about \d+ ms`)
	for _, call := range [][2]string{
		{"a Python program", `{` + python + `}}`},
		{"a Python program with `expectedMs: 20`", `{` + python + `},"hints":{"expectedMs":20}}`},
		{"a JavaScript program that uses `Intl`", `{"program":{"language":"javascript","code":"export default () => Intl"}}`},
		{"a version in JavaScript whose draft ran slowly in goja", `{"agent":"loop","version":"1.0.0"}`},
		{"a JavaScript program with `runtime: vm2`", `{"program":{"language":"javascript","runtime":"vm2","code":"export default () => 1"}}`},
		{"a WebAssembly module", `{` + module + `}`},
		{"a Python program with `isolation: remote`", `{` + python + `},"hints":{"isolation":"remote"}}`},
		{"a Bash program with `longJob`", `{"program":{"language":"bash","code":"echo 1"},"hints":{"longJob":true}}`},
		{"a Python program with `gpu`", `{` + python + `},"hints":{"gpu":true}}`},
		{"a Python program with `runtime: python` and `gpu`", `{` + python + `,"runtime":"python"},"hints":{"gpu":true}}`},
	} {
		var e routing.RouteExplanation
		s.Want(t, 200, http.MethodPost, "/api/v1/router/explain", call[1]).Into(t, &e)
		runtime, reason := "`"+string(e.Runtime)+"`", e.Reason
		if e.Refused != nil {
			runtime = "refused: `" + string(e.Refused.Code) + "`"
			for _, d := range e.Refused.Errors {
				reason = "`" + d.Pointer + "` " + d.Message
			}
		}
		fmt.Fprintf(&rows, "| %s | %s | `%s` | %s |\n", call[0], runtime, e.Rule, measured.ReplaceAllString(reason, "about … ms"))
	}
	text, err := os.ReadFile(filepath.Join(servertest.Root(t), "docs", "router.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), rows.String()) {
		t.Errorf("docs/router.md does not have these rows:\n%s", rows.String())
	}
}

// TestRouter_Hints_RouteInRecordAndSpan checks that the hints of a call can make its run execute at Bacalhau. The
// record and the span must contain the route. Other calls of the version must still use the version's own runtime.
func TestRouter_Hints_RouteInRecordAndSpan(t *testing.T) {
	t.Parallel()
	service, seen := bacalhautest.New(t), tracetest.NewInMemoryExporter()
	s := servertest.New(t, servertest.Traces(telemetry.NewTracesTo(seen)), servertest.Flags(t, map[string]string{
		"bacalhau-api-host": service.Host, "bacalhau-api-port": service.Port, "bacalhau-api-key": bacalhautest.Key,
	}))
	s.Create(t, map[string]any{"name": "sum", "language": "python", "code": "def main(n): return n + 1"})
	s.Publish(t, "sum", "1.0.0")
	run := func(hints string) (r routed) {
		t.Helper()
		var answer routed
		s.Want(t, 200, http.MethodPost, "/api/v1/code-agents/sum/execute", `{"version":"1.0.0","input":{"n":1}`+hints+`}`).Into(t, &answer)
		s.Want(t, 200, http.MethodGet, "/api/v1/runs/"+answer.RunID, nil).Into(t, &r)
		if r.Route != answer.Route || string(r.Output) != "2" {
			t.Errorf("record %+v, answer %+v", r, answer)
		}
		return r
	}
	if r := run(""); r.Route.Rule != "local" || r.Provenance.Runtime != "python" {
		t.Errorf("%+v", r)
	}
	if r := run(""); r.Route.Rule != "short" && r.Route.Rule != "local" || r.Provenance.Runtime != "python" { // The rule depends on the duration, because the run may take longer than 50 ms.
		t.Errorf("%+v", r)
	}
	r := run(`,"hints":{"longJob":true}`)
	if r.Route != (registry.Route{Rule: "long-job", Reason: "The call sets longJob."}) || r.Provenance.Runtime != "bacalhau" || r.Metrics.GPUMs != 0 {
		t.Errorf("%+v", r)
	}
	found := map[string]bool{}
	for _, span := range seen.GetSpans() {
		for _, a := range span.Attributes {
			if span.Name == "runtimeRouter.route" && a.Key == "route.rule" {
				found[a.Value.AsString()] = true
			}
		}
	}
	if !found["local"] || !found["long-job"] {
		t.Errorf("rules of spans: %v", found)
	}
	s.Want(t, 422, http.MethodPost, "/api/v1/code-agents/sum/execute", `{"version":"1.0.0","hints":{"expectedMs":0}}`)
	s.Want(t, 422, http.MethodPost, "/api/v1/code-agents/sum/execute", `{"version":"1.0.0","hints":{"isolation":"far"}}`)
	s.Want(t, 422, http.MethodPost, "/api/v1/code-agents/sum/execute", `{"version":"1.0.0","hints":{"speed":1}}`)
	said := servertest.Command(t, "", "run", "sum@1.0.0", "--input", `{"n":1}`, "--long-job", "--json", "--server", s.URL, "--token", s.Token)
	if said.Code != 0 || !strings.Contains(said.Stdout, `"rule":"long-job"`) {
		t.Errorf("%+v", said)
	}
}

// TestRouter_GPUBudget_SecondJobRefused sets a budget for the GPU minutes of a workspace, which the first job uses up.
func TestRouter_GPUBudget_SecondJobRefused(t *testing.T) {
	t.Parallel()
	service := bacalhautest.New(t)
	s := servertest.New(t, servertest.Flags(t, map[string]string{"bacalhau-api-host": service.Host, "bacalhau-api-port": service.Port, "bacalhau-api-key": bacalhautest.Key}))
	s.Want(t, 200, http.MethodPut, "/api/v1/budgets/gpu", `{"meter":"gpuMinutes","amount":0.00001,"refuse":"remote"}`)
	const call = `{"language":"python","code":"def main(): return 1","hints":{"gpu":true}}`
	var r routed
	s.Want(t, 200, http.MethodPost, "/api/v1/execute", call).Into(t, &r)
	if r.Route.Rule != "gpu" || r.Provenance.Runtime != "bacalhau" || r.Metrics.GPUMs <= 0 || service.GPUJobs() != 1 {
		t.Errorf("%+v, %d jobs with a GPU", r, service.GPUJobs())
	}
	refused := s.Do(t, http.MethodPost, "/api/v1/execute", call)
	if p := refused.Problem(t); refused.Status != 402 || p.Code != fault.BudgetExceeded || !strings.Contains(p.Detail, "The budget gpu of this workspace is used up") || service.GPUJobs() != 1 {
		t.Errorf("%d %s", refused.Status, refused.Body)
	}
	s.Want(t, 200, http.MethodPost, "/api/v1/execute", `{"language":"python","code":"def main(): return 1"}`)
}

// TestRouter_NothingConfigured_NeverIgnored checks the errors of a server for which no remote services are configured,
// and the errors of the command line.
func TestRouter_NothingConfigured_NeverIgnored(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for hint, pointer := range map[string]string{`"isolation":"remote"`: "E2B_API_KEY", `"gpu":true`: "BACALHAU_API_HOST"} {
		answer := s.Do(t, http.MethodPost, "/api/v1/execute", `{"language":"python","code":"def main(): return 1","hints":{`+hint+`}}`)
		if p := answer.Problem(t); answer.Status != 503 || p.Code != fault.RuntimeUnavailable || !strings.Contains(p.Detail, pointer) {
			t.Errorf("%s: %d %s", hint, answer.Status, answer.Body)
		}
	}
	problem := s.Want(t, 422, http.MethodPost, "/api/v1/execute", `{"language":"python","runtime":"python","code":"def main(): return 1","hints":{"isolation":"remote"}}`).Problem(t)
	if len(problem.Errors) != 1 || problem.Errors[0].Pointer != "/hints/isolation" {
		t.Errorf("%+v", problem)
	}
	s.Create(t, map[string]any{"name": "sum", "language": "python", "code": "def main(n): return n + 1"})
	remote := []string{"--server", s.URL, "--token", s.Token}
	for line, want := range map[string]string{
		"router show": "bacalhau is not available: ", "router explain sum@draft --gpu": "refused by the rule gpu (runtime_unavailable)", "router explain sum@draft --long-job": "runs in python by the rule local",
	} {
		said := servertest.Command(t, "", append(strings.Fields(line), remote...)...)
		if said.Code != 0 || !strings.Contains(said.Stdout+said.Stderr, want) {
			t.Errorf("%s: %+v", line, said)
		}
	}
	for body, pointer := range map[string]string{`{}`: "/agent", `{"agent":"sum"}`: "/version", `{"agent":"sum","version":"draft","program":{"language":"bash","code":"x"}}`: "/agent"} {
		if p := s.Want(t, 422, http.MethodPost, "/api/v1/router/explain", body).Problem(t); p.Errors[0].Pointer != pointer {
			t.Errorf("%s: %+v", body, p)
		}
	}
	s.Want(t, 404, http.MethodPost, "/api/v1/router/explain", `{"agent":"nobody","version":"draft"}`)
}

// TestRouter_File checks that the server uses the routing table in a file, and that it does not start with an invalid
// table.
func TestRouter_File(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "router.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("rules:\n  - name: scripts\n    when: {languages: [javascript]}\n    runtimes: [node]\n  - {name: rest, runtimes: [local]}\n")
	s := servertest.New(t, servertest.Flags(t, map[string]string{"router": file}))
	var state routing.RouterState
	s.Want(t, 200, http.MethodGet, "/api/v1/router", nil).Into(t, &state)
	if state.Source != "file" || len(state.Rules) != 2 || state.Rules[0].Otherwise != "next" {
		t.Errorf("%+v", state)
	}
	var r routed
	s.Want(t, 200, http.MethodPost, "/api/v1/execute", `{"language":"javascript","code":"export default () => 2"}`).Into(t, &r)
	if r.Route.Rule != "scripts" || r.Provenance.Runtime != "node" || string(r.Output) != "2" {
		t.Errorf("%+v", r)
	}
	var schema struct{ Title string }
	s.Want(t, 200, http.MethodGet, "/schemas/router.json", nil).Into(t, &schema)
	if schema.Title != "Atelier router" {
		t.Errorf("%+v", schema)
	}
	write("rules:\n  - name: scripts\n    runtimes: [moon]\n  - {name: rest, runtimes: [local]}\n")
	said := servertest.Command(t, "", "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--router", file)
	if said.Code == 0 || !strings.Contains(said.Stderr, "router.yaml:3: /rules/0/runtimes/0 must be one of") {
		t.Errorf("%+v", said)
	}
}
