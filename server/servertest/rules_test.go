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

// A program that breaks its rules must not be published. This test covers the languages other than Python.
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
	if run := listed.Execute(t, "evals", "draft", map[string]any{}); run.Error == nil || run.Error.Rule != "restricted/node-code" {
		t.Errorf("its draft ran as %+v", run)
	}
}

// Programs that hide a forbidden action from the gate must be denied when they execute the action. The error must name
// the rule, the line and a remedy.
func TestRules_OtherLanguages_DeniedWhileTheyRun(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	rules := map[string]any{"pack": "restricted"}
	for name, tt := range map[string]struct {
		language, runtime, code, rule string
	}{
		"goja, eval":             {"javascript", "goja", "const name = 'ev' + 'al';\nexport default () => globalThis[name]('1')", "restricted/node-code"},
		"goja, direct eval":      {"javascript", "goja", "\nexport default () => eval('1')", "restricted/node-code"},
		"goja, Function":         {"typescript", "goja", "\nexport default () => new Function('return 1')()", "restricted/node-code"},
		"goja, constructor":      {"javascript", "goja", "\nexport default () => (() => 1).constructor('return 1')()", "restricted/node-code"},
		"goja, async function":   {"javascript", "goja", "\nexport default () => (async () => 1).constructor('return 1')()", "restricted/node-code"},
		"goja, generator":        {"javascript", "goja", "\nexport default () => (function* () {}).constructor('yield 1')", "restricted/node-code"},
		"goja, module":           {"javascript", "goja", "const name = 'f' + 's';\nexport default () => require(name).readdirSync('/')", "restricted/node-import"},
		"node, eval":             {"javascript", "node", "\nexport default () => (0, eval)('1')", "restricted/node-code"},
		"node, Function":         {"javascript", "node", "\nexport default () => new Function('return 1')()", "restricted/node-code"},
		"node, async generator":  {"typescript", "node", "\nexport default () => (async function* () {}).constructor('yield 1')", "restricted/node-code"},
		"node, built-in module":  {"javascript", "node", "\nexport default () => process['getBuiltin' + 'Module']('fs')", "restricted/node-code"},
		"node, binding":          {"javascript", "node", "\nexport default () => process['bind' + 'ing']('fs')", "restricted/node-code"},
		"node, import":           {"typescript", "node", "import path from 'node:path'\nimport fs from 'node:fs'\nexport default () => fs.readdirSync(path.join('/', 'work'))", "restricted/node-import"},
		"node, computed import":  {"javascript", "node", "\nexport default () => require('child_' + 'process').execSync('ls')", "restricted/node-import"},
		"bash, eval":             {"bash", "bash", "x=1\neval \"echo $x\"", "restricted/dynamic"},
		"bash, shell":            {"bash", "bash", "x=1\nbash -euc 'echo 1'", "restricted/dynamic"},
		"bash, command":          {"bash", "bash", "x=cu\n\"${x}rl\" https://example.com", "restricted/shell-network"},
		"bash, within functions": {"bash", "bash", "f() {\n  wget https://example.com\n}\nf", "restricted/shell-network"},
	} {
		body := map[string]any{"language": tt.language, "runtime": tt.runtime, "code": tt.code}
		run := s.Want(t, 200, "POST", "/api/v1/execute", body).Run(t)
		if run.Error != nil && strings.HasPrefix(run.Error.Rule, "restricted/") {
			t.Errorf("%s, without the rules: %+v", name, run.Error)
		}
		body["rules"] = rules
		e := s.Want(t, 200, "POST", "/api/v1/execute", body).Run(t).Error
		if e == nil || e.Type != "denied" || e.Rule != tt.rule || e.Line != 2 || e.Remedy == "" || e.Message == "" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	for name, body := range map[string]map[string]any{
		"goja": {"language": "javascript", "runtime": "goja", "code": "export default () => [(() => 1) instanceof Function, typeof Function, JSON.parse('2')]"},
		"node": {"language": "javascript", "runtime": "node", "code": "import util from 'util'\nexport default async () => [(() => 1) instanceof Function, typeof Function, util.isDeepStrictEqual(1, 1) ? 2 : 0]"},
		"bash": {"language": "bash", "runtime": "bash", "code": "echo 'echo \\[true,\\\"function\\\",2]' >lib.sh\nbash lib.sh"},
	} {
		body["rules"] = rules
		if run := s.Want(t, 200, "POST", "/api/v1/execute", body).Run(t); string(run.Output) != `[true,"function",2]` {
			t.Errorf("%s: %+v", name, run)
		}
	}
}

// A program may catch this error, in the same way as the error of a missing module.
func TestRules_DenialCaught_ProgramGoesOn(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for _, runtime := range []string{"goja", "node"} {
		body := map[string]any{"language": "javascript", "runtime": runtime, "rules": map[string]any{"pack": "restricted"}, "code": "export default () => { try { return eval('1') } catch (e) { return e.message } }"}
		if run := s.Want(t, 200, "POST", "/api/v1/execute", body).Run(t); string(run.Output) != `"eval is not available to this program."` {
			t.Errorf("%s: %+v", runtime, run)
		}
	}
}
