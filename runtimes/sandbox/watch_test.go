package sandbox

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestWatch counts a tree of ordinary processes: as root the real path to it is never taken.
func TestWatch(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("/bin/bash", "-c", "x=$(head -c 30M /dev/zero | tr '\\0' x); for i in 1 2 3 4 5 6; do (sleep 30) & done; wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killed := make(chan struct{}, 1)
	w := newWatch(cmd.Process.Pid, func() {
		select {
		case killed <- struct{}{}:
		default:
		}
	})
	defer w.close()
	for limit := time.Now().Add(10 * time.Second); w.stats().Pids < 7 && time.Now().Before(limit); {
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
	for limit := time.Now().Add(5 * time.Second); w.stats().OOMKills == 0 && time.Now().Before(limit); {
		time.Sleep(time.Millisecond)
	}
	if stats := w.stats(); stats.OOMKills == 0 {
		t.Errorf("%+v", stats)
	}
	w.resetPeak()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait()
}
