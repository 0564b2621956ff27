package changes_test

import (
	"errors"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/changes"
)

func person(id string) registry.Actor {
	return registry.Actor{ID: id, Name: "Name of " + id, Workspace: "default"}
}

func read(t *testing.T, h *changes.Hub, id string) *changes.Reader {
	t.Helper()
	r, err := h.Read("agent", person(id))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPresence_OneEntryPerPerson(t *testing.T) {
	t.Parallel()
	h := changes.New(time.Now)
	ada := read(t, h, "ada")
	again := read(t, h, "ada")
	bob := read(t, h, "bob")
	people := func(r *changes.Reader) []changes.Person {
		t.Helper()
		e, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return e.Data.(changes.Presence).People
	}
	if first, second := people(ada), people(ada); len(first) != 1 || len(second) != 2 || second[1].ID != "bob" {
		t.Errorf("ada saw %v, then %v", first, second)
	}
	if got := people(again); len(got) != 1 {
		t.Errorf("the second page of ada saw %v", got)
	}
	if got := people(bob); len(got) != 2 {
		t.Errorf("bob saw %v", got)
	}
	again.Close() // The person ada still has another page open.
	bob.Close()
	if got := people(ada); len(got) != 1 || got[0].Name != "Name of ada" {
		t.Errorf("ada saw %v", got)
	}
}

func TestReader_FarBehind_Ended(t *testing.T) {
	t.Parallel()
	h := changes.New(time.Now)
	slow := read(t, h, "ada")
	for range 200 {
		h.Published("agent", "1.0.0")
	}
	if err := last(t, slow); !errors.Is(err, changes.ErrSlow) {
		t.Errorf("ended with %v", err)
	}
}

func TestReaders_AgentDeletedOrServerStopping_Ended(t *testing.T) {
	t.Parallel()
	h := changes.New(time.Now)
	deleted := read(t, h, "ada")
	h.Deleted("agent")
	if err := last(t, deleted); !errors.Is(err, changes.ErrDeleted) {
		t.Errorf("ended with %v", err)
	}
	stopped := read(t, h, "ada")
	h.Close()
	if err := last(t, stopped); !errors.Is(err, changes.ErrClosed) {
		t.Errorf("ended with %v", err)
	}
	if _, err := h.Read("agent", person("ada")); !fault.Is(err, fault.ShuttingDown) {
		t.Errorf("after the end: %v", err)
	}
}

func TestRead_TooManyOfOneActor_Refused(t *testing.T) {
	t.Parallel()
	h := changes.New(time.Now)
	for range changes.PerActor {
		read(t, h, "ada")
	}
	if _, err := h.Read("agent", person("ada")); !fault.Is(err, fault.TooManyRequests) {
		t.Errorf("got %v", err)
	}
	read(t, h, "bob")
}

// last returns the reason why a reader ended. It ignores events before the end.
func last(t *testing.T, r *changes.Reader) error {
	t.Helper()
	for {
		if _, err := r.Next(t.Context()); err != nil {
			return err
		}
	}
}
