package servertest_test

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/servertest"
)

var updateSamples = flag.Bool("update", false, "write the expected differences of the task samples anew")

// folderOf reads the files of a folder, with slashes in their paths.
func folderOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(paths, more...) {
		name, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			continue
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.ToSlash(name)] = string(file)
	}
	return files
}

// Each sample of samples/tasks proposes the change in its expected.diff.
func TestTaskSamples_ExpectedDifference(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	samples := filepath.Join(servertest.Root(t), "samples", "tasks")
	importProject(t, s, "shop", folderOf(t, filepath.Join(samples, "project")))
	for _, name := range []string{"add-docstrings", "fix-todos", "add-type-hints"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir() // push notes the revision in the folder
			golden := filepath.Join(samples, name, "expected.diff")
			for path, text := range folderOf(t, filepath.Join(samples, name)) {
				if path != "expected.diff" {
					write(t, filepath.Join(dir, path), text)
				}
			}
			for _, args := range [][]string{{"push", dir, "-y"}, {"publish", name}} {
				if code, _, faults := command(t, s, "", args...); code != 0 {
					t.Fatal(args, code, faults)
				}
			}
			task := reach(t, s, submit(t, s, map[string]any{"agent": name, "project": "shop"}).ID, registry.TaskReviewing)
			var diff struct{ Files []struct{ Unified string } }
			s.Want(t, 200, http.MethodGet, "/api/v1/tasks/"+task.ID+"/diff", nil).Into(t, &diff)
			var got strings.Builder
			for _, file := range diff.Files {
				got.WriteString(file.Unified)
			}
			if *updateSamples {
				write(t, golden, got.String())
			}
			want, err := os.ReadFile(golden)
			if err != nil || got.String() != string(want) {
				t.Errorf("%v\n%s", err, got.String())
			}
		})
	}
}
