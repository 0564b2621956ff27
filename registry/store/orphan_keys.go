package store

import (
	"context"
	"sync"

	"github.com/atelier-run/atelier/registry"
)

// orphans holds the idempotency keys of this server that no request has, although the database may have them: it did not
// answer while they were reserved or released. Without orphans, a repeated request would wait for a request that does not
// exist.
type orphans struct {
	mu       sync.Mutex
	keys     map[registry.KeyRef]bool
	reserved map[registry.KeyRef]chan struct{} // keys that are being reserved now; closed at the end
}

const maxOrphans = 10_000

func newOrphans() *orphans {
	return &orphans{keys: map[registry.KeyRef]bool{}, reserved: map[registry.KeyRef]chan struct{}{}}
}

func (o *orphans) add(ref registry.KeyRef) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.keys) >= maxOrphans { // any other: its repetition waits until the key expires
		for other := range o.keys {
			delete(o.keys, other)
			break
		}
	}
	o.keys[ref] = true
}

// enter lets one reservation of a key in at a time. It reports whether the key is an orphan.
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

// adopt removes an orphan from the database.
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
