package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox"
)

func TestHostileFiles(t *testing.T) {
	t.Parallel()
	canary := filepath.Join(t.TempDir(), "canary")
	if err := os.WriteFile(canary, []byte("secret"), 0o666); err != nil {
		t.Fatal(err)
	}
	p := jail(t, newBox(t), program(limits()))
	for _, path := range []string{
		canary, "/etc/shadow", "/root", "/home", "/var", "/sys", "/proc/1/environ", "/proc/1/cmdline", "/proc/1/mem", "/proc/1/maps",
		"/proc/sys/kernel/core_pattern", "/proc/kcore", "/proc/kallsyms", "/proc/keys", "/proc/sysrq-trigger", "/proc/cmdline",
		"/proc/self/../1/root", "/dev/vda", "/dev/mem", "/dev/kmsg", "/dev/ptmx", "/dev/tty", "/../../etc/shadow",
	} {
		// Process 1 may read its own files below /proc/1, so there only the program's attempt below counts.
		if !strings.HasPrefix(path, "/proc/1/") {
			if got := p.do(t, request{Do: "read", Path: path}); got.Error == "" {
				t.Errorf("read %s: %d bytes", path, len(got.Text))
			}
		}
		if got := p.run(t, "/usr/bin/cat", path); got.Code == 0 {
			t.Errorf("a program read %s: %d bytes", path, len(got.Text))
		}
	}
	for _, path := range []string{"/x", "/usr/x", "/etc/passwd", "/dev/x", "/dev/shm/../x", "/proc/x", "/bin/bash"} {
		if got := p.do(t, request{Do: "write", Path: path, Bytes: 1}); got.Error == "" {
			t.Errorf("wrote %s", path)
		}
	}
	root := p.do(t, request{Do: "list", Path: "/"}).List
	allowed := []string{"bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "tmp", "usr", "work"}
	for _, name := range root {
		if !slices.Contains(allowed, name) {
			t.Errorf("the root has %s", name)
		}
	}
	// The jail must still allow normal files.
	for _, path := range []string{"/work/x", "/tmp/x", "/dev/shm/x", "/dev/null"} {
		if got := p.do(t, request{Do: "write", Path: path, Bytes: 1}); got.Error != "" {
			t.Errorf("control: write %s: %s", path, got.Error)
		}
	}
	for _, path := range []string{"/etc/passwd", "/work/x", "/usr/bin/env", "/dev/zero/../null"} {
		got := p.do(t, request{Do: "read", Path: strings.Replace(path, "/zero/..", "", 1)})
		if got.Error != "" {
			t.Errorf("control: read %s: %s", path, got.Error)
		}
	}
}

func TestHostileWorkerFiles(t *testing.T) {
	t.Parallel()
	p := jail(t, newBox(t), worker(limits()))
	for _, path := range []string{"/", "/etc/passwd", "/proc/self/environ", "/dev/null", "."} {
		if got := p.do(t, request{Do: "read", Path: path}); got.Errno != int(unix.EPERM) {
			t.Errorf("read %s: %+v, want EPERM", path, got)
		}
	}
}

// TestHostileMounts reads the kernel's list of mounts: no host mount is writable, and none honours set-uid.
func TestHostileMounts(t *testing.T) {
	t.Parallel()
	p := jail(t, newBox(t), program(limits()))
	table := p.run(t, "/usr/bin/cat", "/proc/self/mountinfo").Text
	writable := []string{"/work", "/tmp", "/dev/shm", "/proc"}
	lines := strings.Split(strings.TrimSpace(table), "\n")
	if len(lines) < 10 {
		t.Fatalf("the table has too few lines:\n%s", table)
	}
	for _, line := range lines {
		fields := strings.Fields(line)
		point, options := fields[4], strings.Split(fields[5], ",")
		if !slices.Contains(options, "ro") && !slices.Contains(writable, point) {
			t.Errorf("%s can be written: %s", point, line)
		}
		if !slices.Contains(options, "nosuid") {
			t.Errorf("%s honours set-uid: %s", point, line)
		}
		if !slices.Contains(options, "nodev") && !strings.HasPrefix(point, "/dev/") {
			t.Errorf("%s honours devices: %s", point, line)
		}
		if strings.Contains(line, "shared:") || strings.Contains(line, "master:") {
			t.Errorf("%s shares mounts with the host: %s", point, line)
		}
	}
}

// TestHostilePrivileges reads from the host's /proc which privileges each thread of process 1 still has. It also checks a
// program that process 1 started.
func TestHostilePrivileges(t *testing.T) {
	t.Parallel()
	for name, profile := range map[string]sandbox.Profile{"program": program(limits()), "worker": worker(limits())} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := jail(t, newBox(t), profile)
			p.do(t, request{Do: "threads", Bytes: 12}) // some threads made after the privileges were dropped
			tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", p.PID()))
			if err != nil || len(tasks) < 12 {
				t.Fatalf("found %d threads, %v", len(tasks), err)
			}
			for _, task := range tasks {
				text, err := os.ReadFile(task)
				if err != nil {
					t.Fatal(err)
				}
				checkStatus(t, task, string(text))
			}
			if profile.Filter == sandbox.FilterProgram {
				checkStatus(t, "child", p.run(t, "/usr/bin/cat", "/proc/self/status").Text)
			}
		})
	}
}

func checkStatus(t *testing.T, task, text string) {
	t.Helper()
	for field, want := range map[string]string{
		"CapInh": "0000000000000000", "CapPrm": "0000000000000000", "CapEff": "0000000000000000", "CapBnd": "0000000000000000",
		"CapAmb": "0000000000000000", "NoNewPrivs": "1", "Seccomp": "2",
	} {
		if got := statusField(text, field); got != want {
			t.Errorf("%s: %s is %q, want %q", task, field, got, want)
		}
	}
	if uid := strings.Fields(statusField(text, "Uid")); len(uid) != 4 || uid[0] == "0" || uid[3] == "0" {
		t.Errorf("%s: user ids %q", task, uid)
	}
}

func statusField(text, field string) string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// TestHostileInheritance gives the server a descriptor without close-on-exec and checks that no jail has it.
func TestHostileInheritance(t *testing.T) {
	t.Parallel()
	leaky, err := unix.Dup(0) // dup clears close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leaky)
	p := jail(t, newBox(t), program(limits()))
	if os.Geteuid() == 0 { // process 1 is not readable by its own user
		links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.PID()))
		if err != nil || len(links) < 3 {
			t.Fatalf("%d descriptors, %v", len(links), err)
		}
		for _, link := range links {
			target, err := os.Readlink(link)
			if err != nil {
				t.Fatal(err)
			}
			fine := target == os.DevNull || strings.HasPrefix(target, "socket:") || strings.HasPrefix(target, "pipe:") || strings.HasPrefix(target, "anon_inode:[event")
			if !fine || filepath.Base(link) == "0" && target != os.DevNull {
				t.Errorf("descriptor %s is %s", filepath.Base(link), target)
			}
		}
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.PID()))
		if err != nil || len(environ) > 0 {
			t.Errorf("the environment is %q, %v", environ, err)
		}
	}
	if got := p.do(t, request{Do: "environ"}); len(got.List) > 0 {
		t.Errorf("the environment is %q", got.List)
	}
	fds := p.run(t, "/usr/bin/ls", "/proc/self/fd").Text
	if got := strings.Fields(fds); !slices.Equal(got, []string{"0", "1", "2", "3"}) {
		t.Errorf("a program has descriptors %v, want 0, 1, 2 and the one that reads the list", got)
	}
}

func TestHostileNetwork(t *testing.T) {
	t.Parallel()
	p := jail(t, newBox(t), program(limits()))
	got := p.python(t, `
import socket, errno
def attempt(name, f):
    try: f(); print(name, "worked")
    except OSError as e: print(name, errno.errorcode.get(e.errno, e.errno))
attempt("tcp", lambda: socket.create_connection(("1.1.1.1", 80), 2))
attempt("tcp6", lambda: socket.socket(socket.AF_INET6).connect(("2606:4700::1111", 80)))
attempt("localhost", lambda: socket.create_connection(("127.0.0.1", 22), 2))
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("8.8.8.8", 53)))
attempt("unix", lambda: socket.socket(socket.AF_UNIX))
attempt("dns", lambda: socket.getaddrinfo("example.com", 80))
attempt("pair", lambda: socket.socketpair())
`)
	want := []string{"tcp ENETUNREACH", "tcp6 E", "localhost ENETUNREACH", "udp ENETUNREACH", "unix EACCES", "dns -", "pair worked"}
	for _, line := range want {
		if !strings.Contains(got.Text, line) {
			t.Errorf("%q is missing in:\n%s", line, got.Text)
		}
	}
}

// TestHostileNeighbours lets a program attack process 1, which has the same user.
func TestHostileNeighbours(t *testing.T) {
	t.Parallel()
	p := jail(t, newBox(t), program(limits()))
	got := p.bash(t, `for s in HUP INT QUIT ILL TRAP ABRT BUS FPE SEGV TERM XCPU SYS USR1 PIPE ALRM KILL STOP; do kill -$s 1; done; echo ok; cat /proc/1/mem; ls /proc/1/fd; echo 1000 >/proc/1/oom_score_adj`)
	if !strings.Contains(got.Text, "ok") {
		t.Errorf("signals: %+v", got)
	}
	if got := p.do(t, request{Do: "list", Path: "/work"}); got.Error != "" {
		t.Errorf("process 1 does not answer after the signals: %+v", got)
	}
}

// TestHostileIdentity checks that live jails have different users on the host, and never root or the server's user.
func TestHostileIdentity(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give each jail a user")
	}
	box := newBox(t)
	seen := map[uint32]bool{}
	for range 3 {
		p := jail(t, box, worker(limits()))
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
		if err != nil {
			t.Fatal(err)
		}
		var uid, gid uint32
		if _, err := fmt.Sscan(statusField(string(text), "Uid"), &uid); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(statusField(string(text), "Gid"), &gid); err != nil {
			t.Fatal(err)
		}
		if uid < 200_000 || gid < 200_000 || seen[uid] {
			t.Errorf("user %d, group %d, seen before: %v", uid, gid, seen)
		}
		if groups := statusField(string(text), "Groups"); groups != "" {
			t.Errorf("the groups of the server are left: %s", groups)
		}
		seen[uid] = true
	}
}

// newBoxWithout returns a sandbox on a host that lacks a mechanism.
func newBoxWithout(t *testing.T, mechanism string) *sandbox.Sandbox {
	t.Helper()
	box, err := sandbox.New(t.Context(), sandbox.Options{Exe: hostileExe(t), Without: []string{mechanism}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	return box
}

func TestHostileMemory(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	for name, attack := range map[string]func(t *testing.T, p *prisoner){
		"one process": func(t *testing.T, p *prisoner) { p.attack(t, "import time\nx = bytearray(400 << 20)\ntime.sleep(60)") },
		"many processes": func(t *testing.T, p *prisoner) {
			// A control group may end only one of the processes. Then the parent ends the others.
			p.attack(t, `import os, time
children = []
for _ in range(8):
  children.append(os.fork())
  if children[-1] == 0:
    x = bytearray(40 << 20)
    time.sleep(60)
ended, _ = os.wait()
for pid in children:
  if pid != ended: os.kill(pid, 9)`)
		},
		"memory files": func(t *testing.T, p *prisoner) {
			p.attack(t, "import os\nfds = []\nwhile True:\n  fds.append(os.memfd_create('x'))\n  for _ in range(7): os.write(fds[-1], bytes(1 << 20))")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := jail(t, box, program(limits()))
			attack(t, p)
			if name == "memory files" && !p.counted() {
				return // the filter refuses these files if no control group counts memory
			}
			// A watch measures at intervals, so it notices the limit late, and the peak can be anything.
			if usage := p.Usage(); !usage.OOMKilled || p.counted() && usage.PeakMemory > 160<<20 {
				t.Errorf("usage is %+v", usage)
			}
		})
	}
	t.Run("socket pairs without control groups", func(t *testing.T) {
		t.Parallel()
		p := jail(t, newBoxWithout(t, sandbox.Cgroups), program(limits()))
		p.attack(t, `import os, socket, time
for _ in range(30):
  if os.fork() == 0:
    pairs = [s for _ in range(60) for s in socket.socketpair()]
    for s in pairs:
      s.setblocking(False)
      s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 18)
      try:
        while True: s.send(bytes(1 << 16))
      except BlockingIOError: pass
    time.sleep(600)
os.wait()`)
		if usage := p.Usage(); !usage.OOMKilled {
			t.Errorf("usage is %+v", usage)
		}
	})
	t.Run("few socket pairs without control groups", func(t *testing.T) {
		t.Parallel()
		p := jail(t, newBoxWithout(t, sandbox.Cgroups), program(limits()))
		if got := p.python(t, `import os, socket, time
pairs = [s for _ in range(20) for s in socket.socketpair()]
children = [os.fork() for _ in range(3)]
time.sleep(0.2)
print(pairs[0].getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) < 1 << 20)`); got.Code != 0 || p.Usage().OOMKilled {
			t.Errorf("%+v, %+v", got, p.Usage())
		}
	})
	t.Run("process 1", func(t *testing.T) {
		t.Parallel()
		p := jail(t, box, worker(limits()))
		p.send(t, request{Do: "grow", Bytes: 400 << 20})
		if _, err := p.receive(t); err == nil {
			t.Error("memory without limit")
		}
		if exit := p.Wait(); !exit.Usage.OOMKilled || exit.Signal != 9 {
			t.Errorf("ended with %+v", exit)
		}
	})
	t.Run("control", func(t *testing.T) {
		t.Parallel()
		p := jail(t, box, program(limits()))
		if got := p.python(t, "print(len(bytearray(40 << 20)))"); got.Code != 0 || p.Usage().OOMKilled {
			t.Errorf("%+v, %+v", got, p.Usage())
		}
		p.do(t, request{Do: "grow", Bytes: 40 << 20}) // by a process that still runs when the watch looks
		if peak := p.Usage().PeakMemory; peak < 40<<20 {
			t.Errorf("peak is %d", peak)
		}
	})
}

func TestHostileProcesses(t *testing.T) {
	t.Parallel()
	l := limits()
	l.Processes = 20
	box := newBox(t)
	p := jail(t, box, program(l))
	// Without control groups the process limit of the kernel (RLIMIT_NPROC) is higher, and the watch ends the jail. It
	// measures at intervals, so the processes stay.
	hold := 0
	if !p.counted() {
		hold = 60
	}
	got := p.attack(t, fmt.Sprintf(`
import os, time
made = []
try:
    while len(made) < 5000:
        pid = os.fork()
        if pid == 0: time.sleep(60); os._exit(0)
        made.append(pid)
except OSError as e: print("stopped after", len(made), e.errno, flush=True)
time.sleep(%d)
for pid in made: os.kill(pid, 9)
`, hold))
	if p.counted() {
		var made, errno int
		if _, err := fmt.Sscanf(strings.TrimSpace(got.Text), "stopped after %d %d", &made, &errno); err != nil || made < 15 || made > 24 {
			t.Errorf("%q", got.Text)
		}
	}
	if !p.Usage().PidsLimited {
		t.Errorf("usage is %+v", p.Usage())
	}
	if exit := p.end(t); exit.Stderr != "" {
		t.Errorf("process 1 wrote an error: %s", exit.Stderr)
	}
	control := jail(t, box, program(l))
	if got := control.bash(t, "for i in 1 2 3 4 5; do sleep 0 & done; wait; echo fine"); got.Text != "fine\n" || control.Usage().PidsLimited {
		t.Errorf("control: %+v, %+v", got, control.Usage())
	}
}

func TestHostileDisk(t *testing.T) {
	t.Parallel()
	p := jail(t, newBox(t), program(limits()))
	for name, syscallProgram := range map[string]string{
		"one place":         "head -c 100M /dev/zero > /work/big",
		"three places":      "head -c 4M /dev/zero > /work/a && head -c 4M /dev/zero > /tmp/b && head -c 4M /dev/zero > /dev/shm/c",
		"inodes":            "mkdir /tmp/n && cd /tmp/n && seq 5000 | xargs touch",
		"root":              "head -c 1 /dev/zero > /f",
		"beyond, in a hole": "truncate -s 100G /work/hole && head -c 20M /dev/zero >> /work/hole",
	} {
		got := p.bash(t, syscallProgram)
		if got.Code == 0 {
			t.Errorf("%s: %+v", name, got)
		}
		p.bash(t, "rm -rf /work/* /tmp/* /dev/shm/*")
	}
	if usage := p.Usage(); usage.OOMKilled {
		t.Error("a full disk was reported as exhausted memory")
	}
	if got := p.bash(t, "head -c 7M /dev/zero > /work/big && stat -c %s /work/big"); got.Text != "7340032\n" {
		t.Errorf("control: %+v", got)
	}
}

// TestHostileDaemon starts processes that try to outlive their parent, ends the jail and looks for them on the host.
func TestHostileDaemon(t *testing.T) {
	t.Parallel()
	p := jail(t, newBox(t), program(limits()))
	got := p.bash(t, "for i in 1 2 3; do (setsid sh -c 'trap \"\" TERM HUP; sleep 60' >/dev/null 2>&1 &) ; done; nohup sleep 60 >/dev/null 2>&1 & echo started")
	if got.Text != "started\n" {
		t.Fatalf("%+v", got)
	}
	if p.counted() {
		if members := p.members(); len(members) < 5 {
			t.Errorf("the daemons did not start: %v", members)
		}
	}
	p.end(t) // checks that the processes are gone
}

func TestHostilePersistence(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	first := jail(t, box, program(limits()))
	first.bash(t, "touch /work/mark /tmp/mark /dev/shm/mark; mkfifo /tmp/fifo")
	first.end(t)
	second := jail(t, box, program(limits()))
	if got := second.bash(t, "ls -A /work /tmp /dev/shm | grep -v : | tr -d '\n'"); got.Text != "" {
		t.Errorf("the next jail sees %q", got.Text)
	}
}

// TestHostileTrace ends process 1 by a stack overflow, which recover cannot catch. Exit.Stderr must contain the first
// line of the trace.
func TestHostileTrace(t *testing.T) {
	t.Parallel()
	l := limits()
	l.MemoryBytes = 2 << 30 // Go limits a stack to 1 GB
	p := jail(t, newBox(t), worker(l))
	p.send(t, request{Do: "recurse"})
	if _, err := p.receive(t); err == nil {
		t.Fatal("an endless recursion returned")
	}
	exit := p.Wait()
	if exit.Code != 2 || !regexp.MustCompile(`goroutine stack exceeds.*limit`).MatchString(exit.Stderr) {
		t.Errorf("ended with %+v", exit)
	}
	if len(exit.Stderr) > 20<<10 {
		t.Errorf("%d bytes of the trace are stored", len(exit.Stderr))
	}
}

func TestHostileSpin(t *testing.T) {
	t.Parallel()
	p := jail(t, newBox(t), worker(limits()))
	before := p.Usage().CPU
	p.send(t, request{Do: "spin"})
	for p.Usage().CPU < before+100*time.Millisecond {
		select {
		case <-p.Done():
			t.Fatalf("ended with %+v", p.Wait())
		case <-time.After(5 * time.Millisecond):
		}
	}
	p.Kill()
	p.Kill()
	if exit := p.Wait(); exit.Signal != 9 || exit.Usage.CPU < before+100*time.Millisecond {
		t.Errorf("ended with %+v", exit)
	}
}
