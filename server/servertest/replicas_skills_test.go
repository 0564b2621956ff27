package servertest_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/server/servertest"
)

// Each server has its own folder of skills, which may have older drafts than the database.
func TestReplicas_RestartedServer_KeepsNewerDraftOfSkill(t *testing.T) {
	t.Parallel()
	address, data := storetest.Options(t, storetest.Postgres).URL, t.TempDir()
	start := func(data string, flags ...string) *servertest.Process {
		p := servertest.SpawnWith(t, data, []string{replicaKey}, append(flags, "--database", address, "--token", kafkaToken)...)
		p.Token = kafkaToken
		return p
	}
	create := func(p *servertest.Process, result string) {
		t.Helper()
		a := p.Want(t, 200, "POST", "/v1/skills/create", map[string]any{"name": "adder", "description": "Adds two numbers.", "code": "def run(action, args):\n    return '" + result + "'\n"})
		if !strings.Contains(string(a.Body), `"passed":true`) {
			t.Fatalf("created: %s", a.Body)
		}
	}
	code := func(p *servertest.Process) string {
		t.Helper()
		return string(p.Want(t, 200, "GET", "/api/v1/code-agents/adder", nil).Body)
	}
	stop := func(p *servertest.Process) {
		t.Helper()
		p.Signal(t, syscall.SIGTERM)
		if code := p.Exit(); code != 0 {
			t.Errorf("the server ended with %d", code)
		}
	}
	// A server that is alone writes the folder of a draft.
	one := start(data, "--skills-builtin=false")
	create(one, "oldest")
	stop(one)
	write(t, filepath.Join(data, "skills/_drafts/mine/skill.yaml"), strings.ReplaceAll(echoSettings, "echo", "mine"))
	write(t, filepath.Join(data, "skills/_drafts/mine/schema.json"), echoSchemas)
	write(t, filepath.Join(data, "skills/_drafts/mine/handler.py"), strings.ReplaceAll(echoHandler, "echo", "mine"))
	// Two servers start at the same time and install the same bundled skills.
	one, two := start(data, "--replicas"), start(t.TempDir(), "--replicas")
	for _, p := range []*servertest.Process{one, two} {
		if list := p.Want(t, 200, "GET", "/v1/skills", nil); !strings.Contains(string(list.Body), "text_summarize") {
			t.Errorf("listed: %s", list.Body)
		}
		if log := p.Log.String(); strings.Contains(log, "built-in ") {
			t.Errorf("a shipped skill could not be installed: %s", log)
		}
	}
	if list := one.Want(t, 200, "GET", "/v1/skills", nil); !strings.Contains(string(list.Body), "drafts in folders are ignored") {
		t.Errorf("the folder of a person's draft has no error: %s", list.Body)
	}
	one.Want(t, 404, "GET", "/api/v1/code-agents/mine", nil)
	create(one, "older")
	create(two, "newest")
	stop(one)
	one = start(data, "--replicas")
	one.Want(t, 200, "GET", "/v1/skills", nil) // The request waits until the folders are loaded.
	for _, p := range []*servertest.Process{one, two} {
		if got := code(p); !strings.Contains(got, "newest") {
			t.Errorf("the draft is %s", got)
		}
	}
	two.Want(t, 200, "POST", "/v1/skills/promote", `{"name": "adder", "changelog": "First."}`)
	stop(one)
	one = start(data, "--replicas")
	if got := one.Want(t, 200, "GET", "/v1/skills", nil); !strings.Contains(string(got.Body), `"version":"1.0.0"`) {
		t.Errorf("promoted at the other server: %s", got.Body)
	}
	if got := code(one); !strings.Contains(got, "newest") {
		t.Errorf("after the promotion the draft is %s", got)
	}
}
