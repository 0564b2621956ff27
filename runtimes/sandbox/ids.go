package sandbox

import (
	"errors"
	"os"
	"sync"
)

// ids gives each live jail a user of the host that no other live jail has. Without root there is only our own.
type ids struct {
	mu   sync.Mutex
	free []hostID
	own  hostID
	pool bool
}

func newIDs(base, count int) *ids {
	if os.Geteuid() != 0 {
		return &ids{own: hostID{uid: os.Geteuid(), gid: os.Getegid()}}
	}
	pool := &ids{pool: true}
	for n := count - 1; n >= 0; n-- {
		pool.free = append(pool.free, hostID{uid: base + n, gid: base + n, pooled: true})
	}
	return pool
}

func (i *ids) take() (hostID, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.pool {
		return i.own, nil
	}
	if len(i.free) == 0 {
		return hostID{}, errors.New("every user id of the pool is in use")
	}
	id := i.free[len(i.free)-1]
	i.free = i.free[:len(i.free)-1]
	return id, nil
}

// give returns an id. No process may have it any more.
func (i *ids) give(id hostID) {
	if !id.pooled {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.free = append([]hostID{id}, i.free...) // as late as possible: what the kernel still counts for it has time to go
}
