package child

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
)

// MapPath maps the page at seccomp.ProgramPath. FilterAlone allows execve only if the path argument is at that address.
// A child shares the launcher's memory, and so this page, until it executes its program. The program then has its own
// memory, and the filter forbids mapping that page again. So the program cannot execute another program.
//
// On arm64, Go by default links programs to this address. The Makefile adds -buildmode=pie to keep it free.
func MapPath() ([]byte, error) {
	const size = 1 << 12
	page, err := unix.MmapPtr(-1, 0, unsafe.Add(nil, seccomp.ProgramPath), size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED_NOREPLACE)
	if err != nil {
		return nil, fmt.Errorf("map the page of the program's path (on arm64, build with -buildmode=pie): %w", err)
	}
	return unsafe.Slice((*byte)(page), size), nil
}
