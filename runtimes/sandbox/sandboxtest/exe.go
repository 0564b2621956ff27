// Package sandboxtest provides tests with a real worker binary and a sandbox for it. A test binary itself cannot be
// jailed, because the race detector needs more than the jail has.
package sandboxtest

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox"
)

const module = "github.com/atelier-run/atelier/"

// Guests is the package with the real roles, Hostile the package with a role that tries to escape.
const (
	Guests  = "runtimes/guests/guestmain"
	Hostile = "runtimes/sandbox/sandboxtest/hostiletest"
)

// built caches the builds of this test process.
var built sync.Map // package → func() (string, error)

// Exe returns the path of the binary with the real roles, and builds it if it is not up to date.
func Exe(tb testing.TB) string {
	tb.Helper()
	return Build(tb, Guests)
}

// Build returns the path of a package's binary in the user's cache. It is fast if nothing has changed.
func Build(tb testing.TB, pkg string) string {
	tb.Helper()
	once, _ := built.LoadOrStore(pkg, sync.OnceValues(func() (string, error) { return build(pkg) }))
	path, err := once.(func() (string, error))()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// New returns a sandbox whose jails run the binary, and closes it with the test.
func New(tb testing.TB, exe string) *sandbox.Sandbox {
	tb.Helper()
	box, err := sandbox.New(tb.Context(), sandbox.Options{Exe: exe})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := box.Close(); err != nil {
			tb.Error(err)
		}
	})
	if level := box.Level(); level.Level == sandbox.LevelNone {
		tb.Fatalf("this host cannot jail anything: %v", level.Missing)
	}
	return box
}

func build(pkg string) (string, error) {
	dir, err := cache()
	if err != nil {
		return "", err
	}
	// The lock is needed because tests of several packages run at the same time and use the same file.
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", err
	}
	path := filepath.Join(dir, filepath.Base(pkg))
	next := path + ".next"
	if err := copyForUpdate(path, next); err != nil {
		return "", err
	}
	// Flags of the release, because other flags would compile all packages a second time.
	flags := []string{"build", "-trimpath"}
	if runtime.GOARCH == "arm64" {
		flags = append(flags, "-buildmode=pie")
	}
	cmd := exec.Command("go", append(flags, "-o", next, module+pkg)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", pkg, err, text)
	}
	// The file is replaced by renaming, so that jails of other tests keep the file that they run.
	if err := os.Chmod(next, 0o755); err != nil {
		return "", err
	}
	return path, os.Rename(next, path)
}

// copyForUpdate copies the last build to the path of the next one, because go build does not rewrite an up-to-date
// file. It is a copy and not a link, because jails run the last build meanwhile.
func copyForUpdate(from, to string) error {
	if err := os.Remove(to); err != nil && !os.IsNotExist(err) {
		return err
	}
	content, err := os.ReadFile(from)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, content, 0o755); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// cache returns a folder for this user and this checkout. Tests of two checkouts must not replace each other's
// binaries.
func cache() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	root, err := checkout()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, fmt.Sprintf("atelier-test-%d-%08x", os.Getuid(), crc32.ChecksumIEEE([]byte(root))))
	return dir, os.MkdirAll(dir, 0o700)
}

// checkout returns the folder with go.mod above the package whose test runs.
func checkout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
}
