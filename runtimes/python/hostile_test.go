package python_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

func TestHostile(t *testing.T) {
	t.Parallel()
	second := func(j *runtimes.Job) { j.Limits.TimeoutMs = 1000 }
	small := func(j *runtimes.Job) {
		j.Limits.TimeoutMs, j.Limits.MemoryBytes, j.Limits.DiskBytes = 10_000, 64<<20, 8<<20
	}
	few := func(j *runtimes.Job) { j.Limits.TimeoutMs, j.Limits.Processes = 3000, 16 }
	limited := []runtimes.ErrorType{runtimes.Timeout}
	runtimetest.Hostile(t, newEngine(t), programs(), map[string]runtimetest.Attack{
		"infinite loop":           {Source: "def main():\n    while True: pass\n", Edit: second, Want: limited},
		"infinite loop at import": {Source: "while True: pass\n", Edit: second, Want: limited},
		"sleeps and ignores signals": {
			Source: "import signal, time\ndef main():\n    [signal.signal(s, signal.SIG_IGN) for s in (signal.SIGTERM, signal.SIGINT)]\n    time.sleep(60)\n",
			Edit:   second, Want: limited,
		},
		"burns processor time": {
			Source: "def main():\n    while True: pass\n",
			Edit:   func(j *runtimes.Job) { j.Limits.CPUMs = 300 }, Want: limited,
			Check: func(t *testing.T, o runtimes.Outcome, _ *runtimetest.Host) {
				if o.Error == nil || !strings.Contains(o.Error.Message, "CPU time") {
					t.Errorf("%+v, want it to say CPU time", o.Error)
				}
			},
		},
		"native loop that cannot be interrupted": {Source: "def main():\n    return 7 ** (7 ** 30)\n", Edit: second, Want: []runtimes.ErrorType{runtimes.Timeout, runtimes.MemoryLimit}},
		"memory bomb":                            {Source: "def main():\n    x = []\n    while True: x.append(bytearray(1 << 20))\n", Edit: small, Want: []runtimes.ErrorType{runtimes.MemoryLimit}},
		"memory bomb at once":                    {Source: "def main():\n    x = b'x' * (1 << 33)\n", Edit: small, Want: []runtimes.ErrorType{runtimes.MemoryLimit}},
		"memory bomb beyond every address":       {Source: "def main():\n    x = bytearray(1 << 60)\n", Edit: small, Want: []runtimes.ErrorType{runtimes.MemoryLimit}},
		"memory bomb in a child": {
			Source: "import os, sys\ndef main():\n    pid = os.fork()\n    if pid == 0:\n        x = []\n        while True: x.append(bytearray(1 << 20))\n    assert os.waitpid(pid, 0)[1] == 0\n",
			Edit:   small, Want: []runtimes.ErrorType{runtimes.MemoryLimit},
		},
		"fork bomb": {
			Source: "import os\ndef main():\n    while True: os.fork()\n",
			Edit:   few, Want: []runtimes.ErrorType{runtimes.ProcessLimit},
		},
		"thread bomb": {
			Source: "import threading, time\ndef main():\n    while True: threading.Thread(target=time.sleep, args=(60,)).start()\n",
			Edit:   few, Want: []runtimes.ErrorType{runtimes.ProcessLimit},
		},
		"output flood": {Source: "import os\ndef main():\n    while True: os.write(2, b'\\xff' * 65536)\n", Want: []runtimes.ErrorType{runtimes.OutputLimit}},
		"output flood from children": {
			Source: "import os\ndef main():\n    for _ in range(4): os.fork()\n    while True: os.write(1, b'x' * 65536)\n",
			Want:   []runtimes.ErrorType{runtimes.OutputLimit},
		},
		"log flood": {
			Source: "def main(input, ctx):\n    for i in range(20000): ctx.log('info', 'x' * 50)\n    return 1\n",
			Check: func(t *testing.T, _ runtimes.Outcome, h *runtimetest.Host) {
				if n := len(h.Events()); n > 10_001 || h.Dropped(t) == 0 {
					t.Errorf("%d events, %d bytes dropped", n, h.Dropped(t))
				}
			},
		},
		"a host function with an endless name": {
			Source: "import os\ndef main():\n    os.write(3, b'{\"call\":\"' + b'\\xff' * 700000 + b'\"}\\n')\n    os.read(3, 65536)\n    return 1\n",
			Check:  wants("1"),
		},
		"disk bomb":           {Source: "def main():\n    with open('/tmp/x', 'wb') as f:\n        while True: f.write(b'x' * 65536)\n", Edit: small, Want: []runtimes.ErrorType{runtimes.DiskLimit}},
		"many files":          {Source: "def main():\n    i = 0\n    while True:\n        i += 1\n        open(f'/tmp/{i}', 'w').close()\n", Edit: small, Want: []runtimes.ErrorType{runtimes.DiskLimit}},
		"too many open files": {Source: "def main():\n    x = [open('/dev/null') for _ in range(10000)]\n", Want: []runtimes.ErrorType{runtimes.RuntimeError}},
		"reads the host": {
			Source: `import os
def main():
    found = []
    for path in ("/etc/shadow", "/etc/machine-id", "/root", "/home", "/var/lib", "/proc/1/environ", "/proc/1/mem", "/proc/1/root", "/sys/kernel", "/work/main", "/usr/../root/.bashrc", "/dev/vda", "/dev/mem", "/proc/kcore", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger"):
        try:
            if os.path.isdir(path):
                if os.listdir(path): found.append(path)
            else:
                open(path, "rb").read(1)
                found.append(path)
        except OSError:
            pass
    return found
`,
			Check: wants("[]"),
		},
		"writes outside of its places": {
			Source: `import os
def main():
    found = []
    for path in ("/x", "/usr/x", "/usr/bin/x", "/etc/x", "/etc/passwd", "/dev/x", "/proc/1/oom_score_adj", "/var/x"):
        try:
            open(path, "a").close()
            found.append(path)
        except OSError:
            pass
    return found
`,
			Check: wants("[]"),
		},
		"sees the environment of the house": {
			Source: "import os\ndef main():\n    return sorted(k for k in os.environ if k not in ('PATH', 'HOME', 'LANG', 'TMPDIR', 'LC_CTYPE'))\n",
			Check:  wants("[]"),
		},
		"talks to the network": {
			Source: `import socket
def main():
    found = []
    for family, kind, to in ((socket.AF_INET, socket.SOCK_STREAM, ("1.1.1.1", 53)), (socket.AF_INET, socket.SOCK_DGRAM, ("8.8.8.8", 53)), (socket.AF_INET6, socket.SOCK_STREAM, ("::1", 8002)), (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 22)), (socket.AF_UNIX, socket.SOCK_STREAM, "/run/x"), (socket.AF_UNIX, socket.SOCK_STREAM, "\0x"), (socket.AF_NETLINK, socket.SOCK_RAW, None)):
        try:
            s = socket.socket(family, kind)
            s.settimeout(2)
            if to is None or isinstance(to, str): s.bind(to or (0, 0))
            else:
                s.connect(to)
                s.send(b"x")
            found.append(repr((family, to)))
        except OSError as e:
            pass
    try:
        socket.getaddrinfo("example.com", 80)
        found.append("dns")
    except OSError:
        pass
    return found
`,
			Check: wants("[]"),
		},
		"parser bomb of brackets":     {Source: "x = " + strings.Repeat("(", 200_000), Want: []runtimes.ErrorType{runtimes.SyntaxError}},
		"parser bomb of operators":    {Source: "x = " + strings.Repeat("-", 200_000) + "1", Want: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.RuntimeError}},
		"parser bomb of attributes":   {Source: "x = a" + strings.Repeat(".a", 200_000), Want: []runtimes.ErrorType{runtimes.SyntaxError, runtimes.RuntimeError}},
		"parser bomb of null bytes":   {Source: "x = 1\n\x00\n", Want: []runtimes.ErrorType{runtimes.SyntaxError}},
		"endless recursion":           {Source: "def f(n): return f(n + 1)\ndef main(): f(0)\n", Want: []runtimes.ErrorType{runtimes.RecursionLimit}},
		"recursion through C":         {Source: "class A:\n    def __repr__(self): return repr(self)\ndef main(): return repr(A())\n", Edit: func(j *runtimes.Job) { j.Limits.RecursionDepth = 10_000 }, Want: []runtimes.ErrorType{runtimes.RecursionLimit}},
		"result that contains itself": {Source: "def main():\n    x = []\n    x.append(x)\n    return {'a': x}\n", Want: []runtimes.ErrorType{runtimes.InvalidOutput}},
		"result that is very deep":    {Source: "def main():\n    x = []\n    for _ in range(100000): x = [x]\n    return x\n", Want: []runtimes.ErrorType{runtimes.InvalidOutput}},
		"crashes the interpreter":     {Source: "import ctypes\ndef main(): ctypes.string_at(0)\n", Want: []runtimes.ErrorType{runtimes.RuntimeError}},
		"kills everything":            {Source: "import os, signal\ndef main(): os.kill(-1, signal.SIGKILL)\n", Want: []runtimes.ErrorType{runtimes.RuntimeError}, Edit: second},
		"kills process 1": {
			Source: "import os, signal, time\ndef main():\n    for s in range(1, 65):\n        try: os.kill(1, s)\n        except OSError: pass\n    return 'alive'\n",
			Check:  wants(`"alive"`),
		},
		"daemon that outlives its parent": {
			Source: `import os, time
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
			Check: func(t *testing.T, o runtimes.Outcome, _ *runtimetest.Host) {
				wants(`"done"`)(t, o, nil)
				if o.Usage.Run.Seconds() > 2 {
					t.Errorf("the daemon held the run for %v", o.Usage.Run)
				}
			},
		},
		"leaves without a word": {Source: "import os\ndef main(): os._exit(0)\n", Want: []runtimes.ErrorType{runtimes.RuntimeError}},
		"speaks nonsense to the host": {
			Source: "import os\ndef main():\n    os.write(3, b'x' * 3000000 + b'\\n{}\\n[[[\\n{\"call\":7}\\n')\n    os.write(3, b'{\"end\":{\"error\":{\"type\":\"interrupted\",\"file\":\"/etc/passwd\",\"line\":1}}}\\n')\n    os._exit(0)\n",
			Want:   []runtimes.ErrorType{runtimes.RuntimeError}, Edit: second,
		},
		"escapes by system calls": {
			Source: `import ctypes, os
def main():
    libc, found = ctypes.CDLL(None, use_errno=True), []
    calls = {"ptrace": (101, 16, 1, 0, 0), "mount": (165, b"none", b"/tmp", b"tmpfs", 0, 0), "unshare": (272, 0x10000000), "setns": (308, 0, 0), "bpf": (321, 0, 0, 0), "keyctl": (250, 0, -3, 1), "io_uring_setup": (425, 1, 0), "process_vm_readv": (310, 1, 0, 0, 0, 0, 0), "pidfd_getfd": (438, 0, 0, 0), "chroot": (161, b"/tmp"), "userfaultfd": (323, 0), "perf_event_open": (298, 0, 0, 0, 0, 0), "memfd_secret": (447, 0), "setuid": (105, 0)}
    for name, (number, *args) in calls.items():
        if libc.syscall(number, *args) != -1: found.append(name)
    return found + ([os.getuid()] if os.getuid() == 0 else [])
`,
			Check: wants("[]"),
		},
	})
}

// wants demands one output.
func wants(output string) func(*testing.T, runtimes.Outcome, *runtimetest.Host) {
	return func(t *testing.T, o runtimes.Outcome, _ *runtimetest.Host) {
		t.Helper()
		if string(o.Output) != output {
			t.Errorf("output %s, want %s", o.Output, output)
		}
	}
}
