package sandbox_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/internal/redact"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
)

// child is a jail of a launcher, with the connection to it.
type child struct {
	*sandbox.Jail
	in  *frames.Reader
	out *frames.Writer
}

func newChild(t *testing.T, box *sandbox.Sandbox, launcher string) *child {
	t.Helper()
	profile := program(runtimes.DefaultLimits())
	profile.Launcher = launcher
	return newChildOf(t, box, profile)
}

func newChildOf(t *testing.T, box *sandbox.Sandbox, profile sandbox.Profile) *child {
	t.Helper()
	j, err := box.Prepare(t.Context(), profile)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		j.Kill()
		j.Wait()
	})
	kinds := map[frames.Kind]int{frames.Started: 0, frames.Stdout: 1 << 16, frames.Stderr: 1 << 16, frames.Part: 1 << 16, frames.Done: 1 << 20}
	return &child{j, frames.NewReader(j.Conn(), kinds), frames.NewWriter(j.Conn())}
}

// begin runs a script and waits for its first output.
func (c *child) begin(t *testing.T, syscallProgram string) string {
	t.Helper()
	if err := c.out.WriteJSON(frames.Job, map[string]any{"argv": []string{"/usr/bin/bash", "-c", syscallProgram}, "env": []string{"PATH=/usr/bin:/bin"}}); err != nil {
		t.Fatal(err)
	}
	for {
		kind, payload, err := c.in.Read()
		if err != nil {
			t.Fatal(err)
		}
		if kind == frames.Stdout {
			return strings.TrimSpace(string(payload))
		}
	}
}

func (c *child) finish(t *testing.T) frames.Result {
	t.Helper()
	var parts []byte
	for {
		kind, payload, err := c.in.Read()
		if err != nil {
			t.Fatal(err)
		}
		if kind == frames.Part {
			parts = append(parts, payload...)
		}
		if kind == frames.Done {
			result := frames.Result{Parts: parts}
			if err := json.Unmarshal(payload, &result); err != nil {
				t.Fatal(err)
			}
			return result
		}
	}
}

// TestHostileChildren runs two programs of one launcher that look for each other. Each must be process 1 of its own PID
// namespace, have no privileges and its own disk, and have its own user if the server is root.
func TestHostileChildren(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	first, second := newChild(t, box, "one"), newChild(t, box, "one")
	if first.Launcher().PID() != second.Launcher().PID() {
		t.Fatal("two launchers have one name")
	}
	look := `echo secret >/work/mark; echo secret >/tmp/mark; echo secret >/dev/shm/mark
		echo $$ $(id -u) $(id -un) $(grep -h -e ^Cap -e ^NoNewPrivs -e ^Seccomp: /proc/self/status | tr -d '\n\t') $(ls /proc | grep -c '^[0-9]') $(ls /proc/self/fd | wc -l)`
	syscallProgram := look + `; sleep 60`
	a := strings.Fields(first.begin(t, syscallProgram))
	b := strings.Fields(second.begin(t, look+`; ls /work /tmp /dev/shm; kill -9 -1; mount -t tmpfs x /tmp; unshare -m true; echo end`))
	if len(a) != 6 || a[0] != "1" || a[2] != "agent" || !strings.Contains(a[3], "CapInh:0000000000000000CapPrm:0000000000000000CapEff:0000000000000000CapBnd:0000000000000000CapAmb:0000000000000000NoNewPrivs:1Seccomp:2") {
		t.Errorf("a child is %q", a)
	}
	if os.Geteuid() == 0 && a[1] == b[1] {
		t.Errorf("both are user %s", a[1])
	}
	if result := second.finish(t); result.ExitCode == nil || *result.ExitCode != 0 {
		t.Errorf("%+v", result)
	}
	select {
	case <-first.Done():
		t.Error("one child ended the other")
	default:
	}
}

// TestHostilePorts checks that two children of one launcher cannot connect to each other through a port, and that neither
// sees the sockets of the other.
func TestHostilePorts(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	const bind = `/usr/bin/python3 -I -S -c '
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try: s.bind(("", 5353)); print("bound", sum(":14E9" in line for line in open("/proc/self/net/udp")), flush=True)
except OSError as e: print(e, flush=True)
time.sleep(600)'`
	for range 3 {
		if reported := newChild(t, box, "one").begin(t, bind); reported != "bound 1" {
			t.Errorf("a child wrote %q", reported)
		}
	}
}

// TestHostileMaps checks that a child cannot write the maps of the user namespace that it shares with other children.
func TestHostileMaps(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	const write = `for map in projid_map uid_map gid_map setgroups; do
		{ echo 7 0 1 >/proc/self/$map; } 2>/dev/null && echo $map; done; echo end`
	if reported := newChild(t, box, "one").begin(t, write); reported != "end" {
		t.Errorf("written: %q", reported)
	}
}

// TestLauncherDies checks that a launcher's children and their processes die with it. The next child must get a new
// launcher.
func TestLauncherDies(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	running, waiting := newChild(t, box, "one"), newChild(t, box, "one")
	running.begin(t, "sleep 60 & echo begun; wait")
	groups := running.Groups()
	before := running.Launcher().PID()
	if err := unix.Kill(before, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*child{running, waiting} {
		<-c.Done()
		if exit := c.Wait(); exit.Signal != int(unix.SIGKILL) {
			t.Errorf("%+v", exit)
		}
		if err := c.Limit(runtimes.DefaultLimits()); err == nil && len(groups) > 0 {
			t.Error("Limit worked for a dead child; its group may already belong to another child")
		}
	}
	for _, dir := range groups {
		if left, err := os.ReadFile(dir + "/cgroup.procs"); err == nil && len(left) > 0 {
			t.Errorf("%s is left in %s", strings.Fields(string(left)), dir)
		}
	}
	if n := box.Launchers(); n != 0 {
		t.Errorf("%d launchers are known, and all are dead", n)
	}
	next := newChild(t, box, "one")
	if next.Launcher().PID() == before {
		t.Error("a dead launcher started a child")
	}
	if reported := next.begin(t, "echo $((6*7))"); reported != strconv.Itoa(42) {
		t.Errorf("said %q", reported)
	}
}

// TestChildThatCannotStart checks that a job that cannot start ends its child, and that the launcher reports the reason.
func TestChildThatCannotStart(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	for name, job := range map[string]any{
		"no program":           map[string]any{},
		"a program by name":    map[string]any{"argv": []string{"bash"}},
		"a program not there":  map[string]any{"argv": []string{"/usr/bin/nowhere"}},
		"stdin that is not":    map[string]any{"argv": []string{"/usr/bin/true"}, "stdin": "x"},
		"too much environment": map[string]any{"argv": []string{"/usr/bin/true"}, "env": []string{"X=" + strings.Repeat("x", 5<<20)}},
	} {
		c := newChild(t, box, "one")
		if err := c.out.WriteJSON(frames.Job, job); err != nil {
			t.Fatal(err)
		}
		if kind, _, err := c.in.Read(); err == nil {
			t.Errorf("%s: %q", name, byte(kind))
		}
		<-c.Done()
	}
	if reported := newChild(t, box, "one").begin(t, "echo still here"); reported != "still here" {
		t.Errorf("said %q", reported)
	}
}

// TestKilledBeforeItsJob kills a child that has no job yet. It must be destroyed at once, without effect on its
// launcher.
func TestKilledBeforeItsJob(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	first, second := newChild(t, box, "one"), newChild(t, box, "one")
	first.Kill()
	<-first.Done()
	if exit := first.Wait(); exit.Signal != int(unix.SIGKILL) {
		t.Errorf("%+v", exit)
	}
	if reported := second.begin(t, "echo here"); reported != "here" {
		t.Errorf("said %q", reported)
	}
	select {
	case <-second.Launcher().Done():
		t.Error("the launcher went along")
	default:
	}
}

// TestHostileResult kills a child whose result is too large for the server, so that its last frame is only half written.
// The launcher must not wait until the rest is read: it would hang, and all its children would end.
func TestHostileResult(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	first, second := newChild(t, box, "one"), newChild(t, box, "one")
	job := map[string]any{
		"argv":   []string{"/usr/bin/bash", "-c", `printf '"%*s"' 4000000 x >/work/result`},
		"result": "result", "largest": 8 << 20,
	}
	if err := first.out.WriteJSON(frames.Job, job); err != nil {
		t.Fatal(err)
	}
	if kind, _, err := first.in.Read(); err != nil || kind != frames.Started {
		t.Fatalf("%q, %v", byte(kind), err)
	}
	if _, err := first.Conn().Read(make([]byte, 1)); err != nil { // first byte of the result
		t.Fatal(err)
	}
	first.Kill()
	first.Wait()
	select {
	case <-second.Launcher().Done():
		t.Error("the launcher went along")
	default:
	}
	if reported := second.begin(t, "echo here"); reported != "here" {
		t.Errorf("said %q", reported)
	}
}

// TestHostileUnfinishedResults runs programs of one launcher that each send almost the largest result, but never its last
// bytes. The launcher must not buffer these bytes: it would exceed its memory limit, and its end would end every child.
func TestHostileUnfinishedResults(t *testing.T) {
	t.Parallel()
	const programs, size, most = 44, 15 << 20, 512 << 20
	box := sandboxtest.New(t, guestsExe(t))
	victim := newChild(t, box, "one")
	victim.begin(t, "echo begun; sleep 600")
	var sent sync.WaitGroup
	for range programs {
		c := newChild(t, box, "one")
		job := map[string]any{
			"argv": []string{"/usr/bin/bash", "-c", fmt.Sprintf(`{ printf '{"end":"'; head -c %d /dev/zero | tr '\\0' x; } >&3; echo sent; sleep 600`, size)},
			"env":  []string{"PATH=/usr/bin:/bin"}, "largest": 16 << 20, "rlimits": map[string]any{},
		}
		if err := c.out.WriteJSON(frames.Job, job); err != nil {
			t.Fatal(err)
		}
		sent.Go(func() {
			for {
				kind, payload, err := c.in.Read()
				if err != nil {
					t.Errorf("a flood ended: %v", err)
					return
				}
				if kind == frames.Stdout && strings.TrimSpace(string(payload)) == "sent" {
					return
				}
			}
		})
	}
	sent.Wait()
	peak := victim.Launcher().Usage().PeakMemory
	t.Logf("the launcher used %d MiB", peak>>20)
	if peak > most {
		t.Errorf("at most %d MiB are allowed", most>>20)
	}
	select {
	case <-victim.Done():
		t.Error("the floods ended another program")
	default:
	}
}

// startedJob is a job with the first line for its program.
type startedJob struct {
	job   map[string]any
	start string
}

func (j startedJob) MarshalJSON() ([]byte, error) { return json.Marshal(j.job) }

func (j startedJob) Tail() []byte { return []byte(j.start) }

// TestHostileJobs gives many children of one launcher large jobs at once. The launcher must not read them all at once.
func TestHostileJobs(t *testing.T) {
	t.Parallel()
	const programs, size, most = 60, 12 << 20, 768 << 20
	box := sandboxtest.New(t, guestsExe(t))
	job := map[string]any{
		"argv": []string{"/usr/bin/bash", "-c", "head -n 1 <&3 >/dev/null; echo '{\"start\":true}' >&3; sleep 600"}, "env": []string{"PATH=/usr/bin:/bin"}, "rlimits": map[string]any{},
	}
	var children []*child
	for range programs {
		children = append(children, newChild(t, box, "one"))
	}
	var begun sync.WaitGroup
	for _, c := range children {
		begun.Go(func() {
			if err := c.out.WriteJSON(frames.Job, startedJob{job, strings.Repeat("x", size)}); err != nil {
				t.Error(err)
			}
			if kind, _, err := c.in.Read(); err != nil || kind != frames.Started {
				t.Errorf("%q, %v", byte(kind), err)
			}
		})
	}
	begun.Wait()
	peak := children[0].Launcher().Usage().PeakMemory
	t.Logf("the launcher used %d MiB", peak>>20)
	if peak > most {
		t.Errorf("at most %d MiB are allowed", most>>20)
	}
}

// TestLauncherIsFull checks that a launcher with maxChildren children starts no more. This limit bounds the memory that a
// launcher needs for its children.
func TestLauncherIsFull(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	first := newChild(t, box, "one")
	for range 2*sandbox.MaxChildren - 1 {
		newChild(t, box, "one")
	}
	if n := first.Siblings(); n > sandbox.MaxChildren {
		t.Errorf("a launcher has %d children", n)
	}
}

// TestResultOnce checks that a result in the end message is dropped if the program also wrote a result file. Otherwise
// the launcher would need memory for both.
func TestResultOnce(t *testing.T) {
	t.Parallel()
	c := newChild(t, sandboxtest.New(t, guestsExe(t)), "one")
	job := map[string]any{
		"argv":   []string{"/usr/bin/bash", "-c", `printf '{"end":"%*s"}\n' 2000000 x >&3; echo 7 >/work/result`},
		"result": "result", "largest": 4 << 20,
	}
	if err := c.out.WriteJSON(frames.Job, job); err != nil {
		t.Fatal(err)
	}
	if result := c.finish(t); string(result.Parts) != "7\n" { // finish also fails if the frame is too large to read
		t.Errorf("%+v", result)
	}
}

// TestCallsInOneWrite sends two host calls in one write. Both must arrive, even if the first call flushes earlier
// output.
func TestCallsInOneWrite(t *testing.T) {
	t.Parallel()
	c := newChild(t, sandboxtest.New(t, guestsExe(t)), "one")
	// The launcher reads no output before the program reports its start.
	syscallProgram := `read -r hello <&3; printf '%200s'; printf '{"start":true}\n{"call":"one"}\n{"call":"two"}\n' >/tmp/said; cat /tmp/said >&3`
	job := map[string]any{"argv": []string{"/usr/bin/bash", "-c", syscallProgram}}
	if err := c.out.WriteJSON(frames.Job, startedJob{job, "{}"}); err != nil {
		t.Fatal(err)
	}
	in := frames.NewReader(c.Conn(), map[frames.Kind]int{frames.Started: 0, frames.Stdout: 1 << 10, frames.CallReq: 1 << 10, frames.Done: 1 << 10})
	var heard []string
	for {
		kind, payload, err := in.Read()
		if err != nil {
			t.Fatal(err, heard)
		}
		if kind == frames.Done {
			break
		}
		heard = append(heard, fmt.Sprintf("%c %s", byte(kind), strings.TrimSpace(string(payload))))
	}
	want := []string{
		fmt.Sprintf("%c ", byte(frames.Started)), fmt.Sprintf("%c ", byte(frames.Stdout)),
		fmt.Sprintf(`%c {"id":1,"name":"one","args":{}}`, byte(frames.CallReq)), fmt.Sprintf(`%c {"id":2,"name":"two","args":{}}`, byte(frames.CallReq)),
	}
	if diff := cmp.Diff(want, heard); diff != "" {
		t.Error(diff)
	}
}

// TestCallAfterMuch checks that a host call comes after all earlier output, up to a full pipe, even if none of it was
// read before.
func TestCallAfterMuch(t *testing.T) {
	t.Parallel()
	const much = 60_000
	c := newChild(t, sandboxtest.New(t, guestsExe(t)), "much")
	syscallProgram := fmt.Sprintf(`read -r hello <&3; printf '%%%ds'; printf '{"start":true}\n{"call":"one"}\n' >/tmp/said; cat /tmp/said >&3`, much)
	job := map[string]any{"argv": []string{"/usr/bin/bash", "-c", syscallProgram}}
	if err := c.out.WriteJSON(frames.Job, startedJob{job, "{}"}); err != nil {
		t.Fatal(err)
	}
	in := frames.NewReader(c.Conn(), map[frames.Kind]int{frames.Started: 0, frames.Stdout: much, frames.CallReq: 1 << 10})
	for printed := 0; ; {
		kind, payload, err := in.Read()
		if err != nil {
			t.Fatal(err)
		}
		if kind == frames.Stdout {
			printed += len(payload)
		}
		if kind == frames.CallReq {
			if printed != much {
				t.Errorf("the call comes after %d of %d bytes", printed, much)
			}
			return
		}
	}
}

// TestSignalBeforeItsJob sends signals to waiting children, as a host does to every process of a service that stops.
// Until children execute programs they share the launcher's memory, so they must not run a signal handler in it.
func TestSignalBeforeItsJob(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	first, second := newChild(t, box, "one"), newChild(t, box, "one")
	for _, number := range []unix.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGUSR1, unix.SIGURG, 64} {
		if err := first.Signal(number); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []*child{first, second} {
		if reported := c.begin(t, "echo here"); reported != "here" {
			t.Errorf("said %q", reported)
		}
	}
	select {
	case <-first.Launcher().Done():
		t.Error("the launcher went along")
	default:
	}
}

// TestLauncherThatDestroysNoChild checks that the server kills a launcher that does not destroy a dead child, so that
// Wait returns. The launcher's other children must be reported as orphaned.
func TestLauncherThatDestroysNoChild(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	first, second := newChild(t, box, "one"), newChild(t, box, "one")
	if first.Exited() {
		t.Error("a waiting child is reported as dead")
	}
	first.Launcher().Stop(t)
	first.Kill()
	first.StopDestroyTimer() // on a busy machine the child may take longer to end
	for !first.Exited() {
		runtime.Gosched()
	}
	select {
	case <-first.Done():
		t.Fatal("the launcher was not stopped")
	default:
	}
	first.NotDestroyed()
	first.Wait()
	if exit := second.Wait(); !exit.Orphaned || exit.Stderr != "its launcher ended" {
		t.Errorf("%+v", exit)
	}
	if reported := newChild(t, box, "one").begin(t, "echo here"); reported != "here" {
		t.Errorf("said %q", reported)
	}
}

// TestLauncherIsReplaced checks that an ageing launcher starts children until its successor is ready, and that it exits
// after its last child has ended.
func TestLauncherIsReplaced(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	first := newChild(t, box, "one")
	first.Age()
	second := newChild(t, box, "one")
	if first.Launcher() != second.Launcher() {
		t.Error("a caller had to wait for the successor")
	}
	for !first.Retired() {
		runtime.Gosched()
	}
	third := newChild(t, box, "one")
	if third.Launcher() == first.Launcher() {
		t.Error("the replaced launcher still starts children")
	}
	for _, c := range []*child{first, second, third} {
		if reported := c.begin(t, "echo here"); reported != "here" {
			t.Errorf("said %q", reported)
		}
		c.Wait()
	}
	<-first.Launcher().Done()
}

// TestLauncherThatCannotStart checks that a failed launcher does not block the next one.
func TestLauncherThatCannotStart(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	for range 2 {
		profile := program(runtimes.DefaultLimits())
		profile.Launcher, profile.Role = "one", "nobody"
		if _, err := box.Prepare(t.Context(), profile); err == nil || !strings.Contains(err.Error(), `no role "nobody"`) {
			t.Errorf("prepared with %v", err)
		}
	}
	newChild(t, box, "one")
}

// TestHostileStderrOfALauncher makes a program write a secret to the launcher's stderr before it reports its start. The
// secret must not be in the log when the launcher ends.
func TestHostileStderrOfALauncher(t *testing.T) {
	t.Parallel()
	const secret = "correct-horse-battery"
	log := &lines{come: make(chan string, 100)}
	box, err := sandbox.New(t.Context(), sandbox.Options{Exe: guestsExe(t), Log: telemetry.NewLog(log, "json", slog.LevelDebug)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	c := newChild(t, box, "one")
	job := map[string]any{"argv": []string{"/usr/bin/bash", "-c", "echo $KEY >&2; base64 <<<$KEY >&2"}, "env": []string{"PATH=/usr/bin:/bin", "KEY=" + secret}}
	if err := c.out.WriteJSON(frames.Job, startedJob{job, "{}"}); err != nil {
		t.Fatal(err)
	}
	if kind, _, err := c.in.Read(); err == nil {
		t.Fatalf("a program that never reported its start sent %q", byte(kind))
	}
	c.Wait()
	launcher := c.Launcher()
	launcher.Kill()
	if exit := launcher.Wait(); !strings.Contains(exit.Stderr, secret) {
		t.Errorf("the launcher's stderr is %q, so the test checks nothing", exit.Stderr)
	}
	for text := range log.come {
		if doesWithout := redact.New([]string{secret}).Text(text); doesWithout != text {
			t.Errorf("the log contains the secret: %s", text)
		}
		if strings.Contains(text, "a launcher ended unexpectedly") {
			return
		}
	}
}

// lines sends log lines to a channel.
type lines struct{ come chan string }

func (l *lines) Write(text []byte) (int, error) {
	l.come <- string(text)
	return len(text), nil
}
