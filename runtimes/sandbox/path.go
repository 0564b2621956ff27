package sandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
)

// mapPath makes the page from which alone FilterAlone lets a path be executed. A child shares our memory until it is the
// program. Then it has memory of its own, and its filter lets nobody put anything there: the program is the last one.
func mapPath() ([]byte, error) {
	const size = 1 << 12
	page, err := unix.MmapPtr(-1, 0, unsafe.Add(nil, seccomp.ProgramPath), size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED_NOREPLACE)
	if err != nil {
		return nil, fmt.Errorf("make the page of the program's path: %w", err)
	}
	return unsafe.Slice((*byte)(page), size), nil
}
