package sandbox_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
)

func TestLevel(t *testing.T) {
	t.Parallel()
	level := newBox(t).Level()
	t.Logf("%s %q", level.Level, level.Missing)
	if (level.Level == sandbox.LevelFull) != (len(level.Missing) == 0) {
		t.Errorf("%+v", level)
	}
}

// TestUnusableBinary creates sandboxes whose binary cannot be the process of a jail. Prepare must fail and give the reason.
func TestUnusableBinary(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		path string
		mode os.FileMode
		want string
	}{
		"not for others": {hostileExe(t), 0o600, "chmod o+rx"},
		"no jail in it":  {"/bin/true", 0o755, "The sandbox is not available"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exe := filepath.Join(t.TempDir(), "exe")
			content, err := os.ReadFile(tt.path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(exe, content, tt.mode); err != nil {
				t.Fatal(err)
			}
			box, err := sandbox.New(t.Context(), sandbox.Options{Exe: exe})
			if err != nil {
				t.Fatal(err)
			}
			defer box.Close()
			level := box.Level()
			if level.Level != sandbox.LevelNone || !strings.Contains(level.Missing[0], tt.want) {
				t.Errorf("%+v", level)
			}
			if _, err := box.Prepare(t.Context(), worker(limits())); fault.CodeOf(err) != fault.SandboxUnavailable {
				t.Errorf("Prepare: %v", err)
			}
		})
	}
}

// TestLinkedWithCgo checks that a binary linked with cgo, the default of go build on a host with a C compiler, gets
// LevelNone with the reason.
func TestLinkedWithCgo(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("gcc"); err != nil || os.Getenv(hostileVar) != "" {
		t.Skip("nothing can be built here")
	}
	exe := filepath.Join(t.TempDir(), "exe")
	build := exec.Command("go", "build", "-o", exe, "./sandboxtest/hostiletest")
	build.Env = append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS=")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	box, err := sandbox.New(t.Context(), sandbox.Options{Exe: exe})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	if level := box.Level(); level.Level != sandbox.LevelNone || !strings.Contains(level.Missing[0], "CGO_ENABLED=0") {
		t.Errorf("%+v", level)
	}
}

func TestPrepareFails(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	missing := program(limits())
	missing.Mounts = []sandbox.Mount{{Host: "/nowhere", Path: "/usr"}}
	crossed := worker(limits())
	crossed.Role = "program"
	stranger := worker(limits())
	stranger.Filter = "none"
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := map[string]struct {
		ctx     context.Context
		profile sandbox.Profile
		want    string
	}{
		"mount of nothing":             {t.Context(), missing, "copy mount /nowhere: no such file"},
		"role with the wider filter":   {t.Context(), crossed, `no role "program" with filter "worker"`},
		"unknown filter":               {t.Context(), stranger, `unknown filter "none"`},
		"cancelled before it is ready": {cancelled, worker(limits()), "context canceled"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := box.Prepare(tt.ctx, tt.profile)
			if fault.CodeOf(err) != fault.SandboxUnavailable || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestKilledDuringSetUp_Repeated checks that Prepare repeats the set-up if the process of the jail or of its launcher is
// killed meanwhile. Repeating is safe, because no program has begun.
func TestKilledDuringSetUp_Repeated(t *testing.T) {
	t.Parallel()
	child := program(limits())
	child.Launcher = "one"
	for name, tt := range map[string]struct {
		exe     string
		profile sandbox.Profile
	}{"jail": {hostileExe(t), worker(limits())}, "launcher": {guestsExe(t), child}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := sandboxtest.New(t, tt.exe)
			done, joined := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(joined)
				box.KillNext(2, done)
			}()
			_, err := box.Prepare(t.Context(), tt.profile)
			if err != nil {
				t.Errorf("prepared with %v", err)
			}
			close(done)
			<-joined
		})
	}
}

// TestChildKilledDuringSetUp_Repeated kills processes of children while their launcher sets them up. Prepare must repeat
// the set-up.
func TestChildKilledDuringSetUp_Repeated(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	child := program(limits())
	child.Launcher = "one"
	first, err := box.Prepare(t.Context(), child)
	if err != nil {
		t.Fatal(err)
	}
	for range 40 {
		done, joined := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(joined)
			first.KillNextChildren(2, done)
		}()
		j, err := box.Prepare(t.Context(), child)
		close(done)
		<-joined
		if err != nil {
			t.Fatalf("prepared with %v", err)
		}
		j.Kill()
		j.Wait()
	}
}

// TestNoLimitNoJail checks that Prepare fails if the kernel rejects a limit.
func TestNoLimitNoJail(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	if !jail(t, box, worker(limits())).counted() {
		t.Skip("this host gives us no control groups")
	}
	limitless := program(limits())
	limitless.Limits.Processes = -1 << 20
	if j, err := box.Prepare(t.Context(), limitless); fault.CodeOf(err) != fault.SandboxUnavailable || !strings.Contains(err.Error(), "limit processes") {
		t.Errorf("prepared %v with %v", j, err)
	}
}

func TestLimitAgain(t *testing.T) {
	t.Parallel()
	p := jail(t, newBox(t), worker(limits()))
	for _, megabytes := range []int64{512, 64, 256} {
		l := limits()
		l.MemoryBytes = megabytes << 20
		if err := p.Limit(l); err != nil {
			t.Fatalf("%d MiB: %v", megabytes, err)
		}
	}
	p.do(t, request{Do: "grow", Bytes: 100 << 20})
	if peak := p.Usage().PeakMemory; peak < 100<<20 {
		t.Errorf("peak is %d", peak)
	}
	if p.Usage().OOMKilled {
		t.Error("killed below the limit")
	}
}

// TestAbandoned closes the server's end of the socket while process 1 computes and does not read. Process 1 must end.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	p := jail(t, newBox(t), worker(limits()))
	p.send(t, request{Do: "spin"})
	if err := p.Conn().Close(); err != nil {
		t.Fatal(err)
	}
	if exit := p.Wait(); exit.Code != 124 {
		t.Errorf("ended with %+v", exit)
	}
}

func TestRoleReturns(t *testing.T) {
	t.Parallel()
	p := jail(t, newBox(t), program(limits()))
	p.send(t, request{Do: "return"})
	if exit := p.Wait(); exit.Code != 7 || exit.Signal != 0 {
		t.Errorf("ended with %+v", exit)
	}
}

// TestRoleCloses makes the role close the socket from inside the jail. Process 1 must then exit and not hang.
func TestRoleCloses(t *testing.T) {
	t.Parallel()
	p := jail(t, newBox(t), worker(limits()))
	p.send(t, request{Do: "close"})
	if exit := p.Wait(); exit.Code != 0 || exit.Signal != 0 {
		t.Errorf("ended with %+v", exit)
	}
}

// TestGroupsAreHidden checks that a program cannot see names of control groups, which reveal the server and other runs.
func TestGroupsAreHidden(t *testing.T) {
	t.Parallel()
	p := jail(t, newBox(t), program(limits()))
	if a := p.bash(t, "cat /proc/self/cgroup"); a.Code != 0 || strings.Contains(a.Text, "atelier") {
		t.Errorf("code %d: %s", a.Code, a.Text)
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	box, err := sandbox.New(t.Context(), sandbox.Options{Exe: hostileExe(t)})
	if err != nil {
		t.Fatal(err)
	}
	var prisoners []*prisoner
	for range 3 {
		prisoners = append(prisoners, jail(t, box, program(limits())))
	}
	if err := box.Close(); err != nil {
		t.Error(err)
	}
	for _, p := range prisoners {
		if exit := p.Wait(); exit.Signal != 9 {
			t.Errorf("ended with %+v", exit)
		}
	}
	if _, err := box.Prepare(t.Context(), worker(limits())); fault.CodeOf(err) != fault.SandboxUnavailable {
		t.Errorf("Prepare after Close: %v", err)
	}
}

// serverVar is an environment variable. If it is set, this test binary is a server that prepares jails, prints their
// process IDs and groups, and waits to be killed.
const serverVar = "ATELIER_TEST_SERVER"

func TestMain(m *testing.M) {
	if exe := os.Getenv(serverVar); exe != "" {
		if err := serve(exe); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func serve(exe string) error {
	box, err := sandbox.New(context.Background(), sandbox.Options{Exe: exe})
	if err != nil {
		return err
	}
	for range 3 {
		j, err := box.Prepare(context.Background(), program(limits()))
		if err != nil {
			return err
		}
		fmt.Println(j.PID(), strings.Join(j.Groups(), " "))
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// TestServerKilled kills a server without warning. Its jails must end with it, and the next server must remove their
// remains.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), serverVar+"="+hostileExe(t))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids, groups []string
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
		fields := strings.Fields(lines.Text())
		pids, groups = append(pids, fields[0]), append(groups, fields[1:]...)
	}
	if len(pids) != 3 {
		t.Fatalf("the server made %d jails", len(pids))
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for _, pid := range pids {
		for jailed(pid) { // no jail outlives its server
			time.Sleep(time.Millisecond)
		}
	}
	newBox(t) // removes the remains
	for _, dir := range groups {
		if _, err := os.Lstat(filepath.Dir(dir)); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", dir, err)
		}
	}
}

// jailed reports whether a process is a live process 1 of a jail. A zombie counts as dead.
func jailed(pid string) bool {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	return err == nil && strings.Contains(string(text), "Name:\thostiletest") && !strings.Contains(string(text), "State:\tZ")
}

// profileVar is an environment variable with the path of a coverage profile. The profile of the ordinary user is written to
// the same directory, where make cover looks for it.
const profileVar = "ATELIER_TEST_JAIL_PROFILE"

// TestOrdinaryUser runs all tests of this package again as a user without privileges.
func TestOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("already running as an ordinary user")
	}
	t.Parallel()
	dir, err := os.MkdirTemp("/tmp", "atelier-ordinary-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	exe, guests, tests := filepath.Join(dir, "hostile"), filepath.Join(dir, "guests"), filepath.Join(dir, "tests")
	for from, to := range map[string]string{hostileExe(t): exe, guestsExe(t): guests, self: tests} {
		// A separate program copies the file. If this process wrote it, a process that another test forks meanwhile could
		// inherit the descriptor, and executing the file would fail with ETXTBSY.
		if text, err := exec.Command("install", "-m", "755", from, to).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	cmd := exec.Command(tests, "-test.v", "-test.timeout=40m")
	profile := filepath.Join(dir, "profile")
	if out := os.Getenv(profileVar); out != "" && testing.CoverMode() != "" {
		if err := os.WriteFile(profile, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(profile, 0o666); err != nil {
			t.Fatal(err)
		}
		cmd.Args = append(cmd.Args, "-test.coverprofile="+profile)
		defer func() {
			if text, err := os.ReadFile(profile); err != nil || os.WriteFile(out+".ordinary", text, 0o600) != nil {
				t.Errorf("the profile of the ordinary user is lost: %v", err)
			}
		}()
	}
	cmd.Dir = "/tmp"
	cmd.Env = []string{hostileVar + "=" + exe, guestsVar + "=" + guests, "PATH=/usr/bin:/bin", "TMPDIR=/tmp"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	t.Logf("%d tests pass as user 65534", strings.Count(string(text), "--- PASS"))
	for line := range strings.Lines(string(text)) {
		switch line = strings.TrimSpace(line); {
		case strings.Contains(line, "--- FAIL"): // again at the end, because the output is long
			t.Error(line)
		case strings.Contains(line, "reduced"):
			t.Log(line)
		}
	}
}
