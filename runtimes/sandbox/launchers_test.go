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

// mute is a launcher whose process answers nothing, and the sandbox that knows it.
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

// TestSilentLauncher: a launcher that does not answer in time gets no more orders, and the child that it makes at last is killed.
func TestSilentLauncher(t *testing.T) {
	t.Parallel()
	s := mute(unusable())
	impatient, leave := context.WithCancelCause(t.Context())
	leave(errors.New("somebody left"))
	left := mute(unusable())
	if _, err := left.child(impatient, Profile{Limits: runtimes.DefaultLimits()}); !errors.Is(err, context.Canceled) || !left.usable() {
		t.Errorf("a launcher is blamed for who left: %v", err)
	}
	slow, giveUp := context.WithCancelCause(t.Context())
	giveUp(errSlow)
	if _, err := s.sandbox.prepareChild(slow, Profile{Launcher: s.name, Limits: runtimes.DefaultLimits()}); !errors.Is(err, errSlow) {
		t.Errorf("a child came: %v", err)
	}
	if s.usable() {
		t.Error("the next child is to come from the same launcher")
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
	close(s.jail.ended) // the last child takes its launcher along, of which there is no process here
	s.handleNotice([]byte(`{"id":1,"gone":true}`), nil)
}

// TestOrdersThatAreNotSent: a child for which something is missing is not asked for, and what it got already is given back.
func TestOrdersThatAreNotSent(t *testing.T) {
	t.Parallel()
	asked := func(s *launcher) error {
		_, _, _, err := s.request(Profile{Limits: runtimes.DefaultLimits()})
		return err
	}
	closed := mute(unusable())
	closed.sandbox.closed = true
	if asked(closed) == nil {
		t.Error("a sandbox that is closed asks for a child")
	}
	crowded := mute(unusable())
	if _, err := crowded.sandbox.ids.acquire(); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 && asked(crowded) == nil {
		t.Error("two children have one user")
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
	for range 2 { // the one user is given back
		if err := asked(ungrouped); err == nil || !strings.Contains(err.Error(), "control group") {
			t.Errorf("a child without its group: %v", err)
		}
	}
}

// TestForkServerRetires when it is old, and nobody uses one that has.
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
			t.Fatal("a new fork server is old")
		}
		grow(s)
		if !s.ageing() || s.usable() || !s.retired {
			t.Errorf("%s: it goes on", name)
		}
	}
}
