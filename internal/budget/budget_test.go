package budget_test

import (
	"testing"

	"github.com/atelier-run/atelier/internal/budget"
)

func TestReserve_Shares(t *testing.T) {
	t.Parallel()
	const total = 8 << 20
	b := budget.New(total)
	open := func(owner string, bytes int64) (*budget.Reservation, bool) {
		r := b.Open(owner)
		return r, r.Reserve(bytes, 0)
	}
	first, ok := open("a", 700<<10) // 2.8 MiB
	if !ok {
		t.Fatal("the first request was refused")
	}
	if _, ok := open("a", 400<<10); ok { // 4.4 MiB
		t.Error("an owner took more than half")
	}
	other, ok := open("b", 700<<10) // 5.6 MiB in all
	if !ok {
		t.Error("another owner was refused its share")
	}
	if _, ok := open("c", 400<<10); ok { // 7.2 MiB in all
		t.Error("a large body took the part for small ones")
	}
	small, ok := open("c", budget.Small)
	if !ok {
		t.Error("a small body was refused while large ones were active")
	}
	for _, r := range []*budget.Reservation{first, other, small} {
		r.Release()
	}
	if b.Used() != 0 {
		t.Errorf("%d bytes are left", b.Used())
	}
}

func TestReserve_OnlyRequest_AlwaysFits(t *testing.T) {
	t.Parallel()
	b := budget.New(1 << 20)
	r := b.Open("a")
	if !r.Reserve(1<<20, 0) || !r.Reserve(1<<20, 100_000) {
		t.Error("the only request was refused")
	}
	if b.Open("b").Reserve(100_000, 0) {
		t.Error("a second request was admitted at the same time")
	}
	r.Release()
	if b.Used() != 0 || !b.Open("b").Reserve(100_000, 0) {
		t.Error("nothing was given back")
	}
}

func TestSettle_KeepsTheText(t *testing.T) {
	t.Parallel()
	b := budget.New(64 << 20)
	r := b.Open("a")
	if !r.Reserve(1000, 10_000) || b.Used() != budget.Cost(1000, 10_000) {
		t.Fatalf("%d bytes are reserved", b.Used())
	}
	r.Settle()
	release := r.Hold()
	r.Release()
	if b.Used() != budget.Cost(1000, 0) {
		t.Errorf("a run that goes on holds %d bytes, want %d", b.Used(), budget.Cost(1000, 0))
	}
	release()
	release()
	if b.Used() != 0 {
		t.Errorf("%d bytes are left", b.Used())
	}
}

func TestNilReservation_BoundsNothing(t *testing.T) {
	t.Parallel()
	r := budget.Of(t.Context())
	if !r.Reserve(1<<40, 1<<40) {
		t.Error("refused")
	}
	r.Settle()
	r.Hold()()
	r.Release()
}
