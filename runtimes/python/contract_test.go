package python_test

import (
	"context"
	"encoding/json"
	"strconv"
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
		want          runtimes.ProgramError // expected error, if the run fails: the message is a substring, line or column 0 is not compared
		stack         []string              // expected parts of the stack, in this order
		stdout        string
	}{
		"properties by name":         {source: "def main(b, a=1, *, c=3): return [a, b, c]", input: `{"b":2,"x":0}`, output: `[1,2,3]`},
		"the rest of the properties": {source: "def main(a, **more): return more", input: `{"a":1,"b":2}`, output: `{"b":2}`},
		"ctx by name":                {source: "def main(a, ctx): return ctx.env", input: `{"a":1,"ctx":2}`, output: `{}`},
		"input named input":          {source: "def main(input, other=1): return [input, other]", input: `{"other":2}`, output: `[{"other":2},2]`},
		"positional only":            {source: "def main(a, /, b): return [a, b]", input: `{"a":1,"b":2}`, output: `[1,2]`},
		"one parameter, no object":   {source: "def main(items): return items", input: `[1]`, output: `[1]`},
		"a document with a mark of its bytes": {
			source: "def main(ctx):\n    Response = type(ctx).fetch.__globals__['Response']\n    told = {'url': '', 'status': 200, 'statusText': '', 'redirected': False, 'headers': [], 'text': '\\ufeff[1]'}\n    return Response(told).json()",
			output: `[1]`,
		},
		"no parameters": {source: "def main(): return True", input: `{"a":1}`, output: `true`},
		"decorated": {
			source: "import functools\ndef d(f):\n    @functools.wraps(f)\n    def w(*a, **k): return f(*a, **k)\n    return w\n@d\ndef main(a): return a",
			input:  `{"a":1}`, output: `1`,
		},
		"callable object":             {source: "class M:\n    def __call__(self, a): return a\nmain = M()", input: `{"a":1}`, output: `1`},
		"async":                       {source: "import asyncio\nasync def main(a):\n    await asyncio.sleep(0)\n    return a", input: `{"a":1}`, output: `1`},
		"skill with an action":        {source: "def run(action, args): return [action, args]", input: `{"action":"go","args":{"x":1}}`, output: `["go",{"x":1}]`},
		"skill without one":           {source: "def run(action, args): return [action, args]", input: `{"x":1}`, output: `["run",{"x":1}]`},
		"skill with named parameters": {source: "def run(x): return x", input: `{"x":1}`, output: `1`},
		"returns nothing":             {source: "def main(): pass", output: `null`},
		"keys that are not strings":   {source: "def main(): return {1: 2, None: 3, True: 4}", output: `{"1":4,"null":3}`},
		"tuples":                      {source: "def main(): return (1, (2,))", output: `[1,[2]]`},
		"leaves early":                {source: "import sys\ndef main():\n    print('x', end='')\n    sys.exit()", output: `null`, stdout: "x"},
		"at exit":                     {source: "import atexit\natexit.register(lambda: print('bye'))\ndef main(): return 1", output: `1`, stdout: "bye\n"},
		"threads and processes": {
			source: "import subprocess, threading, multiprocessing.pool\ndef main():\n    x = []\n    t = threading.Thread(target=lambda: x.append(1)); t.start(); t.join()\n    with multiprocessing.pool.ThreadPool(2) as pool: x += pool.map(abs, [-1, -2])\n    return x + [subprocess.run(['echo', 'hi'], capture_output=True, text=True).stdout]",
			output: `[1,1,2,"hi\n"]`,
		},
		"standard library": {
			source: "import sqlite3, decimal, zoneinfo, tempfile, hashlib, csv, re, random, uuid, ssl, xml.etree.ElementTree, urllib.parse, datetime\ndef main():\n    with tempfile.TemporaryDirectory() as d: sqlite3.connect(d + '/x').execute('create table t (a)')\n    return datetime.datetime(2024, 7, 1, 12, tzinfo=zoneinfo.ZoneInfo('Europe/Oslo')).isoformat()",
			output: `"2024-07-01T12:00:00+02:00"`,
		},
		"dataclasses and pickle": {
			source: "import dataclasses, pickle\n@dataclasses.dataclass\nclass P:\n    x: int\ndef main(): return dataclasses.asdict(pickle.loads(pickle.dumps(P(1))))",
			output: `{"x":1}`,
		},
		"a refusal can be caught": {
			source: "def main(ctx):\n    try: ctx.read_file(path='x')\n    except Exception as e: return [type(e).__name__, e.code, str(e)]",
			output: `["HostError","denied","The host function readFile is not granted."]`,
		},
		"a file of the jail": {
			source: "def main():\n    open('/etc/hosts', 'w')",
			want:   runtimes.ProgramError{Type: runtimes.Denied, Message: "/etc/hosts", File: "main.py", Line: 2, Column: 5},
		},
		"a file of its own": {
			source: "import os\ndef main():\n    os.mkdir('d', 0)\n    open('d/x', 'w')",
			want:   runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "Permission denied", File: "main.py", Line: 4, Column: 5},
		},
		"a call of the system": {
			source: "import socket\ndef main():\n    socket.socket(socket.AF_UNIX)",
			want:   runtimes.ProgramError{Type: runtimes.Denied, Message: "Permission denied", File: "main.py", Line: 3, Column: 5},
		},
		"a host that is asked for through other errors": {
			source: "import urllib.request\ndef main():\n    try: urllib.request.urlopen('http://example.com:81/')\n    except OSError as e: raise e",
			want:   runtimes.ProgramError{Type: runtimes.Denied, Message: "example.com:81 is not granted", File: "main.py", Line: 3, Column: 10},
		},
		"a failure after a denial that was caught": {
			source: "import urllib.request\ndef main():\n    try: urllib.request.urlopen('http://example.com/')\n    except OSError: pass\n    return 1 / 0",
			want:   runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "ZeroDivisionError", File: "main.py", Line: 5, Column: 12},
		},
		"a refusal that is not caught": {
			source: "def main(ctx):\n    ctx.call('nope')",
			want:   runtimes.ProgramError{Type: runtimes.Denied, Message: "nope", File: "main.py", Line: 2, Column: 5},
		},
		"exception": {
			source: "class Bad(Exception): pass\ndef main(a):\n    try:\n        {}['ö'] + a[0]\n    except KeyError as e:\n        raise Bad('boom') from e",
			input:  `{"a":[1]}`,
			want:   runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "Bad: boom", File: "main.py", Line: 6, Column: 9},
			stack:  []string{`File "main.py", line 4, in main`, "KeyError: 'ö'", "direct cause", `File "main.py", line 6, in main`, "main.Bad: boom"},
		},
		"column counts characters": {
			source: "def main():\n    x = 'ööö' + {}['a']",
			want:   runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "KeyError", File: "main.py", Line: 2, Column: 17},
		},
		"exception in the library": {
			source: "import json\ndef main(): return json.loads('{')",
			want:   runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "json.decoder.JSONDecodeError", File: "main.py", Line: 2},
		},
		"exception that cannot be shown": {
			source: "class E(Exception):\n    def __str__(self): raise ValueError\ndef main(): raise E",
			want:   runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "E", File: "main.py", Line: 3},
		},
		"missing property":       {source: "x = 1\ndef main(city, n=1): pass", input: `{"town":1}`, want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "main() needs 'city'", File: "main.py", Line: 2}},
		"no main":                {source: "def mian(): pass", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "no main function", File: "main.py", Line: 1}},
		"exit code":              {source: "import sys\ndef main(): sys.exit(3)", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "code 3", File: "main.py", Line: 2}},
		"syntax error":           {source: "def main():\n    return ö ö", want: runtimes.ProgramError{Type: runtimes.SyntaxError, Message: "SyntaxError: invalid syntax", File: "main.py", Line: 2, Column: 14}},
		"indentation":            {source: "def main():\nreturn 1", want: runtimes.ProgramError{Type: runtimes.SyntaxError, Message: "IndentationError", File: "main.py", Line: 2, Column: 1}},
		"import not there":       {source: "import numpy", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "ModuleNotFoundError: No module named 'numpy'", File: "main.py", Line: 1}},
		"not even UTF-8":         {source: "x = '\xff'", want: runtimes.ProgramError{Type: runtimes.SyntaxError, Message: "SyntaxError", File: "main.py"}},
		"syntax error in eval":   {source: "def main():\n    eval('1 +')", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "SyntaxError", File: "main.py", Line: 2}},
		"bytes":                  {source: "def main(): return {'a b': [b'x']}", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: `output["a b"][0]: bytes is not JSON`}},
		"set":                    {source: "def main(): return {1}", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "output: set is not JSON"}},
		"infinity":               {source: "def main(): return [1e999]", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "output[0]: float Infinity"}},
		"half a character":       {source: "def main(): return {'x': '\\ud800'}", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "output.x: an incomplete surrogate pair"}},
		"one key twice":          {source: "def main(): return {1: 1, '1': 2}", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "duplicate name"}},
		"key that is a tuple":    {source: "def main(): return {'a': {(1, 2): 3}}", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "output.a: a key of type tuple"}},
		"coroutine in it":        {source: "async def f(): pass\ndef main(): return [f()]", want: runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "coroutine"}},
		"wrong log level":        {source: "def main(ctx):\n    ctx.log('loud', 'x')", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "debug, info, warn or error", File: "main.py", Line: 2}},
		"cannot start a program": {source: "import subprocess\ndef main(): subprocess.run(['nope'])", want: runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "FileNotFoundError", File: "main.py", Line: 2}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outcome, host := runtimetest.Run(t, engine, p.Job(tt.source, func(j *runtimes.Job) {
				if tt.input != "" {
					j.Input = json.RawMessage(tt.input)
				}
			}))
			if tt.want.Type == "" {
				if outcome.Error != nil || string(outcome.Output) != tt.output || host.Stdout(t) != tt.stdout {
					t.Errorf("%s, %+v, stdout %q, stderr %q, want %s", outcome.Output, outcome.Error, host.Stdout(t), host.Stderr(t), tt.output)
				}
				return
			}
			got := outcome.Error
			if got == nil || got.Type != tt.want.Type || !strings.Contains(got.Message, tt.want.Message) || got.File != tt.want.File ||
				tt.want.Line != 0 && got.Line != tt.want.Line || tt.want.Column != 0 && got.Column != tt.want.Column {
				t.Fatalf("%+v, output %s, want %+v", got, outcome.Output, tt.want)
			}
			rest := got.Stack
			for _, part := range tt.stack {
				_, after, found := strings.Cut(rest, part)
				if !found {
					t.Fatalf("stack\n%s\nlacks %q", got.Stack, part)
				}
				rest = after
			}
			if strings.Contains(got.Stack, "/work/") || strings.Contains(got.Stack, "__agent__") {
				t.Errorf("stack shows the house:\n%s", got.Stack)
			}
		})
	}
}

// TestEntryInAFolder expects that relative imports work upwards and downwards from the entrypoint's folder.
func TestEntryInAFolder(t *testing.T) {
	t.Parallel()
	job := programs().Job("")
	job.Entrypoint = "app/my-agent.v1.py"
	job.Files = map[string][]byte{
		job.Entrypoint: []byte("from .part import one\nfrom ..top import two\nfrom top import two as again\ndef main(): return [one, two, again, __file__]"),
		"app/part.py":  []byte("one = 1"),
		"top.py":       []byte("two = 2"),
	}
	outcome, _ := runtimetest.Run(t, newEngine(t), job)
	if string(outcome.Output) != `[1,2,2,"/work/app/my-agent.v1.py"]` {
		t.Errorf("%s, %+v", outcome.Output, outcome.Error)
	}
}

// TestEntryInAPackage expects that a package with the entry file is loaded once and has its own name.
func TestEntryInAPackage(t *testing.T) {
	t.Parallel()
	job := programs().Job("")
	job.Entrypoint = "pkg/main.py"
	job.Files = map[string][]byte{
		"pkg/main.py": []byte("from . import state\nimport pkg.state\nimport pkg.main\nfrom pkg.sub.part import seen\nstate.n += 1\n" +
			"def main(): return [state is pkg.state, pkg.state.n, seen is state, pkg.main.main is main, __package__, __name__, pkg.loads]"),
		"pkg/__init__.py":     []byte("loads = globals().get('loads', 0) + 1"),
		"pkg/state.py":        []byte("n = 1\n"),
		"pkg/sub/__init__.py": []byte(""),
		"pkg/sub/part.py":     []byte("from .. import state as seen"),
	}
	engine := newEngine(t)
	for range 2 { // the second run uses cached code
		outcome, _ := runtimetest.Run(t, engine, job)
		if string(outcome.Output) != `[true,2,true,true,"pkg","pkg.main",1]` {
			t.Errorf("%s, %+v", outcome.Output, outcome.Error)
		}
	}
	job.CodeDigest = ""
	job.Files["pkg/main.py"] = []byte("class Bad(Exception): pass\ndef main(): raise Bad('no')")
	if outcome, _ := runtimetest.Run(t, engine, job); outcome.Error == nil || outcome.Error.Message != "Bad: no" || outcome.Error.File != "pkg/main.py" {
		t.Errorf("%+v", outcome.Error)
	}
}

// echo answers each host call with its arguments.
type echo struct{ *runtimetest.Host }

func (echo) Call(_ context.Context, _ string, args json.RawMessage) (json.RawMessage, error) {
	return args, nil
}

// TestACallThatWasGivenUp expects that the reply to an abandoned call is dropped and not returned by the next call. A
// program abandons a call if its own alarm handler raises an exception.
func TestACallThatWasGivenUp(t *testing.T) {
	t.Parallel()
	source := `import os
class Late(Exception): pass
real = os.read
def late(*_):
    os.read = real
    raise Late
def main(input, ctx):
    for n in (1, 2):
        os.read = late
        try:
            ctx.call("echo", n=n)
        except Late:
            pass
    return [ctx.call("echo", n=3), ctx.call("echo", n=4)]
`
	outcome, err := newEngine(t).Run(t.Context(), programs().Job(source), echo{runtimetest.NewHost()})
	if err != nil || string(outcome.Output) != `[{"n":3},{"n":4}]` {
		t.Errorf("%s, %+v, %v", outcome.Output, outcome.Error, err)
	}
}

// TestCallsThatAnAlarmEnds expects that the next call gets its own reply, wherever in a call the alarm arrives.
func TestCallsThatAnAlarmEnds(t *testing.T) {
	t.Parallel()
	source := `import random, signal
class Late(Exception): pass
def late(*_): raise Late
def main(input, ctx):
    signal.signal(signal.SIGALRM, late)
    for n in range(500):
        try:
            signal.setitimer(signal.ITIMER_REAL, 1e-6 + random.random() * 3e-4)
            got = ctx.call("echo", n=n)
            signal.setitimer(signal.ITIMER_REAL, 0)
            if got != {"n": n}:
                return [n, got]
        except Late:
            pass
    return "done"
`
	outcome, err := newEngine(t).Run(t.Context(), programs().Job(source), echo{runtimetest.NewHost()})
	if err != nil || string(outcome.Output) != `"done"` {
		t.Errorf("%s, %+v, %v", outcome.Output, outcome.Error, err)
	}
}

// TestAResultBesideACall expects the result of a program in which a thread is still sending a host call when main returns.
func TestAResultBesideACall(t *testing.T) {
	t.Parallel()
	source := `import os, sys, threading
begun, real, first = threading.Event(), os.write, threading.main_thread().ident
def write(fd, data):
    if threading.get_ident() == first:
        return real(fd, data)
    os.write = real
    begun.set()
    done = real(fd, data[:10])
    while sys._current_frames()[first].f_code.co_name not in ("send", "write"):
        pass
    return done
def main(input, ctx):
    os.write = write
    threading.Thread(target=ctx.call, args=("echo",), kwargs={"text": "x"}).start()
    begun.wait()
    return "done"
`
	outcome, err := newEngine(t).Run(t.Context(), programs().Job(source), echo{runtimetest.NewHost()})
	if err != nil || string(outcome.Output) != `"done"` {
		t.Errorf("%s, %+v, %v", outcome.Output, outcome.Error, err)
	}
}

// endless is a host that never replies to a call while the program runs.
type endless struct{ *runtimetest.Host }

func (endless) Call(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestACallThatGoesOn expects that a pending call of a thread does not delay the end of main. A large result does not
// fit into the buffers between program and server, so the server must keep reading.
func TestACallThatGoesOn(t *testing.T) {
	t.Parallel()
	const source = `import os, threading
begun, real = threading.Event(), os.read
def read(*args):
    begun.set()
    return real(*args)
def main(input, ctx):
    os.read = read
    threading.Thread(target=ctx.call, args=("endless",)).start()
    begun.wait()
    print("o" * input)
    return "r" * input
`
	engine := newEngine(t)
	for _, size := range []int{4, 500_000} {
		job := programs().Job(source, func(j *runtimes.Job) {
			j.Input, j.Limits.TimeoutMs = json.RawMessage(strconv.Itoa(size)), 10_000
		})
		outcome, err := engine.Run(t.Context(), job, endless{runtimetest.NewHost()})
		if want := `"` + strings.Repeat("r", size) + `"`; err != nil || string(outcome.Output) != want {
			t.Errorf("%d bytes of %d, %+v, %v", len(outcome.Output), len(want), outcome.Error, err)
		}
	}
}

// TestACallWithinACall expects that a signal handler may use ctx while main does. Main may be sending, waiting or
// reading, and each call gets its own reply.
func TestACallWithinACall(t *testing.T) {
	t.Parallel()
	for where, source := range map[string]string{
		"before it reads":  "os.read = once('read', lambda real, args: (raised(), real(*args))[1])",
		"when it has":      "os.read = once('read', lambda real, args: (real(*args), raised())[0])",
		"before it sends":  "os.write = once('write', lambda real, args: (raised(), real(*args))[1])",
		"when it has sent": "os.write = once('write', lambda real, args: (real(*args), raised())[0])",
	} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			source = `import os, signal
def once(name, does):
    real = getattr(os, name)
    def function(*args):
        setattr(os, name, real)
        return does(real, args)
    return function
def raised():
    signal.raise_signal(signal.SIGUSR1)
def main(input, ctx):
    inner = []
    signal.signal(signal.SIGUSR1, lambda *_: inner.append(ctx.call("echo", n=2)))
    ` + source + `
    return [ctx.call("echo", n=1), inner, ctx.call("echo", n=3)]
`
			outcome, err := newEngine(t).Run(t.Context(), programs().Job(source), echo{runtimetest.NewHost()})
			if err != nil || string(outcome.Output) != `[{"n":1},[{"n":2}],{"n":3}]` {
				t.Errorf("%s, %+v, %v", outcome.Output, outcome.Error, err)
			}
		})
	}
}

// TestACallWithinTheReadingOfAnAnswer interrupts main while it parses a reply. The signal handler may have read a part
// of the next line when main continues, and no byte may be lost.
func TestACallWithinTheReadingOfAnAnswer(t *testing.T) {
	t.Parallel()
	source := `import os, signal
def main(input, ctx):
    guest = type(ctx).fetch.__globals__
    read, scan, inner = os.read, guest["scan"], []
    def late(*_):
        inner.append(ctx.call("echo", n=2))
        os.read = lambda file, _: read(file, 3)
        ctx._channel.receive()
        os.read = read
    def once(*args):
        guest["scan"] = scan
        signal.raise_signal(signal.SIGUSR1)
        return scan(*args)
    signal.signal(signal.SIGUSR1, late)
    guest["scan"] = once
    return [ctx.call("echo", n=1), inner, ctx.call("echo", n=3)]
`
	outcome, err := newEngine(t).Run(t.Context(), programs().Job(source), echo{runtimetest.NewHost()})
	if err != nil || string(outcome.Output) != `[{"n":1},[{"n":2}],{"n":3}]` {
		t.Errorf("%s, %+v, %v", outcome.Output, outcome.Error, err)
	}
}

// TestACallWithinALine abandons a call, or makes another in a handler, when only a part of its line is written. The
// next message must not become part of that line.
func TestACallWithinALine(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ does, output string }{
		"given up": {`raise TimeoutError`, `["",{"n":2}]`},
		"asked":    {`signal.raise_signal(signal.SIGUSR1); return write(*args)`, `["A signal's handler cannot use ctx while a large call is being sent.",{"n":2}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := `import os, signal
write, told = os.write, ""
def part(file, data):
    os.write = rest
    return write(file, data[:10])
def rest(*args):
    os.write = write
    ` + test.does + `
def main(input, ctx):
    def late(*_):
        global told
        try:
            ctx.log("late")
        except Exception as e:
            told = str(e)
    signal.signal(signal.SIGUSR1, late)
    os.write = part
    try:
        ctx.call("echo", n=1)
    except TimeoutError:
        pass
    return [told, ctx.call("echo", n=2)]
`
			outcome, err := newEngine(t).Run(t.Context(), programs().Job(source, func(j *runtimes.Job) { j.Limits.TimeoutMs = 10_000 }), echo{runtimetest.NewHost()})
			if err != nil || string(outcome.Output) != test.output {
				t.Errorf("%s, %+v, %v", outcome.Output, outcome.Error, err)
			}
		})
	}
}

// TestCallsLeaveNothingBehind expects that received data is released after parsing. That includes a handler that calls
// again and again while main waits, and an alarm that ends a call while main parses its reply.
func TestCallsLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	for when, source := range map[string]string{
		"while main waits": `
    read = os.read
    def once(*args):
        os.read = read
        signal.raise_signal(signal.SIGUSR1)
        return read(*args)
    signal.signal(signal.SIGUSR1, lambda *_: ask())
    os.read = once
    ctx.call("echo")`,
		"after an alarm": `
    guest = type(ctx).fetch.__globals__
    scan = guest["scan"]
    def once(*_):
        guest["scan"] = scan
        raise TimeoutError
    guest["scan"] = once
    try:
        ctx.call("echo")
    except TimeoutError:
        ask()`,
	} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			source = `import os, signal
def main(input, ctx):
    kept = []
    def ask():
        for _ in range(50):
            ctx.log("again")
            kept.append(len(ctx._channel.parts))` + source + `
    return [len(kept), max(kept) < 5]
`
			outcome, err := newEngine(t).Run(t.Context(), programs().Job(source), echo{runtimetest.NewHost()})
			if err != nil || string(outcome.Output) != `[50,true]` {
				t.Errorf("%s, %+v, %v", outcome.Output, outcome.Error, err)
			}
		})
	}
}

// released replies to slow after a log message, and to other calls with their arguments.
type released struct {
	*runtimetest.Host
	logged chan struct{}
}

func (r released) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	switch name {
	case "log":
		close(r.logged)
	case "slow":
		select {
		case <-r.logged:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return args, nil
}

// TestALogWithinACall expects that a log message does not wait for the end of the call.
func TestALogWithinACall(t *testing.T) {
	t.Parallel()
	source := `import signal
def main(input, ctx):
    signal.signal(signal.SIGALRM, lambda *_: ctx.log("info", "late"))
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    return ctx.call("slow", n=1)
`
	outcome, err := newEngine(t).Run(t.Context(), programs().Job(source), released{runtimetest.NewHost(), make(chan struct{})})
	if err != nil || string(outcome.Output) != `{"n":1}` {
		t.Errorf("%s, %+v, %v", outcome.Output, outcome.Error, err)
	}
}

// TestCallsOfAnAlarm expects that an alarm handler and main get their own replies, wherever in a call the alarm
// arrives. Long replies, which need more than one read, are included. The test does not check the duration, because each
// call waits for several processes and may take long on a busy machine.
func TestCallsOfAnAlarm(t *testing.T) {
	t.Parallel()
	source := `import random, signal
def main(input, ctx):
    wrong, heard, own = [], 0, -1
    def late(*_):
        nonlocal heard, own
        own, heard = own - 1, heard + 1
        text = "x" * random.choice((1, 3_000, 3_000, 70_000))
        mine = own
        if ctx.call("echo", n=mine, text=text) != {"n": mine, "text": text}:
            wrong.append(mine)
    signal.signal(signal.SIGALRM, late)
    for n in range(300):
        text = "y" * random.choice((1, 3_000, 3_000, 70_000))
        signal.setitimer(signal.ITIMER_REAL, 1e-6 + random.random() * 3e-4)
        if ctx.call("echo", n=n, text=text) != {"n": n, "text": text}:
            wrong.append(n)
    return [heard > 0, wrong]
`
	outcome, err := newEngine(t).Run(t.Context(), programs().Job(source, func(j *runtimes.Job) { j.Limits.TimeoutMs = 120_000 }), echo{runtimetest.NewHost()})
	if err != nil || string(outcome.Output) != `[true,[]]` {
		t.Errorf("%s, %+v, %v", outcome.Output, outcome.Error, err)
	}
}

// TestACallAtItsLimit expects that the largest allowed line is accepted and a longer one is rejected.
func TestACallAtItsLimit(t *testing.T) {
	t.Parallel()
	source := `def main(input, ctx):
    size = (1 << 20) - len('{"call": "echo", "tag": 1, "args": {"text": ""}}')
    whole = len(ctx.call("echo", text="x" * size)["text"]) == size
    try:
        ctx.call("echo", text="x" * (size + 1))
    except Exception as e:
        return [whole, e.code, str(e), ctx.call("echo", n=1)]
`
	outcome, err := newEngine(t).Run(t.Context(), programs().Job(source), echo{runtimetest.NewHost()})
	if err != nil || string(outcome.Output) != `[true,"invalid_arguments","A host call must have at most 1 MiB.",{"n":1}]` {
		t.Errorf("%s, %+v, %v", outcome.Output, outcome.Error, err)
	}
}

// TestAForkThatComesOutOfMain expects that the parent's result is the result of a program that forks itself, however the
// child ends, and even if a thread is sending a host call at the time of the fork.
func TestAForkThatComesOutOfMain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ ends, output, stderr string }{
		"returns":  {ends: "return 'child'", output: `["parent",0]`},
		"exits":    {ends: "sys.exit(3)", output: `["parent",3]`},
		"fails":    {ends: "raise ValueError('of the child')", output: `["parent",1]`, stderr: "ValueError: of the child\n"},
		"uses ctx": {ends: "ctx.log('x')", output: `["parent",1]`, stderr: "ctx is available only in the main process."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := `import os, sys, threading
begun, forked, real = threading.Event(), threading.Event(), os.write
def write(*args):
    os.write = real
    begun.set()
    forked.wait()
    return real(*args)
def main(input, ctx):
    os.write = write
    threading.Thread(target=ctx.call, args=("echo",)).start()
    begun.wait()
    child = os.fork()
    if child == 0:
        ` + test.ends + `
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    forked.set()
    return ["parent", code]
`
			host := runtimetest.NewHost()
			outcome, err := newEngine(t).Run(t.Context(), programs().Job(source), echo{host})
			if err != nil || string(outcome.Output) != test.output || !strings.Contains(host.Stderr(t), test.stderr) || test.stderr == "" && host.Stderr(t) != "" {
				t.Errorf("%s, %+v, %v, %q", outcome.Output, outcome.Error, err, host.Stderr(t))
			}
		})
	}
}
