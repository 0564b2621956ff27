package sandbox

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/sandbox/cgroups"
)

// mute returns a launcher whose process never answers. It is registered in a new sandbox.
func mute(groups *cgroups.Tree) *launcher {
	box := &Sandbox{
		ids: newIDs(1, 1), groups: groups, log: slog.New(slog.DiscardHandler), jails: map[*Jail]struct{}{},
		launchers: launchers{named: map[string]*launcher{}, making: map[string]chan struct{}{}},
	}
	s := &launcher{
		sandbox: box, name: "mute", handles: 1, jail: &Jail{sandbox: box, ended: make(chan struct{}), gone: make(chan struct{})}, who: box.ids.many(hostID{}),
		born: time.Now(), used: time.Now(), idle: time.NewTimer(time.Hour), children: map[int64]*Jail{}, send: func([]byte, []byte) error { return nil },
	}
	box.launchers.named[s.name] = s
	return s
}

// TestSilentLauncher checks that a launcher that answers too late gets no more orders. The late child must be killed.
func TestSilentLauncher(t *testing.T) {
	t.Parallel()
	s := mute(unusable())
	impatient, leave := context.WithCancelCause(t.Context())
	leave(errors.New("somebody left"))
	left := mute(unusable())
	if _, err := left.child(impatient, Profile{Limits: runtimes.DefaultLimits()}); !errors.Is(err, context.Canceled) || !left.usable() {
		t.Errorf("the launcher was retired although the caller cancelled: %v", err)
	}
	slow, giveUp := context.WithCancelCause(t.Context())
	giveUp(errSlow)
	if _, err := s.sandbox.prepareChild(slow, Profile{Launcher: s.name, Limits: runtimes.DefaultLimits()}); !errors.Is(err, errSlow) {
		t.Errorf("the launcher returned a child: %v", err)
	}
	if s.usable() {
		t.Error("a slow launcher must not start the next child")
	}
	late := exec.Command("/usr/bin/cat")
	stdin, err := late.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := late.Start(); err != nil {
		t.Fatal(err)
	}
	handle, err := unix.PidfdOpen(late.Process.Pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.handleNotice([]byte(`{"id":1}`), []int{handle})
	if err := late.Wait(); err == nil || late.ProcessState.Exited() {
		t.Errorf("the late child ended with %v", err)
	}
	close(s.jail.ended) // simulates the end of the launcher, which has no process in this test
	s.handleNotice([]byte(`{"id":1,"gone":true}`), nil)
}

// TestSetUp_ProcessKilled_NextAttemptSucceeds checks that a set-up returns errKilled if the child or its launcher was
// killed from outside, and another error if it failed. A dying launcher gets no further orders.
func TestSetUp_ProcessKilled_NextAttemptSucceeds(t *testing.T) {
	t.Parallel()
	child := mute(unusable())
	child.send = func([]byte, []byte) error {
		go child.handleNotice([]byte(`{"id":1,"gone":true,"signal":9,"error":"set up the jail: EOF"}`), nil)
		return nil
	}
	if _, err := child.child(t.Context(), Profile{Limits: runtimes.DefaultLimits()}); !errors.Is(err, errKilled) || !child.usable() {
		t.Errorf("a killed child: %v", err)
	}
	refused := mute(unusable())
	refused.send = func([]byte, []byte) error {
		go refused.handleNotice([]byte(`{"id":1,"gone":true,"error":"make the private disk: no space left on device"}`), nil)
		return nil
	}
	if _, err := refused.child(t.Context(), Profile{Limits: runtimes.DefaultLimits()}); err == nil || errors.Is(err, errKilled) {
		t.Errorf("a child that could not be set up: %v", err)
	}
	dying := mute(unusable())
	close(dying.jail.ended)
	dying.send = func([]byte, []byte) error { return unix.EPIPE }
	if _, err := dying.child(t.Context(), Profile{Limits: runtimes.DefaultLimits()}); !errors.Is(err, errKilled) || dying.usable() {
		t.Errorf("a launcher that is ending: %v", err)
	}
}

// TestOrdersThatAreNotSent checks that no order is sent if a resource of the child is missing, and that the resources
// already acquired are released.
func TestOrdersThatAreNotSent(t *testing.T) {
	t.Parallel()
	asked := func(s *launcher) error {
		_, _, _, err := s.request(Profile{Limits: runtimes.DefaultLimits()})
		return err
	}
	closed := mute(unusable())
	closed.sandbox.closed = true
	if asked(closed) == nil {
		t.Error("a closed sandbox requested a child")
	}
	crowded := mute(unusable())
	if _, err := crowded.sandbox.ids.acquire(); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 && asked(crowded) == nil {
		t.Error("two children got the same user")
	}
	groups, err := cgroups.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := groups.Close(); err != nil {
		t.Fatal(err)
	}
	if groups.Mode() == cgroups.None {
		return
	}
	ungrouped := mute(groups)
	for range 2 { // the only user is released
		if err := asked(ungrouped); err == nil || !strings.Contains(err.Error(), "control group") {
			t.Errorf("a child without its group: %v", err)
		}
	}
}

// TestForkServerRetires checks that a fork server retires after many children and after a long time.
func TestForkServerRetires(t *testing.T) {
	t.Parallel()
	for name, grow := range map[string]func(*launcher){
		"many children": func(s *launcher) { s.next = forksPerServer },
		"old age":       func(s *launcher) { s.born = s.born.Add(-2 * ageOfServer) },
	} {
		s := mute(unusable())
		close(s.jail.ended)
		s.forks = true
		if !s.usable() || s.ageing() {
			t.Fatal("a new fork server is not usable")
		}
		grow(s)
		if !s.ageing() || s.usable() || !s.retired {
			t.Errorf("%s: the fork server is still usable", name)
		}
	}
}
