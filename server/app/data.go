package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// ErrInUse means that another server uses the data directory.
var ErrInUse = errors.New("in use by another atelier process")

// openData creates the data directory and locks it. The kernel releases the lock when this process ends, even after a
// crash.
func (a *App) openData(ctx context.Context) error {
	dir, err := filepath.Abs(a.Config.Data)
	if err != nil {
		return fmt.Errorf("data directory %s: %w", a.Config.Data, err)
	}
	a.Config.Data = dir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return unusable(dir, err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return unusable(dir, err)
	}
	if err := acquireLock(ctx, lock); err != nil {
		_ = lock.Close() // Nothing was written, so an error of Close has no effect.
		if errors.Is(err, unix.EWOULDBLOCK) {
			return fmt.Errorf("the data directory %s is %w; stop that process, or choose another directory with --data", dir, ErrInUse)
		}
		return unusable(dir, err)
	}
	a.closers.add("lock", func() error {
		// Unlock explicitly, because a process that is being forked also holds the file open until it calls exec.
		return errors.Join(unix.Flock(int(lock.Fd()), unix.LOCK_UN), lock.Close())
	})
	return nil
}

// lockPatience is the maximum time to wait for the lock of a server that has ended. If the server was killed while it
// was forking a process, that process keeps the lock until it calls exec.
const lockPatience = 2 * time.Second

func acquireLock(ctx context.Context, lock *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	for {
		err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

// unusable explains in one sentence why a data directory is unusable and how to fix it.
func unusable(dir string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EROFS):
		return fmt.Errorf("the data directory %s is not writable; give this user write access, or choose another directory with --data: %w", dir, err)
	case errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.EEXIST):
		return fmt.Errorf("the data directory %s is a file or inside a file; choose another directory with --data: %w", dir, err)
	}
	return fmt.Errorf("the data directory %s cannot be used; choose another directory with --data: %w", dir, err)
}
