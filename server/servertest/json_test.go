package servertest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/servertest"
)

// grammarCommand is a command as `atelier help --json` describes it.
type grammarCommand struct {
	Command, Help, Description string
	Arguments, Flags           []grammarFlag
}

type grammarFlag struct {
	Name, Help, Placeholder string
	Values                  []string
}

func grammar(t *testing.T) []grammarCommand {
	t.Helper()
	var all []grammarCommand
	said := servertest.Command(t, "", "help", "--json")
	if err := json.Unmarshal([]byte(said.Stdout), &all); err != nil || len(all) < 80 {
		t.Fatalf("%d commands, %v, %+v", len(all), err, said)
	}
	return all
}

// withoutJSON lists the commands without --json, because their output has its own format.
var withoutJSON = []string{"mcp", "completion"}

// kindOf returns the kind of a JSON document: array, object, null or scalar. For any other text it returns a
// description of the error.
func kindOf(text string) string {
	decoder := json.NewDecoder(strings.NewReader(text))
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "no JSON"
	}
	if _, err := decoder.Token(); err != io.EOF {
		return "more than one document"
	}
	switch value.(type) {
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case nil:
		return "null"
	}
	return "a scalar"
}

// Every command has --json. With it, the command prints one document: an array for a list, null for a change without a
// result, and otherwise an object. A new command fails this test until it is added here.
func TestEveryCommand_JSON(t *testing.T) {
	t.Parallel()
	commands := grammar(t)
	for _, c := range commands {
		has := slices.ContainsFunc(c.Flags, func(f grammarFlag) bool { return f.Name == "json" })
		if has == slices.Contains(withoutJSON, c.Command) {
			t.Errorf("%s: --json is there: %v", c.Command, has)
		}
	}
	done := map[string]bool{}
	w := verbs{t: t, commands: commands, done: done, dir: t.TempDir()}
	w.withServer()
	w.withoutServer()
	w.withDatabase()
	w.serves()
	t.Run("with a policy service", func(t *testing.T) {
		done["blocked resubmit"], done["blocked drop"] = true, true
		verbs{t: t, commands: commands, done: done, dir: w.dir}.withPolicyService()
	})
	t.Run("with a bucket", func(t *testing.T) {
		done["blobs move"] = true
		flags, environment, _ := withS3(t)
		args := []string{"blobs", "move", "--data", filepath.Join(w.dir, "data")}
		said := servertest.CommandWith(t, append(environment, "ATELIER_S3_ENDPOINT="+flags[3], "ATELIER_S3_ACCESS_KEY=test-only-key"), "", append(args, "--json")...)
		verbs{t: t, commands: commands, done: done}.check("object", args, said.Code, said.Stdout, said.Stderr)
	})
	done["doctor"] = true // Skip this command, because it takes seconds; TestDoctorOfAnOrdinaryUser reads its report.
	for _, c := range commands {
		if !done[c.Command] && !slices.Contains(withoutJSON, c.Command) {
			t.Errorf("no step runs atelier %s --json", c.Command)
		}
	}
}

// verbs runs commands and records which commands were run.
type verbs struct {
	t        *testing.T
	commands []grammarCommand
	done     map[string]bool
	dir      string
}

// note records that the command with these arguments was run.
func (w verbs) note(args []string) {
	w.t.Helper()
	best := ""
	for _, c := range w.commands {
		if typed := strings.Join(args, " ") + " "; strings.HasPrefix(typed, c.Command+" ") && len(c.Command) > len(best) {
			best = c.Command
		}
	}
	if best == "" {
		w.t.Fatalf("atelier %v is no command", args)
	}
	w.done[best] = true
}

func (w verbs) check(kind string, args []string, code int, stdout, stderr string) {
	w.t.Helper()
	w.note(args)
	if got := kindOf(stdout); code != 0 || got != kind {
		w.t.Errorf("atelier %s --json: exit %d, %s instead of %s: %.300s%s", strings.Join(args, " "), code, got, kind, stdout, stderr)
	}
}

func (w verbs) withServer() {
	t := w.t
	s := servertest.New(t)
	weather(t, s)
	run := func(kind, stdin string, args ...string) (stdout string) {
		t.Helper()
		code, stdout, stderr := command(t, s, stdin, append(slices.Clone(args), "--json")...)
		w.check(kind, args, code, stdout, stderr)
		return stdout
	}
	fields := func(text string) (f struct{ ID, Name string }) {
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Error(err)
		}
		return f
	}
	steps := func(text string) {
		t.Helper()
		for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
			args := strings.Fields(line)
			run(args[0], "", args[1:]...)
		}
	}
	folder, archive, skill, project := filepath.Join(w.dir, "weather"), filepath.Join(w.dir, "all.tar.gz"), filepath.Join(w.dir, "echo"), filepath.Join(w.dir, "project")
	write(t, filepath.Join(w.dir, "pack.yaml"), "name: ours\nrules:\n  - id: no-eval\n    title: Calls eval.\n    severity: high\n    match: {fact: [call], name: [eval]}\n    remedy: Do not call eval.\n")
	for _, dir := range []string{skill, project} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range echo() {
		write(t, filepath.Join(w.dir, name), text)
	}
	write(t, filepath.Join(project, "a.txt"), "a\n")
	write(t, filepath.Join(w.dir, "tool.json"), `{"name":"look-up","description":"Looks up.","inputSchema":{"type":"object"}}`)
	steps(`
object import --tool ` + filepath.Join(w.dir, "tool.json") + `
object pull weather ` + folder + ` --yes
object push ` + folder + ` --yes
array agents
object assist tool weather
array versions weather
array history list weather
null history label weather 1 first
object history show weather 1
object history restore weather 1
object diff weather 1.0.0 draft
object run weather@1.0.0 --input ` + oslo + `
object replay weather --runs 1
array runs
object export weather --format openai
object publish weather 1.1.0 --if-changed
object deprecate weather@1.0.0
object redraft weather 1.0.0
object copy weather climate
object rename climate mild
null delete mild
object restore mild
object packages list
object packages resolve weather
object packages gc
object gc --dry-run
object sbom weather
array pins put flow weather@1.0.0
array pins of weather
array pins by flow
null pins drop flow
object registry list weather
array registry search
object registry copy weather --name again
object registry unlist weather
object gate show
object gate set --gate advise
array gate packs
object gate check weather
array approvals list
array approvals deliveries
array blocked list
object quotas show
object router show
object router explain weather@draft --long-job
object usage
object budget set gpu --meter gpuMinutes --amount 60
array budget list
null budget remove gpu
object quotas set default --runs-per-day 1000
array secrets list
array token list
array workspace list
object workspace create acme
null workspace close acme
array member list
array invite list
object toolset put tools weather@1.0.0
array toolset list
object toolset show tools
object toolset server-json tools
null toolset delete tools
object archive export ` + archive + `
object archive import ` + archive + ` --dry-run
object skills install ` + skill + `
array skills list
object skills uninstall echo
object project import notes ` + project + `
array project list
object project show notes
array project history notes
array project overlays notes
null project delete notes
`)
	run("object", "hunter2hunter2", "secrets", "set", "KEY")
	steps("array secrets uses KEY\nnull secrets remove KEY")
	token := run("object", "", "token", "create", "ci")
	run("null", "", "token", "revoke", fields(token).ID)
	invited := run("object", "", "invite", "create", "viewer")
	run("null", "", "invite", "revoke", fields(invited).ID)
	run("object", "", "gate", "put", "ours", filepath.Join(w.dir, "pack.yaml"))
	run("null", "", "gate", "delete", "ours")
	w.withPeople(s, run)
	w.withProposals(s, run)
}

// withPeople runs the commands that need a second member, a request and a waiting skill.
func (w verbs) withPeople(s *servertest.Server, run func(kind, stdin string, args ...string) string) {
	t := w.t
	invitation := run("object", "", "invite", "create", "viewer")
	var invited struct{ Link string }
	if err := json.Unmarshal([]byte(invitation), &invited); err != nil {
		t.Fatal(err)
	}
	_, secret, _ := strings.Cut(invited.Link, "#")
	s.Want(t, 204, "POST", "/api/v1/invitations/accept", map[string]string{"secret": secret, "name": "grace", "password": password}, anonymous)
	run("null", "", "member", "role", "grace", "developer")
	run("null", "", "member", "remove", "grace")
	s.Want(t, 200, "POST", "/v1/skills/create", `{"name": "adder", "description": "Adds two numbers up.", "code": "def run(action, args):\n    return args['a'] + 1\n"}`)
	run("object", "", "skills", "promote", "adder")
	s.Create(t, map[string]any{"name": "deletes", "language": "bash", "code": "echo 1", "safetyFlags": []string{"side_effect"}})
	s.Publish(t, "deletes", "1.0.0")
	for _, decision := range []string{"approve", "deny"} {
		if code, _, stderr := command(t, s, "", "run", "deletes@1.0.0", "--no-wait"); code != 3 {
			t.Fatalf("exit %d, %s", code, stderr)
		}
		var waiting []struct{ ID string }
		if err := json.Unmarshal([]byte(run("array", "", "approvals", "list")), &waiting); err != nil || len(waiting) != 1 {
			t.Fatalf("%v %v", waiting, err)
		}
		run("object", "", "approvals", "show", waiting[0].ID)
		run("object", "", "approvals", decision, waiting[0].ID)
	}
}

// withProposals runs the commands about changes that a program proposes.
func (w verbs) withProposals(s *servertest.Server, run func(kind, stdin string, args ...string) string) {
	t := w.t
	run("object", "", "project", "import", "docs", filepath.Join(w.dir, "project"))
	for _, decision := range []string{"accept", "reject"} {
		s.Want(t, 200, "POST", "/api/v1/execute", map[string]any{
			"language": "python", "code": "def main(ctx):\n    ctx.write_file('" + decision + ".txt', 'x')\n",
			"capabilities": map[string]any{"files": map[string]any{"project": "docs", "write": true}},
		})
		var open []struct{ ID string }
		if err := json.Unmarshal([]byte(run("array", "", "project", "overlays", "docs", "--status", "open")), &open); err != nil || len(open) != 1 {
			t.Fatalf("%v %v", open, err)
		}
		run("object", "", "project", "diff", "docs", open[0].ID)
		run("object", "", "project", "materialize", "docs", open[0].ID, filepath.Join(w.dir, "to "+decision))
		run("object", "", "project", decision, "docs", open[0].ID)
	}
	w.withTasks(s, run)
}

// withTasks runs the commands of tasks.
func (w verbs) withTasks(s *servertest.Server, run func(kind, stdin string, args ...string) string) {
	t := w.t
	tasker(t, s, "appends", appends)
	importProject(t, s, "texts", map[string]string{"a.txt": "one\n"})
	of := func(text string) registry.Task {
		var task registry.Task
		if err := json.Unmarshal([]byte(text), &task); err != nil {
			t.Fatal(err)
		}
		return task
	}
	one := of(run("object", `{"path":"a.txt","text":"two"}`, "task", "submit", "appends@1.0.0", "--project", "texts", "--input", "-"))
	reach(t, s, one.ID, registry.TaskReviewing)
	run("array", "", "task", "list", "--status", "reviewing")
	run("object", "", "task", "show", one.ID)
	run("object", "", "task", "diff", one.ID)
	folder := filepath.Join(w.dir, "materialized")
	run("object", "", "task", "materialize", one.ID, folder)
	write(t, filepath.Join(folder, "more.txt"), "more\n")
	run("object", "", "task", "materialize", one.ID, folder, "--read-back")
	run("object", "", "task", "reject", one.ID)
	run("object", "", "task", "retry", one.ID, "--feedback", "three")
	reach(t, s, one.ID, registry.TaskReviewing)
	run("object", "", "task", "accept", one.ID, "a.txt")
	long := of(run("object", "", "task", "submit", "appends", "--project", "texts", "--input", `{"path":"a.txt","text":"x","ms":60000}`))
	run("object", "", "task", "cancel", long.ID)
}

func (w verbs) withoutServer() {
	t := w.t
	h := home{w.dir}
	run := func(kind, stdin string, args ...string) {
		t.Helper()
		said := h.run(t, nil, stdin, append(slices.Clone(args), "--json")...)
		w.check(kind, args, said.Code, said.Stdout, said.Stderr)
	}
	dir := filepath.Join(w.dir, "greet")
	run("object", "", "init", dir)
	write(t, filepath.Join(dir, "tests.yaml"), "- name: Ada\n  input: {name: Ada}\n  expect: {schema: true}\n")
	run("object", "", "test", dir)
	run("object", "", "infer", dir)
	run("object", "", "skills", "check", filepath.Join(w.dir, "echo"))
	run("object", "", "skills", "schema")
	run("object", "", "version")
	run("array", "", "help")
	run("array", "", "man", filepath.Join(w.dir, "man"))
	run("object", "atl_x", "profile", "set", "mine", "--server", "http://127.0.0.1:1", "--token-from", "-")
	run("array", "", "profile", "list")
	run("object", "", "profile", "use", "mine")
	run("null", "", "profile", "remove", "mine")
}

func (w verbs) withDatabase() {
	t := w.t
	data := filepath.Join(w.dir, "data")
	run := func(kind string, args ...string) {
		t.Helper()
		said := servertest.Command(t, "", append(slices.Clone(args), "--json")...)
		w.check(kind, args, said.Code, said.Stdout, said.Stderr)
	}
	backup := filepath.Join(w.dir, "backup")
	p := servertest.Spawn(t, data)
	p.Signal(t, os.Interrupt)
	p.Exit()
	run("array", "migrate", "up", "--data", data)
	run("array", "migrate", "status", "--data", data)
	run("object", "break-glass", "--reason", "a test", "--data", data)
	run("object", "secrets", "rotate-key", "--data", data)
	run("object", "backup", "create", backup, "--data", data)
	run("object", "backup", "verify", backup)
	run("object", "backup", "restore", backup, "--data", filepath.Join(w.dir, "restored"))
}

// serves starts a server with --json. The server must print one document when it is ready, and nothing more until it
// ends.
func (w verbs) serves() {
	t := w.t
	args := []string{"serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data")}
	cmd := exec.Command(servertest.Binary(t), append(slices.Clone(args), "--json")...)
	var log bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = t.TempDir(), []string{}, &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var started struct{ Version, URL, Link string }
	var printed bytes.Buffer
	read := io.TeeReader(out, &printed)
	problem := json.NewDecoder(read).Decode(&started)
	err = cmd.Process.Signal(os.Interrupt)
	_, rest := io.Copy(io.Discard, read)
	if end := cmd.Wait(); end != nil {
		t.Logf("the server ended with %v", end)
	}
	if problem != nil || err != nil || rest != nil || started.Version == "" || !strings.HasPrefix(started.Link, started.URL+"/login") {
		t.Errorf("serve --json: %+v %v %v %v\n%s", started, problem, err, rest, log.String())
	}
	w.check("object", args, cmd.ProcessState.ExitCode(), printed.String(), log.String())
}

// withPolicyService runs the commands about requests that a policy service denied.
func (w verbs) withPolicyService() {
	t := w.t
	url := startOPA(t, denyOne)
	s := servertest.New(t, servertest.Flags(t, map[string]string{"policy-url": url, "policy-cache": "0s"}))
	s.Create(t, map[string]any{"name": "denied", "language": "javascript", "code": "export default () => 1"})
	s.Publish(t, "denied", "1.0.0")
	for _, decision := range []string{"drop", "resubmit"} {
		s.Execute(t, "denied", "1.0.0", map[string]any{})
		var list struct{ Items []struct{ ID, Status string } }
		s.Want(t, 200, "GET", "/api/v1/blocked", nil).Into(t, &list)
		if len(list.Items) != 1 {
			t.Fatalf("blocked are %+v", list.Items)
		}
		if decision == "resubmit" {
			setPolicy(t, url, allowAPI)
		}
		args := []string{"blocked", decision, list.Items[0].ID}
		code, stdout, stderr := command(t, s, "", append(slices.Clone(args), "--json")...)
		w.check("object", args, code, stdout, stderr)
	}
}

// For every command that writes a file, - means stdout. For every command that reads a file, - means stdin.
func TestDash_StdoutAndStdin(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "greet")
	servertest.Command(t, "", "init", dir)
	write(t, filepath.Join(dir, "tests.yaml"), "- name: Ada\n  input: {name: Ada}\n  expect: {schema: true}\n")
	if said := servertest.Command(t, "", "test", dir, "--junit", "-"); said.Code != 0 || !strings.HasPrefix(said.Stdout, "<?xml") || !strings.HasSuffix(said.Stdout, "</testsuite>\n") || !strings.Contains(said.Stderr, "ok  ") {
		t.Errorf("--junit -: %+v", said)
	}
	if said := servertest.Command(t, "", "test", dir, "--junit", "-", "--json"); said.Code != 2 || said.Stdout != "" {
		t.Errorf("two documents: %+v", said)
	}
	s := servertest.New(t)
	must(t, s, "push", dir, "--yes")
	archive := must(t, s, "archive", "export", "-")
	if code, _, stderr := command(t, s, archive, "archive", "import", "-", "--dry-run"); code != 0 {
		t.Errorf("archive import -: %s", stderr)
	}
	if code, _, stderr := command(t, s, archive, "project", "import", "tree", "-"); code != 0 {
		t.Errorf("project import -: %s", stderr)
	}
	if code, _, stderr := command(t, s, archive, "project", "import", "tree", "-", "--type", "zip"); code != 3 {
		t.Errorf("project import - of another type: %d %s", code, stderr)
	}
	if code, stdout, stderr := command(t, s, packedSkill(t, echo()), "skills", "install", "-"); code != 0 || !strings.HasPrefix(stdout, "echo@") {
		t.Errorf("skills install -: %d %s %s", code, stdout, stderr)
	}
	for _, c := range grammar(t) {
		for _, f := range append(c.Flags, c.Arguments...) {
			settings := slices.Contains([]string{"config", "secrets-key-file", "python", "bash", "node", "typescript"}, f.Name) || c.Command == "serve"
			if f.Placeholder == "FILE" && !settings {
				t.Errorf("atelier %s %s: %s does not take -", c.Command, f.Name, f.Placeholder)
			}
		}
	}
}
