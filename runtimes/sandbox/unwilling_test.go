package sandbox

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// TestStartRefuses checks that invalid options and profiles return an error and start no jail.
func TestStartRefuses(t *testing.T) {
	t.Parallel()
	if _, err := New(t.Context(), Options{Exe: "/nowhere"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing binary: %v", err)
	}
	s := &Sandbox{filters: map[Filter][]byte{FilterProgram: nil}, groups: unusable(), options: Options{Without: []string{Proc}}}
	if _, err := s.configure(Profile{Filter: FilterProgram, Network: true}); err == nil || !strings.Contains(err.Error(), "network") {
		t.Errorf("a network without a launcher: %v", err)
	}
	if host := s.Host(); host.Landlock != 0 || len(host.Without) != 1 {
		t.Errorf("%+v", host)
	}
	if _, err := seccomp.Encode(seccomp.Program().Refuse("no call of that name")); err == nil {
		t.Error("a filter with an unknown system call was compiled")
	}
	closed, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := (&spawner{}).start(closed, "none", identity{}, closed, closed); err == nil {
		t.Error("a connection that is closed went along")
	}
}

// cancelling is the connection of a jail. It cancels the caller's context just when the jail becomes ready.
type cancelling struct {
	net.Conn
	cancel context.CancelFunc
}

func (c cancelling) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.cancel()
	return n, err
}

// TestReadyTooLate checks that Prepare fails if its caller cancels just when the jail becomes ready. The connection then
// already has a deadline and is useless.
func TestReadyTooLate(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	go func() {
		if _, _, err := frames.NewReader(theirs, map[frames.Kind]int{frames.Setup: 1 << 20}).Read(); err != nil {
			t.Error(err)
		}
		_ = frames.NewWriter(theirs).WriteJSON(frames.Ready, struct{}{})
	}()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	j := &Jail{conn: cancelling{ours, cancel}}
	if err := j.handshake(ctx, wire.Setup{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a jail was ready: %v", err)
	}
}

// TestStrangeChildren checks children whose process does not exist, does not end, or ends while resources are missing.
func TestStrangeChildren(t *testing.T) {
	t.Parallel()
	if err := (&Jail{state: childIsReady, handle: -1}).open(); err == nil {
		t.Error("open watches a process that does not exist")
	}
	alive, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(alive)
	process := &Jail{ended: make(chan struct{})} // has no process, so Kill would panic
	j := &Jail{state: childIsReady, handle: alive, destroyTimer: time.NewTimer(0), launcher: &launcher{jail: process}}
	<-j.destroyTimer.C
	j.notDestroyed()
	if !j.destroyTimer.Stop() {
		t.Error("nobody looks again for a child that lives on")
	}
	gone := &Jail{sandbox: &Sandbox{ids: &ids{}, jails: map[*Jail]struct{}{}, log: slog.New(slog.DiscardHandler)}, gone: make(chan struct{})}
	gone.finish(io.ErrUnexpectedEOF)
	<-gone.gone // even if the cleanup failed
}
