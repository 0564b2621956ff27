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

// mute is a starter whose process answers nothing, and the sandbox that knows it.
func mute(groups *cgroups.Tree) *starter {
	box := &Sandbox{
		ids: newIDs(1, 1), groups: groups, log: slog.New(slog.DiscardHandler), jails: map[*Jail]struct{}{},
		starters: starters{named: map[string]*starter{}, making: map[string]chan struct{}{}},
	}
	s := &starter{
		sandbox: box, name: "mute", handles: 1, jail: &Jail{sandbox: box, ended: make(chan struct{}), gone: make(chan struct{})}, who: box.ids.many(hostID{}),
		born: time.Now(), used: time.Now(), idle: time.NewTimer(time.Hour), cells: map[int64]*Jail{}, send: func([]byte, []byte) error { return nil },
	}
	box.starters.named[s.name] = s
	return s
}

// TestSilentStarter: a starter that does not answer in time gets no more orders, and the cell that it makes at last is killed.
func TestSilentStarter(t *testing.T) {
	t.Parallel()
	s := mute(unusable())
	impatient, leave := context.WithCancelCause(t.Context())
	leave(errors.New("somebody left"))
	left := mute(unusable())
	if _, err := left.cell(impatient, Profile{Limits: runtimes.DefaultLimits()}); !errors.Is(err, context.Canceled) || !left.usable() {
		t.Errorf("a starter is blamed for who left: %v", err)
	}
	slow, giveUp := context.WithCancelCause(t.Context())
	giveUp(errSlow)
	if _, err := s.sandbox.prepareCell(slow, Profile{Starter: s.name, Limits: runtimes.DefaultLimits()}); !errors.Is(err, errSlow) {
		t.Errorf("a cell came: %v", err)
	}
	if s.usable() {
		t.Error("the next cell is to come from the same starter")
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
	s.hear([]byte(`{"id":1}`), []int{handle})
	if err := late.Wait(); err == nil || late.ProcessState.Exited() {
		t.Errorf("the late cell ended with %v", err)
	}
	close(s.jail.ended) // the last cell takes its starter along, of which there is no process here
	s.hear([]byte(`{"id":1,"gone":true}`), nil)
}

// TestOrdersThatAreNotSent: a cell for which something is missing is not asked for, and what it got already is given back.
func TestOrdersThatAreNotSent(t *testing.T) {
	t.Parallel()
	asked := func(s *starter) error {
		_, _, _, err := s.request(Profile{Limits: runtimes.DefaultLimits()})
		return err
	}
	closed := mute(unusable())
	closed.sandbox.closed = true
	if asked(closed) == nil {
		t.Error("a sandbox that is closed asks for a cell")
	}
	crowded := mute(unusable())
	if _, err := crowded.sandbox.ids.take(); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 && asked(crowded) == nil {
		t.Error("two cells have one user")
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
			t.Errorf("a cell without its group: %v", err)
		}
	}
}

// TestForkServerRetires when it is old, and nobody uses one that has.
func TestForkServerRetires(t *testing.T) {
	t.Parallel()
	for name, grow := range map[string]func(*starter){
		"many cells": func(s *starter) { s.next = forksPerServer },
		"old age":    func(s *starter) { s.born = s.born.Add(-2 * ageOfServer) },
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
