package app

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"golang.org/x/sys/unix"
)

// A process that a server was forking when it was killed may have the lock open for a moment. The next server must wait
// for the lock instead of reporting the directory as in use.
func TestLockOfAKilledServerIsWaitedFor(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "lock")
	synctest.Test(t, func(t *testing.T) {
		held, next := openLock(t, name), openLock(t, name)
		if err := unix.Flock(int(held.Fd()), unix.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		var taken error
		over := make(chan struct{})
		go func() {
			defer close(over)
			taken = acquireLock(t.Context(), next)
		}()
		synctest.Wait()
		if err := unix.Flock(int(held.Fd()), unix.LOCK_UN); err != nil {
			t.Fatal(err)
		}
		<-over
		if taken != nil {
			t.Errorf("the lock that became free was not taken: %v", taken)
		}
	})
}

func TestLockOfALivingServerIsRefused(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "lock")
	synctest.Test(t, func(t *testing.T) {
		held, next := openLock(t, name), openLock(t, name)
		if err := unix.Flock(int(held.Fd()), unix.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		if err := acquireLock(t.Context(), next); !errors.Is(err, unix.EWOULDBLOCK) {
			t.Errorf("got %v", err)
		}
	})
}

func openLock(t *testing.T, name string) *os.File {
	t.Helper()
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}
