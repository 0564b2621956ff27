package sandbox

import (
	"errors"
	"math/rand/v2"
	"os"
	"sync"
)

// ids gives each live jail a host user that no other live jail has. Without root there is only the server's own user.
type ids struct {
	mu   sync.Mutex
	free []hostID
	own  hostID
	pool bool
	base hostID // first user of the pool
	size int
}

func newIDs(base, count int) *ids {
	if os.Geteuid() != 0 {
		return &ids{own: hostID{uid: os.Geteuid(), gid: os.Getegid()}}
	}
	pool := &ids{pool: true, base: hostID{uid: base, gid: base, pooled: true}, size: count}
	// Two servers on one host do not coordinate their ids. A random first id makes it unlikely that they use the same one.
	first := rand.IntN(count)
	for n := range count {
		id := base + (first+n)%count
		pool.free = append(pool.free, hostID{uid: id, gid: id, pooled: true})
	}
	return pool
}

// single returns the identity of a jail whose user namespace contains only one user.
func (i *ids) single(id hostID) identity { return identity{hostID: id, first: id, users: 1} }

// many returns the identity of a launcher. The launcher's user namespace contains every user that its children can get.
func (i *ids) many(id hostID) identity {
	if !i.pool {
		return identity{hostID: id, first: id, users: 1, launcher: true}
	}
	return identity{hostID: id, first: i.base, users: i.size, launcher: true}
}

func (i *ids) acquire() (hostID, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.pool {
		return i.own, nil
	}
	if len(i.free) == 0 {
		return hostID{}, errors.New("every user id of the pool is in use")
	}
	id := i.free[0]
	i.free = i.free[1:]
	return id, nil
}

// release returns an id to the pool. No process may use the id when release is called.
func (i *ids) release(id hostID) {
	if !id.pooled {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.free = append(i.free, id) // at the end of the queue, so that the kernel has time to reset the counters of this user
}
