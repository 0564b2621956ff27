package python_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

// under sets the digest of a job's program, whatever its files contain, and its workspace.
func under(digest, workspace string) func(*runtimes.Job) {
	return func(j *runtimes.Job) { j.CodeDigest, j.Workspace = digest, workspace }
}

func keepsNone(j *runtimes.Job) { j.KeepsNoCode = true }

func returns(value string) string { return "def main():\n    return '" + value + "'\n" }

// TestAProgramIsCompiledOnce expects that only later runs of the same program in the same workspace reuse its compiled
// code. Here different programs have the same digest, so the output shows whose code ran.
func TestAProgramIsCompiledOnce(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	entry := func(name string) func(*runtimes.Job) {
		return func(j *runtimes.Job) {
			j.Files = map[string][]byte{name: j.Files["main.py"]}
			j.Entrypoint = name
		}
	}
	for _, run := range []struct {
		what, source string
		edits        []func(*runtimes.Job)
		want         string
	}{
		{"the first", returns("a"), []func(*runtimes.Job){under("x", "one")}, "a"},
		{"another of its name", returns("b"), []func(*runtimes.Job){under("x", "one")}, "a"},
		{"in an interpreter of its own", returns("b"), []func(*runtimes.Job){under("x", "one"), func(j *runtimes.Job) { j.Isolation = runtimes.Strict }}, "a"},
		{"another name", returns("b"), []func(*runtimes.Job){under("y", "one")}, "b"},
		{"another workspace", returns("c"), []func(*runtimes.Job){under("x", "two")}, "c"},
		{"another file", returns("d"), []func(*runtimes.Job){under("x", "one"), entry("other.py")}, "d"},
		{"one that keeps no code", returns("g"), []func(*runtimes.Job){under("z", "one"), keepsNone}, "g"},
		{"the next of its name", returns("h"), []func(*runtimes.Job){under("z", "one")}, "h"},
		{"one that keeps no code, of a known name", returns("i"), []func(*runtimes.Job){under("z", "one"), keepsNone}, "h"},
		{"no name", returns("e"), []func(*runtimes.Job){under("", "one")}, "e"},
		{"no name again", returns("f"), []func(*runtimes.Job){under("", "one")}, "f"},
	} {
		outcome, _ := runtimetest.Run(t, engine, p.Job(run.source, run.edits...))
		if string(outcome.Output) != `"`+run.want+`"` {
			t.Errorf("%s: %s, %+v", run.what, outcome.Output, outcome.Error)
		}
	}
}

// TestAProgramIsTheSameWhenItIsCompiled expects that cached code produces the same warnings and error positions as code
// compiled in the run.
func TestAProgramIsTheSameWhenItIsCompiled(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	for name, source := range map[string]string{
		"warns": "def main():\n    return 1 is 1\n",
		"fails": "import json\n\ndef main():\n    return [len(x) for x in (1,)]\n",
		"large": "def main():\n    return sum(X)\nX = [" + strings.Repeat("1.5, ", 20_000) + "]\nY = '" + strings.Repeat("€", 40_000) + "'\n",
		"deep":  "x = " + strings.Repeat("lambda: ", 900) + "1\ndef main():\n    return 'deep'\n",
		"abyss": "x = " + strings.Repeat("lambda: ", 1200) + "1\ndef main():\n    return 'deep'\n", // marshal fails before the compiler does
		"text":  "# -*- coding: unheard -*-\ndef main():\n    return 'ä'\n",
		"wrong": "def main(:\n",
	} {
		first, said := runtimetest.Run(t, engine, p.Job(source))
		for range 2 {
			again, saidAgain := runtimetest.Run(t, engine, p.Job(source))
			if string(first.Output) != string(again.Output) || said.Stderr(t) != saidAgain.Stderr(t) {
				t.Errorf("%s: %s %q, then %s %q", name, first.Output, said.Stderr(t), again.Output, saidAgain.Stderr(t))
			}
			if a, b := first.Error, again.Error; (a == nil) != (b == nil) || a != nil && (a.Message != b.Message || a.Stack != b.Stack || a.Line != b.Line || a.Column != b.Column) {
				t.Errorf("%s: %+v, then %+v", name, a, b)
			}
		}
		if (name == "deep" || name == "abyss") && string(first.Output) != `"deep"` {
			t.Errorf("%s: %+v", name, first.Error)
		}
		if name == "warns" && !strings.Contains(said.Stderr(t), "SyntaxWarning") {
			t.Errorf("nobody was warned: %q", said.Stderr(t))
		}
	}
}

// TestWhatIsNotKeptIsAskedForOnce expects that the engine requests code only once from a program whose code cannot be
// cached.
func TestWhatIsNotKeptIsAskedForOnce(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	const asked = `import sys
def main():
    frame = sys._getframe()
    while "job" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["job"].get("keep", False)
`
	for name, source := range map[string]string{
		"large": asked + "X = '" + strings.Repeat("€", 40_000) + "'\n",
		"warns": asked + "X = 1 is 1\n",
	} {
		for _, want := range []string{"true", "false", "false"} {
			if outcome, _ := runtimetest.Run(t, engine, p.Job(source)); string(outcome.Output) != want {
				t.Errorf("%s: asked is %s, not %s, %+v", name, outcome.Output, want, outcome.Error)
			}
		}
	}
}

// TestAProgramCannotChangeWhatIsKept expects that forged code that a program sends is not cached, wherever in its files
// the program sends it.
func TestAProgramCannotChangeWhatIsKept(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	line := `{"kept":"` + base64.StdEncoding.EncodeToString(evilProgram(t)) + `"}\n`
	say := "import os\nos.write(3, b'" + line + "')\n"
	strict := func(j *runtimes.Job) { j.Isolation = runtimes.Strict }
	with := func(name string) func(*runtimes.Job) {
		return func(j *runtimes.Job) { j.Files[name] = []byte(say) }
	}
	const good = "def main(input):\n    return 'good'\n"
	for name, hostile := range map[string]struct {
		source string
		edits  []func(*runtimes.Job)
	}{
		"when it is imported": {source: say + good},
		"in main":             {source: "import os\ndef main(input):\n    if input: os.write(3, b'" + line + "')\n    return 'good'\n"},
		"after a warning":     {source: "x = 1 is 1\n" + say + good},
		"beside its start":    {source: "import os\nos.write(3, b'{\"start\":true}\\n" + line + "')\n" + good},
		// The compiling code imports these modules.
		"as a module of the library": {"y = 1\n" + good, []func(*runtimes.Job){strict, with("warnings.py")}},
		"as that of an encoding":     {"# coding: idna\n" + good, []func(*runtimes.Job){with("stringprep.py")}},
		"as that of a codec":         {"# coding: quopri\n" + good, []func(*runtimes.Job){strict, with("quopri.py")}},
	} {
		for range 3 {
			job := p.Job(hostile.source, append(hostile.edits, func(j *runtimes.Job) { j.Input = []byte("true") })...)
			if outcome, _ := runtimetest.Run(t, engine, job); string(outcome.Output) != `"good"` {
				t.Errorf("%s: %s, %+v", name, outcome.Output, outcome.Error)
			}
		}
	}
}

// TestCodeOfAnotherInterpreter expects that code of an older Python is ignored after Python was replaced under a
// running server.
func TestCodeOfAnotherInterpreter(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	job := programs().Job(returns("mine"))
	engine.KeepCode(job, []byte("\x01\x02\r\nwhatever it was"))
	if outcome, _ := runtimetest.Run(t, engine, job); string(outcome.Output) != `"mine"` {
		t.Errorf("%s, %+v", outcome.Output, outcome.Error)
	}
}
