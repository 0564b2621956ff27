package servertest_test

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/server/app"
	"github.com/atelier-run/atelier/server/servertest"
	"github.com/atelier-run/atelier/skills"
)

func withSkills(o *app.Options) { o.Skills = skills.Folders() }

type executed struct {
	Success    bool
	Result     map[string]any
	Provenance struct {
		Error string `json:"error_message"`
	}
}

func execute(t *testing.T, s *servertest.Server, skill string, args map[string]any) executed {
	t.Helper()
	var e executed
	s.Want(t, http.StatusOK, http.MethodPost, "/skills/execute", map[string]any{"skill": skill, "args": args}).Into(t, &e)
	return e
}

// TestBuiltinSkills checks that bundled skills exist at the start and can be called by clients of other skill services.
func TestBuiltinSkills(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, withSkills)
	var list struct {
		Total  int
		Skills []struct{ Name, Version string }
	}
	s.Want(t, http.StatusOK, http.MethodGet, "/skills/list?tags=built-in", nil).Into(t, &list)
	if list.Total != 4 {
		t.Errorf("%+v", list)
	}
	if changed := listAgents(t, s, "?view=changed"); len(changed) != 0 {
		t.Errorf("skills without edits are listed with unpublished changes: %+v", changed)
	}
	if e := execute(t, s, "extract_entities", map[string]any{"text": "Write to a@b.example", "entity_types": []string{"EMAIL"}}); !e.Success || e.Result["total_entities"] != 1.0 {
		t.Errorf("%+v", e)
	}
	if e := execute(t, s, "text_summarize", map[string]any{"text": "One. Two.", "max_sentences": 21}); e.Success {
		t.Errorf("%+v", e)
	}
	if e := execute(t, s, "embed_text", map[string]any{"text": "a"}); e.Success || !strings.Contains(e.Provenance.Error, "--embedding-model DIR") {
		t.Errorf("%+v", e)
	}
	without := servertest.New(t, servertest.Flags(t, map[string]string{"skills-builtin": "false"}), withSkills)
	without.Want(t, http.StatusOK, http.MethodGet, "/skills/list", nil).Into(t, &list)
	if list.Total != 0 {
		t.Errorf("left out: %+v", list)
	}
}

// TestModelsAreForOneProgram checks that only the bundled skill can read the directory of models. A skill with the same
// name or a modified copy must not be able to read it.
func TestModelsAreForOneProgram(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/tmp", "atelier-model")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"model_type":"mpnet"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := servertest.New(t, servertest.Flags(t, map[string]string{"embedding-model": dir}), withSkills)
	if e := execute(t, s, "embed_text", map[string]any{"text": "a"}); e.Success || !strings.Contains(e.Provenance.Error, "'mpnet'") {
		t.Errorf("the skill does not see the model: %+v", e)
	}
	files := map[string]string{"main.py": "from handler import embed_text\ndef main(): return embed_text('a')\n"}
	for _, name := range []string{"handler.py", "bert.py", "tokens.py", "weights.py"} {
		text, err := fs.ReadFile(skills.Folders(), "embed_text/"+name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = strings.ReplaceAll(string(text), "from .", "from ")
	}
	run := s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/execute", map[string]any{"language": "python", "files": files}).Run(t)
	if run.Error == nil || !strings.Contains(run.Error.Message, "EmbeddingModelNotConfigured") {
		t.Errorf("a copy: %+v", run.Error)
	}
}

// TestModelsDirectoryIsChecked checks that a mistyped directory does not give the skill access to other files of the
// host.
func TestModelsDirectoryIsChecked(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]string{
		"/nowhere/models": "/nowhere/models", t.TempDir(): "no config.json", "models/mine": "absolute path",
	} {
		said := servertest.Command(t, "", "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data"), "--embedding-model", dir)
		if said.Code == 0 || !strings.Contains(said.Stderr, want) {
			t.Errorf("%s: %d %s", dir, said.Code, said.Stderr)
		}
	}
}
