package runs_test

import (
	"context"
	"testing"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/runs"
	"github.com/atelier-run/atelier/studio/secrets"
)

// slowUses blocks the recording of a secret's use until the run is cancelled.
type slowUses struct {
	secrets.Uses
	asked chan struct{}
}

func (s slowUses) NoteSecretUses(ctx context.Context, _ []registry.SecretUse) error {
	close(s.asked)
	<-ctx.Done()
	return ctx.Err()
}

// A run that is cancelled before its program starts must end as cancelled.
func TestCancel_BeforeProgram_Cancelled(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	withSecrets(t, k, secrets.Request{Name: "KEY", Value: "hunter2hunter2"})
	asked := make(chan struct{})
	k.Secrets.Uses = slowUses{k.Secrets.Uses, asked}
	req := program("environment")
	req.Inline.Secrets = []string{"KEY"}
	run := k.start(t, req)
	<-asked
	cancelled, err := k.Cancel(t.Context(), k.actor, run.ID)
	if err != nil || cancelled.Status != registry.StatusCancelled || cancelled.Error.Type != runtimes.Cancelled {
		t.Errorf("%+v, %v", cancelled, err)
	}
}

// heldJournal blocks the final record of every run until the test allows it.
type heldJournal struct {
	runs.Journal
	allow chan struct{}
}

func (j heldJournal) FinishRun(ctx context.Context, run registry.Run, events []runtimes.Event) error {
	<-j.allow
	return j.Journal.FinishRun(ctx, run, events)
}

// The next program starts while the final record of a small run is still blocked.
func TestSlot_SmallRunUnrecorded_NextRuns(t *testing.T) {
	t.Parallel()
	allow := make(chan struct{})
	k := newKitOver(t, 1, 2, func(s *store.Store) runs.Journal { return heldJournal{s, allow} })
	first, second := k.start(t, program("output 1")), k.start(t, program("output 2"))
	for status := ""; status != "running"; {
		run, err := k.Get(t.Context(), k.actor, second.ID)
		if err != nil {
			t.Fatal(err)
		}
		status = string(run.Status)
	}
	if run, err := k.Get(t.Context(), k.actor, first.ID); err != nil || run.Status.Final() {
		t.Errorf("%+v, %v", run, err)
	}
	close(allow)
	for _, id := range []string{first.ID, second.ID} {
		k.waitFor(t, id, runtimes.KindResult)
	}
}
