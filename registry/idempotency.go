package registry

import (
	"context"
	"errors"
)

// KeyRef names an idempotency key that a request has reserved.
type KeyRef struct{ Owner, Key string }

// MadeKind is the kind of resource that a request with an idempotency key created.
type MadeKind string

// These are the values of MadeKind.
const (
	MadeRun     MadeKind = "run"
	MadeAgent   MadeKind = "agent"
	MadeVersion MadeKind = "version" // Made.ID is the agent's ID, a slash and the version
	MadeTask    MadeKind = "task"
)

// Made names the resource that a request created. The store saves Made in the same transaction as the resource. So a
// repeated request finds the resource even if the server crashed before it responded.
type Made struct {
	Kind MadeKind
	ID   string
}

type keyRef struct{}

// WithKey returns a context with an idempotency key. The store records the next resource that it creates with this
// context under the key.
func WithKey(ctx context.Context, ref KeyRef) context.Context {
	return context.WithValue(ctx, keyRef{}, ref)
}

// WithoutKey returns a context without the idempotency key of WithKey, for creating resources that the client did not
// request.
func WithoutKey(ctx context.Context) context.Context { return WithKey(ctx, KeyRef{}) }

// ErrKeyReserved reports that the store created no run, because another request has already reserved the key of
// WithReservation.
var ErrKeyReserved = errors.New("another request has reserved the idempotency key")

type reservation struct{}

// WithReservation returns a context in which the store creates the next run together with this key, in one transaction.
func WithReservation(ctx context.Context, k IdempotencyKey) context.Context {
	return context.WithValue(ctx, reservation{}, &k)
}

// ReservationOf returns the key of WithReservation, or nil if the context has none.
func ReservationOf(ctx context.Context) *IdempotencyKey {
	k, _ := ctx.Value(reservation{}).(*IdempotencyKey)
	return k
}

// KeyOf returns the key of WithKey. The result is false if the context has no key.
func KeyOf(ctx context.Context) (KeyRef, bool) {
	ref, _ := ctx.Value(keyRef{}).(KeyRef)
	return ref, ref.Key != ""
}
