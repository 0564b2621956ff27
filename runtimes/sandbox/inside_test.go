package sandbox

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/cgroups"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

func TestIDs(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		id, err := newIDs(1, 1).acquire()
		if err != nil || id.uid != os.Geteuid() {
			t.Errorf("%+v, %v", id, err)
		}
		newIDs(1, 1).release(id)
		return
	}
	pool := newIDs(700_000, 1)
	id, err := pool.acquire()
	if err != nil || id.uid != 700_000 {
		t.Fatalf("%+v, %v", id, err)
	}
	if _, err := pool.acquire(); err == nil {
		t.Error("two jails with one user")
	}
	pool.release(id)
	pool.release(hostID{})
	if _, err := pool.acquire(); err != nil {
		t.Error(err)
	}
}

// TestLevels judges simulated hosts.
func TestLevels(t *testing.T) {
	t.Parallel()
	old := &Sandbox{ids: &ids{}, landlock: scopedLandlock - 1, noProc: true, weakSeccomp: true, groups: unusable()}
	level := old.judge(nil)
	if level.Level != LevelReduced || len(level.Lacks) < 5 || len(level.Weak()) != 1 || !strings.HasPrefix(level.String(), "reduced(seccomp, users, landlock, proc, cgroups") {
		t.Errorf("%s %+v", level, level.Lacks)
	}
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"cgo": {wire.ErrCgo, "CGO_ENABLED=0"}, "binary": {unix.EACCES, "chmod o+rx"}, "namespaces": {unix.EPERM, "seccomp=unconfined"},
		"anything": {errors.New("boom"), "doctor"}, "no filter": {unfiltered{unix.ENOSYS}, AllowFlag + "=seccomp"},
	} {
		lack := explain(tt.err)
		if !strings.Contains(lack.Remedy, tt.want) || !strings.Contains(lack.Effect, "not available") && !strings.Contains(lack.Effect, "Nothing is executed") {
			t.Errorf("%s: %+v", name, lack)
		}
	}
	if !errors.Is(unfiltered{unix.ENOSYS}, unix.ENOSYS) {
		t.Error("the reason is missing")
	}
	if none := old.judge(unix.EPERM); none.Level != LevelNone || none.String() != LevelNone || none.Lacks[0].Mechanism != Namespaces {
		t.Errorf("%+v", none)
	}
}

// TestWatchStartsANewPeak checks that ResetPeak works for a jail that a watch measures.
func TestWatchStartsANewPeak(t *testing.T) {
	t.Parallel()
	w := newWatch(os.Getpid(), true, func() { t.Error("killed without a limit") })
	defer w.close()
	j := &Jail{watch: w}
	w.limit(1<<60, 1<<30)
	for w.stats().Peak == 0 {
		time.Sleep(time.Millisecond)
	}
	j.ResetPeak()
	if peak := w.stats().Peak; peak > 1<<40 {
		t.Errorf("peak is %d", peak)
	}
}

// TestMoreJailsThanUsers checks that no jail starts without a user of its own.
func TestMoreJailsThanUsers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give each jail a user")
	}
	s := &Sandbox{ids: newIDs(700_000, 1), jails: map[*Jail]struct{}{}, groups: unusable(), filters: map[Filter][]byte{FilterWorker: nil}}
	if _, err := s.ids.acquire(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.prepare(t.Context(), Profile{Filter: FilterWorker}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("prepared with %v", err)
	}
	s.closed = true
	if _, err := s.prepare(t.Context(), Profile{Filter: FilterWorker}); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("prepared with %v", err)
	}
}

// TestNoGroupNoJail checks that a jail does not start if its control group cannot be created, because it would have no
// limits.
func TestNoGroupNoJail(t *testing.T) {
	t.Parallel()
	groups, err := cgroups.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := groups.Close(); err != nil {
		t.Fatal(err)
	}
	if groups.Mode() == cgroups.None {
		t.Skip("this host gives us no control groups")
	}
	s := &Sandbox{ids: newIDs(700_000, 1), jails: map[*Jail]struct{}{}, groups: groups, filters: map[Filter][]byte{FilterWorker: nil}}
	for range 2 { // the user id is released
		if _, err := s.prepare(t.Context(), Profile{Filter: FilterWorker}); err == nil || !strings.Contains(err.Error(), "control group") {
			t.Errorf("prepared with %v", err)
		}
	}
}

// TestStartKeepsItsBinary checks that a jail starts even if the descriptor of our binary has the number right after the
// passed descriptors.
func TestStartKeepsItsBinary(t *testing.T) {
	t.Parallel()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	binary, err := os.Open("/usr/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	defer binary.Close()
	const high = 900
	at := func(file *os.File, least int) *os.File {
		fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, least)
		if err != nil {
			t.Fatal(err)
		}
		return os.NewFile(uintptr(fd), file.Name())
	}
	conn := at(null, high)
	defer conn.Close()
	exe := at(binary, int(conn.Fd())+1)
	defer exe.Close()
	k := newSpawner()
	defer k.close()
	me := hostID{uid: os.Geteuid(), gid: os.Getegid()}
	process, err := k.start(exe, "none", identity{hostID: me, first: me, users: 1}, conn, null)
	if err != nil {
		t.Fatal(err)
	}
	if state, err := process.Wait(); err != nil || !state.Success() {
		t.Errorf("%v, %v", state, err)
	}
}
