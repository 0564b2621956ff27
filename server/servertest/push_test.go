package servertest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

const mine = "def main(input): return {'by': 'mine'}\n"

// pulled pulls the agent of the helper overtaken into a folder. After the pull, another client saves the draft.
func pulled(t *testing.T) (*servertest.Server, string) {
	t.Helper()
	s := overtaken(t)
	dir := filepath.Join(t.TempDir(), "weather")
	must(t, s, "pull", "weather", dir, "--yes")
	save(t, s, "2", map[string]any{"code": "def main(input): return {'by': 'colleague'}\n"})
	write(t, filepath.Join(dir, "main.py"), mine)
	return s, dir
}

// mainOf returns the text of main.py in the draft, and the draft's revision.
func mainOf(t *testing.T, s *servertest.Server) (string, int64) {
	t.Helper()
	var agent struct {
		Draft struct {
			Revision int64
			Files    map[string]any
		}
	}
	s.Want(t, 200, "GET", stalePath, nil).Into(t, &agent)
	text, _ := agent.Draft.Files["main.py"].(string)
	return text, agent.Draft.Revision
}

func TestPush_DraftSavedSincePull_Refused(t *testing.T) {
	t.Parallel()
	s, dir := pulled(t)
	for _, args := range [][]string{{"push", dir, "-y"}, {"push", dir}} {
		code, stdout, stderr := command(t, s, "y\n", args...)
		const both = "== main.py: changed by both\n-- theirs\nchanged main.py\n@@ -1 +1 @@\n-def main(input): return {'by': 'second'}\n+def main(input): return {'by': 'colleague'}\n" +
			"-- yours\nchanged main.py\n@@ -1 +1 @@\n-def main(input): return {'by': 'second'}\n+def main(input): return {'by': 'mine'}\n"
		if code != 5 || stdout != both || !strings.Contains(stderr, "revision 3, by ") || !strings.Contains(stderr, "--force") {
			t.Errorf("%v: exit %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
		if text, revision := mainOf(t, s); !strings.Contains(text, "colleague") || revision != 3 {
			t.Errorf("%v: the colleague's draft was overwritten: revision %d, %s", args, revision, text)
		}
	}
}

// TestPush_ChangesOfBothSides_NamedByFile checks that the three-way difference states for each file which side changed
// it.
func TestPush_ChangesOfBothSides_NamedByFile(t *testing.T) {
	t.Parallel()
	s := overtaken(t)
	const long = "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\nf = 6\ng = 7\nh = 8\n"
	files := func(changes map[string]any) map[string]any {
		all := map[string]any{"main.py": mine, "both.py": long, "same.py": "a = 1\n", "theirs.py": "a = 1\n", "yours.py": "a = 1\n"}
		for name, text := range changes {
			all[name] = text
		}
		return map[string]any{"files": all}
	}
	save(t, s, "2", files(nil))
	dir := filepath.Join(t.TempDir(), "weather")
	must(t, s, "pull", "weather", dir, "--yes")
	save(t, s, "3", files(map[string]any{"both.py": strings.Replace(long, "a = 1", "a = 10", 1), "same.py": "a = 2\n", "theirs.py": "a = 2\n", "new.py": "n = 1\n"}))
	write(t, filepath.Join(dir, "both.py"), strings.Replace(long, "h = 8", "h = 80", 1))
	write(t, filepath.Join(dir, "same.py"), "a = 2\n")
	if err := os.Remove(filepath.Join(dir, "yours.py")); err != nil {
		t.Fatal(err)
	}
	code, stdout, _ := command(t, s, "", "push", dir, "--yes")
	var heads []string
	for line := range strings.Lines(stdout) {
		if strings.HasPrefix(line, "== ") {
			heads = append(heads, line)
		}
	}
	const want = "== both.py: changed by both, in different places\n== new.py: changed by others\n== same.py: changed by both, with the same result\n" +
		"== theirs.py: changed by others\n== yours.py: changed by you\n"
	if code != 5 || strings.Join(heads, "") != want {
		t.Errorf("exit %d, %q", code, heads)
	}
}

func TestPush_Force_OverwritesAndHistoryRestores(t *testing.T) {
	t.Parallel()
	s, dir := pulled(t)
	must(t, s, "push", dir, "--yes", "--force")
	if text, revision := mainOf(t, s); text != mine || revision != 4 {
		t.Fatalf("revision %d, %s", revision, text)
	}
	list := must(t, s, "history", "weather")
	if rows := strings.Split(strings.TrimSpace(list), "\n"); len(rows) != 5 || !strings.HasPrefix(rows[1], "4 ") || !strings.Contains(rows[2], "main.py") {
		t.Errorf("listed %q", list)
	}
	const difference = "changed main.py\n@@ -1 +1 @@\n-def main(input): return {'by': 'colleague'}\n+def main(input): return {'by': 'mine'}\n"
	if got := must(t, s, "history", "show", "weather", "3"); got != difference {
		t.Errorf("shown %q", got)
	}
	if got := must(t, s, "history", "show", "weather", "3", "--json"); !strings.Contains(got, `"revision":3`) || !strings.Contains(got, "colleague") {
		t.Errorf("shown as JSON %q", got)
	}
	must(t, s, "history", "label", "weather", "3", "before the push")
	if got := must(t, s, "history", "list", "weather"); !strings.Contains(got, "before the push") {
		t.Errorf("listed %q", got)
	}
	must(t, s, "history", "restore", "weather", "3")
	if text, revision := mainOf(t, s); !strings.Contains(text, "colleague") || revision != 5 {
		t.Errorf("restored to revision %d, %s", revision, text)
	}
	if code, _, stderr := command(t, s, "", "history", "restore", "weather", "99"); code != 3 || stderr == "" {
		t.Errorf("unknown revision: exit %d, %q", code, stderr)
	}
}

// TestPush_AfterPull_Saved checks that a second pull and a push update the folder's base, so that the next push succeeds.
func TestPush_AfterPull_Saved(t *testing.T) {
	t.Parallel()
	s, dir := pulled(t)
	must(t, s, "pull", "weather", dir, "--yes")
	if got := must(t, s, "pull", "weather", dir); got != "" {
		t.Errorf("the second pull printed %q", got)
	}
	for i, text := range []string{mine, mine + "# again\n"} {
		write(t, filepath.Join(dir, "main.py"), text)
		must(t, s, "push", dir, "--yes")
		if got, revision := mainOf(t, s); got != text || revision != int64(4+i) {
			t.Errorf("revision %d, %s", revision, got)
		}
	}
	if code, _, stderr := command(t, s, "", "push", dir, "--yes"); code != 0 || stderr != "no differences\n" {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

func TestPush_NoBaseFile_YesRefusedAndQuestionAsked(t *testing.T) {
	t.Parallel()
	s, dir := pulled(t)
	if err := os.Remove(filepath.Join(dir, ".atelier.json")); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := command(t, s, "", "push", dir, "--yes"); code != 5 || !strings.Contains(stdout, "colleague") || !strings.Contains(stderr, ".atelier.json") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if code, _, _ := command(t, s, "n\n", "push", dir); code != 1 {
		t.Errorf("exit %d", code)
	}
	if text, revision := mainOf(t, s); !strings.Contains(text, "colleague") || revision != 3 {
		t.Errorf("revision %d, %s", revision, text)
	}
	if code, _, stderr := command(t, s, "y\n", "push", dir); code != 0 {
		t.Error(stderr)
	}
	if text, _ := mainOf(t, s); text != mine {
		t.Errorf("saved %s", text)
	}
}
