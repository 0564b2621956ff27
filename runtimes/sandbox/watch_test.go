package sandbox

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// TestWatch measures a tree of ordinary processes, because as root the real code path is never used.
func TestWatch(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("/bin/bash", "-c", "x=$(head -c 30M /dev/zero | tr '\\0' x); for i in 1 2 3 4 5 6; do (sleep 30) & done; wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killed := make(chan struct{}, 1)
	w := newWatch(cmd.Process.Pid, true, func() {
		select {
		case killed <- struct{}{}:
		default:
		}
	})
	defer w.close()
	for w.stats().Pids < 7 {
		time.Sleep(time.Millisecond)
	}
	stats := w.stats()
	if stats.Pids < 7 || stats.Memory < 30<<20 || stats.Peak < stats.Memory || stats.CPU == 0 {
		t.Errorf("%+v", stats)
	}
	if stats.OOMKills+stats.PidsHits > 0 {
		t.Errorf("limits that nobody set are broken: %+v", stats)
	}
	w.limit(1<<30, 5)
	<-killed
	if stats := w.stats(); stats.PidsHits == 0 || stats.OOMKills > 0 {
		t.Errorf("%+v", stats)
	}
	w.limit(16<<20, 100)
	<-killed
	for w.stats().OOMKills == 0 {
		time.Sleep(time.Millisecond)
	}
	if stats := w.stats(); stats.OOMKills == 0 {
		t.Errorf("%+v", stats)
	}
	w.resetPeak()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait()
}

// TestWatchSeesSharedMemory checks that shared anonymous memory counts for a process. Python uses it often.
func TestWatchSeesSharedMemory(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("/usr/bin/python3", "-I", "-S", "-c", "import mmap; m = mmap.mmap(-1, 60 << 20); m.write(b'x' * len(m)); print(flush=True); input()")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { _, _ = in.Close(), cmd.Wait() }()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	w := newWatch(cmd.Process.Pid, true, func() {})
	defer w.close()
	if stats := w.stats(); stats.Memory < 60<<20 {
		t.Errorf("%+v", stats)
	}
	w.limit(30<<20, 100)
	if stats := w.stats(); stats.OOMKills == 0 {
		t.Errorf("%+v", stats)
	}
}

// TestStop_Tree_StopsAndResumes expects that all processes of a tree stop, also one that starts others without end, and that
// those of another start time, and those that were stopped before, are left alone.
func TestStop_Tree_StopsAndResumes(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("/bin/bash", "-c", "(while :; do /bin/true; done) & (sleep 600 & echo $!; wait) & wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	sleeper := int(parse(line[:len(line)-1]))
	state := func(pid int) string {
		fields, ok := statFields(filepath.Join("/proc", strconv.Itoa(pid)))
		if !ok {
			return "gone"
		}
		return fields[0]
	}
	becomes := func(pid int, stopped bool) {
		for (state(pid) == "T") != stopped {
			time.Sleep(time.Millisecond)
		}
	}
	if tree := stop(cmd.Process.Pid, "another"); len(tree) > 0 {
		t.Errorf("%d processes of another tree were stopped", len(tree))
	}
	if err := syscall.Kill(sleeper, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	becomes(sleeper, true)
	born, _ := startOf(cmd.Process.Pid)
	tree := stop(cmd.Process.Pid, born)
	defer tree.close()
	becomes(cmd.Process.Pid, true)
	for _, child := range children(filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid))) {
		becomes(child, true)
	}
	tree.resume()
	becomes(cmd.Process.Pid, false)
	if now := state(sleeper); now != "T" {
		t.Errorf("a process that was stopped before is now %s", now)
	}
}
