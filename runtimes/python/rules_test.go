package python_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

// TestRulesTake expects that programs that only compute have the same results with and without rules.
func TestRulesTake(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	tests := map[string]struct {
		source string
		more   map[string]string
		output string
	}{
		"modules of the list": {
			source: "import json, math, re, datetime, collections.abc\nfrom urllib.parse import quote\nfrom urllib import parse\nimport urllib.parse as up\ndef main():\n    assert isinstance([], collections.abc.Sequence)\n    return [json.loads('1'), math.floor(1.5), re.sub('a', 'b', 'a'), datetime.date(2024, 1, 2).isoformat(), quote('/ä'), parse.quote(' '), up.quote('?')]",
			output: `[1,1,"b","2024-01-02","/%C3%A4","%20","%3F"]`,
		},
		"all of a module":    {source: "from math import *\ndef main(): return floor(pi)", output: `3`},
		"files of the agent": {source: "import helper\nfrom .helper import double\nfrom . import lib\nfrom lib.deep import one\ndef main(): return [helper.double(2), double(3), lib.__name__[-3:], one()]", more: map[string]string{"helper.py": "import math\ndef double(x): return math.floor(x) * 2", "lib/__init__.py": "", "lib/deep.py": "def one(): return 1"}, output: `[4,6,"lib",1]`},
		"classes": {
			source: "from __future__ import annotations\nimport dataclasses, enum, typing, functools\n@dataclasses.dataclass(frozen=True, order=True)\nclass P:\n    x: int\n    y: list[int] = dataclasses.field(default_factory=list)\n    def __post_init__(self): pass\nclass C(enum.Enum):\n    A = 1\nclass N(typing.NamedTuple):\n    a: int\nclass Q(P):\n    def __init__(self, x): super().__init__(x)\n@functools.lru_cache\ndef f(x): return x\ndef main():\n    match P(1):\n        case P(x=x): pass\n    return [dataclasses.asdict(P(1)), C.A.value, N(2).a, Q(3).x, f(4), x, type(P(1)).__name__, getattr(P(5), 'x'), getattr(P(5), 'z', 6), hasattr(P(5), 'x')]",
			output: `[{"x":1,"y":[]},1,2,3,4,1,"P",5,6,true]`,
		},
		"names of one's own":          {source: "import re\ndef compile(x): return x\nclass Door:\n    def open(self): return 'open'\ndef main(input, vars=1): return [compile(1), Door().open(), re.compile('a').pattern, vars]", output: `[1,"open","a",1]`},
		"asks whether a module works": {source: "def main():\n    try:\n        from json import nothing\n    except ImportError: return 'no'", output: `"no"`},
		"the caller of a skill": {
			source: "from .handler import f as _function\ndef main(_ctx, /, **_properties):\n    code = getattr(_function, '__code__', None)\n    if code and 'ctx' in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:\n        _properties.setdefault('ctx', _ctx)\n    return _function(**_properties)",
			more:   map[string]string{"handler.py": "def f(ctx): return ctx.env"}, output: `{}`,
		},
		"async":                   {source: "async def main(): return 1", output: `1`},
		"ctx":                     {source: "def main(ctx):\n    ctx.log('info', 'x', {'a': 1})\n    return ctx.env", output: `{}`},
		"a file nobody can parse": {source: "def main(): return 1", more: map[string]string{"data/broken.py": "def ("}, output: `1`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := restricted(p.Job(tt.source), tt.more)
			outcome, _ := runtimetest.Run(t, engine, job)
			if outcome.Error != nil || string(outcome.Output) != tt.output {
				t.Errorf("output %s, error %+v", outcome.Output, outcome.Error)
			}
		})
	}
}

// TestRulesRefuse expects that the usual ways to bypass the rules are refused, either by the check of the syntax tree before
// the run or by the restricted objects during the run.
func TestRulesRefuse(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	const before = "print('ran')\n" // the rules are checked first, so nothing of the program has run
	tests := map[string]struct {
		source string
		more   map[string]string
		rule   string
		file   string
		line   int
		column int
		runs   bool // caught during the run
	}{
		"import":                   {source: before + "import os", rule: "import", line: 2, column: 1},
		"import in a function":     {source: before + "def main():\n    import subprocess as s", rule: "import", line: 3, column: 5},
		"import from":              {source: before + "ö = 'ö'; from os.path import join", rule: "import", line: 2, column: 10},
		"import of a part":         {source: before + "import urllib.request", rule: "import", line: 2},
		"import of a part by from": {source: before + "from urllib import request", rule: "import", line: 2},
		"import in another file":   {source: "from . import lib\ndef main(): pass", more: map[string]string{"lib.py": "\nimport socket"}, rule: "import", file: "lib.py", line: 2},
		"import behind a try":      {source: before + "try: import numpy\nexcept ImportError: pass", rule: "import", line: 2},
		"a file named as a module": {source: before + "import os", more: map[string]string{"os.py": "x = 1"}, rule: "import", line: 2},
		"eval":                     {source: before + "def main(): return eval('1')", rule: "builtin", line: 2, column: 20},
		"exec":                     {source: before + "exec('1')", rule: "builtin", line: 2},
		"compile":                  {source: before + "compile('1', '', 'eval')", rule: "builtin", line: 2},
		"open":                     {source: before + "open('/etc/passwd')", rule: "builtin", line: 2},
		"__import__":               {source: before + "__import__('os')", rule: "builtin", line: 2},
		"alias":                    {source: before + "e = eval\ne('1')", rule: "builtin", line: 2},
		"alias in a list":          {source: before + "[*map(exec, ['1'])]", rule: "builtin", line: 2},
		"__builtins__":             {source: before + "__builtins__['eval']", rule: "builtin", line: 2},
		"globals":                  {source: before + "globals()['__builtins__']", rule: "builtin", line: 2},
		"classes of everything":    {source: before + "().__class__.__mro__[1].__subclasses__()", rule: "attribute", line: 2},
		"globals of a function":    {source: before + "def f(): pass\nf.__globals__", rule: "attribute", line: 3},
		"frame of a generator":     {source: before + "(x for x in ()).gi_frame.f_back", rule: "attribute", line: 2},
		"frame of an exception":    {source: before + "try: 1/0\nexcept Exception as e: e.__traceback__", rule: "attribute", line: 3},
		"a pattern":                {source: before + "match ():\n    case object(__class__=c): pass", rule: "attribute", line: 3},
		"loader of a module":       {source: before + "import json\njson.__loader__", rule: "attribute", line: 3},
		"import of an inner name":  {source: before + "from json import __builtins__", rule: "attribute", line: 2},
		"a name bound and removed": {source: "if 0: eval = 1\n\ndef main(): return eval('1')", rule: "builtin", line: 3, runs: true},
		"a bound name in another file": {
			source: "from .lib import f\ndef main(): return f()", more: map[string]string{"lib.py": "if 0: eval = 1\n\n\ndef f(): return eval('1')"},
			rule: "builtin", file: "lib.py", line: 4, runs: true,
		},
		"an inner module":           {source: "import json\ndef main(): return json.codecs.open('/etc/passwd')", rule: "import", line: 2, runs: true},
		"an inner module by from":   {source: "if 1: from json import codecs", rule: "import", line: 1, runs: true},
		"getattr":                   {source: "def main():\n    return getattr((), '__cl' + 'ass__')", rule: "attribute", line: 2, runs: true},
		"setattr":                   {source: "def f(): pass\ndef main():\n    setattr(f, '__co' + 'de__', 1)", rule: "attribute", line: 3, runs: true},
		"a bound name of an import": {source: "if 0: __import__ = 1\ndef main(): return __import__('os').getcwd()", rule: "import", line: 2, runs: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outcome, host := runtimetest.Run(t, engine, restricted(p.Job(tt.source), tt.more))
			e := outcome.Error
			if e == nil || e.Type != runtimes.Denied || e.Rule != "restricted/"+tt.rule || e.Message == "" || e.Line != tt.line || e.Remedy == "" {
				t.Fatalf("error %+v, output %s", e, outcome.Output)
			}
			if want := "main.py"; tt.file == "" && e.File != want || tt.file != "" && e.File != tt.file || tt.column != 0 && e.Column != tt.column {
				t.Errorf("at %s:%d:%d", e.File, e.Line, e.Column)
			}
			if ran := host.Stdout(t) != ""; ran {
				t.Errorf("the program printed %q", host.Stdout(t))
			}
		})
	}
}

// TestRulesAreNoWall documents known ways to bypass the rules and expects that they work. The rules are not a security
// boundary; the sandbox is. If a bypass is blocked later, move it to TestRulesRefuse.
func TestRulesAreNoWall(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	tests := map[string]string{
		"a formatter that gets fields": "import string\ndef main():\n    f = string.Formatter()\n    return bool(f.get_field('0.__class__.__mro__', ((),), {})[0][1].__name__ == 'object')",
		"annotations that are code":    "import typing\ndef main():\n    def f(): pass\n    class A: pass\n    A.note = 1\n    t = typing.ForwardRef('().__class__')\n    def g(x: '().__class__.__mro__[1]'): pass\n    return typing.get_type_hints(g)['x'] is object",
		"text of an inner attribute":   "def main(): return '{0.__class__}'.format(()) == \"<class 'tuple'>\"",
		"a method of the guest's":      "def main(ctx): return ctx._channel is not None",
	}
	for name, source := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outcome, _ := runtimetest.Run(t, engine, restricted(p.Job(source), nil))
			if string(outcome.Output) != "true" {
				t.Errorf("is caught now: output %s, error %+v", outcome.Output, outcome.Error)
			}
		})
	}
}

// TestRulesOfOnesOwn expects that a program's own list of allowed modules replaces the default list, both in a new
// interpreter and in a child of a fork server.
func TestRulesOfOnesOwn(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	for _, isolation := range []runtimes.Isolation{runtimes.Pooled, runtimes.Strict} {
		job := p.Job("import os.path\ndef main():\n    return os.path.join('a', 'b')")
		job.Isolation, job.Rules = isolation, &runtimes.Rules{Pack: runtimes.Restricted, Imports: []string{"os.path"}}
		outcome, _ := runtimetest.Run(t, engine, job)
		if string(outcome.Output) != `"a/b"` {
			t.Errorf("output %s, error %+v", outcome.Output, outcome.Error)
		}
		job = p.Job("import os.path\ndef main(): return os.getcwd()")
		job.Isolation, job.Rules = isolation, &runtimes.Rules{Pack: runtimes.Restricted, Imports: []string{"os.path"}}
		outcome, _ = runtimetest.Run(t, engine, job)
		if outcome.Error == nil || outcome.Error.Type != runtimes.Denied || !strings.Contains(outcome.Error.Remedy, "os.path") {
			t.Errorf("output %s, error %+v", outcome.Output, outcome.Error)
		}
	}
}

func restricted(job runtimes.Job, more map[string]string) runtimes.Job {
	job.Rules = &runtimes.Rules{Pack: runtimes.Restricted}
	job.Input = json.RawMessage(`{}`)
	for name, text := range more {
		job.Files[name] = []byte(text)
	}
	return job
}
