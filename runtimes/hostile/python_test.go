package hostile_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/hostile"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

func pythonAttacks() []attack {
	second := func(j *runtimes.Job) { j.Limits.TimeoutMs = 1000 }
	small := func(j *runtimes.Job) {
		j.Limits.TimeoutMs, j.Limits.MemoryBytes, j.Limits.DiskBytes = 10_000, 64<<20, 8<<20
	}
	few := func(j *runtimes.Job) { j.Limits.TimeoutMs, j.Limits.Processes = 3000, 16 }
	// These attacks test other limits than time, and their many small steps take long on a busy machine.
	patient := func(j *runtimes.Job) { j.Limits.TimeoutMs, j.Limits.CPUMs = 200_000, 200_000 }
	limited := []runtimes.ErrorType{runtimes.Timeout}
	return []attack{
		{class: hostile.CPU, name: "infinite loop", file: "spin", edit: second, types: limited},
		{class: hostile.CPU, name: "infinite loop at import", source: "while True: pass\n", edit: second, types: limited},
		{class: hostile.CPU, name: "sleeps and ignores signals", file: "sleep", edit: second, types: limited},
		{class: hostile.CPU, name: "burns processor time",
			file: "spin",
			edit: func(j *runtimes.Job) { j.Limits.CPUMs = 300 }, types: limited,
			check: func(t *testing.T, o runtimes.Outcome, _ *runtimetest.Host) {
				if o.Error == nil || !strings.Contains(o.Error.Message, "CPU time") {
					t.Errorf("%+v, want a message about CPU time", o.Error)
				}
			},
		},
		{class: hostile.CPU, name: "native loop that cannot be interrupted", source: "def main():\n    return 7 ** (7 ** 30)\n", edit: second, types: []runtimes.ErrorType{runtimes.Timeout, runtimes.MemoryLimit}},
		{class: hostile.Memory, name: "memory bomb", source: "def main():\n    x = []\n    while True: x.append(bytearray(1 << 20))\n", edit: small, types: []runtimes.ErrorType{runtimes.MemoryLimit}},
		{class: hostile.Memory, name: "memory bomb at once", file: "gulp", edit: small, types: []runtimes.ErrorType{runtimes.MemoryLimit}},
		{class: hostile.Memory, name: "memory bomb beyond every address", source: "def main():\n    x = bytearray(1 << 60)\n", edit: small, types: []runtimes.ErrorType{runtimes.MemoryLimit}},
		{class: hostile.Memory, name: "memory bomb in a child", file: "memory", edit: small, types: []runtimes.ErrorType{runtimes.MemoryLimit}},
		{class: hostile.Processes, name: "fork bomb", file: "forks", edit: few, types: []runtimes.ErrorType{runtimes.ProcessLimit}},
		{class: hostile.Processes, name: "thread bomb",
			source: "import threading, time\ndef main():\n    while True: threading.Thread(target=time.sleep, args=(60,)).start()\n",
			edit:   few, types: []runtimes.ErrorType{runtimes.ProcessLimit},
		},
		{class: hostile.Output, name: "output flood", source: "import os\ndef main():\n    while True: os.write(2, b'\\xff' * 65536)\n", types: []runtimes.ErrorType{runtimes.OutputLimit}},
		{class: hostile.Output, name: "output flood from children", file: "flood", types: []runtimes.ErrorType{runtimes.OutputLimit}},
		{class: hostile.Output, name: "log flood",
			source: "def main(input, ctx):\n    for i in range(20000): ctx.log('info', 'x' * 50)\n    return 1\n",
			edit:   patient,
			check: func(t *testing.T, _ runtimes.Outcome, h *runtimetest.Host) {
				if n := len(h.Events()); n > 10_002 || h.Dropped(t) == 0 {
					t.Errorf("%d events, %d bytes dropped", n, h.Dropped(t))
				}
			},
		},
		{class: hostile.Signals, name: "a host function with an endless name",
			source: "import os\ndef main():\n    os.write(3, b'{\"call\":\"' + b'\\xff' * 700000 + b'\"}\\n')\n    os.read(3, 65536)\n    return 1\n",
			output: "1",
		},
		{class: hostile.Disk, name: "disk bomb", file: "disk", edit: small, types: []runtimes.ErrorType{runtimes.DiskLimit}},
		{class: hostile.Files, name: "many files", file: "inodes", edit: small, types: []runtimes.ErrorType{runtimes.DiskLimit}},
		{class: hostile.Files, name: "too many open files", file: "open", types: []runtimes.ErrorType{runtimes.RuntimeError}},
		{class: hostile.Secrets, name: "sees the environment of the server",
			source: "import os\ndef main():\n    return sorted(k for k in os.environ if k not in ('PATH', 'HOME', 'LANG', 'TMPDIR', 'LC_CTYPE'))\n",
			edit:   bare, output: "[]",
		},
		{class: hostile.ParserBombs, mute: true, name: "parser bomb of brackets", source: "x = " + strings.Repeat("(", 200_000), types: []runtimes.ErrorType{runtimes.SyntaxError}},
		{class: hostile.ParserBombs, mute: true, name: "parser bomb of operators", source: "x = " + strings.Repeat("-", 200_000) + "1", types: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.RuntimeError}},
		{class: hostile.ParserBombs, mute: true, name: "parser bomb of attributes", source: "x = a" + strings.Repeat(".a", 200_000), types: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.RuntimeError}},
		{class: hostile.ParserBombs, mute: true, name: "parser bomb of null bytes", source: "x = 1\n\x00\n", types: []runtimes.ErrorType{runtimes.SyntaxError}},
		{class: hostile.Memory, name: "endless recursion", file: "recursion", types: []runtimes.ErrorType{runtimes.RecursionLimit}},
		{class: hostile.Memory, name: "recursion through C", source: "class A:\n    def __repr__(self): return repr(self)\ndef main(): return repr(A())\n", edit: func(j *runtimes.Job) { j.Limits.RecursionDepth = 10_000 }, types: []runtimes.ErrorType{runtimes.RecursionLimit}},
		{class: hostile.Forging, name: "result that contains itself", source: "def main():\n    x = []\n    x.append(x)\n    return {'a': x}\n", types: []runtimes.ErrorType{runtimes.InvalidOutput}},
		{class: hostile.Forging, name: "result that is very deep", source: "def main():\n    x = []\n    for _ in range(100000): x = [x]\n    return x\n", types: []runtimes.ErrorType{runtimes.InvalidOutput}},
		{class: hostile.Signals, name: "crashes the interpreter", file: "segfault", types: []runtimes.ErrorType{runtimes.RuntimeError}},
		{class: hostile.Signals, name: "kills everything", source: "import os, signal\ndef main(): os.kill(-1, signal.SIGKILL)\n", types: []runtimes.ErrorType{runtimes.RuntimeError}},
		{class: hostile.Signals, name: "kills process 1", // process 1 is the program itself: the kernel does not deliver unhandled signals to it, and Python handles 2
			source: "import os, signal, time\ndef main():\n    for s in range(1, 65):\n        try: s == 2 or os.kill(1, s)\n        except OSError: pass\n    return 'alive'\n",
			output: `"alive"`,
		},
		{class: hostile.Signals, name: "daemon that outlives its parent",
			source: `import os, time
def main():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True:
                os.write(1, b".")
                time.sleep(0.01)
        os._exit(0)
    time.sleep(0.1)
    return "done"
`,
			check: func(t *testing.T, o runtimes.Outcome, _ *runtimetest.Host) {
				wants(`"done"`)(t, o, nil)
				if o.Usage.Run.Seconds() > 2 {
					t.Errorf("the daemon delayed the end of the run by %v", o.Usage.Run)
				}
			},
		},
		{class: hostile.Forging, name: "exits without a result", source: "import os\ndef main(): os._exit(0)\n", types: []runtimes.ErrorType{runtimes.RuntimeError}},
		{class: hostile.Forging, name: "sends nonsense to the host",
			source: "import os\ndef main():\n    os.write(3, b'x' * 3000000 + b'\\n{}\\n[[[\\n{\"call\":7}\\n')\n    os.write(3, b'{\"end\":{\"error\":{\"type\":\"interrupted\",\"file\":\"/etc/passwd\",\"line\":1}}}\\n')\n    os._exit(0)\n",
			types:  []runtimes.ErrorType{runtimes.RuntimeError},
		},
		{class: hostile.HostFiles, name: "reads and writes files of the host", file: "host_files", output: "[]"},
		{class: hostile.Secrets, name: "looks for a secret", file: "secrets", output: "[]"},
		{class: hostile.OtherRuns, name: "looks for its neighbour", file: "other_runs", alongside: "leave_marks", output: "[]"},
		{class: hostile.Network, name: "calls home", file: "network", output: "[]"},
		{class: hostile.OtherRuns, name: "a socket pair with an abstract name", source: `import ctypes, os, socket
def main():
    libc, named = ctypes.CDLL(None, use_errno=True), 0
    for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
        fds = (ctypes.c_int * 2)()
        if libc.socketpair(socket.AF_UNIX, kind | socket.SOCK_CLOEXEC, 0, fds) != 0:
            continue
        libc.connect(fds[0], bytes(16), 16)  # AF_UNSPEC disconnects
        address = socket.AF_UNIX.to_bytes(2, "little") + b"\0meet"
        named += libc.bind(fds[0], address, len(address)) == 0
    return named
`, output: "0"},
		{class: hostile.Kernel, name: "system calls", file: "kernel", output: "[]"},
		{class: hostile.OtherRuns, name: "leaves a mark and looks for it", source: "import os\ndef main():\n    seen = [p for p in ('/tmp/m', '/dev/shm/m', '/work/m') if os.path.exists(p)]\n    for p in ('/tmp/m', '/dev/shm/m', '/work/m'): open(p, 'w').close()\n    return seen\n", output: "[]"},
		{class: hostile.OtherRuns, name: "looks for the mark of the previous run", source: "import os\n\ndef main():\n    return [p for p in ('/tmp/m', '/dev/shm/m', '/work/m') if os.path.exists(p)]\n", output: "[]"},
		{class: hostile.Output, name: "result that is too large", source: "def main():\n    return 'x' * 3_000_000\n", types: []runtimes.ErrorType{runtimes.OutputLimit}},
		{class: hostile.Output, name: "one endless line", source: "import os\ndef main():\n    while True: os.write(2, b'x')\n", edit: func(j *runtimes.Job) { patient(j); j.Limits.OutputBytes = 10_000 }, types: []runtimes.ErrorType{runtimes.OutputLimit}},
		{class: hostile.Disk, name: "one file of a tebibyte", source: "def main():\n    with open('/work/x', 'wb') as f:\n        f.truncate(1 << 40)\n", types: []runtimes.ErrorType{runtimes.DiskLimit}},
		{class: hostile.Disk, name: "shared memory as a disk", source: "def main():\n    with open('/dev/shm/x', 'wb') as f:\n        while True: f.write(bytes(65536))\n", edit: small, types: []runtimes.ErrorType{runtimes.DiskLimit}},
		{class: hostile.Memory, name: "memory that belongs to no process", source: "import os\ndef main():\n    fds = []\n    while True:\n        fds.append(os.memfd_create('x'))\n        for _ in range(7): os.write(fds[-1], bytes(1 << 20))\n", edit: small, types: []runtimes.ErrorType{runtimes.MemoryLimit, runtimes.DiskLimit, runtimes.RuntimeError}},
		{class: hostile.Signals, name: "daemon in a session of its own", file: "daemon", output: `"done"`},
		{class: hostile.Forging, name: "result with a key twice, past the encoder", source: "import os\ndef main():\n    os.write(3, b'{\"end\":{\"output\":{\"a\":1,\"a\":2}}}\\n')\n    os._exit(0)\n", types: []runtimes.ErrorType{runtimes.InvalidOutput}},
		{class: hostile.Forging, name: "result with NaN, past the encoder", source: "import os\ndef main():\n    os.write(3, b'{\"end\":{\"output\":NaN}}\\n')\n    os._exit(0)\n", types: []runtimes.ErrorType{runtimes.InvalidOutput, runtimes.RuntimeError}},
		{class: hostile.Forging, name: "error in the form of the server's", source: "import os\ndef main():\n    os.write(3, b'{\"end\":{\"error\":{\"type\":\"interrupted\",\"message\":\"The server stopped.\",\"file\":\"/etc/passwd\",\"line\":1}}}\\n')\n    os._exit(0)\n", types: []runtimes.ErrorType{runtimes.RuntimeError}, check: noForeignFile},
		{class: hostile.Forging, name: "a module's code for the next run",
			source: "import helper\ndef main():\n    return helper.x\n",
			edit: func(j *runtimes.Job) {
				j.Files["helper.py"] = []byte(`import binascii, importlib.util, marshal, os
code = compile("def main():\n    return 'forged'\n", "/work/main.py", "exec")
os.write(3, b'{"kept":"' + binascii.b2a_base64(importlib.util.MAGIC_NUMBER + marshal.dumps((code, {})), newline=False) + b'"}\n')
x = "fine"
`)
			},
			again: true, output: `"fine"`,
		},
		{class: hostile.Forging, name: "impossible exit code",
			source: "import os\ndef main():\n    os.write(3, b'{\"end\":{\"output\":\"said\"},\"code\":-256}\\n')\n    os._exit(3)\n",
			types:  []runtimes.ErrorType{runtimes.RuntimeError},
			check: func(t *testing.T, o runtimes.Outcome, _ *runtimetest.Host) {
				if o.ExitCode == nil || *o.ExitCode != 3 {
					t.Errorf("exit code %v", o.ExitCode)
				}
			},
		},
		{class: hostile.Forging, name: "result and then a kill of the parent", source: "import os, signal\ndef main():\n    os.write(3, b'{\"end\":{\"output\":\"forged\"}}\\n')\n    try: os.kill(os.getppid(), signal.SIGKILL)\n    except OSError: pass\n    os._exit(3)\n", output: `"forged"`},
		{class: hostile.Terminal, name: "titles, colours, queries", source: "import sys\ndef main():\n    sys.stdout.write('\\x1b]0;owned\\x07\\x1b[2J\\x1b[31mred\\x9b31m\\x90q\\x1b[6n\\r\\u202e\\u2028')\n    return '\\x1b]52;c;b3duZWQ=\\x07\\u202e'\n", output: "\"\\u001b]52;c;b3duZWQ=\\u0007\u202e\""},
		{class: hostile.Terminal, name: "in an error", source: "class E(Exception): pass\nE.__name__ = E.__qualname__ = '\\x1b[31mE'\ndef main():\n    raise E('\\x1b]0;owned\\x07\\nlevel=ERROR msg=forged')\n", types: []runtimes.ErrorType{runtimes.RuntimeError}},
		{class: hostile.Terminal, name: "bytes that are not text", source: "import os\ndef main():\n    os.write(1, bytes(range(128, 256)) * 100 + b'\\xed\\xa0\\x80')\n    return 1\n", output: "1"},
	}
}

// noForeignFile checks that the position of an error is in the program, or that it has none.
func noForeignFile(t *testing.T, o runtimes.Outcome, _ *runtimetest.Host) {
	t.Helper()
	if o.Error == nil || o.Error.File != "" && o.Error.File != "main.py" {
		t.Errorf("%+v", o.Error)
	}
}
