package guest

import (
	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// memories allocates the linear memories of one run. No memory can grow above most, the program's limit. The kernel
// also enforces a limit, but it would kill the process. Because of most, a module receives an error instead, and the
// guest can report the reason.
type memories struct {
	most    uint64
	refused bool
}

// Allocate implements experimental.MemoryAllocator. It reserves the addresses for the maximum size, so that the memory
// keeps its address when it grows. Reserved addresses use no memory.
func (m *memories) Allocate(_, most uint64) experimental.LinearMemory {
	region, err := unix.Mmap(-1, 0, int(max(min(most, m.most), 1)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		m.refused = true
		return &memory{all: m}
	}
	return &memory{all: m, region: region}
}

// memory is one linear memory.
type memory struct {
	all    *memories
	region []byte
}

// Reallocate implements experimental.LinearMemory. It returns nil to refuse the growth.
func (m *memory) Reallocate(size uint64) []byte {
	if size > uint64(len(m.region)) {
		m.all.refused = true
		return nil
	}
	return m.region[:size]
}

// Free implements experimental.LinearMemory.
func (m *memory) Free() {
	if m.region != nil {
		_ = unix.Munmap(m.region)
		m.region = nil
	}
}
