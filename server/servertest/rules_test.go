package servertest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/servertest"
)

const fetches = "import json, os\ndef main(): return os.getcwd()\n"

// TestRulesOfAnAgent checks that the rules of an agent apply when it is validated, published and run.
func TestRulesOfAnAgent(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	rules := map[string]any{"pack": "restricted"}
	body := map[string]any{"language": "python", "code": fetches, "rules": rules}
	var report struct {
		Valid  bool
		Errors []struct {
			File, Code, Message string
			Line, Column        int
		}
	}
	s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/validate", body).Into(t, &report)
	if len(report.Errors) != 1 || report.Errors[0].Code != "restricted_import" || report.Errors[0].Line != 1 {
		t.Errorf("validate: %+v", report)
	}
	if run := s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/execute", body).Run(t); run.Error == nil || run.Error.Type != "denied" || run.Error.Rule != "restricted/import" || run.Error.Line != 1 || !strings.Contains(run.Error.Remedy, "json") {
		t.Errorf("inline: %+v", run.Error)
	}
	s.Want(t, http.StatusCreated, http.MethodPost, "/api/v1/code-agents", map[string]any{"name": "where", "language": "python", "code": fetches, "rules": rules})
	if problem := s.Want(t, http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/code-agents/where/versions", map[string]any{}); !strings.Contains(string(problem.Body), "restricted_import") {
		t.Errorf("publish: %s", problem.Body)
	}
	if run := s.Execute(t, "where", "draft", map[string]any{}); run.Error == nil || run.Error.Type != "denied" || run.Status != "failed" {
		t.Errorf("draft: %+v", run)
	}
	s.Want(t, http.StatusOK, http.MethodPut, "/api/v1/code-agents/where", map[string]any{"rules": map[string]any{"pack": "none"}}, servertest.Headers{"If-Match": `"1"`})
	s.Publish(t, "where", "1.0.0")
	if run := s.Execute(t, "where", "1.0.0", map[string]any{}); !run.Success {
		t.Errorf("without rules: %+v", run.Error)
	}
}

// TestRulesOfARestrictedWorkspace checks that the operator's setting applies to programs without rules of their own.
func TestRulesOfARestrictedWorkspace(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"restricted-workspaces": "default"}))
	body := map[string]any{"language": "python", "code": fetches, "rules": map[string]any{"pack": "restricted", "imports": []string{"json", "os"}}}
	if run := s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/execute", body).Run(t); run.Error == nil || run.Error.Type != "denied" {
		t.Errorf("%+v", run)
	}
	for _, body := range []map[string]any{{"language": "python", "code": "import json\ndef main(): return json.loads('1')"}, {"language": "bash", "code": "pwd"}} {
		if run := s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/execute", body).Run(t); !run.Success {
			t.Errorf("%+v", run.Error)
		}
	}
}

// Programs of other languages with the rules do not publish what the rules forbid. They follow no rules while they run.
func TestRules_OtherLanguages_CheckedByTheGate(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for language, programs := range map[string][2]string{
		"javascript": {"export default () => eval('1')", "export default () => JSON.parse('1')"},
		"typescript": {"import fs from 'fs'\nexport default (): string => fs.readFileSync('/etc/passwd', 'utf8')", "import path from 'path'\nexport default (): string => path.join('a', 'b')"},
		"bash":       {"curl -s https://example.com", "echo '{}' >\"$OUTPUT\""},
	} {
		name := "in-" + language
		s.Create(t, map[string]any{"name": name, "language": language, "code": programs[0], "rules": map[string]any{"pack": "restricted"}})
		problem := s.Want(t, 422, "POST", "/api/v1/code-agents/"+name+"/versions", `{}`).Problem(t)
		if problem.Code != "policy_blocked" || !slices.ContainsFunc(problem.Errors, func(d fault.Detail) bool { return strings.HasPrefix(d.Code, "restricted/") && d.Line > 0 }) {
			t.Errorf("%s is refused with %+v", language, problem)
		}
		s.Want(t, 200, "PUT", "/api/v1/code-agents/"+name, map[string]any{"code": programs[1]}, servertest.Headers{"If-Match": "*"})
		s.Publish(t, name, "1.0.0")
	}
	listed := servertest.New(t, servertest.Flags(t, map[string]string{"restricted-workspaces": "*"}))
	listed.Create(t, map[string]any{"name": "evals", "language": "javascript", "code": "export default () => eval('1')"})
	listed.Want(t, 422, "POST", "/api/v1/code-agents/evals/versions", `{}`)
	if run := listed.Execute(t, "evals", "draft", map[string]any{}); string(run.Output) != "1" {
		t.Errorf("its draft ran as %+v", run)
	}
}
