package servertest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

// TestDraftFoldersOfPeopleAreTheirs checks that a folder that a person has put into _drafts is read but never written.
// When the draft is promoted, the folder becomes the folder of the skill with all its files.
func TestDraftFoldersOfPeopleAreTheirs(t *testing.T) {
	t.Parallel()
	files := map[string]string{".gitignore": "x\n", "README.md": "# Mine\n", "tests/test_echo.py": "assert True\n", "skill.yaml": "# a comment\n" + echoSettings, "schema.json": echoSchemas, "handler.py": echoHandler}
	drafts := map[string]string{}
	for name, content := range files {
		drafts["_drafts/echo/"+name] = content
	}
	data, dir := skillsIn(t, drafts)
	s := servertest.On(t, data)
	if a := s.Want(t, 200, "GET", "/v1/skills", nil); !strings.Contains(string(a.Body), `"state":"draft"`) {
		t.Fatalf("at the start there is %s", a.Body)
	}
	theirs := func(folder string) {
		t.Helper()
		for name, want := range files {
			if got, err := os.ReadFile(filepath.Join(dir, folder, name)); err != nil || string(got) != want {
				t.Errorf("%s/%s is %q, %v", folder, name, got, err)
			}
		}
	}
	theirs("_drafts/echo")
	s.Want(t, 200, "POST", "/v1/skills/promote", `{"name": "echo"}`)
	for _, name := range []string{".gitignore", "README.md", "tests/test_echo.py"} {
		_, draft := os.Stat(filepath.Join(dir, "_drafts/echo", name))
		_, active := os.Stat(filepath.Join(dir, "echo", name))
		if draft != nil && active != nil {
			t.Errorf("%s is gone: %v", name, active)
		}
	}
}

// TestRegisteringAFolderKeepsIt checks that registering a folder keeps its files.
func TestRegisteringAFolderKeepsIt(t *testing.T) {
	t.Parallel()
	data, dir := skillsIn(t, map[string]string{"shout/handler.py": "def shout(text):\n    return {'text': text.upper()}\n", "shout/.git/HEAD": "ref: refs/heads/main\n", "shout/README.md": "# Mine\n"})
	s := servertest.On(t, data)
	var body map[string]any
	if err := json.Unmarshal([]byte(registration), &body); err != nil {
		t.Fatal(err)
	}
	delete(body, "code")
	text, _ := json.Marshal(body)
	s.Want(t, 201, "POST", "/skills/register", string(text))
	for _, name := range []string{".git/HEAD", "README.md", "handler.py", "skill.yaml", "schema.json"} {
		if _, err := os.Stat(filepath.Join(dir, "shout", name)); err != nil {
			t.Error(err)
		}
	}
	s.Want(t, 200, "POST", "/v1/skills/uninstall", `{"name": "shout"}`)
	if _, err := os.Stat(filepath.Join(dir, "shout/README.md")); err != nil {
		t.Error(err)
	}
}

// TestFailedInstallationsChangeNothing checks that an uninstalled skill stays uninstalled if a new installation is
// rejected.
func TestFailedInstallationsChangeNothing(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	install := func(status int, handler string) {
		t.Helper()
		files, _ := json.Marshal(map[string]any{"files": map[string]string{"skill.yaml": echoSettings, "schema.json": echoSchemas, "handler.py": handler}})
		s.Want(t, status, "POST", "/v1/skills/install", string(files))
	}
	install(200, echoHandler)
	s.Want(t, 200, "POST", "/v1/skills/uninstall", `{"name": "echo"}`)
	install(409, "def echo(value): pass\n")
	s.Want(t, 404, "GET", "/skills/echo", nil)
	s.Want(t, 409, "POST", "/skills/register", strings.NewReplacer("shout", "echo", "2.1.0", "1.0.0").Replace(registration))
	s.Want(t, 404, "GET", "/skills/echo", nil)
	install(200, echoHandler)
	s.Want(t, 200, "GET", "/skills/echo", nil)
}

// TestTroubleGoesWithItsFolder checks that an error disappears when its folder is removed. This also holds for folders
// in _drafts.
func TestTroubleGoesWithItsFolder(t *testing.T) {
	t.Parallel()
	data, dir := skillsIn(t, map[string]string{"_drafts/broken/skill.yaml": "name: broken\nversion: one\n"})
	s := servertest.On(t, data)
	if a := s.Want(t, 200, "GET", "/v1/skills", nil); !strings.Contains(string(a.Body), "broken") {
		t.Fatalf("at the start there is %s", a.Body)
	}
	if err := os.RemoveAll(filepath.Join(dir, "_drafts")); err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "a folder that is gone is no problem", func() bool {
		return !strings.Contains(string(s.Do(t, "GET", "/v1/skills", nil).Body), "broken")
	})
}

// TestPromotionsAtOnce checks that concurrent promotions of one draft create only one version.
func TestPromotionsAtOnce(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Want(t, 200, "POST", "/v1/skills/create", `{"name": "adder", "description": "Adds two numbers up.", "code": "def run(action, args): return 1"}`)
	statuses := make(chan int, 4)
	for range cap(statuses) {
		go func() { statuses <- s.Do(t, "POST", "/v1/skills/promote", `{"name": "adder"}`).Status }()
	}
	got := map[int]int{}
	for range cap(statuses) {
		got[<-statuses]++
	}
	if got[200] != 1 || got[409] != 3 {
		t.Errorf("answered with %v", got)
	}
	if a := s.Want(t, 200, "GET", "/v1/skills", nil); !strings.Contains(string(a.Body), `"version":"1.0.0"`) {
		t.Errorf("there is %s", a.Body)
	}
}

// TestTroubleOfDraftsIsListed checks that the command lists errors of drafts too.
func TestTroubleOfDraftsIsListed(t *testing.T) {
	t.Parallel()
	data, dir := skillsIn(t, map[string]string{"_drafts/echo/skill.yaml": echoSettings, "_drafts/echo/schema.json": echoSchemas, "_drafts/echo/handler.py": echoHandler})
	s := servertest.On(t, data)
	s.Want(t, 200, "GET", "/v1/skills", nil)
	write(t, filepath.Join(dir, "_drafts/echo/schema.json"), "{")
	servertest.Eventually(t, "the command tells of it", func() bool {
		_, stdout, stderr := command(t, s, "", "skills", "list")
		return strings.Contains(stdout, "echo") && strings.Contains(stderr, "_drafts/echo/schema.json:1")
	})
}

// TestRenamedSkills checks that a renamed skill can still be called by its old name, and that its folder still creates
// versions.
func TestRenamedSkills(t *testing.T) {
	t.Parallel()
	data, dir := skillsIn(t, echo())
	s := servertest.On(t, data)
	s.Want(t, 200, "GET", "/skills/echo", nil)
	s.Want(t, 200, "PATCH", "/api/v1/code-agents/echo", `{"name": "repeat"}`)
	for _, name := range []string{"echo", "repeat"} {
		if a := s.Want(t, 200, "POST", "/skills/execute", `{"skill": "`+name+`", "args": {"value": 7}}`); !strings.Contains(string(a.Body), `"success":true`) {
			t.Errorf("%s answers %s", name, a.Body)
		}
		s.Want(t, 200, "GET", "/skills/"+name, nil)
	}
	write(t, filepath.Join(dir, "echo/skill.yaml"), strings.Replace(echoSettings, "1.0.0", "1.0.1", 1))
	servertest.Eventually(t, "the folder makes the next version", func() bool {
		return strings.Contains(string(s.Do(t, "GET", "/skills/repeat", nil).Body), `"version":"1.0.1"`)
	})
}
