package servertest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

// skillResult is the part of a skill's result that states what was recorded.
type skillResult struct {
	ExecutionID string `json:"execution_id"`
	Success     bool
	Provenance  struct {
		ExecutionID string  `json:"execution_id"`
		ActorID     *string `json:"actor_id"`
		ActorType   *string `json:"actor_type"`
	}
}

// TestSkillProvenance_OneRecord checks that a run's record has the request ID and the actors that its answer contains, and
// that the answer to a refused call contains no run.
func TestSkillProvenance_OneRecord(t *testing.T) {
	t.Parallel()
	data, _ := skillsIn(t, echo())
	s := servertest.On(t, data)
	type stored struct {
		Provenance struct{ ActorID, ActorType, RequestID, ClaimedActorID, ClaimedActorType string }
	}
	for name, tt := range map[string]struct{ more, request, claimed, kind string }{
		"claimed": {`, "request_id": "r-7", "actor_id": "planner", "actor_type": "agent"`, "r-7", "planner", "agent"},
		"plain":   {"", "", "", ""},
	} {
		var answer skillResult
		s.Want(t, 200, "POST", "/skills/execute", `{"skill": "echo", "args": {"value": 1}`+tt.more+`}`).Into(t, &answer)
		var run stored
		s.Want(t, 200, "GET", "/api/v1/runs/"+answer.ExecutionID, nil).Into(t, &run)
		p := run.Provenance
		if p.RequestID != tt.request || p.ClaimedActorID != tt.claimed || p.ClaimedActorType != tt.kind || p.ActorID == "" {
			t.Errorf("%s: stored %+v", name, p)
		}
		want := [2]string{tt.claimed, tt.kind}
		if tt.claimed == "" {
			want = [2]string{p.ActorID, p.ActorType}
		}
		if a := answer.Provenance; a.ActorID == nil || a.ActorType == nil || [2]string{*a.ActorID, *a.ActorType} != want || a.ExecutionID != answer.ExecutionID {
			t.Errorf("%s: answered %+v", name, a)
		}
	}
	for _, call := range []string{`{"skill": "nothing", "args": {}}`, `{"skill": "echo", "args": {}}`} {
		var answer skillResult
		s.Want(t, 200, "POST", "/skills/execute", call).Into(t, &answer)
		if answer.Success || answer.ExecutionID != "" || answer.Provenance.ExecutionID != "" {
			t.Errorf("%s: %+v", call, answer)
		}
	}
	s.Want(t, 404, "GET", "/api/v1/runs/00000000-0000-7000-8000-000000000000", nil)
	for _, id := range []string{strings.Repeat("x", 201), `\u0000`} {
		s.Want(t, 422, "POST", "/skills/execute", `{"skill": "echo", "args": {"value": 1}, "request_id": "`+id+`"}`)
	}
}

// TestControlDecision_BlockAndEscalate_Respected checks that a client's own decision to block or escalate its code is
// applied, and that its decision to approve is ignored.
func TestControlDecision_BlockAndEscalate_Respected(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	create := func(status int, decision string) string {
		body := `{"name": "adder", "description": "Adds two numbers up.", "auto_promote": true, "control_decision": ` + decision + `, "code": "def run(action, args):\n    return args['a'] + 1\n"}`
		return string(s.Want(t, status, "POST", "/v1/skills/create", body).Body)
	}
	if got := create(200, `{"action": "block", "reason": "odd"}`); !strings.Contains(got, `"success":false`) || !strings.Contains(got, `"error_type":"rejected_by_authority"`) {
		t.Errorf("block: %s", got)
	}
	s.Want(t, 404, "GET", "/api/v1/code-agents/adder", nil)
	if got := create(200, `{"action": "escalate"}`); !strings.Contains(got, `"promoted":false`) || !strings.Contains(got, `"state":"draft"`) {
		t.Errorf("escalate: %s", got)
	}
	s.Want(t, 404, "GET", "/skills/adder", nil)
	for _, odd := range []string{`{"action": "maybe"}`, `{"action": 1}`} {
		create(400, odd)
	}
	if got := create(200, `{"action": "approve", "passed": true}`); !strings.Contains(got, `"promoted":true`) {
		t.Errorf("approve, by a caller who may: %s", got)
	}
}

// TestValidateCode_Matched_IsTheText checks that an issue contains the text of the code at its position.
func TestValidateCode_Matched_IsTheText(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	var report struct {
		Issues []struct {
			Matched string
			Line    int
		}
	}
	s.Want(t, 200, "POST", "/v1/validation/code", map[string]any{"code": "def run(action, args):\n    ë = 1; return eval(args['x'])\n"}).Into(t, &report)
	if len(report.Issues) == 0 {
		t.Fatal("no issues")
	}
	for _, issue := range report.Issues {
		if issue.Line == 2 && !strings.HasPrefix(issue.Matched, "eval(") {
			t.Errorf("matched %q in line %d", issue.Matched, issue.Line)
		}
	}
}

// TestManifestYAML_ReadAndWritten checks the folders of existing skill managers, which contain manifest.yaml and a
// program with run.
func TestManifestYAML_ReadAndWritten(t *testing.T) {
	t.Parallel()
	data, dir := skillsIn(t, map[string]string{
		"adder/manifest.yaml": "name: adder\nversion: 1.2\ndescription: Adds two numbers up.\ntriggers: [add, sum]\ndefault_params: {b: 40}\nauthor: somebody\n",
		"adder/main.py":       "def run(action, args):\n    return args['a'] + args['b']\n",
	})
	s := servertest.On(t, data)
	if got := s.Want(t, 200, "POST", "/v1/skills/run", `{"name": "adder", "args": {"a": 2}}`); !strings.Contains(string(got.Body), `"result":42`) {
		t.Errorf("ran: %s", got.Body)
	}
	var about struct {
		Version string
		Tags    []string
	}
	s.Want(t, 200, "GET", "/skills/adder", nil).Into(t, &about)
	if about.Version != "1.2.0" || fmt.Sprint(about.Tags) != "[add sum]" {
		t.Errorf("read: %+v", about)
	}
	s.Want(t, 200, "POST", "/v1/skills/create", `{"name": "doubler", "description": "Doubles a number.", "default_params": {"count": 3}, "triggers": ["twice"], "auto_promote": true, "code": "def run(action, args):\n    return args['count'] * 2\n"}`)
	text, err := os.ReadFile(filepath.Join(dir, "doubler/manifest.yaml"))
	for _, part := range []string{"name: doubler", "version: 1.0.0", "entry_point: handler.py", "- twice", "count: 3"} {
		if err != nil || !strings.Contains(string(text), part) {
			t.Errorf("no %q in %s %v", part, text, err)
		}
	}
	// Without the files that only this server uses, the written folder must be the same program for another server.
	for _, own := range []string{"skill.yaml", "schema.json", ".written-by-atelier"} {
		if err := os.Remove(filepath.Join(dir, "doubler", own)); err != nil {
			t.Fatal(err)
		}
	}
	other, otherDir := skillsIn(t, nil)
	if err := os.CopyFS(filepath.Join(otherDir, "doubler"), os.DirFS(filepath.Join(dir, "doubler"))); err != nil {
		t.Fatal(err)
	}
	s = servertest.On(t, other)
	if got := s.Want(t, 200, "POST", "/v1/skills/run", `{"name": "doubler", "args": {}}`); !strings.Contains(string(got.Body), `"result":6`) {
		t.Errorf("copied: %s", got.Body)
	}
	// The error about an invalid file must name the file.
	bad, _ := skillsIn(t, map[string]string{"odd/manifest.yaml": "name: odd\ndescription: None.\ntriggers: 5\n", "odd/main.py": "", "none/manifest.yaml": "name: none\ndescription: None.\n"})
	list := string(servertest.On(t, bad).Want(t, 200, "GET", "/v1/skills", nil).Body)
	if !strings.Contains(list, "triggers as a list of texts") || !strings.Contains(list, "needs a program") || !strings.Contains(list, "manifest.yaml") {
		t.Errorf("broken: %s", list)
	}
}

// TestInstall_NameInTheRegistry_Installs checks a name that is neither an installed skill nor a folder. The skill must
// come from the public registry, with the number of its version there.
func TestInstall_NameInTheRegistry_Installs(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	admin := browser{s, cookieOf(t, s.Do(t, "GET", signInLink(t, s), nil, anonymous))}
	member := func(workspace string) *servertest.Client {
		return &servertest.Client{URL: s.URL, Token: settle(t, s, admin, workspace, "of-"+workspace).token}
	}
	team := member("team")
	list := func(c *servertest.Client) {
		c.Want(t, 201, "POST", "/api/v1/code-agents", `{"name":"doubler","language":"python","code":"def main(n):\n    return n * 2\n","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}`)
		c.Want(t, 201, "POST", "/api/v1/code-agents/doubler/versions", `{"version":"2.1.0"}`)
		c.Want(t, 200, "POST", "/api/v1/code-agents/doubler/publish", `{"public":true}`)
	}
	list(team)
	s.Want(t, 404, "POST", "/v1/skills/install", `{"name": "tripler"}`)
	s.Want(t, 404, "POST", "/v1/skills/install", `{"name": "other/doubler"}`)
	var installed struct{ Origin, Source, Version string }
	s.Want(t, 200, "POST", "/v1/skills/install", `{"name": "doubler"}`).Into(t, &installed)
	if installed.Origin != "registry" || installed.Source != "team/doubler@2.1.0" || installed.Version != "2.1.0" {
		t.Errorf("installed: %+v", installed)
	}
	if got := s.Want(t, 200, "POST", "/v1/skills/run", `{"name": "doubler", "args": {"n": 4}}`); !strings.Contains(string(got.Body), `"result":8`) {
		t.Errorf("ran: %s", got.Body)
	}
	third, fourth := member("third"), member("fourth")
	list(third)
	if p := string(fourth.Want(t, 409, "POST", "/v1/skills/install", `{"name": "doubler"}`).Body); !strings.Contains(p, "team/doubler") || !strings.Contains(p, "third/doubler") {
		t.Errorf("two publishers: %s", p)
	}
	fourth.Want(t, 200, "POST", "/v1/skills/install", `{"name": "third/doubler"}`)
	if p := string(third.Want(t, 409, "POST", "/v1/skills/install", `{"name": "team/doubler"}`).Body); !strings.Contains(p, "is an agent but not a skill") {
		t.Errorf("a name that is taken: %s", p)
	}
}

// TestInstall_OtherSkillOfTheName_Stays checks that an agent of the registry never becomes a version of a skill from
// another source. It tests the publisher's name, and a former name of an agent that is now the name of the skill.
func TestInstall_OtherSkillOfTheName_Stays(t *testing.T) {
	t.Parallel()
	data, _ := skillsIn(t, echo())
	s := servertest.On(t, data)
	admin := browser{s, cookieOf(t, s.Do(t, "GET", signInLink(t, s), nil, anonymous))}
	team := &servertest.Client{URL: s.URL, Token: settle(t, s, admin, "team", "of-team").token}
	team.Want(t, 201, "POST", "/api/v1/code-agents", `{"name":"hello","language":"python","code":"def main(value):\n    return 'stranger'\n"}`)
	team.Want(t, 201, "POST", "/api/v1/code-agents/hello/versions", `{"version":"9.0.0"}`)
	team.Want(t, 200, "POST", "/api/v1/code-agents/hello/publish", `{"public":true}`)
	team.Want(t, 200, "PATCH", "/api/v1/code-agents/hello", `{"name":"echo"}`)
	for _, name := range []string{"team/hello", "team/echo", "nobody/echo"} {
		if p := string(s.Want(t, 409, "POST", "/v1/skills/install", map[string]string{"name": name}).Body); !strings.Contains(p, "Another skill is named echo") {
			t.Errorf("%s: %s", name, p)
		}
	}
	if got := string(s.Want(t, 200, "POST", "/v1/skills/run", `{"name": "echo", "args": {"value": 1}}`).Body); strings.Contains(got, "stranger") {
		t.Errorf("the skill was replaced: %s", got)
	}
	team.Want(t, 200, "PATCH", "/api/v1/code-agents/echo", `{"name":"later"}`)
	if got := string(s.Want(t, 200, "POST", "/v1/skills/install", `{"name": "team/hello"}`).Body); !strings.Contains(got, `"name":"later"`) {
		t.Errorf("by a former name: %s", got)
	}
}

// TestSideEffects_EveryEntryPoint_Wait checks that a version with the flag side_effect waits for an approval by default,
// whichever way it is called.
func TestSideEffects_EveryEntryPoint_Wait(t *testing.T) {
	t.Parallel()
	files := echo()
	files["echo/skill.yaml"] = strings.Replace(echoSettings, "[none]", "[side_effect]", 1)
	data, _ := skillsIn(t, files)
	s := servertest.On(t, data)
	s.Want(t, 200, "POST", "/skills/execute", `{"skill": "echo", "args": {"value": 1}}`)
	s.Want(t, 200, "POST", "/v1/skills/run", `{"name": "echo", "args": {"value": 2}}`)
	s.Want(t, 202, "POST", "/api/v1/code-agents/echo/execute", `{"version": "latest", "input": {"value": 3}}`)
	s.Want(t, 202, "POST", "/api/v1/code-agents/echo/execute", `{"version": "1.0.0", "input": {"value": 4}}`, servertest.Headers{"Prefer": "respond-async"})
	calling := `{"language": "python", "code": "def main(input, ctx):\n    return ctx.callTool('echo', {'value': 5})\n", "capabilities": {"tools": ["echo@1.0.0"]}, "limits": {"timeoutMs": 120000}}`
	caller := s.Want(t, 202, "POST", "/api/v1/execute", calling, servertest.Headers{"Prefer": "respond-async"}).Run(t).RunID
	waiting := func() bool {
		var runs struct {
			Items []struct{ Agent, Status string }
		}
		s.Want(t, 200, "GET", "/api/v1/runs?agent=echo", nil).Into(t, &runs)
		for _, run := range runs.Items {
			if run.Status != "awaiting_approval" {
				t.Fatalf("does not wait for an approval: %+v", run)
			}
		}
		return len(runs.Items) == 5
	}
	servertest.Eventually(t, "five runs wait", waiting)
	s.Want(t, 200, "POST", "/api/v1/runs/"+caller+"/cancel", nil)
	if !waiting() {
		t.Error("not five runs wait after the caller was cancelled")
	}
}

// Rules that fit the description of code are returned to the author of the code. If no rule has a word of the
// description, the critical rules are returned.
func TestPriors_RulesThatFitAContext(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	type prior struct {
		ID        string `json:"prior_id"`
		Principle string `json:"principle_name"`
		Severity  string `json:"severity"`
		Mechanism string `json:"enforcement_mechanism"`
	}
	priors := func(context string) []prior {
		var list struct{ Priors []prior }
		s.Want(t, 200, "POST", "/v1/context/priors", map[string]string{"context": context}).Into(t, &list)
		return list.Priors
	}
	if !slices.ContainsFunc(priors("read yaml"), func(p prior) bool { return strings.Contains(p.ID, "yaml") && p.Principle != "" && p.Mechanism != "" }) {
		t.Errorf("the priors are %+v", priors("read yaml"))
	}
	all := priors("zzzz")
	if len(all) == 0 || slices.ContainsFunc(all, func(p prior) bool { return p.Severity != "critical" }) {
		t.Errorf("the priors are %+v", all)
	}
}
