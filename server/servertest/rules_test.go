package servertest_test

import (
	"net/http"
	"strings"
	"testing"

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
