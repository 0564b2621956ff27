package servertest_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/servertest"
)

const (
	echoSettings = "name: echo\nversion: 1.0.0\ndescription: Gives back what it gets.\nsafety_flags: [none]\nhandler: handler.echo\ntags: [text]\n"
	echoSchemas  = `{
 "input": {"type": "object", "properties": {"value": {}, "times": {"type": "integer"}}, "required": ["value"], "additionalProperties": false},
 "output": {"type": "object", "properties": {"values": {"type": "array"}}, "required": ["values"]}
}`
	echoHandler = "def echo(value, times=1):\n    print('echoing')\n    assert times\n    return {'values': [value] * times}\n"
)

// skillsIn creates a data directory that contains skill folders. The files are given by path and content.
func skillsIn(t *testing.T, files map[string]string) (data, dir string) {
	t.Helper()
	data = t.TempDir()
	dir = filepath.Join(data, "skills")
	for name, content := range files {
		write(t, filepath.Join(dir, name), content)
	}
	return data, dir
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func echo() map[string]string {
	return map[string]string{"echo/skill.yaml": echoSettings, "echo/schema.json": echoSchemas, "echo/handler.py": echoHandler}
}

// TestClientsOfOtherServices runs an unchanged client of another service with this server.
func TestClientsOfOtherServices(t *testing.T) {
	t.Parallel()
	data, _ := skillsIn(t, echo())
	s := servertest.On(t, data, servertest.Flags(t, map[string]string{"skills-anonymous": "loopback"}))
	// The client expects a service that has loaded its skills and finished its self-test, so wait for both.
	s.Want(t, 200, "POST", "/skills/execute", map[string]any{"skill": "echo", "args": map[string]any{"value": 1}})
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), python, "-I", "testdata/skills/client.py", s.URL).CombinedOutput()
	if err != nil || string(out) != "fine\n" {
		t.Errorf("python: %v\n%s", err, out)
	}
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not here")
	}
	out, err = exec.CommandContext(t.Context(), curl, "-sS", "-X", "POST", s.URL+"/skills/execute", "-H", "Content-Type: application/json",
		"-d", `{"skill": "echo", "args": {"value": "Contact John Doe at john@example.com"}}`).Output()
	var answer struct {
		Success bool
		Result  struct{ Values []string }
	}
	if err := errors.Join(err, json.Unmarshal(out, &answer)); err != nil || !answer.Success || len(answer.Result.Values) != 1 {
		t.Errorf("curl: %v %s", err, out)
	}
}

// TestAnonymousCallersAreKeptShort checks which callers may call without a token, and which routes they may call.
func TestAnonymousCallersAreKeptShort(t *testing.T) {
	t.Parallel()
	call := `{"skill": "echo", "args": {"value": 1}}`
	data, _ := skillsIn(t, echo())
	closed := servertest.On(t, data)
	if a := closed.Do(t, "POST", "/skills/execute", call, servertest.Headers{"Authorization": ""}); a.Status != 401 {
		t.Errorf("by default the answer is %d", a.Status)
	}
	closed.Stop(t)
	s := servertest.On(t, data, servertest.Flags(t, map[string]string{"skills-anonymous": "loopback", "host": "studio.example.com"}))
	tests := map[string]struct {
		method, path, body string
		headers            servertest.Headers
		status             int
	}{
		"runs":              {"POST", "/skills/execute", call, nil, 200},
		"lists":             {"GET", "/skills/list", "", nil, 200},
		"runs by action":    {"POST", "/v1/skills/run", `{"name": "echo", "args": {"value": 1}}`, nil, 200},
		"by localhost":      {"GET", "/skills/list", "", servertest.Headers{"Host": "localhost:8002"}, 200},
		"registers":         {"POST", "/skills/register", registration, nil, 403},
		"creates":           {"POST", "/v1/skills/create", `{}`, nil, 401},
		"sees the list":     {"GET", "/v1/skills", "", nil, 401},
		"promotes":          {"POST", "/v1/skills/promote", `{"name": "echo"}`, nil, 401},
		"installs":          {"POST", "/v1/skills/install", `{"name": "echo"}`, nil, 401},
		"the API":           {"GET", "/api/v1/code-agents", "", nil, 401},
		"a page's origin":   {"POST", "/skills/execute", call, servertest.Headers{"Origin": "https://evil.example"}, 403},
		"a page that looks": {"GET", "/skills/list", "", servertest.Headers{"Origin": "https://evil.example"}, 401},
		"an old page":       {"GET", "/skills/list", "", servertest.Headers{"Sec-Fetch-Site": "cross-site"}, 401},
		"another name":      {"GET", "/skills/list", "", servertest.Headers{"Host": "studio.example.com"}, 401},
		"a foreign name":    {"GET", "/skills/list", "", servertest.Headers{"Host": "evil.example"}, 403},
		"by a proxy":        {"GET", "/skills/list", "", servertest.Headers{"X-Forwarded-For": "203.0.113.9"}, 401},
		"a wrong token":     {"GET", "/skills/list", "", servertest.Headers{"Authorization": "Bearer wrong"}, 401},
		"a form":            {"POST", "/skills/execute", call, servertest.Headers{"Content-Type": "text/plain"}, 415},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			headers := servertest.Headers{"Authorization": ""}
			for key, value := range tt.headers {
				headers[key] = value
			}
			var body any
			if tt.body != "" {
				body = tt.body
			}
			if a := s.Do(t, tt.method, tt.path, body, headers); a.Status != tt.status {
				t.Errorf("answered with %d, want %d: %s", a.Status, tt.status, a.Body)
			}
		})
	}
	var page struct {
		Items []struct{ Trigger, Agent string }
	}
	decode(t, s.Want(t, 200, "GET", "/api/v1/runs", nil), &page)
	if len(page.Items) != 2 || page.Items[0].Trigger != "skill" {
		t.Errorf("the runs are %+v", page.Items)
	}
}

const registration = `{"name": "shout", "version": "2.1.0", "description": "Shouts.", "safety_flags": ["none"], "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}},
 "output_schema": {"type": "object"}, "handler_path": "handler.shout", "tags": ["text"], "code": "def shout(text):\n    return {'text': text.upper()}\n"}`

func decode(t *testing.T, a servertest.Answer, into any) {
	t.Helper()
	if err := json.Unmarshal(a.Body, into); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
}

type listing struct {
	Skills []struct {
		Name, Version, Origin, State, Digest string
		Error                                *struct {
			Message string
			Details []struct {
				File, Message string
				Line          int
			}
		}
	}
	Drafts []struct{ Name string }
}

func (l listing) String() string { return fmt.Sprintf("%+v", l.Skills) }

// TestFoldersAreWatched checks that an edited folder becomes a version. An invalid folder must be reported, and must
// not affect anything else.
func TestFoldersAreWatched(t *testing.T) {
	t.Parallel()
	files := echo()
	files["broken/skill.yaml"] = "name: broken\nversion: one\n"
	files["broken/schema.json"] = "{"
	data, dir := skillsIn(t, files)
	s := servertest.On(t, data)
	list := func() listing {
		var l listing
		decode(t, s.Want(t, 200, "GET", "/v1/skills", nil), &l)
		return l
	}
	run := func() string {
		var answer struct {
			Success bool
			Result  json.RawMessage
		}
		decode(t, s.Want(t, 200, "POST", "/skills/execute", `{"skill": "echo", "args": {"value": 7}}`), &answer)
		return string(answer.Result)
	}
	first := list()
	if len(first.Skills) != 2 || first.Skills[0].Name != "echo" || first.Skills[0].Error != nil || first.Skills[1].Error == nil {
		t.Fatalf("at the start there is %s", first)
	}
	if d := first.Skills[1].Error.Details[0]; d.File != "broken/skill.yaml" || d.Line == 0 {
		t.Errorf("the broken one is told as %+v", d)
	}
	if text := s.Log.String(); !strings.Contains(text, "broken/skill.yaml:2: version") || !strings.Contains(text, "broken/schema.json:1") {
		t.Errorf("the log does not tell where")
	}
	write(t, filepath.Join(dir, "echo/handler.py"), strings.Replace(echoHandler, "[value]", "['new', value]", 1))
	servertest.Eventually(t, "the same version with other content is refused with advice", func() bool {
		l := list()
		return l.Skills[0].Error != nil && strings.Contains(l.Skills[0].Error.Details[0].Message, "raise version in skill.yaml to 1.0.1") && l.Skills[0].Error.Details[0].Line == 2
	})
	if got := run(); got != `{"values":[7]}` {
		t.Errorf("the old version answers %s", got)
	}
	write(t, filepath.Join(dir, "echo/skill.yaml"), strings.Replace(echoSettings, "1.0.0", "1.0.1", 1))
	servertest.Eventually(t, "the new version is listed", func() bool { l := list(); return l.Skills[0].Version == "1.0.1" && l.Skills[0].Error == nil })
	if got := run(); got != `{"values":["new",7]}` {
		t.Errorf("the new version answers %s", got)
	}
	write(t, filepath.Join(dir, "echo/handler.py"), "def echo(value:\n")
	write(t, filepath.Join(dir, "echo/skill.yaml"), strings.Replace(echoSettings, "1.0.0", "1.0.2", 1))
	servertest.Eventually(t, "the broken handler is told", func() bool {
		l := list()
		return l.Skills[0].Error != nil && l.Skills[0].Error.Details[0].File == "echo/handler.py" && l.Skills[0].Error.Details[0].Line == 1
	})
	if got := run(); got != `{"values":["new",7]}` {
		t.Errorf("after that the old version answers %s", got)
	}
	write(t, filepath.Join(dir, "echo/handler.py"), "def other(value): return {'values': []}\n")
	servertest.Eventually(t, "a function that is not there is told", func() bool {
		l := list()
		return l.Skills[0].Error != nil && strings.Contains(l.Skills[0].Error.Details[0].Message, "does not define echo") && l.Skills[0].Error.Details[0].Line == 5
	})
	for name, content := range map[string]string{"late/skill.yaml": strings.ReplaceAll(strings.Replace(echoSettings, "name: echo", "name: late", 1), "handler.echo", "lib.core.echo"), "late/schema.json": echoSchemas, "late/lib/core.py": echoHandler} {
		write(t, filepath.Join(dir, name), content)
	}
	servertest.Eventually(t, "a new folder is loaded", func() bool {
		l := list()
		return strings.Contains(l.String(), "late") && s.Do(t, "GET", "/skills/late", nil).Status == 200
	})
	if err := os.RemoveAll(filepath.Join(dir, "broken")); err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "a folder that is gone is no problem", func() bool { return !strings.Contains(list().String(), "broken") })
	if err := os.RemoveAll(filepath.Join(dir, "late")); err != nil {
		t.Fatal(err)
	}
	s.Stop(t)
	again := servertest.On(t, data)
	if a := again.Do(t, "GET", "/skills/late", nil); a.Status != 200 {
		t.Errorf("a skill whose folder is gone is answered with %d: the database decides", a.Status)
	}
	text, err := os.ReadFile(filepath.Join(dir, "installed.json"))
	if err != nil || !strings.Contains(string(text), `"name": "late"`) || !strings.Contains(string(text), "sha256:") {
		t.Errorf("installed.json: %s %v", text, err)
	}
}

// TestArchivesComeFromGrantedHosts checks that archives are only fetched from granted hosts, even after a redirect.
func TestArchivesComeFromGrantedHosts(t *testing.T) {
	t.Parallel()
	archive := packedSkill(t, map[string]string{"skill.yaml": echoSettings, "schema.json": echoSchemas, "handler.py": echoHandler})
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(archive)) }))
	defer other.Close()
	granted := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/echo.tar.gz":
			_, _ = w.Write([]byte(archive))
		case "/away":
			http.Redirect(w, r, other.URL, http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer granted.Close()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"skills-hosts": strings.TrimPrefix(granted.URL, "http://")}))
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		granted.URL + "/away":      {403, "--skills-hosts"},
		granted.URL + "/nothing":   {422, "is not an archive"},
		other.URL + "/x":           {403, "--skills-hosts"},
		"http://user:pw@x.example": {422, "must be the URL"},
	} {
		if a := s.Do(t, "POST", "/v1/skills/install", map[string]string{"url": path}); a.Status != want.status || !strings.Contains(string(a.Body), want.text) {
			t.Errorf("%s is answered with %d %s", path, a.Status, a.Body)
		}
	}
	if a := s.Want(t, 200, "POST", "/v1/skills/install", map[string]string{"url": granted.URL + "/echo.tar.gz?token=s3cret"}); !strings.Contains(string(a.Body), `"origin":"url"`) ||
		!strings.Contains(string(a.Body), `/echo.tar.gz"`) || strings.Contains(string(a.Body), "s3cret") || strings.Contains(s.Log.String(), "s3cret") {
		t.Errorf("installed: %s", a.Body)
	}
	s.Want(t, 200, "GET", "/skills/echo", nil)
}

// TestSkillsWithSideEffectsWaitForApprovals checks that a call with the same request_id returns the result of the run
// that waited.
func TestSkillsWithSideEffectsWaitForApprovals(t *testing.T) {
	t.Parallel()
	files := echo()
	files["echo/skill.yaml"] = strings.Replace(echoSettings, "[none]", "[side_effect]", 1)
	data, _ := skillsIn(t, files)
	s := servertest.On(t, data)
	s.Want(t, 200, "GET", "/skills/list?safety_flag=side_effect&tags=other&tags=text", nil)
	const call = `{"skill": "echo", "args": {"value": 1}, "request_id": "r-1"}`
	type result struct {
		ExecutionID string `json:"execution_id"`
		Success     bool
		Result      json.RawMessage
		Provenance  struct {
			ErrorMessage *string `json:"error_message"`
		}
	}
	var waits, again, done result
	s.Want(t, 200, "POST", "/skills/execute", call).Into(t, &waits)
	if waits.Success || waits.Provenance.ErrorMessage == nil || *waits.Provenance.ErrorMessage != "approval required" || waits.ExecutionID == "" {
		t.Fatalf("answered with %+v", waits)
	}
	if s.Want(t, 200, "POST", "/skills/execute", call).Into(t, &again); again.ExecutionID != waits.ExecutionID || again.Success {
		t.Errorf("the repetition is answered with %+v", again)
	}
	var list struct{ Items []registry.Approval }
	s.Want(t, 200, "GET", "/api/v1/approvals?status=pending", nil).Into(t, &list)
	if len(list.Items) != 1 {
		t.Fatalf("%d requests wait", len(list.Items))
	}
	decide(t, s.Client, 200, list.Items[0].ID, "approve", "", "")
	ended(t, s.Client, waits.ExecutionID)
	if s.Want(t, 200, "POST", "/skills/execute", call).Into(t, &done); !done.Success || done.ExecutionID != waits.ExecutionID {
		t.Errorf("the result is %+v", done)
	}
	setGate(t, s.Client, map[string]any{"approveSideEffects": false})
	if a := s.Want(t, 200, "POST", "/skills/execute", `{"skill": "echo", "args": {"value": 1}}`); !strings.Contains(string(a.Body), `"success":true`) {
		t.Errorf("without the setting: %s", a.Body)
	}
	s.Stop(t)
	s = servertest.On(t, data, servertest.Flags(t, map[string]string{"skills-approve-side-effects": "true"}))
	if a := s.Want(t, 200, "POST", "/skills/execute", `{"skill": "echo", "args": {"value": 1}}`); !strings.Contains(string(a.Body), "approval required") {
		t.Errorf("with the flag of the server: %s", a.Body)
	}
}

// TestSkillsOfEveryLanguage checks that the function named in skill.yaml is called in each language.
func TestSkillsOfEveryLanguage(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"py/handler.py": "from .lib import suffix\nasync def greet(name, *, mark='!', **rest):\n    return {'text': name + mark + suffix + ''.join(sorted(rest))}\n", "py/lib.py": "suffix = '?'\n",
		"js/handler.js": "exports.greet = ({name}, ctx) => { ctx.log('hi'); return {text: name + '!?'} }\n",
		"ts/handler.ts": "export async function greet({name}: {name: string}) { return {text: name + '!?'} }\n",
		"sh/handler.sh": "greet() { read -r -d '' input; [[ $input =~ '\"name\":\"'([a-z]+) ]] || [[ $input =~ name.*:.*\\\"([a-zA-Z]+)\\\" ]]; printf '{\"text\":\"%s!?\"}' \"${BASH_REMATCH[1]}\"; }\n",
	}
	for _, language := range []string{"py", "js", "ts", "sh"} {
		files[language+"/skill.yaml"] = fmt.Sprintf("name: %s\nversion: 0.1.0\ndescription: Greets.\nhandler: handler.greet\n", language)
		files[language+"/schema.json"] = `{"input": {"type": "object", "required": ["name"]}, "output": {"type": "object"}}`
	}
	files["nojs/skill.yaml"] = "name: nojs\nversion: 0.1.0\ndescription: Greets.\nhandler: handler.nobody\n"
	files["nojs/schema.json"], files["nojs/handler.js"] = files["js/schema.json"], "export const greet = 1;\n"
	data, _ := skillsIn(t, files)
	s := servertest.On(t, data)
	if a := s.Want(t, 200, "GET", "/v1/skills", nil); !strings.Contains(string(a.Body), `"file":"nojs/skill.yaml","line":4`) {
		t.Errorf("a function that handler.js does not export: %s", a.Body)
	}
	for _, language := range []string{"py", "js", "ts", "sh"} {
		a := s.Want(t, 200, "POST", "/skills/execute", fmt.Sprintf(`{"skill": %q, "args": {"name": "ada"}}`, language))
		if !strings.Contains(string(a.Body), `"result":{"text":"ada!?"}`) {
			t.Errorf("%s: %s", language, a.Body)
		}
	}
	// A property may have any name, even one that the generated calling file uses.
	a := s.Want(t, 200, "POST", "/skills/execute", `{"skill": "py", "args": {"name": "a", "mark": ".", "_properties": 1, "_function": 2, "ctx": 3}}`)
	if !strings.Contains(string(a.Body), `"result":{"text":"a.?_function_propertiesctx"}`) {
		t.Errorf("keyword arguments: %s", a.Body)
	}
}

// TestCreatedSkillsAreDraftsUntilPromoted checks that created skills are drafts until they are promoted, and that they
// must follow the rules.
func TestCreatedSkillsAreDraftsUntilPromoted(t *testing.T) {
	t.Parallel()
	data, dir := skillsIn(t, nil)
	s := servertest.On(t, data)
	create := func(code string, more string) map[string]any {
		text, _ := json.Marshal(code)
		var answer map[string]any
		decode(t, s.Want(t, 200, "POST", "/v1/skills/create", fmt.Sprintf(`{"name": "adder", "description": "Adds two numbers up.", "code": %s %s}`, text, more)), &answer)
		return answer
	}
	against := "import os\ndef run(action, args):\n    return eval('1')\n"
	for _, more := range []string{"", `, "auto_promote": true`} {
		a := create(against, more)
		if a["action"] != "block" || a["passed"] != false || a["success"] != false || a["promoted"] != false || !strings.Contains(fmt.Sprint(a["errors"]), "line:1") ||
			!strings.Contains(fmt.Sprint(a["reason"]), "The draft was saved but not promoted.") || !strings.Contains(fmt.Sprint(a["installation"]), "state:draft") || !strings.Contains(fmt.Sprint(a["verdict"]), "restricted/builtin") {
			t.Errorf("code against the rules %s: %v", more, a)
		}
	}
	if kept := s.Want(t, 200, "GET", "/api/v1/code-agents/adder", nil); !strings.Contains(string(kept.Body), "eval('1')") {
		t.Errorf("kept is %s", kept.Body)
	}
	s.Want(t, 422, "POST", "/v1/skills/promote", `{"name": "adder"}`)
	for _, more := range []string{"", `, "auto_promote": true`} {
		a := create("def run(action, args:\n", more)
		if a["action"] != "block" || a["passed"] != false || a["success"] != false || a["promoted"] != false || !strings.Contains(fmt.Sprint(a["errors"]), "syntax_error") ||
			!strings.Contains(fmt.Sprint(a["installation"]), "state:draft") || !strings.Contains(fmt.Sprint(a["verdict"]), "verdict:BLOCK") || !strings.Contains(fmt.Sprint(a["verdict"]), "ruleId:syntax") {
			t.Errorf("code that does not parse %s: %v", more, a)
		}
	}
	if kept := s.Want(t, 200, "GET", "/api/v1/code-agents/adder", nil); !strings.Contains(string(kept.Body), "def run(action, args:") {
		t.Errorf("kept is %s", kept.Body)
	}
	s.Want(t, 422, "POST", "/v1/skills/promote", `{"name": "adder"}`)
	if a := create("x = 1\n", ""); a["action"] != "block" || !strings.Contains(fmt.Sprint(a), "Define run") {
		t.Errorf("code without a function: %v", a)
	}
	code := "def run(action, args):\n    return {'sum': args['a'] + args['b'], 'action': action}\n"
	a := create(code, `, "triggers": ["add"], "default_params": {"b": 2}, "control_decision": {"action": "approve", "passed": true, "score": 1}`)
	if a["passed"] != true || a["promoted"] != false || !strings.Contains(fmt.Sprint(a["installation"]), "state:draft") {
		t.Fatalf("created: %v", a)
	}
	if got := s.Want(t, 200, "POST", "/v1/skills/run", `{"name": "adder", "args": {"a": 1}}`); !strings.Contains(string(got.Body), "is a draft") {
		t.Errorf("a draft answers %s", got.Body)
	}
	for _, file := range []string{"skill.yaml", "schema.json", "handler.py"} {
		if _, err := os.Stat(filepath.Join(dir, "_drafts/adder", file)); err != nil {
			t.Error(err)
		}
	}
	s.Want(t, 200, "POST", "/v1/skills/promote", `{"name": "adder", "changelog": "First."}`)
	if got := s.Want(t, 200, "POST", "/v1/skills/run", `{"name": "adder", "action": "sum", "args": {"a": 1}}`); !strings.Contains(string(got.Body), `"result":{"sum":3,"action":"sum"}`) {
		t.Errorf("promoted, it answers %s", got.Body)
	}
	if got := s.Want(t, 409, "POST", "/v1/skills/promote", `{"name": "adder"}`); !strings.Contains(string(got.Body), "no draft") {
		t.Errorf("promoted twice: %s", got.Body)
	}
	if _, err := os.Stat(filepath.Join(dir, "_drafts/adder")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the draft's folder is still there: %v", err)
	}
	settings, err := os.ReadFile(filepath.Join(dir, "adder/skill.yaml"))
	if err != nil || !strings.Contains(string(settings), "version: 1.0.0") || !strings.Contains(string(settings), "pack: restricted") {
		t.Errorf("skill.yaml: %s %v", settings, err)
	}
	if a := create(strings.Replace(code, "+", "-", 1), `, "auto_promote": true`); a["promoted"] != true || !strings.Contains(fmt.Sprint(a["installation"]), "version:1.0.1") {
		t.Errorf("the next one: %v", a)
	}
	var l struct {
		Skills []struct {
			Name, Origin, Version string
			Claims                map[string]any `json:"control_decision"`
			Error                 any
		}
	}
	s.Stop(t)
	s = servertest.On(t, data) // The folder that was written contains the same skill.
	decode(t, s.Want(t, 200, "GET", "/v1/skills", nil), &l)
	if len(l.Skills) != 1 || l.Skills[0].Origin != "created" || l.Skills[0].Version != "1.0.1" || l.Skills[0].Error != nil {
		t.Errorf("after another start there is %+v", l.Skills)
	}
	s.Want(t, 200, "POST", "/v1/skills/uninstall", `{"name": "adder"}`)
	s.Want(t, 404, "GET", "/skills/adder", nil)
	if _, err := os.Stat(filepath.Join(dir, "adder")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
	s.Want(t, 200, "POST", "/v1/skills/install", `{"name": "adder"}`)
	s.Want(t, 200, "GET", "/skills/adder", nil)
}

// TestFoldersOfPeopleAreTheirs checks that a version created by a client is not written into a person's folder.
func TestFoldersOfPeopleAreTheirs(t *testing.T) {
	t.Parallel()
	files := echo()
	files["echo/README.md"] = "# Mine"
	data, dir := skillsIn(t, files)
	s := servertest.On(t, data)
	s.Want(t, 200, "GET", "/skills/echo", nil)
	a := s.Want(t, 200, "POST", "/v1/skills/create", `{"name": "echo", "description": "Another one of that name.", "code": "def run(action, args): return 1", "auto_promote": true}`)
	if !strings.Contains(string(a.Body), `"version":"2.0.0"`) {
		t.Errorf("created: %s", a.Body)
	}
	s.Want(t, 201, "POST", "/skills/register", strings.NewReplacer("shout", "echo", "2.1.0", "3.0.0").Replace(registration))
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	s.Want(t, 200, "POST", "/v1/skills/uninstall", `{"name": "echo"}`)
	if _, err := os.Stat(filepath.Join(dir, "echo/README.md")); err != nil {
		t.Errorf("uninstalled, the folder is gone: %v", err)
	}
	s.Want(t, 200, "POST", "/v1/skills/install", `{"name": "echo"}`)
	s.Stop(t)
	s = servertest.On(t, data)
	if a := s.Want(t, 200, "GET", "/v1/skills", nil); !strings.Contains(string(a.Body), `"version":"3.0.0"`) || strings.Contains(string(a.Body), "exists with other content") {
		t.Errorf("after another start: %s", a.Body)
	}
}

// TestInstalling installs skills from files, an archive, a URL and a description.
func TestInstalling(t *testing.T) {
	t.Parallel()
	data, dir := skillsIn(t, nil)
	s := servertest.On(t, data)
	files, _ := json.Marshal(map[string]any{"files": map[string]string{"skill.yaml": echoSettings, "schema.json": echoSchemas, "handler.py": echoHandler}})
	a := s.Want(t, 200, "POST", "/v1/skills/install", string(files))
	if !strings.Contains(string(a.Body), `"origin":"archive"`) || !strings.Contains(string(a.Body), `"digest":"sha256:`) {
		t.Errorf("files: %s", a.Body)
	}
	archive := packedSkill(t, map[string]string{"echo/skill.yaml": strings.Replace(echoSettings, "1.0.0", "1.1.0", 1), "echo/schema.json": echoSchemas, "echo/handler.py": echoHandler + "\n"})
	gzipped := servertest.Headers{"Content-Type": "application/gzip"}
	if a := s.Want(t, 200, "POST", "/v1/skills/install", archive, gzipped); !strings.Contains(string(a.Body), `"version":"1.1.0"`) {
		t.Errorf("archive: %s", a.Body)
	}
	s.Want(t, 201, "POST", "/skills/register", registration)
	if a := s.Want(t, 200, "POST", "/skills/execute", `{"skill": "shout", "args": {"text": "hey"}}`); !strings.Contains(string(a.Body), `"result":{"text":"HEY"}`) {
		t.Errorf("registered: %s", a.Body)
	}
	if _, err := os.Stat(filepath.Join(dir, "shout/handler.py")); err != nil {
		t.Error(err)
	}
	for name, tt := range map[string]struct {
		body    any
		headers servertest.Headers
		status  int
		want    string
	}{
		"a host that is not granted": {`{"url": "https://skills.example.com/x.tar.gz"}`, nil, 403, "--skills-hosts skills.example.com:443"},
		"a file of this machine":     {`{"url": "file:///etc/passwd"}`, nil, 422, "must be the URL"},
		"nothing":                    {`{}`, nil, 400, "Contract Violation"},
		"two things":                 {`{"name": "echo", "url": "https://x.example/y"}`, nil, 400, "Contract Violation"},
		"of no name":                 {`{"name": "../../etc"}`, nil, 422, "/name"},
		"an unknown one":             {`{"name": "nothing"}`, nil, 404, "nothing not found"},
		"a folder that climbs":       {`{"files": {"../skill.yaml": "x", "skill.yaml": ""}}`, nil, 422, ""},
		"no archive":                 {"hello", gzipped, 422, "damaged"},
		"an empty archive":           {"", gzipped, 400, "empty"},
		"an archive with a link":     {packedSkill(t, map[string]string{"skill.yaml": echoSettings, "link": ""}), gzipped, 422, "must be a regular file"},
		"the same version":           {packedSkill(t, map[string]string{"skill.yaml": echoSettings, "schema.json": echoSchemas, "handler.py": "def echo(value): pass\n"}), gzipped, 409, "raise version"},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.Want(t, tt.status, "POST", "/v1/skills/install", tt.body, tt.headers)
			if !strings.Contains(string(a.Body), tt.want) {
				t.Errorf("answered with %s", a.Body)
			}
		})
	}
	s.Want(t, 201, "POST", "/api/v1/code-agents", `{"name": "plain", "language": "python", "code": "def main(): pass"}`)
	taken := strings.Replace(registration, "shout", "plain", 1)
	if a := s.Want(t, 409, "POST", "/skills/register", taken); !strings.Contains(string(a.Body), "not a skill") {
		t.Errorf("the name of an agent: %s", a.Body)
	}
}

// packedSkill returns a gzipped tar of files; an empty file becomes a link.
func packedSkill(t *testing.T, files map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	w := tar.NewWriter(zip)
	for name, content := range files {
		header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg}
		if content == "" {
			header.Typeflag, header.Linkname = tar.TypeSymlink, "/etc/passwd"
		}
		err := w.WriteHeader(header)
		if err == nil {
			_, err = w.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestContractsAreSchemas checks that editors can read the contracts without a token.
func TestContractsAreSchemas(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	var names struct{ Contracts []string }
	decode(t, s.Want(t, 200, "GET", "/v1/contracts", nil, servertest.Headers{"Authorization": ""}), &names)
	if len(names.Contracts) != 11 {
		t.Errorf("the contracts are %v", names.Contracts)
	}
	for _, name := range names.Contracts {
		var schema struct {
			Properties map[string]any
			Required   []string
		}
		decode(t, s.Want(t, 200, "GET", "/v1/contracts/"+name, nil, servertest.Headers{"Authorization": ""}), &schema)
		if len(schema.Properties) == 0 {
			t.Errorf("%s describes nothing", name)
		}
	}
	s.Want(t, 404, "GET", "/v1/contracts/nothing", nil)
	for path, body := range map[string]string{
		"/skills/execute": `{"skill": 7, "args": []}`, "/v1/skills/run": `{"name": "x", "args": "no"}`, "/v1/skills/create": `{"name": "A b", "description": "short"}`,
		"/v1/skills/uninstall": `{}`, "/v1/skills/promote": `{"name": []}`, "/v1/validation/code": `{"code": ""}`, "/skills/register": `{"name": "X"}`,
	} {
		a := s.Do(t, "POST", path, body)
		if a.Status != http.StatusBadRequest && a.Status != http.StatusUnprocessableEntity || !strings.Contains(string(a.Body), `"errors":[{"`) {
			t.Errorf("%s answers %d %s", path, a.Status, a.Body)
		}
	}
	var verdict struct {
		Passed bool
		Score  float64
		Issues []struct {
			ID, Severity string
			Line         int
		}
	}
	decode(t, s.Want(t, 200, "POST", "/v1/validation/code", `{"code": "import os\ndef run(action, args):\n    return 1\n"}`), &verdict)
	if verdict.Passed || verdict.Score != 0.5 || len(verdict.Issues) != 1 || verdict.Issues[0].Line != 1 || verdict.Issues[0].Severity != "high" {
		t.Errorf("validation says %+v", verdict)
	}
	s.Want(t, 200, "GET", "/v1/packages", nil)
	s.Want(t, 200, "GET", "/v1/packages/installed", nil)
}
