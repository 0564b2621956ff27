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

// folderOf reads the files of a folder. The paths contain slashes.
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

// Each sample in samples/tasks must propose the change in its expected.diff.
func TestTaskSamples_ExpectedDifference(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	samples := filepath.Join(servertest.Root(t), "samples", "tasks")
	importProject(t, s, "shop", folderOf(t, filepath.Join(samples, "project")))
	for _, name := range []string{"add-docstrings", "fix-todos", "add-type-hints"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden := filepath.Join(samples, name, "expected.diff")
			publishSample(t, s, filepath.Join(samples, name))
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

// The samples must preserve the form of the files to which they add text. For example, TODO.md has entries, and code is
// indented with tabs or has CRLF line ends.
func TestTaskSamples_UnusualFiles_OnlyAdd(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	samples := filepath.Join(servertest.Root(t), "samples", "tasks")
	for name, tt := range map[string]struct{ before, want map[string]string }{
		"fix-todos": {
			map[string]string{"TODO.md": "# Plan\n\n- [ ] keep me\n", "a.py": "# TODO: add me\nx = 1\n"},
			map[string]string{"TODO.md": "# Plan\n\n- [ ] keep me\n- [ ] add me (a.py:1)\n", "a.py": "x = 1\n"},
		},
		"add-docstrings": {
			map[string]string{
				"tabs.py":  "class Big:\n\tdef one_step(self):\n\t\treturn 1\n",
				"crlf.py":  "def two():\r\n    return 2\r\n",
				"head.py":  "def three(a,\n    b): return 3\n",
				"feeds.py": "x = '\u2028'\n\f\ndef four():\n    return 4\n",
			},
			map[string]string{
				"tabs.py":  "class Big:\n\t\"\"\"Big.\"\"\"\n\tdef one_step(self):\n\t\t\"\"\"One step.\"\"\"\n\t\treturn 1\n",
				"crlf.py":  "def two():\r\n    \"\"\"Two.\"\"\"\r\n    return 2\r\n",
				"head.py":  "def three(a,\n    b): return 3\n",
				"feeds.py": "x = '\u2028'\n\f\ndef four():\n    \"\"\"Four.\"\"\"\n    return 4\n",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			importProject(t, s, name, tt.before)
			publishSample(t, s, filepath.Join(samples, name))
			task := reach(t, s, submit(t, s, map[string]any{"agent": name, "project": name}).ID, registry.TaskReviewing)
			s.Want(t, 200, http.MethodPost, "/api/v1/tasks/"+task.ID+"/accept", `{}`)
			for path, want := range tt.want {
				if got := fileOf(t, s, name, path); got != want {
					t.Errorf("%s is %q, want %q", path, got, want)
				}
			}
		})
	}
}

// publishSample publishes an agent from a folder of samples.
func publishSample(t *testing.T, s *servertest.Server, sample string) {
	t.Helper()
	dir := t.TempDir() // The command push records the revision in the folder.
	for path, text := range folderOf(t, sample) {
		if path != "expected.diff" {
			write(t, filepath.Join(dir, path), text)
		}
	}
	for _, args := range [][]string{{"push", dir, "-y"}, {"publish", filepath.Base(sample)}} {
		if code, _, faults := command(t, s, "", args...); code != 0 {
			t.Fatal(args, code, faults)
		}
	}
}
