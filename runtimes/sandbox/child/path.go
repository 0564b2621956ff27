package child

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
)

// MapPath maps the page that must hold the path of any program that FilterAlone lets execute. A child shares the
// launcher's memory until it executes the program. After that it has its own memory, and its filter forbids mapping
// that page. So it can execute no other program.
//
// Go links programs for arm64 into this memory; -buildmode=pie, which the Makefile adds, keeps it free.
func MapPath() ([]byte, error) {
	const size = 1 << 12
	page, err := unix.MmapPtr(-1, 0, unsafe.Add(nil, seccomp.ProgramPath), size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED_NOREPLACE)
	if err != nil {
		return nil, fmt.Errorf("map the page of the program's path (on arm64, build with -buildmode=pie): %w", err)
	}
	return unsafe.Slice((*byte)(page), size), nil
}
