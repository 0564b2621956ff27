package python_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"os/exec"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

// withFiles adds files to a program's entry file.
func withFiles(files map[string]string) func(*runtimes.Job) {
	return func(j *runtimes.Job) {
		for name, source := range files {
			j.Files[name] = []byte(source)
		}
	}
}

// watch is the start of a program. Its list compiled contains the program's own files that are compiled afterwards.
const watch = `import sys
compiled = []
sys.addaudithook(lambda event, args: event == "compile" and str(args[1]).startswith("/work/") and compiled.append(args[1][6:]))
`

// TestWhatAProgramImportsIsCompiledOnce expects that the files named in imports are compiled before the program runs,
// and only by the first run. Imports with computed names are compiled in each run.
func TestWhatAProgramImportsIsCompiledOnce(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	large := "X = [" + strings.Repeat("1.5, ", 20_000) + "]\n"
	for name, program := range map[string]struct {
		source string
		files  map[string]string
		want   string // files compiled in each run
	}{
		"a module":                  {"import helper\n", map[string]string{"helper.py": "x = 1\n"}, ""},
		"a name of it":              {"from helper import x\n", map[string]string{"helper.py": "x = 1\n"}, ""},
		"a neighbour":               {"from .helper import x\n", map[string]string{"helper.py": "x = 1\n"}, ""},
		"in a function":             {"def f():\n    import helper\nf()\n", map[string]string{"helper.py": "x = 1\n"}, ""},
		"a package":                 {"import pkg.a\n", map[string]string{"pkg/__init__.py": "", "pkg/a.py": "from . import b\n", "pkg/b.py": "from pkg.c.d import y\n", "pkg/c/d.py": "y = 1\n"}, ""},
		"a package's neighbours":    {"from .pkg import a\n", map[string]string{"pkg/__init__.py": "", "pkg/a.py": "from . import b\nfrom ..other import x\n", "pkg/b.py": "", "other.py": "x = 1\n"}, ""},
		"a circle":                  {"import a\n", map[string]string{"a.py": "import b\nx = 1\n", "b.py": "import a\n"}, ""},
		"a name made at run time":   {"__import__('hel' + 'per')\n", map[string]string{"helper.py": "x = 1\n"}, "helper.py"},
		"what is large":             {"import helper\n", map[string]string{"helper.py": large}, "helper.py"},
		"what is together too much": {"import a, b, c, d\n", map[string]string{"a.py": "x = 1\n", "b.py": "X = '" + strings.Repeat("b", 40_000) + "'\n", "c.py": "X = '" + strings.Repeat("c", 40_000) + "'\n", "d.py": "x = 1\n"}, "c.py"},
		"what warns":                {"import helper\n", map[string]string{"helper.py": "x = 1 is 1\n"}, "helper.py"},
	} {
		source := watch + program.source + "def main():\n    return ' '.join(compiled)\n"
		for range 3 {
			job := p.Job(source, withFiles(program.files), under(name, "one"))
			if outcome, _ := runtimetest.Run(t, engine, job); string(outcome.Output) != `"`+program.want+`"` {
				t.Errorf("%s: %s, %+v", name, outcome.Output, outcome.Error)
			}
		}
		job := p.Job(source, withFiles(program.files), under("", "one"))
		if outcome, _ := runtimetest.Run(t, engine, job); string(outcome.Output) == `""` {
			t.Errorf("%s: nothing was compiled where nothing is kept: %+v", name, outcome.Error)
		}
	}
}

// TestAModuleIsTheSameWhenItIsCompiled expects that a program behaves the same whether or not its imports are cached.
func TestAModuleIsTheSameWhenItIsCompiled(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	const about = `import helper
def main():
    return [repr(x) for x in (helper.__file__, helper.__cached__, helper.__spec__, type(helper.__loader__), helper.__name__, helper.f.__code__, helper.__doc__, sorted(vars(helper)))]
`
	helper := map[string]string{"helper.py": "'''Helps.'''\nX = []\ndef f():\n    return 1 / 0\n"}
	fails := "import traceback\ndef main():\n    try:\n        import helper\n    except BaseException:\n        print(traceback.format_exc())\n"
	for name, program := range map[string]struct {
		source string
		files  map[string]string
		edit   func(*runtimes.Job)
	}{
		"what it says of itself": {source: about, files: helper},
		"a traceback":            {source: "from helper import f\ndef main():\n    f()\n", files: helper},
		"its source":             {source: "import helper, inspect, linecache\ndef main():\n    return inspect.getsource(helper.f) + linecache.getline(helper.__file__, 4)\n", files: helper},
		"again":                  {source: "import helper, importlib\ndef main():\n    x = helper.X\n    return [importlib.reload(helper) is helper, helper.X is x, helper.f.__code__.co_filename]\n", files: helper},
		"a warning":              {source: "import helper\ndef main():\n    return helper.x\n", files: map[string]string{"helper.py": "x = 1 is 1\n"}},
		"a warning as an error":  {source: "import warnings\nwarnings.simplefilter('error')\nimport helper\ndef main():\n    pass\n", files: map[string]string{"helper.py": "x = '\\d'\n"}},
		"a wrong one":            {source: "import helper\ndef main():\n    pass\n", files: map[string]string{"helper.py": "x = 1\ndef f(:\n"}},
		"a wrong one, caught":    {source: fails, files: map[string]string{"helper.py": "x = 1\ndef f(:\n"}},
		"a wrong one of another": {source: fails, files: map[string]string{"helper.py": "import other\n", "other.py": "def f(:\n"}},
		"one that fails, caught": {source: fails, files: map[string]string{"helper.py": "import other\n", "other.py": "def f():\n    1 / 0\nf()\n"}},
		"one that is not there":  {source: fails, files: map[string]string{"helper.py": "import nobody\n"}},
		"a wrong one, unused":    {source: "if not 1:\n    import helper\ndef main():\n    return 1\n", files: map[string]string{"helper.py": "def f(:\n"}},
		"a bomb, unused":         {source: "if not 1:\n    import helper\ndef main():\n    return 1\n", files: map[string]string{"helper.py": strings.Repeat("-", 60_000) + "1\n"}},
		"an encoding":            {source: "import helper\ndef main():\n    return helper.x\n", files: map[string]string{"helper.py": "# coding: latin-1\nx = '\xe4'\n"}},
		"no encoding":            {source: fails, files: map[string]string{"helper.py": "x = '\xe4'\n"}},
		"an encoding of its own": {
			source: "import codecs\ncodecs.register(lambda name: codecs.lookup('latin-1') if name == 'mine' else None)\nimport helper\ndef main():\n    return helper.x\n",
			files:  map[string]string{"helper.py": "# coding: mine\nx = '\xe4'\n"},
		},
		"null bytes": {source: fails, files: map[string]string{"helper.py": "x = '\x00'\n"}},
		"a circle":   {source: "import a\ndef main():\n    return [a.x, a.b.y]\n", files: map[string]string{"a.py": "import b\nx = 1\n", "b.py": "import a\ny = hasattr(a, 'x')\n"}},
		"the entry":  {source: "import helper\nX = 1\ndef main():\n    return helper.main.X\n", files: map[string]string{"helper.py": "import main\n"}},
		"beside a module of the library": {
			source: "import json\ndef main():\n    return json.loads('1')\n", files: map[string]string{"json.py": "loads = repr\n"},
		},
		"an importer of its own": {
			source: `import importlib.machinery, sys
class Loader(importlib.machinery.SourceFileLoader):
    def source_to_code(self, data, path, *, _optimize=-1):
        return super().source_to_code(data.replace(b"Helps", b"Harms"), path)
sys.path_hooks.insert(0, importlib.machinery.FileFinder.path_hook((Loader, [".py"])))
sys.path_importer_cache.clear()
import helper
def main():
    return [helper.__doc__, repr(helper.__loader__)[:20]]
`, files: helper,
		},
		"an importer of trees": {
			source: `import ast, importlib.machinery, importlib.util
class Loader(importlib.machinery.SourceFileLoader):
    def source_to_code(self, data, path, *, _optimize=-1):
        return super().source_to_code(ast.parse(data.replace(b"Helps", b"Harms")), path)
loader = Loader("helper", "/work/helper.py")
helper = importlib.util.module_from_spec(importlib.util.spec_from_loader("helper", loader))
loader.exec_module(helper)
if not 1:
    import helper
def main():
    return helper.__doc__
`, files: helper,
		},
		"under rules": {
			source: "from helper import f\ndef main():\n    return f()\n", files: map[string]string{"helper.py": "def f():\n    g = open\n    return g('/work/x')\n"},
			edit: func(j *runtimes.Job) { j.Rules = &runtimes.Rules{Pack: runtimes.Restricted} },
		},
		"under rules that it keeps": {
			source: "from helper import f\ndef main():\n    return f(3)\n", files: map[string]string{"helper.py": "from math import sqrt\ndef f(x):\n    return sqrt(x)\n"},
			edit: func(j *runtimes.Job) { j.Rules = &runtimes.Rules{Pack: runtimes.Restricted} },
		},
	} {
		for _, isolation := range []runtimes.Isolation{"", runtimes.Strict} {
			edits := []func(*runtimes.Job){withFiles(program.files), func(j *runtimes.Job) { j.Isolation = isolation }}
			if program.edit != nil {
				edits = append(edits, program.edit)
			}
			plain, said := runtimetest.Run(t, engine, p.Job(program.source, append(edits, under("", "one"))...))
			want := told(plain) + said.Stdout(t) + said.Stderr(t)
			for range 3 {
				outcome, said := runtimetest.Run(t, engine, p.Job(program.source, append(edits, under(name+string(isolation), "one"))...))
				if got := told(outcome) + said.Stdout(t) + said.Stderr(t); unaddressed(got) != unaddressed(want) || strings.Contains(got, "<frozen importlib") {
					t.Errorf("%s: %s\nwhere nothing is kept: %s", name, got, want)
				}
			}
		}
	}
}

// told returns the output of an outcome, or all texts of its error.
func told(o runtimes.Outcome) string {
	if o.Error == nil {
		return string(o.Output) + "\n"
	}
	e := o.Error
	return fmt.Sprintln(string(o.Output), e.Type, e.Message, e.File, e.Line, e.Column, e.Stack, e.Rule, e.Remedy)
}

// unaddressed removes memory addresses from a text, because they differ between runs.
func unaddressed(text string) string {
	parts := strings.Split(text, " at 0x")
	for i := 1; i < len(parts); i++ {
		parts[i] = strings.TrimLeft(parts[i], "0123456789abcdef")
	}
	return strings.Join(parts, " at ")
}

// TestAModuleThatTheProgramWrote expects that a program that overwrites a module imports the new text, even if size and
// modification time are the same. The next run must get the original module.
func TestAModuleThatTheProgramWrote(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	writes := withFiles(map[string]string{"helper.py": "x = 'saved'\n"})
	for name, source := range map[string]string{
		"in its place":     "def main(input):\n    if input:\n        open('/work/helper.py', 'w').write(\"x = 'wrote'\\n\")\n    import helper\n    return helper.x\n",
		"anew":             "import os\ndef main(input):\n    if input:\n        os.remove('/work/helper.py')\n        open('/work/helper.py', 'w').write(\"x = 'wrote'\\n\")\n    import helper\n    return helper.x\n",
		"as a package":     "import os\ndef main(input):\n    if input:\n        os.mkdir('/work/helper')\n        open('/work/helper/__init__.py', 'w').write(\"x = 'wrote'\\n\")\n    import helper\n    return helper.x\n",
		"compiled":         "import os, py_compile\ndef main(input):\n    if input:\n        open('/work/other.py', 'w').write(\"x = 'wrote'\\n\")\n        py_compile.compile('/work/other.py', '/work/__pycache__/helper.cpython-%d%d.pyc' % __import__('sys').version_info[:2], invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)\n    import helper\n    return helper.x\n",
		"after its import": "import helper, importlib\ndef main(input):\n    if input:\n        open('/work/helper.py', 'w').write(\"x = 'wrote'\\n\")\n        importlib.reload(helper)\n    return helper.x\n",
	} {
		for _, run := range []struct{ input, want string }{{"false", "saved"}, {"true", "wrote"}, {"false", "saved"}, {"true", "wrote"}} {
			job := p.Job(source, writes, func(j *runtimes.Job) { j.Input = []byte(run.input) })
			if outcome, _ := runtimetest.Run(t, engine, job); string(outcome.Output) != `"`+run.want+`"` {
				t.Errorf("%s: %s, not %s, %+v", name, outcome.Output, run.want, outcome.Error)
			}
		}
	}
}

// TestAModuleCannotChangeWhatIsKept expects that an imported module cannot affect the next run, and that no module runs
// before its import.
func TestAModuleCannotChangeWhatIsKept(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	line := `{"kept":"` + base64.StdEncoding.EncodeToString(evilProgram(t)) + `"}\n`
	say := "import os\nos.write(3, b'" + line + "')\nx = 'good'\n"
	const good = "import helper\ndef main():\n    return helper.x\n"
	for name, hostile := range map[string]struct {
		source string
		files  map[string]string
	}{
		"when it is imported":    {good, map[string]string{"helper.py": say}},
		"of another":             {good, map[string]string{"helper.py": "import other\nx = other.x\n", "other.py": say}},
		"one that nobody runs":   {"if not 1:\n    import helper\ndef main():\n    return 'good'\n", map[string]string{"helper.py": say}},
		"in ours":                {good, map[string]string{"helper.py": "import sys\nours = vars(sys.modules['__main__'])\nours['imported']['/work/helper.py'] = (b'', b'')\nours['source_to_code'] = None\nx = 'good'\n"}},
		"as a codec's module":    {good, map[string]string{"helper.py": "# coding: idna\nx = 'good'\n", "stringprep.py": say}},
		"as the compiler's":      {good, map[string]string{"helper.py": "x = 'good'\n", "warnings.py": say}},
		"as a file of that name": {good, map[string]string{"helper.py": "x = 'good'\n", "__init__.py": say, "importlib.py": say, "marshal.py": say}},
	} {
		for _, isolation := range []runtimes.Isolation{runtimes.Strict, "", runtimes.Strict} {
			job := p.Job(hostile.source, withFiles(hostile.files), func(j *runtimes.Job) { j.Isolation = isolation }, under(name, "one"))
			if outcome, _ := runtimetest.Run(t, engine, job); string(outcome.Output) != `"good"` {
				t.Errorf("%s: %s, %+v", name, outcome.Output, outcome.Error)
			}
		}
	}
}

// TestKeptModulesAreOfTheirSource expects that cached code of a module is used only if the file's content matches. As a
// control, it checks that the code is used if the content matches.
func TestKeptModulesAreOfTheirSource(t *testing.T) {
	t.Parallel()
	p := programs()
	const source = "import helper\ndef main():\n    return helper.x\n"
	files := map[string]string{"helper.py": "x = 'mine'\n"}
	for name, kept := range map[string]struct{ content, want string }{
		"of this content":    {files["helper.py"], "evil"},
		"of another content": {"x = 'evil'\n", "mine"},
	} {
		engine := newEngine(t)
		job := p.Job(source, withFiles(files))
		engine.KeepCode(job, keptProgram(t, source, map[string]string{"helper.py": kept.content}))
		if outcome, _ := runtimetest.Run(t, engine, job); string(outcome.Output) != `"`+kept.want+`"` {
			t.Errorf("%s: %s, %+v", name, outcome.Output, outcome.Error)
		}
		for _, other := range []func(*runtimes.Job){under(job.CodeDigest, "another"), under("another", job.Workspace)} {
			if outcome, _ := runtimetest.Run(t, engine, p.Job(source, withFiles(maps.Clone(files)), other)); string(outcome.Output) != `"mine"` {
				t.Errorf("%s, for somebody else: %s, %+v", name, outcome.Output, outcome.Error)
			}
		}
	}
}

// evilProgram returns the cache entry of a program that returns evil and has a helper that returns evil.
func evilProgram(tb testing.TB) []byte {
	tb.Helper()
	return keptProgram(tb, "def main():\n    return 'evil'\n", map[string]string{"helper.py": "x = 'good'\n"})
}

// keptProgram returns the cache entry of an entry file. Each of its modules has the code of x = 'evil', whatever its
// content.
func keptProgram(tb testing.TB, entry string, modules map[string]string) []byte {
	tb.Helper()
	script := `import _imp, importlib.util, marshal, sys
magic, (entry, *modules) = importlib.util.MAGIC_NUMBER, sys.argv[1:]
evil = lambda path: marshal.dumps(compile("x = 'evil'\n", path, "exec"))
others = {path: (_imp.source_hash(int.from_bytes(magic, "little"), content.encode()), evil(path)) for path, content in zip(modules[::2], modules[1::2])}
sys.stdout.buffer.write(magic + marshal.dumps((compile(entry, "/work/main.py", "exec"), others)))`
	argv := []string{"-c", script, entry}
	for name, content := range modules {
		argv = append(argv, "/work/"+name, content)
	}
	kept, err := exec.CommandContext(tb.Context(), "/usr/bin/python3", argv...).Output()
	if err != nil {
		tb.Fatal(err)
	}
	return kept
}
