package servertest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/archive"
	"github.com/atelier-run/atelier/server/cli"
	"github.com/atelier-run/atelier/server/servertest"
)

// identity returns the version that each reference resolves to.
func identity(t *testing.T, s *servertest.Server, references []string) map[string]string {
	t.Helper()
	var answer struct {
		Items []struct {
			Reference, Version, Digest string
			AgentID                    string
		}
	}
	s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/references/resolve", map[string]any{"references": references}).Into(t, &answer)
	is := map[string]string{}
	for _, r := range answer.Items {
		is[r.Reference] = r.AgentID + " " + r.Version + " " + r.Digest
	}
	return is
}

func fill(t *testing.T, s *servertest.Server) (references []string) {
	t.Helper()
	for _, name := range []string{"first", "second-one"} {
		s.Want(t, http.StatusCreated, http.MethodPost, "/api/v1/code-agents", map[string]any{
			"name": name, "language": "bash", "files": map[string]any{"main.sh": "echo 1\n", "lib/b": map[string]string{"base64": "/wD+"}}, "entrypoint": "main.sh",
			"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"z": true, "a": map[string]any{"maximum": json.Number("12345678901234567890")}}},
		})
		for _, version := range []string{"1.0.0", "1.1.0", "2.0.0-rc.1"} {
			s.Publish(t, name, version)
		}
		references = append(references, name+"@1.0.0", name+"@^1", name+"@latest", name+"@2.0.0-rc.1")
	}
	s.Want(t, http.StatusOK, http.MethodPatch, "/api/v1/code-agents/first", map[string]any{"name": "renamed"})
	s.Want(t, http.StatusOK, http.MethodPatch, "/api/v1/code-agents/renamed/versions/1.1.0", map[string]any{"deprecated": true, "reason": "old"})
	return append(references, "renamed@latest")
}

// After export, deletion and import, pinned references resolve to the same versions as before, also on another server.
func TestArchiveRoundTripIsTheIdentity(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	references := fill(t, s)
	before := identity(t, s, references)
	if len(before) != len(references) {
		t.Fatal(before)
	}
	file := s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/archive", nil).Body
	for _, name := range []string{"renamed", "second-one"} {
		s.Want(t, http.StatusNoContent, http.MethodDelete, "/api/v1/code-agents/"+name, nil)
	}
	other := servertest.New(t)
	for name, target := range map[string]*servertest.Server{"after deleting": s, "on another server": other} {
		want := map[string]string{"after deleting": "restored", "on another server": "created"}[name]
		for range 2 { // The second import of the same archive must change nothing.
			var report struct {
				Agents []struct {
					Name, Outcome string
					Added, Kept   int
				}
			}
			target.Want(t, http.StatusOK, http.MethodPost, "/api/v1/archive", string(file), servertest.Headers{"Content-Type": "application/gzip"}).Into(t, &report)
			if len(report.Agents) != 2 || report.Agents[0].Outcome != want || report.Agents[0].Added+report.Agents[0].Kept != 3 {
				t.Errorf("%s: %+v", name, report)
			}
			if diff := cmp.Diff(before, identity(t, target, references)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			want = "unchanged"
		}
		if again := target.Want(t, http.StatusOK, http.MethodGet, "/api/v1/archive", nil).Body; !bytes.Equal(again, file) {
			t.Errorf("%s: the second archive is another", name)
		}
	}
	if run := other.Execute(t, "first", "1.0.0", map[string]any{}); !run.Success {
		t.Errorf("%+v", run)
	}
}

func TestArchiveRefusesOtherContent(t *testing.T) {
	t.Parallel()
	s, other := servertest.New(t), servertest.New(t)
	fill(t, s)
	file := string(s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/archive?agent=second-one", nil).Body)
	other.Want(t, http.StatusCreated, http.MethodPost, "/api/v1/code-agents", map[string]any{"name": "second_one", "language": "bash", "code": "echo 2\n"})
	other.Publish(t, "second_one", "1.1.0")
	gzip := servertest.Headers{"Content-Type": "application/gzip"}
	other.Want(t, http.StatusConflict, http.MethodPost, "/api/v1/archive", file, gzip)
	var list struct{ Items []any }
	other.Want(t, http.StatusOK, http.MethodGet, "/api/v1/code-agents/second_one/versions", nil).Into(t, &list)
	if len(list.Items) != 1 {
		t.Errorf("%d versions: something was written", len(list.Items))
	}
	other.Want(t, http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/archive", file[:len(file)/2], gzip)
	other.Want(t, http.StatusUnsupportedMediaType, http.MethodPost, "/api/v1/archive", "{}")
	other.Want(t, http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/archive?dryRun=maybe", file, gzip)
	s.Want(t, http.StatusNotFound, http.MethodGet, "/api/v1/archive?agent=nobody", nil)
}

// collected is an archive as files in memory.
type collected struct {
	agents   []archive.Agent
	versions map[string][]registry.Version
}

func (c *collected) Agent(a archive.Agent) error { c.agents = append(c.agents, a); return nil }

func (c *collected) Version(v registry.Version) error {
	name := c.agents[len(c.agents)-1].Name
	c.versions[name] = append(c.versions[name], v)
	return nil
}

func (c *collected) write(t *testing.T) string {
	t.Helper()
	var whole bytes.Buffer
	names := make([]string, 0, len(c.agents))
	for _, a := range c.agents {
		names = append(names, a.Name)
	}
	w, err := archive.NewWriter(&whole, names)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range c.agents {
		if err := w.Agent(a); err != nil {
			t.Fatal(err)
		}
		for _, v := range c.versions[a.Name] {
			if err := w.Version(a.Name, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return whole.String()
}

// An import checks all data before it writes, including data without a digest. It succeeds completely or changes nothing.
func TestArchiveIsCheckedWholeBeforeItIsWritten(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	fill(t, s)
	file := s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/archive", nil).Body
	long := strings.Repeat("x", registry.MaxWords+1)
	for name, spoil := range map[string]func(c *collected){
		"a changelog":  func(c *collected) { c.versions["second-one"][2].Changelog = "a\x00" },
		"a reason":     func(c *collected) { c.versions["second-one"][2].Reason = "a\x00" },
		"a successor":  func(c *collected) { c.versions["second-one"][2].Successor = long },
		"a comment":    func(c *collected) { c.versions["second-one"][2].Override = &registry.Override{Comment: long} },
		"a publisher":  func(c *collected) { c.versions["second-one"][2].PublishedBy = "a\x00" },
		"a title":      func(c *collected) { c.agents[1].Title = "a\x00" },
		"a tag":        func(c *collected) { c.agents[1].Tags = []string{"a\x00"} },
		"a long title": func(c *collected) { c.agents[1].Title = long },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := collected{versions: map[string][]registry.Version{}}
			if err := archive.Read(bytes.NewReader(file), &c); err != nil {
				t.Fatal(err)
			}
			spoil(&c)
			other := servertest.New(t)
			other.Want(t, http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/archive", c.write(t), servertest.Headers{"Content-Type": "application/gzip"})
			var list struct{ Items []any }
			other.Want(t, http.StatusOK, http.MethodGet, "/api/v1/code-agents", nil).Into(t, &list)
			if len(list.Items) != 0 {
				t.Errorf("%d agents were written", len(list.Items))
			}
		})
	}
}

// command runs a command of the binary. The command sends its requests to a server.
func command(t *testing.T, s *servertest.Server, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, faults bytes.Buffer
	environment := func(name string) string {
		if name == "ATELIER_TOKEN" {
			return s.Token
		}
		return ""
	}
	code = cli.Main(context.WithoutCancel(t.Context()), cli.Process{
		Args: append(args, "--server", s.URL), Stdin: bytes.NewReader([]byte(stdin)), Stdout: &out, Stderr: &faults, Getenv: environment, Version: "test",
	})
	return code, out.String(), faults.String()
}

func must(t *testing.T, s *servertest.Server, args ...string) string {
	t.Helper()
	code, stdout, stderr := command(t, s, "", args...)
	if code != 0 {
		t.Fatalf("%v: %d %s", args, code, stderr)
	}
	return stdout
}

func TestFolderGoesAndComes(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	fill(t, s)
	dir := filepath.Join(t.TempDir(), "agent")
	must(t, s, "pull", "renamed", dir, "--yes")
	if text, err := os.ReadFile(filepath.Join(dir, "lib", "b")); err != nil || !bytes.Equal(text, []byte{0xff, 0, 0xfe}) {
		t.Errorf("%q %v", text, err)
	}
	if code, _, stderr := command(t, s, "", "push", dir); code != 0 || stderr != "no differences\n" {
		t.Errorf("%d %s: what was pulled is not what is there", code, stderr)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("main.sh", "echo 2\n")
	write("more.sh", "echo 3\n")
	write("input.json", "{}")
	write(".hidden", "x")
	code, stdout, stderr := command(t, s, "n\n", "push", dir)
	const diff = "changed main.sh\n@@ -1 +1 @@\n-echo 1\n+echo 2\nadded more.sh\n@@ -0,0 +1 @@\n+echo 3\n"
	if code == 0 || stdout != diff {
		t.Errorf("%d %q %s", code, stdout, stderr)
	}
	var draft struct {
		Draft struct {
			Revision int
			Files    map[string]json.RawMessage
		}
	}
	s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/code-agents/renamed", nil).Into(t, &draft)
	if string(draft.Draft.Files["main.sh"]) != `"echo 1\n"` {
		t.Error("it was saved without a yes")
	}
	if code, _, stderr := command(t, s, "y\n", "push", dir); code != 0 {
		t.Error(stderr)
	}
	draft.Draft.Files = nil
	s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/code-agents/renamed", nil).Into(t, &draft)
	if string(draft.Draft.Files["main.sh"]) != `"echo 2\n"` || draft.Draft.Files["more.sh"] == nil || draft.Draft.Files[".hidden"] != nil || draft.Draft.Files["input.json"] != nil {
		t.Errorf("%s", draft.Draft.Files)
	}
	// Pulling an older state shows the files to be removed. A link in the folder is replaced and not followed.
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "main.sh")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "main.sh")); err != nil {
		t.Fatal(err)
	}
	write("stray.sh", "x\n")
	if got := must(t, s, "pull", "renamed", dir, "--yes"); got != "added main.sh\n@@ -0,0 +1 @@\n+echo 2\nremoved stray.sh\n@@ -1 +0,0 @@\n-x\n" {
		t.Errorf("%q", got)
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "mine" {
		t.Errorf("%q %v: a link was followed", text, err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".hidden")); err != nil {
		t.Error("a hidden file is gone: ", err)
	}
	// A folder that does not belong to an agent keeps its files.
	foreign := t.TempDir()
	letter := filepath.Join(foreign, "letter.txt")
	if err := os.WriteFile(letter, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command(t, s, "", "pull", "renamed", foreign, "--yes"); code != 2 || !strings.Contains(stderr, "agent.yaml") {
		t.Errorf("%d %s", code, stderr)
	}
	if _, err := os.Stat(letter); err != nil {
		t.Error(err)
	}
	other := servertest.New(t)
	must(t, other, "push", dir, "--yes")
	other.Want(t, http.StatusOK, http.MethodGet, "/api/v1/code-agents/renamed", nil)
}

func TestArchiveCommands(t *testing.T) {
	t.Parallel()
	s, other := servertest.New(t), servertest.New(t)
	references := fill(t, s)
	file := filepath.Join(t.TempDir(), "agents.tar.gz")
	must(t, s, "archive", "export", file)
	must(t, other, "archive", "import", file, "--dry-run")
	var list struct{ Items []any }
	other.Want(t, http.StatusOK, http.MethodGet, "/api/v1/code-agents", nil).Into(t, &list)
	if len(list.Items) != 0 {
		t.Error("a dry run wrote")
	}
	must(t, other, "archive", "import", file)
	if diff := cmp.Diff(identity(t, s, references), identity(t, other, references)); diff != "" {
		t.Error(diff)
	}
	before, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	if code, _, _ := command(t, s, "", "archive", "export", file, "nobody"); code == 0 {
		t.Error("an archive of nobody")
	}
	if after, err := os.ReadDir(filepath.Dir(file)); err != nil || len(after) != len(before) {
		t.Errorf("%d files, were %d: %v", len(after), len(before), err)
	}
}
