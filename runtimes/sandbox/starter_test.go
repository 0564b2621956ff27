package sandbox_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strconv"
	"strings"
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

// cell is a jail of a starter, and what is said there.
type cell struct {
	*sandbox.Jail
	in  *frames.Reader
	out *frames.Writer
}

func newCell(t *testing.T, box *sandbox.Sandbox, starter string) *cell {
	t.Helper()
	profile := program(runtimes.DefaultLimits())
	profile.Starter = starter
	return newCellOf(t, box, profile)
}

func newCellOf(t *testing.T, box *sandbox.Sandbox, profile sandbox.Profile) *cell {
	t.Helper()
	j, err := box.Prepare(t.Context(), profile)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		j.Kill()
		j.Wait()
	})
	kinds := map[frames.Kind]int{frames.Started: 0, frames.Stdout: 1 << 16, frames.Stderr: 1 << 16, frames.Done: 1 << 20}
	return &cell{j, frames.NewReader(j.Conn(), kinds), frames.NewWriter(j.Conn())}
}

// begin runs a script and waits until it said something.
func (c *cell) begin(t *testing.T, script string) string {
	t.Helper()
	if err := c.out.WriteJSON(frames.Job, map[string]any{"argv": []string{"/usr/bin/bash", "-c", script}, "env": []string{"PATH=/usr/bin:/bin"}}); err != nil {
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

func (c *cell) finish(t *testing.T) frames.Result {
	t.Helper()
	for {
		kind, payload, err := c.in.Read()
		if err != nil {
			t.Fatal(err)
		}
		if kind == frames.Done {
			var result frames.Result
			if err := json.Unmarshal(payload, &result); err != nil {
				t.Fatal(err)
			}
			return result
		}
	}
}

// TestHostileCells are programs of one starter that look for each other: each is process 1 of its own namespace, as a
// user of its own where that can be, on a disk of its own, without a privilege.
func TestHostileCells(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	first, second := newCell(t, box, "one"), newCell(t, box, "one")
	if first.Starter().PID() != second.Starter().PID() {
		t.Fatal("two starters of one name")
	}
	look := `echo secret >/work/mark; echo secret >/tmp/mark; echo secret >/dev/shm/mark
		echo $$ $(id -u) $(id -un) $(grep -h -e ^Cap -e ^NoNewPrivs -e ^Seccomp: /proc/self/status | tr -d '\n\t') $(ls /proc | grep -c '^[0-9]') $(ls /proc/self/fd | wc -l)`
	script := look + `; sleep 60`
	a := strings.Fields(first.begin(t, script))
	b := strings.Fields(second.begin(t, look+`; ls /work /tmp /dev/shm; kill -9 -1; mount -t tmpfs x /tmp; unshare -m true; echo end`))
	if len(a) != 6 || a[0] != "1" || a[2] != "agent" || !strings.Contains(a[3], "CapInh:0000000000000000CapPrm:0000000000000000CapEff:0000000000000000CapBnd:0000000000000000CapAmb:0000000000000000NoNewPrivs:1Seccomp:2") {
		t.Errorf("a cell is %q", a)
	}
	if os.Geteuid() == 0 && a[1] == b[1] {
		t.Errorf("both are user %s", a[1])
	}
	if result := second.finish(t); result.ExitCode == nil || *result.ExitCode != 0 {
		t.Errorf("%+v", result)
	}
	select {
	case <-first.Done():
		t.Error("one cell ended the other")
	default:
	}
}

// TestStarterDies: with a starter die its cells and all that runs in them; the next cell has a new starter.
func TestStarterDies(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	running, waiting := newCell(t, box, "one"), newCell(t, box, "one")
	running.begin(t, "sleep 60 & echo begun; wait")
	groups := running.Groups()
	before := running.Starter().PID()
	if err := unix.Kill(before, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*cell{running, waiting} {
		<-c.Done()
		if exit := c.Wait(); exit.Signal != int(unix.SIGKILL) {
			t.Errorf("%+v", exit)
		}
		if err := c.Limit(runtimes.DefaultLimits()); err == nil && len(groups) > 0 {
			t.Error("the limits of a dead cell were changed, in a group that may be another's")
		}
	}
	for _, dir := range groups {
		if left, err := os.ReadFile(dir + "/cgroup.procs"); err == nil && len(left) > 0 {
			t.Errorf("%s is left in %s", strings.Fields(string(left)), dir)
		}
	}
	if n := box.Starters(); n != 0 {
		t.Errorf("%d starters are known, and all are dead", n)
	}
	next := newCell(t, box, "one")
	if next.Starter().PID() == before {
		t.Error("a dead starter started a cell")
	}
	if said := next.begin(t, "echo $((6*7))"); said != strconv.Itoa(42) {
		t.Errorf("said %q", said)
	}
}

// TestCellThatCannotBe: what a job cannot have ends its cell, with the reason in the starter's own words.
func TestCellThatCannotBe(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	for name, job := range map[string]any{
		"no program":           map[string]any{},
		"a program by name":    map[string]any{"argv": []string{"bash"}},
		"a program not there":  map[string]any{"argv": []string{"/usr/bin/nowhere"}},
		"stdin that is not":    map[string]any{"argv": []string{"/usr/bin/true"}, "stdin": "x"},
		"too much environment": map[string]any{"argv": []string{"/usr/bin/true"}, "env": []string{"X=" + strings.Repeat("x", 5<<20)}},
	} {
		c := newCell(t, box, "one")
		if err := c.out.WriteJSON(frames.Job, job); err != nil {
			t.Fatal(err)
		}
		if kind, _, err := c.in.Read(); err == nil {
			t.Errorf("%s: %q", name, byte(kind))
		}
		<-c.Done()
	}
	if said := newCell(t, box, "one").begin(t, "echo still here"); said != "still here" {
		t.Errorf("said %q", said)
	}
}

// TestKilledBeforeItsJob: a cell that nobody gave a job is buried at once when it is killed, and leaves its starter alone.
func TestKilledBeforeItsJob(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	first, second := newCell(t, box, "one"), newCell(t, box, "one")
	first.Kill()
	<-first.Done()
	if exit := first.Wait(); exit.Signal != int(unix.SIGKILL) {
		t.Errorf("%+v", exit)
	}
	if said := second.begin(t, "echo here"); said != "here" {
		t.Errorf("said %q", said)
	}
	select {
	case <-second.Starter().Done():
		t.Error("the starter went along")
	default:
	}
}

// TestHostileResult: a cell whose program left more than its server wants to read is killed with its last frame half
// written. Its starter does not wait for anybody to read the rest, which would be the end of all its cells.
func TestHostileResult(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	first, second := newCell(t, box, "one"), newCell(t, box, "one")
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
	if _, err := first.Conn().Read(make([]byte, 1)); err != nil { // of the result
		t.Fatal(err)
	}
	first.Kill()
	first.Wait()
	select {
	case <-second.Starter().Done():
		t.Error("the starter went along")
	default:
	}
	if said := second.begin(t, "echo here"); said != "here" {
		t.Errorf("said %q", said)
	}
}

// TestResultOnce: a program whose result is a file does not send a second one as its end, which its starter would hold too.
func TestResultOnce(t *testing.T) {
	t.Parallel()
	c := newCell(t, sandboxtest.New(t, guestsExe(t)), "one")
	job := map[string]any{
		"argv":   []string{"/usr/bin/bash", "-c", `printf '{"end":"%*s"}\n' 2000000 x >&3; echo 7 >/work/result`},
		"result": "result", "largest": 4 << 20,
	}
	if err := c.out.WriteJSON(frames.Job, job); err != nil {
		t.Fatal(err)
	}
	if result := c.finish(t); string(result.Output) != "7" { // and the frame was not too large to be read
		t.Errorf("%+v", result)
	}
}

// TestCallsInOneWrite: two host calls that come at once are two, also when the first of them takes along what was printed
// before it.
func TestCallsInOneWrite(t *testing.T) {
	t.Parallel()
	c := newCell(t, sandboxtest.New(t, guestsExe(t)), "one")
	// Nothing is read of what it prints before it has said that it starts.
	script := `read -r hello <&3; printf '%200s'; printf '{"start":true}\n{"call":"one"}\n{"call":"two"}\n' >/tmp/said; cat /tmp/said >&3`
	job := map[string]any{"argv": []string{"/usr/bin/bash", "-c", script}, "hello": map[string]any{}}
	if err := c.out.WriteJSON(frames.Job, job); err != nil {
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

// TestCallAfterMuch: a host call comes behind all that was printed before it, as much as a pipe holds, also where nothing of
// it was read before.
func TestCallAfterMuch(t *testing.T) {
	t.Parallel()
	const much = 60_000
	c := newCell(t, sandboxtest.New(t, guestsExe(t)), "much")
	script := fmt.Sprintf(`read -r hello <&3; printf '%%%ds'; printf '{"start":true}\n{"call":"one"}\n' >/tmp/said; cat /tmp/said >&3`, much)
	job := map[string]any{"argv": []string{"/usr/bin/bash", "-c", script}, "hello": map[string]any{}}
	if err := c.out.WriteJSON(frames.Job, job); err != nil {
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

// TestSignalBeforeItsJob: a host that tells every process of a service to stop tells the cells that wait, too. Until they
// are programs they share the memory of their starter, and must not run a handler in it.
func TestSignalBeforeItsJob(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	first, second := newCell(t, box, "one"), newCell(t, box, "one")
	for _, number := range []unix.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGUSR1, unix.SIGURG, 64} {
		if err := first.Signal(number); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []*cell{first, second} {
		if said := c.begin(t, "echo here"); said != "here" {
			t.Errorf("said %q", said)
		}
	}
	select {
	case <-first.Starter().Done():
		t.Error("the starter went along")
	default:
	}
}

// TestStarterThatBuriesNobody: a starter that does not take notice of a dead cell is ended, so that nobody waits for ever.
// Its other cells know that it was no doing of theirs.
func TestStarterThatBuriesNobody(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	first, second := newCell(t, box, "one"), newCell(t, box, "one")
	if first.Exited() {
		t.Error("a cell that waits is taken for dead")
	}
	first.Starter().Stop(t)
	first.Kill()
	for !first.Exited() {
		runtime.Gosched()
	}
	select {
	case <-first.Done():
		t.Fatal("the starter was not stopped")
	default:
	}
	first.Unburied()
	first.Wait()
	if exit := second.Wait(); !exit.Orphaned || exit.Stderr != "its starter ended" {
		t.Errorf("%+v", exit)
	}
	if said := newCell(t, box, "one").begin(t, "echo here"); said != "here" {
		t.Errorf("said %q", said)
	}
}

// TestStarterHasASuccessor: one that ages starts cells until another one is ready, and ends with the last of its own.
func TestStarterHasASuccessor(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	first := newCell(t, box, "one")
	first.Age()
	second := newCell(t, box, "one")
	if first.Starter() != second.Starter() {
		t.Error("somebody had to wait for the successor")
	}
	for !first.Retired() {
		runtime.Gosched()
	}
	third := newCell(t, box, "one")
	if third.Starter() == first.Starter() {
		t.Error("it still starts cells")
	}
	for _, c := range []*cell{first, second, third} {
		if said := c.begin(t, "echo here"); said != "here" {
			t.Errorf("said %q", said)
		}
		c.Wait()
	}
	<-first.Starter().Done()
}

// TestStarterThatCannotBe leaves nothing that the next one would wait for.
func TestStarterThatCannotBe(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	for range 2 {
		profile := program(runtimes.DefaultLimits())
		profile.Starter, profile.Role = "one", "nobody"
		if _, err := box.Prepare(t.Context(), profile); err == nil || !strings.Contains(err.Error(), `no role "nobody"`) {
			t.Errorf("prepared with %v", err)
		}
	}
	newCell(t, box, "one")
}

// TestHostileLastWordsOfAStarter: what a program said before it was ready is on the starter's stderr, and nothing of it in
// the log when the starter ends.
func TestHostileLastWordsOfAStarter(t *testing.T) {
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
	c := newCell(t, box, "one")
	job := map[string]any{"argv": []string{"/usr/bin/bash", "-c", "echo $KEY >&2; base64 <<<$KEY >&2"}, "env": []string{"PATH=/usr/bin:/bin", "KEY=" + secret}, "hello": map[string]any{}}
	if err := c.out.WriteJSON(frames.Job, job); err != nil {
		t.Fatal(err)
	}
	if kind, _, err := c.in.Read(); err == nil {
		t.Fatalf("a program that never was ready sent %q", byte(kind))
	}
	c.Wait()
	starter := c.Starter()
	starter.Kill()
	if exit := starter.Wait(); !strings.Contains(exit.Stderr, secret) {
		t.Errorf("the starter's last words are %q: there is nothing to hide", exit.Stderr)
	}
	for text := range log.come {
		if masked := redact.New([]string{secret}).Text(text); masked != text {
			t.Errorf("told: %s", text)
		}
		if strings.Contains(text, "a starter ended unexpectedly") {
			return
		}
	}
}

// lines hands on what is logged.
type lines struct{ come chan string }

func (l *lines) Write(text []byte) (int, error) {
	l.come <- string(text)
	return len(text), nil
}
