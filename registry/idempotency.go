package registry

import (
	"context"
	"errors"
)

// KeyRef names an idempotency key that a request has reserved.
type KeyRef struct{ Owner, Key string }

// MadeKind is the kind of resource that a request with an idempotency key created.
type MadeKind string

// These are the kinds of Made.
const (
	MadeRun     MadeKind = "run"
	MadeAgent   MadeKind = "agent"
	MadeVersion MadeKind = "version" // its ID is the agent's ID, a slash and the version
	MadeTask    MadeKind = "task"
)

// Made names the resource that a request created. It is stored in the same transaction, so that a repeated request
// finds the resource even if the server crashed before it responded.
type Made struct {
	Kind MadeKind
	ID   string
}

type keyRef struct{}

// WithKey returns a context in which the store records the next created resource under this key.
func WithKey(ctx context.Context, ref KeyRef) context.Context {
	return context.WithValue(ctx, keyRef{}, ref)
}

// WithoutKey returns a context without the key of WithKey, for resources other than the requested one.
func WithoutKey(ctx context.Context) context.Context { return WithKey(ctx, KeyRef{}) }

// ErrKeyReserved reports that nothing was created, because another request has already reserved the key of
// WithReservation.
var ErrKeyReserved = errors.New("another request has reserved the idempotency key")

type reservation struct{}

// WithReservation returns a context in which the store creates the next run together with this key, in one transaction.
func WithReservation(ctx context.Context, k IdempotencyKey) context.Context {
	return context.WithValue(ctx, reservation{}, &k)
}

// ReservationOf returns the key of WithReservation, nil for none.
func ReservationOf(ctx context.Context) *IdempotencyKey {
	k, _ := ctx.Value(reservation{}).(*IdempotencyKey)
	return k
}

// KeyOf returns the key of WithKey, if there is one.
func KeyOf(ctx context.Context) (KeyRef, bool) {
	ref, _ := ctx.Value(keyRef{}).(KeyRef)
	return ref, ref.Key != ""
}
