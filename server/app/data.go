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

// ErrInUse says that another server has the data directory.
var ErrInUse = errors.New("in use by another atelier process")

// openData makes the data directory and takes its lock, which the kernel gives back whatever happens to this process.
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
		_ = lock.Close() // nothing was written
		if errors.Is(err, unix.EWOULDBLOCK) {
			return fmt.Errorf("the data directory %s is %w; stop that process, or choose another directory with --data", dir, ErrInUse)
		}
		return unusable(dir, err)
	}
	a.closers.add("lock", func() error {
		// Closing alone would not do: a process that is being forked has the file open until it executes.
		return errors.Join(unix.Flock(int(lock.Fd()), unix.LOCK_UN), lock.Close())
	})
	return nil
}

// lockPatience is how long a lock may outlive its server: one that was killed leaves processes that it was just forking,
// and these hold the lock until they execute.
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

// unusable says in one sentence why a data directory cannot be used and what to do.
func unusable(dir string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EROFS):
		return fmt.Errorf("the data directory %s is not writable; give this user write access, or choose another directory with --data: %w", dir, err)
	case errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.EEXIST):
		return fmt.Errorf("the data directory %s is a file or inside a file; choose another directory with --data: %w", dir, err)
	}
	return fmt.Errorf("the data directory %s cannot be used; choose another directory with --data: %w", dir, err)
}
