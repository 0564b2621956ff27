package servertest_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

const usesIntl = "export default () =>\n  new Intl.NumberFormat('de-DE').format(1234.5)\n"

type choice struct {
	Runtime, Reason, Message string
	Gaps                     []struct {
		File, Code string
		Line       int
	}
	Runs  int
	CPUMs float64
}

// TestAutoBecomesNodeWhereGojaLacksSomething checks that the answer, the version and the preview give the reason for
// Node, with file and line. The draft uses the version's runtime. A version keeps its engine, even if the same code
// would later get another one.
func TestAutoBecomesNodeWhereGojaLacksSomething(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	const agent = "/api/v1/code-agents/money"
	s.Create(t, map[string]any{"name": "money", "language": "javascript", "code": usesIntl})
	check := func(what string, runtime string, c *choice) {
		t.Helper()
		if runtime != "node" || c == nil || c.Runtime != "node" || c.Reason != "gap" || !strings.Contains(c.Message, "Intl is not available in the goja runtime (main.js:2)") ||
			len(c.Gaps) != 1 || c.Gaps[0].File != "main.js" || c.Gaps[0].Line != 2 || c.Gaps[0].Code != "unavailable_global" {
			t.Errorf("%s: %s, %+v", what, runtime, c)
		}
	}
	var ahead struct {
		Runtime string
		Choice  *choice
	}
	s.Want(t, http.StatusOK, http.MethodGet, agent+"/runtime", nil).Into(t, &ahead)
	check("ahead", ahead.Runtime, ahead.Choice)
	var report struct {
		Valid         bool
		RuntimeChoice *choice
	}
	s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/validate", map[string]any{"language": "javascript", "code": usesIntl}).Into(t, &report)
	check("validate", "node", report.RuntimeChoice)

	if run := s.Execute(t, "money", "draft", map[string]any{}); !run.Success || run.Provenance.Runtime != "node" || string(run.Output) != `"1.234,5"` {
		t.Errorf("draft: %+v", run)
	}
	if run := s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/execute", map[string]any{"language": "javascript", "code": usesIntl}).Run(t); run.Provenance.Runtime != "node" {
		t.Errorf("inline: %+v", run)
	}
	var v struct {
		Runtime       string
		RuntimeChoice *choice
	}
	s.Want(t, http.StatusCreated, http.MethodPost, agent+"/versions", map[string]any{"version": "1.0.0"}).Into(t, &v)
	check("publish", v.Runtime, v.RuntimeChoice)
	s.Want(t, http.StatusOK, http.MethodGet, agent+"/versions/1.0.0", nil).Into(t, &v)
	check("the version", v.Runtime, v.RuntimeChoice)

	s.Want(t, http.StatusOK, http.MethodPut, agent, map[string]any{"code": "export default () => 1\n"}, servertest.Headers{"If-Match": `"1"`})
	var plain struct {
		Runtime       string
		RuntimeChoice *choice
	}
	s.Want(t, http.StatusCreated, http.MethodPost, agent+"/versions", map[string]any{"version": "1.0.1"}).Into(t, &plain)
	if plain.Runtime != "goja" || plain.RuntimeChoice == nil || plain.RuntimeChoice.Reason != "fits" {
		t.Errorf("plain: %+v", plain)
	}
	if run := s.Execute(t, "money", "1.0.0", map[string]any{}); run.Provenance.Runtime != "node" {
		t.Errorf("1.0.0 became %s", run.Provenance.Runtime)
	}
}

// TestAutoBecomesNodeWhereGojaIsSlow checks that the durations of the draft's runs decide about the engine. Only runs
// of the published code may count.
func TestAutoBecomesNodeWhereGojaIsSlow(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	loop := func(rounds string) string {
		return "export default () => { let x = 0; for (let i = 0; i < " + rounds + "; i++) x = (x + i * i) % 1000003; return x }\n"
	}
	s.Create(t, map[string]any{"name": "loop", "language": "javascript", "code": loop("3e6")})
	if run := s.Execute(t, "loop", "draft", map[string]any{}); run.Provenance.Runtime != "goja" {
		t.Fatalf("the draft ran in %s", run.Provenance.Runtime)
	}
	var v struct {
		Runtime       string
		RuntimeChoice *choice
	}
	s.Want(t, http.StatusCreated, http.MethodPost, "/api/v1/code-agents/loop/versions", map[string]any{}).Into(t, &v)
	if c := v.RuntimeChoice; v.Runtime != "node" || c == nil || c.Reason != "slow" || c.Runs != 1 || c.CPUMs < 100 || !strings.Contains(c.Message, "ms of CPU time per run in goja") {
		t.Errorf("%+v", v)
	}
	s.Want(t, http.StatusOK, http.MethodPut, "/api/v1/code-agents/loop", map[string]any{"code": loop("3e2")}, servertest.Headers{"If-Match": `"1"`})
	s.Want(t, http.StatusCreated, http.MethodPost, "/api/v1/code-agents/loop/versions", map[string]any{}).Into(t, &v)
	if v.Runtime != "goja" || v.RuntimeChoice.Reason != "fits" {
		t.Errorf("other code: %+v", v)
	}
}

// TestAutoWithoutNode checks that auto falls back to goja and keeps the reason. Code that goja cannot compile is not
// published, and the error names the fix.
func TestAutoWithoutNode(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"node": "/nowhere/node"}))
	var ahead struct {
		Runtime string
		Choice  *choice
	}
	s.Create(t, map[string]any{"name": "money", "language": "javascript", "code": usesIntl})
	s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/code-agents/money/runtime", nil).Into(t, &ahead)
	if ahead.Runtime != "goja" || ahead.Choice.Reason != "unavailable" || !strings.Contains(ahead.Choice.Message, "Install it") || len(ahead.Choice.Gaps) != 1 {
		t.Errorf("%+v", ahead)
	}
	var v struct{ RuntimeChoice *choice }
	s.Want(t, http.StatusCreated, http.MethodPost, "/api/v1/code-agents/money/versions", map[string]any{}).Into(t, &v)
	if v.RuntimeChoice.Reason != "unavailable" {
		t.Errorf("%+v", v)
	}
	s.Create(t, map[string]any{"name": "reads", "language": "javascript", "code": "import { readFileSync } from 'node:fs'\nexport default () => readFileSync('x')\n"})
	refused := s.Want(t, http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/code-agents/reads/versions", map[string]any{})
	var problem struct {
		Remedy string
		Errors []struct{ File, Code string }
	}
	if refused.Into(t, &problem); len(problem.Errors) != 1 || problem.Errors[0].File != "main.js" || !strings.Contains(problem.Remedy, "Install it") {
		t.Errorf("%s", refused.Body)
	}
}

// TestAutoOnTheCommandLine checks that the reason for a runtime other than goja is printed to stderr.
func TestAutoOnTheCommandLine(t *testing.T) {
	t.Parallel()
	const reason = "Node was chosen: Intl is not available in the goja runtime (main.js:2)."
	file := filepath.Join(t.TempDir(), "main.js")
	if err := os.WriteFile(file, []byte(usesIntl), 0o600); err != nil {
		t.Fatal(err)
	}
	if said := servertest.Command(t, "", "run", file); said.Code != 0 || said.Stdout != "\"1.234,5\"\n" || !strings.Contains(said.Stderr, reason) {
		t.Errorf("run: %+v", said)
	}
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "money", "language": "javascript", "code": usesIntl})
	if said := servertest.Command(t, "", "publish", "money", "--server", s.URL, "--token", s.Token); said.Code != 0 || said.Stdout != "money@1.0.0\n" || !strings.Contains(said.Stderr, reason) {
		t.Errorf("publish: %+v", said)
	}
}
