package sandbox

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/cgroups"
	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
)

// PID returns the process ID that process 1 has on the host.
func (j *Jail) PID() int { return j.process.Pid }

// Groups returns the directories of the control groups on the host.
func (j *Jail) Groups() []string {
	if j.group == nil {
		return nil
	}
	return j.group.Dirs()
}

func unusable() *cgroups.Tree { return cgroups.Unusable() }

// Launcher returns the jail of the launcher that starts a child.
func (j *Jail) Launcher() *Jail { return j.launcher.jail }

// Age makes the launcher of a child due for replacement, as a fork server is after some minutes.
func (j *Jail) Age() {
	j.launcher.mu.Lock()
	defer j.launcher.mu.Unlock()
	j.launcher.forks, j.launcher.born = true, j.launcher.born.Add(-ageOfServer*9/10)
}

// Retired reports whether the launcher of a child starts no more children.
func (j *Jail) Retired() bool {
	j.launcher.mu.Lock()
	defer j.launcher.mu.Unlock()
	return j.launcher.retired
}

// MaxChildren is the number of children that a launcher may have.
const MaxChildren = maxChildren

// Siblings counts the children of a child's launcher.
func (j *Jail) Siblings() int {
	j.launcher.mu.Lock()
	defer j.launcher.mu.Unlock()
	return len(j.launcher.children)
}

// Signal sends a signal to process 1 of a child.
func (j *Jail) Signal(number unix.Signal) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return unix.PidfdSendSignal(j.handle, number, nil, 0)
}

// OpenHalf replaces one part of the filter of fork servers by a filter that allows everything.
func (s *Sandbox) OpenHalf(tb testing.TB, ofServer bool) {
	tb.Helper()
	open, err := seccomp.Encode(seccomp.Policy{Default: seccomp.Allow})
	if err != nil {
		tb.Fatal(err)
	}
	half := s.halves[FilterProgram]
	if ofServer {
		half.Server = open
	} else {
		half.Child = open
	}
	s.halves[FilterProgram] = half
}

// Launchers returns the number of launchers that the sandbox has registered.
func (s *Sandbox) Launchers() int {
	s.launchers.mu.Lock()
	defer s.launchers.mu.Unlock()
	return len(s.launchers.named)
}

// Exited reports whether process 1 of a child is dead, independent of its launcher.
func (j *Jail) Exited() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state == childDestroyed || exited(j.handle)
}

// StopDestroyTimer stops the timer of a killed child, so that only NotDestroyed can end its launcher.
func (j *Jail) StopDestroyTimer() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.destroyTimer.Stop()
}

// NotDestroyed simulates the timeout after which a launcher has not reported the end of a killed child.
func (j *Jail) NotDestroyed() { j.notDestroyed() }

// Stop stops process 1, which must be a child of this process.
func (j *Jail) Stop(tb testing.TB) {
	tb.Helper()
	if err := j.process.Signal(syscall.SIGSTOP); err != nil {
		tb.Fatal(err)
	}
}

// SlackOfJails returns the timer slack that a jail inherits from a spawner whose thread had the given slack.
func SlackOfJails(slack int) int {
	k := &spawner{requests: make(chan func()), stopped: make(chan struct{})}
	go func() {
		runtime.LockOSThread()
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0)
		k.run()
	}()
	inherited := make(chan int, 1)
	k.requests <- func() {
		now, _ := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
		inherited <- now
	}
	k.close()
	return <-inherited
}

// KillNext kills process 1 of each new jail during its set-up. It stops after the given number of jails, or when done is
// closed.
func (s *Sandbox) KillNext(jails int, done <-chan struct{}) {
	s.mu.Lock()
	known := maps.Clone(s.jails)
	s.mu.Unlock()
	for jails > 0 {
		s.mu.Lock()
		for j := range s.jails {
			if _, old := known[j]; !old && j.process != nil {
				_ = j.process.Kill() // it may have ended
				known[j] = struct{}{}
				jails--
			}
		}
		s.mu.Unlock()
		select {
		case <-done:
			return
		default:
			runtime.Gosched()
		}
	}
}

// KillNextChildren kills each new child process of a launcher. It stops after the given number of processes, or when done
// is closed.
func (j *Jail) KillNextChildren(processes int, done <-chan struct{}) {
	known := map[string]bool{}
	for first := true; processes > 0; first = false {
		for _, pid := range j.childrenOfLauncher() {
			if !known[pid] && !first {
				if number, err := strconv.Atoi(pid); err == nil {
					_ = syscall.Kill(number, syscall.SIGKILL) // it may have ended
				}
				processes--
			}
			known[pid] = true
		}
		select {
		case <-done:
			return
		default:
			runtime.Gosched()
		}
	}
}

func (j *Jail) childrenOfLauncher() (pids []string) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", j.launcher.jail.PID()))
	if err != nil {
		return nil
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err == nil { // the thread may have ended
			pids = append(pids, strings.Fields(string(text))...)
		}
	}
	return pids
}
