// Package budget limits the memory that requests use while the server processes them. A request reserves memory before
// its body is read, and releases the memory when no code refers to the body any longer. A body that does not fit is
// rejected immediately. A large answer reserves memory before it is read from the database, and may wait for it.
package budget

import (
	"context"
	"sync"
)

// Small is the maximum size in bytes of a small body. A small body may use the whole budget. Larger bodies may use only
// seven eighths, so that they never block small ones.
const Small = 64 << 10

// These constants estimate the memory cost of a body. They were measured with bodies that contain many small values.
const (
	perByte  = 4   // per byte: the text, its decoded copy, and the copies for the program and the store
	perValue = 128 // per value: one JSON value or name in a decoded tree
)

// Cost returns the memory that a body needs while it is decoded and checked. bytes is the size of the body, and values
// is its number of JSON values and names.
func Cost(bytes, values int64) int64 { return perByte*bytes + perValue*values }

// Budget is a weighted semaphore with a limited share for each owner. An owner is a workspace or an address. It is safe
// for concurrent use.
type Budget struct {
	total int64

	mu     sync.Mutex
	used   int64
	owners map[string]int64
	freed  chan struct{} // closed when a request releases bytes of the budget
}

// New returns a budget of total bytes. One owner may use half of the budget. An eighth is reserved for small bodies.
func New(total int64) *Budget {
	return &Budget{total: total, owners: map[string]int64{}, freed: make(chan struct{})}
}

// Used returns the number of reserved bytes.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Open returns an empty reservation for an owner.
func (b *Budget) Open(owner string) *Reservation {
	return &Reservation{budget: b, owner: owner, holders: 1}
}

// take reserves more bytes for a request that has already reserved own bytes, and reports whether they fit. If no other
// request has a reservation, the bytes always fit, so that the server can process every body that a route accepts. If
// an owner has no other request, the request may exceed the owner's share.
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

// next returns a channel that is closed the next time that a request returns bytes.
func (b *Budget) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.freed
}

// Reservation is the memory that one request has reserved. A nil Reservation has no limit.
type Reservation struct {
	budget *Budget
	owner  string

	mu      sync.Mutex
	bytes   int64
	settled int64 // number of bytes that stay reserved after the body is decoded and checked
	holders int
}

// Reserve changes the reservation to the cost of a body with the given numbers of bytes and values. It reports whether
// the cost fits the budget.
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

// Await adds bytes to the reservation. If they do not fit, it waits until other requests have returned enough bytes, or
// until ctx ends. It reports whether the bytes were added.
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

// Return gives back bytes that Await has added.
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

// Settle gives back the memory that was needed only to decode and check the body.
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

// Hold keeps the reservation until the caller calls release, even after the request is answered. An accepted run needs
// this, because its input stays in memory.
func (r *Reservation) Hold() (release func()) {
	if r == nil {
		return func() {}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holders++
	return sync.OnceFunc(r.Release)
}

// Release ends the reservation of the code that called Open. The bytes are given back when the release functions of all
// calls of Hold were called too.
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

// Of returns the reservation in ctx, or nil if there is none.
func Of(ctx context.Context) *Reservation {
	r, _ := ctx.Value(key{}).(*Reservation)
	return r
}
