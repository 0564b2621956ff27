package servertest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

// The command line must support all operations of the Studio on versions and agents.
func TestAgentCommands(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	weather(t, s)
	save(t, s, "1", map[string]any{"code": "def main(city): return {'text': 'changed'}\n"})
	steps := []struct {
		args   string
		code   int
		stdout string // text that the output must contain
		stderr string // text that the output must contain
	}{
		{args: "publish weather 1.0.1 --changelog Changed", stdout: "weather@1.0.1\n"},
		{args: "publish weather 1.0.1", code: 3, stderr: "1.0.1"},
		{args: "publish weather 1.0.2 --force", code: 3, stderr: "--comment is required with --force"},
		{args: "pins put flow/1 weather@1.0.0 weather@^1 --label Morning", stdout: "weather@^1"},
		{args: "pins put flow/2 absent@1.0.0", code: 3, stderr: "<references> number 1"},
		{args: "pins of weather", stdout: "Morning"},
		{args: "pins by flow/1", stdout: "weather@1.0.0"},
		{args: "deprecate weather", code: 2, stderr: "contain a version"},
		{args: "deprecate weather@1.0.0 --undo --reason x", code: 2, stderr: "--undo"},
		{args: "deprecate weather@1.0.0 --reason Old", stdout: "flow/1", stderr: "use weather@1.0.1\nstill used by:\n"},
		{args: "deprecate weather@1.0.0 --undo", stderr: "no longer deprecated"},
		{args: "redraft weather 1.0.0", stderr: "replaced the draft of weather by version 1.0.0"},
		{args: "redraft weather 9.0.0", code: 3, stderr: "9.0.0"},
		{args: "diff weather 1.0.0 draft", stdout: "none"},
		{args: "copy weather climate", stdout: "climate\n"},
		{args: "copy weather climate", code: 3, stderr: "climate"},
		{args: "rename weather forecast", stdout: "forecast\n"},
		{args: "versions weather", stdout: "1.0.1"},
		{args: "registry list forecast", stderr: "forecast is listed in the registry"},
		{args: "registry search forecast", stdout: "default    forecast"},
		{args: "registry copy forecast --name mine --version 1.0.0", stdout: "mine\n"},
		{args: "registry copy default/forecast --name another", stdout: "another\n"},
		{args: "registry copy nobody/forecast", code: 3, stderr: "nobody/forecast"},
		{args: "registry copy nobody", code: 3, stderr: "nobody"},
		{args: "registry unlist forecast", stderr: "no longer listed in the registry"},
		{args: "delete forecast", code: 3, stderr: "Morning"},
		{args: "delete forecast --force", code: 2, stderr: "--comment"},
		{args: "delete forecast --force --comment Replaced", stderr: "atelier restore forecast"},
		{args: "agents --state deleted", stdout: "forecast"},
		{args: "restore forecast", stdout: "forecast\n"},
		{args: "restore forecast", code: 3, stderr: "not deleted"},
		{args: "pins drop flow/1", stderr: "removed all pins of flow/1"},
		{args: "agents changed --code", stdout: ""},
		{args: "agents --unused-for -1h", code: 2, stderr: "--unused-for"},
	}
	for _, step := range steps {
		code, stdout, stderr := command(t, s, "", strings.Fields(step.args)...)
		if code != step.code || !strings.Contains(stdout, step.stdout) || !strings.Contains(stderr, step.stderr) {
			t.Errorf("atelier %s: %d\n%s%s", step.args, code, stdout, stderr)
		}
	}
}

// --json must print the server's answer, and a list as one array.
func TestVerbsPrintJSON(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	weather(t, s)
	var agents []struct{ Name string }
	if err := json.Unmarshal([]byte(must(t, s, "agents", "--json")), &agents); err != nil || len(agents) != 1 || agents[0].Name != "weather" {
		t.Errorf("agents: %v %v", agents, err)
	}
	var none []any
	if err := json.Unmarshal([]byte(must(t, s, "registry", "search", "--json")), &none); err != nil || none == nil || len(none) != 0 {
		t.Errorf("an empty list: %v %v", none, err)
	}
	var copied struct{ ID, Name string }
	if err := json.Unmarshal([]byte(must(t, s, "copy", "weather", "climate", "--json")), &copied); err != nil || copied.ID == "" || copied.Name != "climate" {
		t.Errorf("a copy: %v %v", copied, err)
	}
	if got := must(t, s, "delete", "climate", "--json"); got != "null\n" {
		t.Errorf("a deletion: %q", got)
	}
}

// Every list is an array with --json, whichever endpoint it comes from. `packages list` also has a sum, so it is an object.
func TestListsPrintArrays(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	weather(t, s)
	must(t, s, "run", "weather@1.0.0", "--input", oslo)
	for list, least := range map[string]int{
		"agents": 1, "versions weather": 1, "runs": 1, "history list weather": 1, "token list": 1, "member list": 1, "workspace list": 1,
		"invite list": 0, "secrets list": 0, "toolset list": 0, "pins of weather": 0, "approvals list": 0, "blocked list": 0, "gate packs": 1,
	} {
		got := must(t, s, append(strings.Fields(list), "--json")...)
		var items []map[string]any
		if err := json.Unmarshal([]byte(got), &items); err != nil || items == nil || len(items) < least {
			t.Errorf("%s: %v, %.200s", list, err, got)
		}
	}
}
