package sandbox

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// TestLauncherRefuses checks how the server handles a launcher that has retired, does not answer or sends invalid data.
func TestLauncherRefuses(t *testing.T) {
	t.Parallel()
	box := &Sandbox{
		ids: newIDs(1, 1), groups: unusable(), log: slog.New(slog.DiscardHandler), jails: map[*Jail]struct{}{}, filters: map[Filter][]byte{},
		launchers: launchers{named: map[string]*launcher{}, making: map[string]chan struct{}{"one": make(chan struct{})}},
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := box.launcher(gone, Profile{Launcher: "one"}); !errors.Is(err, context.Canceled) {
		t.Errorf("waited for a launcher: %v", err)
	}
	if _, err := box.launcher(t.Context(), Profile{Launcher: "two", Filter: "none"}); err == nil {
		t.Error("a launcher with an unknown filter was started")
	}
	process := &Jail{sandbox: box, ended: make(chan struct{}), gone: make(chan struct{})}
	close(process.ended) // so that Kill does not look for a process
	s := &launcher{sandbox: box, name: "three", jail: process, who: box.ids.many(hostID{}), children: map[int64]*Jail{}, idle: time.NewTimer(time.Hour), used: time.Now(), born: time.Now()}
	s.send = func([]byte, []byte) error { return io.ErrClosedPipe }
	if _, err := s.child(t.Context(), Profile{Limits: runtimes.DefaultLimits()}); err == nil || !strings.Contains(err.Error(), io.ErrClosedPipe.Error()) {
		t.Errorf("an order that could not be sent: %v", err)
	}
	box.launchers.named[s.name] = s
	if _, err := box.prepareChild(t.Context(), Profile{Launcher: s.name}); err == nil {
		t.Error("a dead launcher made a child")
	}
	box.announce("four")
	box.succeed(Profile{Launcher: "four", Filter: "none"}, s)
	if s.retired || box.launchers.making["four"] != nil {
		t.Error("a launcher without a successor has retired, or a caller still waits for the successor")
	}
	for free := false; !free; { // the only user is released when the lost children are destroyed
		id, err := box.ids.acquire()
		if free = err == nil; free {
			box.ids.release(id)
		} else {
			runtime.Gosched()
		}
	}
	s.send = func([]byte, []byte) error { return nil }
	if _, err := s.child(gone, Profile{}); !errors.Is(err, context.Canceled) {
		t.Errorf("an order without an answer: %v", err)
	}
	s.handleNotice([]byte("{"), nil)
	s.handleNotice([]byte(`{"id":99}`), nil)
	s.retireIdle()
	if s.retired {
		t.Error("a launcher that was just used has retired")
	}
	s.mu.Lock()
	waiting := slices.Collect(maps.Values(s.children)) // the child without a reply
	s.mu.Unlock()
	for _, j := range waiting {
		j.childEnded(wire.Notice{Gone: true})
		j.childEnded(wire.Notice{Gone: true})
		j.Wait()
		j.childReady([]int{-1})
		if err := j.open(); err != nil {
			t.Error(err)
		}
		j.Kill()
	}
	s.mu.Lock()
	s.used = time.Now().Add(-2 * idleLauncher)
	s.mu.Unlock()
	s.retireIdle()
	if _, err := s.child(t.Context(), Profile{}); !errors.Is(err, errRetired) {
		t.Errorf("a retired launcher received a request: %v", err)
	}
	s.forks, s.born = true, time.Now().Add(-ageOfServer)
	if s.usable() || !s.ageing() {
		t.Error("a fork server does not age")
	}
	if _, err := hostPID(-1); err == nil {
		t.Error("hostPID accepted an invalid descriptor")
	}
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := hostPID(int(file.Fd())); err == nil {
		t.Error("hostPID accepted the descriptor of a file")
	}
}
