package guest

import (
	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// memories hands out the linear memories of one run. The kernel counts what is touched of them; that they end at the
// program's limit as well lets a module see that it gets no more, and lets us say why it failed.
type memories struct {
	most    uint64
	refused bool
}

// Allocate implements experimental.MemoryAllocator. Nothing is taken yet: addresses cost nothing, and a memory that grows
// stays where it is.
func (m *memories) Allocate(_, most uint64) experimental.LinearMemory {
	region, err := unix.Mmap(-1, 0, int(max(min(most, m.most), 1)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		m.refused = true
		return &memory{all: m}
	}
	return &memory{all: m, region: region}
}

// memory is one of them.
type memory struct {
	all    *memories
	region []byte
}

// Reallocate implements experimental.LinearMemory. nil refuses.
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
