package child

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// TestLinkedWithCgo checks that a binary that cannot change all its threads drops no privileges and returns an error.
// The race detector makes this test binary such a binary.
func TestLinkedWithCgo(t *testing.T) {
	t.Parallel()
	if everyThread(unix.SYS_GETPID, 0, 0, 0) == nil {
		t.Skip("this test binary is not linked with cgo, so the test would drop its privileges")
	}
	for name, err := range map[string]error{
		"capabilities of files": ForgetCapabilities(),
		"capabilities":          dropCapabilities(),
		"privileges":            dropPrivileges(wire.Setup{}),
		"control groups":        hideGroups(wire.Setup{}),
	} {
		if !errors.Is(err, wire.ErrCgo) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if version := LandlockVersion(); version > 0 {
		if err := landlock(wire.Setup{Landlock: version, Filter: wire.FilterWorker}); !errors.Is(err, wire.ErrCgo) {
			t.Errorf("landlock: %v", err)
		}
	}
}

// TestLandlockRefuses checks that a right that no kernel supports, and a missing path, are errors.
func TestLandlockRefuses(t *testing.T) {
	t.Parallel()
	version := LandlockVersion()
	if version == 0 {
		t.Skip("this kernel has no landlock")
	}
	if _, err := NewRules(unix.LandlockRulesetAttr{Handled_access_fs: 1 << 63}); err == nil {
		t.Error("NewRules accepted an unknown right")
	}
	if err := landlock(wire.Setup{Landlock: version, Filter: wire.FilterProgram, Devices: []string{"/dev/nowhere"}}); err == nil || !strings.Contains(err.Error(), "/dev/nowhere") {
		t.Errorf("a missing device: %v", err)
	}
}

// unprivileged calls a function on a separate thread without privileges.
func unprivileged(t *testing.T, do func()) {
	t.Helper()
	done := make(chan unix.Errno)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		_, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody)
		if errno == 0 {
			do()
		}
		done <- errno
	}()
	if errno := <-done; errno != 0 && os.Geteuid() == 0 {
		t.Fatal(errno)
	}
}

const nobody = 65534

// TestMountsNeedPrivileges calls the functions that set up the root on a thread without privileges. Each must return the
// error of its first mount.
func TestMountsNeedPrivileges(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for name, do := range map[string]func() error{
		"the root":      func() error { return changeRoot(wire.Setup{}) },
		"an empty root": enterEmptyRoot,
		"the old root":  func() error { return leaveOldRoot(wire.Setup{}) },
		"a disk":        func() error { return addDisk(1 << 20) },
		"proc":          addProc,
	} {
		unprivileged(t, func() {
			if err := do(); !errors.Is(err, unix.EPERM) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestPageOfThePath checks that MapPath maps the page at the address that the filter expects, and fails if a page is
// already mapped there.
func TestPageOfThePath(t *testing.T) {
	t.Parallel()
	page, err := MapPath()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.MunmapPtr(unsafe.Pointer(&page[0]), uintptr(len(page))); err != nil {
			t.Error(err)
		}
	}()
	if _, err := MapPath(); err == nil {
		t.Error("MapPath succeeded although its page is already mapped")
	}
}
