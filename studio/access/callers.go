package access

import (
	"sync"
	"time"

	"github.com/atelier-run/atelier/registry"
)

const (
	rememberFor = time.Minute // A cached credential is read again after this time, because another server may have changed it.
	mostCallers = 10_000
)

// remembered is the cached result of the lookup of a credential.
type remembered struct {
	places  []registry.Caller // the caller in each workspace of the credential, the default one first
	expires *time.Time        // expiry of the credential, nil if it never expires
	until   time.Time         // time at which the credential must be looked up again
}

// in returns the caller in the given workspace, or in the default one if workspace is "".
func (r remembered) in(workspace string) (registry.Caller, error) {
	for _, place := range r.places {
		if workspace == "" || workspace == place.Workspace.ID || workspace == place.Workspace.Name {
			return place, nil
		}
	}
	if workspace == "" {
		return registry.Caller{}, unauthenticated()
	}
	return registry.Caller{}, registry.NoWorkspace(workspace)
}

// callers caches the callers of recently used credentials, so that most requests need no database query. A change of
// rights clears the cache. A lookup that started before such a change is not cached.
type callers struct {
	mu         sync.RWMutex
	generation uint64
	changed    chan struct{} // closed at the next change of rights
	known      map[string]remembered
}

func newCallers() *callers {
	return &callers{known: map[string]remembered{}, changed: make(chan struct{})}
}

// find returns a cached credential and whether it is still valid. It also returns the generation, which the caller must
// pass to keep.
func (c *callers) find(key string, now time.Time) (remembered, bool, uint64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	found, ok := c.known[key]
	return found, ok && now.Before(found.until), c.generation
}

func (c *callers) keep(key string, r remembered, generation uint64, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if generation != c.generation {
		return
	}
	if len(c.known) >= mostCallers {
		clear(c.known)
	}
	r.until = now.Add(rememberFor)
	c.known[key] = r
}

func (c *callers) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	clear(c.known)
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *callers) next() <-chan struct{} {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.changed
}
