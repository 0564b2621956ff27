package sandbox

import (
	"os/exec"
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
