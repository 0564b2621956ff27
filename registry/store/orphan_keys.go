package store

import (
	"context"
	"sync"

	"github.com/atelier-run/atelier/registry"
)

// orphans is a set of idempotency keys that the database may still contain, although no request of this server uses
// them. A key becomes an orphan if the database does not answer while the key is reserved or released. A repeated
// request may take over an orphan. Otherwise the repeated request would wait for a request that does not exist.
type orphans struct {
	mu       sync.Mutex
	keys     map[registry.KeyRef]bool
	reserved map[registry.KeyRef]chan struct{} // keys that a goroutine is reserving; the channel is closed when it has finished
}

const maxOrphans = 10_000

func newOrphans() *orphans {
	return &orphans{keys: map[registry.KeyRef]bool{}, reserved: map[registry.KeyRef]chan struct{}{}}
}

func (o *orphans) add(ref registry.KeyRef) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.keys) >= maxOrphans { // drop any key; repeated requests with this key wait until it expires
		for other := range o.keys {
			delete(o.keys, other)
			break
		}
	}
	o.keys[ref] = true
}

// enter waits until no other goroutine reserves the same key. It reports whether the key is an orphan. The caller must
// call leave.
func (o *orphans) enter(ctx context.Context, ref registry.KeyRef) (orphan bool, leave func(), err error) {
	for {
		o.mu.Lock()
		other, busy := o.reserved[ref]
		if !busy {
			mine := make(chan struct{})
			o.reserved[ref] = mine
			orphan = o.keys[ref]
			o.mu.Unlock()
			return orphan, func() {
				o.mu.Lock()
				defer o.mu.Unlock()
				delete(o.reserved, ref)
				close(mine)
			}, nil
		}
		o.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return false, nil, context.Cause(ctx)
		}
	}
}

// adopt removes an orphan from the database, so that its key can be reserved again.
func (s *Store) adopt(ctx context.Context, ref registry.KeyRef) error {
	_, err := s.write.NewDelete().Model((*keyRow)(nil)).Where("k.owner = ?", ref.Owner).Where("k.key = ?", ref.Key).
		Where("k.server_id = ?", s.identity.Load().server).Where("k.status = 0").Where("k.made_id = ''").Exec(ctx)
	if err != nil {
		return wrap("release idempotency key", err)
	}
	s.orphans.mu.Lock()
	defer s.orphans.mu.Unlock()
	delete(s.orphans.keys, ref)
	return nil
}
