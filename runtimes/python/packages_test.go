package python_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/packages/packagestest"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

// TestPackages runs programs with mounted packages, in a fork, in a new interpreter and with a network. The packages are
// read-only, come after the standard library, and each run imports them anew.
func TestPackages(t *testing.T) {
	t.Parallel()
	dir := packagestest.Dir(t)
	for name, text := range map[string]string{
		"good.py": "count = 0\n", "json.py": "raise SystemExit('the standard library comes first')\n", "bad.py": "raise ValueError('bad package')\n",
		"lazy.py": "import os\n\ndef __getattr__(name):\n    if name != 'part':\n        raise AttributeError(name)\n    globals()[name] = os.environ.get('WHEN', 'ahead')\n    return globals()[name]\n",
		"slow.py": "import time\nstart = time.monotonic()\nwhile time.monotonic() - start < 30: pass\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	engine := newEngine(t)
	run := func(code string, change func(*runtimes.Job)) runtimes.Outcome {
		t.Helper()
		job := runtimes.Job{
			RunID: "run", Workspace: "w", Language: runtimes.Python, Runtime: runtimes.PythonEngine, Entrypoint: "main.py", Files: map[string][]byte{"main.py": []byte(code)},
			Limits: runtimes.DefaultLimits(), Packages: &runtimes.Installed{Digest: "sha256:1", Dir: dir, Modules: []string{"bad", "good", "json", "lazy", "slow"}},
		}
		if change != nil {
			change(&job)
		}
		outcome, err := engine.Run(t.Context(), job, runtimetest.NewHost())
		if err != nil {
			t.Fatal(err)
		}
		return outcome
	}
	const code = `import good, json, os
def main():
    good.count += 1
    try:
        open("/packages/good.py", "a")
        writable = True
    except OSError:
        writable = False
    return [good.count, writable, json.dumps(1), "ATELIER_IMPORTS" in os.environ]
`
	for name, change := range map[string]func(*runtimes.Job){
		"fork": nil, "new": func(j *runtimes.Job) { j.Isolation = runtimes.Strict }, "network": func(j *runtimes.Job) { j.Capabilities.Hosts = []string{"192.0.2.1:443"} },
	} {
		for range 2 {
			if outcome := run(code, change); outcome.Error != nil || string(outcome.Output) != `[1,false,"1",false]` {
				t.Errorf("%s: %s %+v", name, outcome.Output, outcome.Error)
			}
		}
	}
	lazy := func(j *runtimes.Job) { j.Workspace, j.Environment = "lazy", map[string]string{"WHEN": "in the run"} }
	if outcome := run("from lazy import (\n    part as p,\n)\n\ndef main():\n    return p\n", lazy); string(outcome.Output) != `"ahead"` {
		t.Errorf("a part that is loaded when it is asked for: %s %+v", outcome.Output, outcome.Error)
	}
	other := func(j *runtimes.Job) { j.Workspace = "other" }
	if outcome := run("import bad\ndef main(): pass\n", other); outcome.Error == nil || !strings.Contains(outcome.Error.Message, "bad package") {
		t.Errorf("a package that fails: %+v", outcome.Error)
	}
	slow := func(j *runtimes.Job) { j.Workspace, j.Limits.TimeoutMs = "slow", 200 }
	if outcome := run("import slow\ndef main(): pass\n", slow); outcome.Error == nil || outcome.Error.Type != runtimes.Timeout {
		t.Errorf("a package that takes too long: %+v", outcome.Error)
	}
}
