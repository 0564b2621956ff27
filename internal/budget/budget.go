// Package budget limits the memory that requests use while the server processes them. A request reserves the memory for
// its body before the body is read, and releases it when nothing refers to the body any more. A body that does not fit
// is rejected immediately. A large answer reserves its memory before it is read from the database, and may wait.
package budget

import (
	"context"
	"sync"
)

// Small is the maximum size in bytes of a body that may use the whole budget. An eighth of the budget is reserved for such
// bodies, so that large bodies never block small ones.
const Small = 64 << 10

// Estimated memory cost of a body, measured on decoded bodies of many small values.
const (
	perByte  = 4   // the text, its decoded copy, and the copies for the program and the store
	perValue = 128 // one JSON value or name in a decoded tree
)

// Cost returns the memory that a body uses while it is decoded and checked. values counts JSON values and names.
func Cost(bytes, values int64) int64 { return perByte*bytes + perValue*values }

// Budget is a weighted semaphore with a share per owner. An owner is a workspace or an address. It is safe for
// concurrent use.
type Budget struct {
	total int64

	mu     sync.Mutex
	used   int64
	owners map[string]int64
	freed  chan struct{} // closed when bytes are returned
}

// New returns a budget of total bytes. One owner may use half of it; an eighth is reserved for small bodies.
func New(total int64) *Budget {
	return &Budget{total: total, owners: map[string]int64{}, freed: make(chan struct{})}
}

// Used returns the number of reserved bytes.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Open returns an empty reservation.
func (b *Budget) Open(owner string) *Reservation {
	return &Reservation{budget: b, owner: owner, holders: 1}
}

// take reserves further bytes for a request that has already reserved own bytes, and reports whether they fit. If no other
// request has a reservation, the bytes always fit, so that every body that a route accepts can be processed. The only
// request of an owner may exceed the owner's share.
func (b *Budget) take(owner string, own, bytes int64, small bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	total, share := b.total*7/8, b.total/2
	if small {
		total, share = b.total, b.total*5/8
	}
	onlyOfOwner := b.owners[owner] == own
	if b.used != own && (b.used+bytes > total || !onlyOfOwner && b.owners[owner]+bytes > share) {
		return false
	}
	b.used += bytes
	b.owners[owner] += bytes
	return true
}

func (b *Budget) give(owner string, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= bytes
	if b.owners[owner] -= bytes; b.owners[owner] == 0 {
		delete(b.owners, owner)
	}
	close(b.freed)
	b.freed = make(chan struct{})
}

// next returns a channel that is closed when bytes are returned after the call.
func (b *Budget) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.freed
}

// Reservation is the memory reserved for one request. A nil Reservation has no limit.
type Reservation struct {
	budget *Budget
	owner  string

	mu      sync.Mutex
	bytes   int64
	settled int64 // part of bytes that remains after the body is decoded and checked
	holders int
}

// Reserve sets the reservation to that of a body of the given bytes and values, and reports whether it fits.
func (r *Reservation) Reserve(bytes, values int64) bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	more := Cost(bytes, values) - r.bytes
	if more > 0 && !r.budget.take(r.owner, r.bytes, more, bytes <= Small) {
		return false
	}
	r.bytes += max(more, 0)
	r.settled = perByte * bytes
	return true
}

// Await adds bytes to the reservation, and waits for other requests to return theirs until ctx ends. It reports whether
// the bytes fit.
func (r *Reservation) Await(ctx context.Context, bytes int64) bool {
	if r == nil {
		return true
	}
	for {
		freed := r.budget.next()
		if r.add(bytes) {
			return true
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return false
		}
	}
}

func (r *Reservation) add(bytes int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.budget.take(r.owner, r.bytes, bytes, bytes <= Small) {
		return false
	}
	r.bytes += bytes
	r.settled += bytes
	return true
}

// Return releases bytes that Await added.
func (r *Reservation) Return(bytes int64) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	bytes = min(bytes, r.bytes)
	r.bytes -= bytes
	r.settled = max(0, r.settled-bytes)
	r.budget.give(r.owner, bytes)
}

// Settle releases the memory that was needed only to decode and check the body.
func (r *Reservation) Settle() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bytes > r.settled {
		r.budget.give(r.owner, r.bytes-r.settled)
		r.bytes = r.settled
	}
}

// Hold keeps the reservation until release is called, even after the request is answered. An accepted run needs this,
// because its input stays in memory.
func (r *Reservation) Hold() (release func()) {
	if r == nil {
		return func() {}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holders++
	return sync.OnceFunc(r.Release)
}

// Release is called by the code that opened the reservation. The bytes are returned when all holds are released too.
func (r *Reservation) Release() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holders--; r.holders > 0 {
		return
	}
	if r.bytes > 0 {
		r.budget.give(r.owner, r.bytes)
	}
	r.bytes, r.settled = 0, 0
}

type key struct{}

// With returns a context that carries a reservation.
func With(ctx context.Context, r *Reservation) context.Context {
	return context.WithValue(ctx, key{}, r)
}

// Of returns the reservation of ctx, or nil if there is none.
func Of(ctx context.Context) *Reservation {
	r, _ := ctx.Value(key{}).(*Reservation)
	return r
}
