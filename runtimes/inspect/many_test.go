package inspect_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// TestManyAreInspectedAsOneIs checks that a program has the same report whether it is checked alone or together with
// others.
func TestManyAreInspectedAsOneIs(t *testing.T) {
	t.Parallel()
	inspector := newInspector(t)
	python := func(files map[string]string) inspect.Request {
		r := inspect.Request{Language: runtimes.Python, Files: map[string][]byte{}, Entrypoint: "main.py"}
		for name, text := range files {
			r.Files[name] = []byte(text)
		}
		return r
	}
	restricted := python(map[string]string{"main.py": "import os\ndef main(): pass\n"})
	restricted.Rules = &runtimes.Rules{Pack: runtimes.Restricted}
	sound := []inspect.Request{
		python(map[string]string{"main.py": "def main(): pass\n", "lib/main.py": "def other(): pass\n"}),
		python(map[string]string{"main.py": "def greet(): pass\nfrom os import *\n"}),
		python(map[string]string{"main.py": "def main():\n  return (\n"}),
		python(map[string]string{"main.py": "def main():\n  return '\\d'\n", "b.py": "x = \n"}),
		python(map[string]string{"other.py": "x = 1\n"}),
		python(map[string]string{"main.py": "\xff"}),
		restricted,
		{Language: runtimes.Bash, Files: map[string][]byte{"main.sh": []byte("if\n")}, Entrypoint: "main.sh"},
	}
	var faulty []inspect.Request // more faults than one report can hold
	for n := range 40 {
		faulty = append(faulty, python(map[string]string{"main.py": "x = \n", "b.py": "y = \n", "c" + strconv.Itoa(n) + ".py": "z = 1\n"}))
	}
	deadly := []inspect.Request{sound[0], python(map[string]string{"main.py": strings.Repeat("[", 200_000)}), sound[2]}
	for name, programs := range map[string][]inspect.Request{"sound": sound, "faulty": faulty, "deadly": deadly, "none": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := inspector.CheckAll(t.Context(), programs)
			if len(got) != len(programs) {
				t.Fatalf("%d results", len(got))
			}
			for n, p := range programs {
				want, err := inspector.Check(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(inspect.Result{Report: want}, got[n]); diff != "" {
					t.Errorf("program %d: %s", n, diff)
				}
			}
		})
	}
}

// TestManyKeepToTheirFolders checks that a file whose name leads out of its folder cannot replace a file of another
// program. Such names should already have been rejected by earlier checks.
func TestManyKeepToTheirFolders(t *testing.T) {
	t.Parallel()
	sound := []byte("def main(): pass\n")
	got := newInspector(t).CheckAll(t.Context(), []inspect.Request{
		{Language: runtimes.Python, Files: map[string][]byte{"main.py": sound}, Entrypoint: "main.py"},
		{Language: runtimes.Python, Files: map[string][]byte{"main.py": sound, "../0/main.py": []byte("def main(:\n")}, Entrypoint: "main.py"},
	})
	if got[0].Err != nil || len(got[0].Report.Errors) > 0 || len(got[0].Report.Names) != 1 {
		t.Errorf("the first program has the error of the second: %+v", got[0])
	}
}

// TestManyWithoutAnInterpreter checks that a missing interpreter for one language does not prevent reports about
// programs in other languages.
func TestManyWithoutAnInterpreter(t *testing.T) {
	t.Parallel()
	inspector := inspect.New(inspect.Options{Jailer: worker.FromSandbox(sandboxtest.New(t, sandboxtest.Exe(t)))})
	t.Cleanup(inspector.Close)
	got := inspector.CheckAll(t.Context(), []inspect.Request{
		{Language: runtimes.Python, Files: map[string][]byte{"main.py": []byte("def main(): pass\n")}, Entrypoint: "main.py"},
		{Language: runtimes.JavaScript, Runtime: runtimes.Goja, Files: map[string][]byte{"main.js": []byte("export default (\n")}, Entrypoint: "main.js"},
	})
	if len(got) != 2 || !fault.Is(got[0].Err, fault.RuntimeUnavailable) || got[1].Err != nil || len(got[1].Report.Errors) == 0 {
		t.Fatalf("results %+v", got)
	}
}
