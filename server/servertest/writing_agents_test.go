package servertest_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

var fenced = regexp.MustCompile("(?s)```(python|javascript|bash)\n(.*?)```")

// The programs in the guides about agents that change projects must run, and have the result that the guide describes.
func TestWritingAgents_ProgramsRun(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for page, programs := range map[string]int{"writing-agents.md": 3, "SKILL.md": 1} {
		text, err := os.ReadFile(filepath.Join(servertest.Root(t), "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		found := fenced.FindAllStringSubmatch(string(text), -1)
		if len(found) != programs {
			t.Errorf("%s has %d programs", page, len(found))
		}
		for n, program := range found {
			language := program[1]
			t.Run(page+"/"+language, func(t *testing.T) {
				t.Parallel()
				project := fmt.Sprintf("guide%d-%d", len(page), n)
				importProject(t, s, project, map[string]string{"README.md": "# Read\n", "src/a.py": "print(1)\n", "notes/old.txt": "old\n", "notes/new.txt": "new\n"})
				run := s.Want(t, 200, http.MethodPost, "/api/v1/execute", onProject(project, language, "auto", program[2])).Run(t)
				if want := `{"source":"# checked\nprint(1)\n","old":false}`; string(run.Output) != want {
					t.Errorf("%s %+v %s\n%s", run.Status, run.Error, run.Output, run.Stderr)
				}
				if o := overlayOf(t, s, project); len(o.Entries) != 2 || o.Summary == "" {
					t.Errorf("%+v", o)
				}
			})
		}
	}
}
