// Package budget bounds the memory that requests take while the server processes them. A request reserves the memory that
// its body needs before the body is read, and gives it back when nothing holds the body any more. A reservation that does
// not fit is refused at once; nobody waits.
package budget

import (
	"context"
	"sync"
)

// Small is the largest body, in bytes, that may use the part of the budget that larger bodies may not. So large bodies
// never keep small ones out.
const Small = 64 << 10

// The estimated cost of a body in memory, measured on decoded bodies of many small values.
const (
	perByte  = 4   // the text, its decoded copy, and the copies on the way to a program and to the store
	perValue = 128 // one JSON value or name in a decoded tree
)

// Cost is the memory that a body takes while it is decoded and checked. values counts JSON values and names.
func Cost(bytes, values int64) int64 { return perByte*bytes + perValue*values }

// Budget is a weighted semaphore with a share for each owner, who is a workspace or an address. It is safe for concurrent use.
type Budget struct {
	total int64

	mu     sync.Mutex
	used   int64
	owners map[string]int64
}

// New returns a budget of so many bytes. One owner may take half of it; an eighth is for small bodies alone.
func New(total int64) *Budget { return &Budget{total: total, owners: map[string]int64{}} }

// Used is how many bytes are reserved.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Open returns a reservation of no bytes yet.
func (b *Budget) Open(owner string) *Reservation {
	return &Reservation{budget: b, owner: owner, holders: 1}
}

// take adds bytes to the own bytes of one of an owner's requests, and reports whether they fit. The only request that the
// server processes always fits, so that every body that a route accepts can be processed; the only one of its owner may
// exceed the owner's share.
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
}

// Reservation is what one request holds. A nil one holds nothing and refuses nothing.
type Reservation struct {
	budget *Budget
	owner  string

	mu      sync.Mutex
	bytes   int64
	settled int64 // what stays of bytes once the body is decoded and checked
	holders int
}

// Reserve makes the reservation that of a body of so many bytes and values, and reports whether it fits.
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

// Settle gives back what only decoding and checking the body took.
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

// Hold keeps the reservation until release is called, also when its request has been answered: a run that was accepted
// keeps its input.
func (r *Reservation) Hold() (release func()) {
	if r == nil {
		return func() {}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holders++
	return sync.OnceFunc(r.Release)
}

// Release ends the hold of whoever opened the reservation. The last release gives the bytes back.
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

// Of returns the reservation of ctx, nil if it carries none.
func Of(ctx context.Context) *Reservation {
	r, _ := ctx.Value(key{}).(*Reservation)
	return r
}
