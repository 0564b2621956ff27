package monty_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	tests := map[string]struct {
		source, input string
		output        string                // expected output, if the run succeeds
		want          runtimes.ProgramError // expected error, if the run fails; Message is a part of the actual message, and line 0 is not compared
	}{
		"properties by name":        {source: "def main(b, a=1, *, c=3): return [a, b, c]", input: `{"b":2,"x":0}`, output: `[1,2,3]`},
		"the other properties":      {source: "def main(a, **more): return more", input: `{"a":1,"b":2}`, output: `{"b":2}`},
		"ctx by name":               {source: "def main(a, ctx): return ctx.env", input: `{"a":1,"ctx":2}`, output: `{}`},
		"input named input":         {source: "def main(input, other=1): return [input, other]", input: `{"other":2}`, output: `[{"other":2},2]`},
		"positional only":           {source: "def main(a, /, b): return [a, b]", input: `{"a":1,"b":2}`, output: `[1,2]`},
		"one parameter, no object":  {source: "def main(items): return items", input: `[1]`, output: `[1]`},
		"no parameters":             {source: "def main(): return True", input: `{"a":1}`, output: `true`},
		"parameters in many lines":  {source: "def main(\n    a: dict[str, int],  # first, (one\n    b: str = ')',\n    c=(1, 2),\n):\n    return [a, b, c]", input: `{"a":{"x":1}}`, output: `[{"x":1},")",[1,2]]`},
		"a main in a string":        {source: "TEXT = '''\ndef main(x): return 1\n'''\ndef main(a): return a\nOTHER = \"\"\"\ndef main(y):\n\"\"\"", input: `{"a":2}`, output: `2`},
		"async":                     {source: "import asyncio\nasync def main(a):\n    await asyncio.sleep(0)\n    return a", input: `{"a":1}`, output: `1`},
		"skill":                     {source: "def run(x): return x", input: `{"x":1}`, output: `1`},
		"skill with an action":      {source: "def run(action, args): return [action, args]", input: `{"action":"go","args":{"x":1}}`, output: `["go",{"x":1}]`},
		"skill without an action":   {source: "def run(action, args): return [action, args]", input: `{"x":1}`, output: `["run",{"x":1}]`},
		"returns nothing":           {source: "def main(): pass", output: `null`},
		"keys that are not strings": {source: "def main(): return {1: 2, None: 3, 1.5: 5}", output: `{"1":2,"null":3,"1.5":5}`},
		"tuples":                    {source: "def main(): return (1, (2,))", output: `[1,[2]]`},
		"floats":                    {source: "def main(): return [2.0, 1e300, -0.0, 0.1, 1e16, 1e-7]", output: `[2.0,1e+300,-0.0,0.1,1e+16,1e-07]`},
		"sleep":                     {source: "import time\ndef main():\n    time.sleep(0.01)\n    return 1", output: `1`},
		"modules":                   {source: "import re, math, json, datetime, collections, itertools\ndef main(): return json.dumps(re.findall('a.', 'abac'))", output: `"[\"ab\", \"ac\"]"`},
		"a refusal can be caught": {
			source: "def main(ctx):\n    try: ctx.read_file(path='x')\n    except Exception as e: return [type(e).__name__, str(e)]",
			output: `["PermissionError","The host function readFile is not granted."]`,
		},
		"no fields of a log entry": {source: "def main(ctx):\n    ctx.log('info', 'x', None, a=1)\n    return 1", output: `1`},
		"a call without its input": {source: "def main(ctx):\n    try: ctx.call_tool('x', None, a=1)\n    except Exception as e: return type(e).__name__", output: `"PermissionError"`},
		"a positional argument":    {source: "def main(ctx):\n    try: ctx.list_dir('src')\n    except TypeError as e: return str(e)", output: `"ctx.list_dir takes at most 0 arguments without a name, not 1"`},
		"a call with two inputs":   {source: "def main(ctx):\n    try: ctx.call_tool('x', 1, 2)\n    except TypeError as e: return str(e)[:12]", output: `"ctx.call_too"`},
		"a long result":            {source: "def main(): return 'x' * 1_500_000 + 'y'", output: `"` + strings.Repeat("x", 1_500_000) + `y"`},
		"no file of the host": {
			source: "from pathlib import Path\ndef main():\n    try: return Path('/etc/passwd').read_text()\n    except Exception as e: return type(e).__name__", output: `"PermissionError"`,
		},
		"missing property":        {source: "x = 1\ndef main(city, n=1): pass", input: `{"town":1}`, want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "main() needs 'city'", File: "main.py", Line: 2}},
		"no main":                 {source: "def mian(): pass", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "no main function", File: "main.py", Line: 1}},
		"exception":               {source: "def main(a):\n    return a[3]", input: `{"a":[1]}`, want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "IndexError", File: "main.py", Line: 2}},
		"a long exception":        {source: "def main():\n    raise ValueError('x' * 600_000)", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "ValueError: xxx", File: "main.py", Line: 2}},
		"exception at the top":    {source: "x = 1\n{}['a']\ndef main(): pass", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "KeyError", File: "main.py", Line: 2}},
		"raised syntax error":     {source: "def main():\n    raise SyntaxError('mine')", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "SyntaxError: mine", File: "main.py", Line: 2}},
		"not in Monty":            {source: "def main():\n    yield 1", want: runtimes.ProgramError{Type: runtimes.SyntaxError, Message: "yield", File: "main.py", Line: 2, Remedy: "runtime python"}},
		"no such module":          {source: "import subprocess\ndef main(): pass", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "subprocess", File: "main.py", Line: 1, Remedy: "runtime python"}},
		"no package":              {source: "def main():\n    import numpy", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "numpy", File: "main.py", Line: 2, Remedy: "runtime python"}},
		"bytes":                   {source: "def main(): return {'a b': [b'x']}", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: `output["a b"][0]: bytes is not JSON`}},
		"set":                     {source: "def main(): return {1}", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "output: set is not JSON"}},
		"a result with itself":    {source: "def main():\n    x = []\n    x.append(x)\n    return x", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "contains itself"}},
		"a result without end":    {source: "def main():\n    x = ['x' * 100]\n    for _ in range(60): x = [x, x]\n    return x", want: runtimes.ProgramError{Type: runtimes.OutputLimit}},
		"wrong log level":         {source: "def main(ctx):\n    ctx.log('loud', 'x')", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "debug, info, warn or error", File: "main.py", Line: 2}},
		"a refusal":               {source: "def main(ctx):\n    ctx.call('nope')", want: runtimes.ProgramError{Type: runtimes.Denied, Message: "nope", File: "main.py", Line: 2}},
		"too deep":                {source: "def f(n): return f(n + 1)\ndef main(): return f(0)", want: runtimes.ProgramError{Type: runtimes.RecursionLimit}},
		"too much memory":         {source: "def main():\n    x = []\n    while True: x.append('x' * 1000000 + str(len(x)))", want: runtimes.ProgramError{Type: runtimes.MemoryLimit}},
		"a null byte":             {source: "x = '\x00'", want: runtimes.ProgramError{Type: runtimes.SyntaxError, Message: "null bytes", File: "main.py", Line: 1}},
		"brackets without an end": {source: "def main(): return " + strings.Repeat("(", 50_000), want: runtimes.ProgramError{Type: runtimes.SyntaxError}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outcome, host := runtimetest.Run(t, engine, p.Job(tt.source, func(j *runtimes.Job) {
				if tt.input != "" {
					j.Input = json.RawMessage(tt.input)
				}
				j.Limits.OutputBytes = 2 << 20
			}))
			if tt.want.Type == "" {
				if outcome.Error != nil || string(outcome.Output) != tt.output {
					t.Errorf("%.1000s, %+v, stderr %q, want %.1000s", outcome.Output, outcome.Error, host.Stderr(t), tt.output)
				}
				return
			}
			got := outcome.Error
			if got == nil || got.Type != tt.want.Type || !strings.Contains(got.Message, tt.want.Message) || !strings.Contains(got.Remedy, tt.want.Remedy) ||
				tt.want.Line > 0 && (got.Line != tt.want.Line || got.File != tt.want.File) {
				t.Errorf("%+v with output %.100s, want %+v", got, outcome.Output, tt.want)
			}
		})
	}
}
