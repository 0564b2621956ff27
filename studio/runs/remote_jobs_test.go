package runs_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// TestReattach_RuntimeIsMissingHere_LeftToOtherServers expects that a server continues no run whose runtime it does not
// have, or has not set up, because another server of the database may have it. The only server of a database ends it, and
// any server a run that started before every time limit.
func TestReattach_RuntimeIsMissingHere_LeftToOtherServers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		runtime runtimes.Name
		lacks   string
		alone   bool
		created time.Duration // time since the request
		started time.Duration // time since the start of the program; 0 if it is not recorded
		want    registry.Status
	}{
		"not built in":             {runtimes.Bacalhau, "", false, 0, 0, registry.Running},
		"not built in, too old":    {runtimes.Bacalhau, "", false, 24 * time.Hour, 0, registry.StatusInterrupted},
		"approved after a day":     {runtimes.Bacalhau, "", false, 24 * time.Hour, time.Minute, registry.Running},
		"not set up":               {runtimes.Script, "Set it up.", false, 0, 0, registry.Running},
		"only server":              {runtimes.Bacalhau, "", true, 0, 0, registry.StatusInterrupted},
		"here, with a bad request": {runtimes.Script, "", false, 0, 0, registry.StatusInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, 1, 1)
			if _, err := k.store.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			k.RemoteJobs, k.Routing.Lacks = k.store, func(runtimes.Name) string { return tt.lacks }
			if !tt.alone {
				k.Others = k.store
			}
			run := registry.Run{
				ID: uuid.Must(uuid.NewV7()).String(), Workspace: k.actor.Workspace, Language: runtimes.Bash, Runtime: tt.runtime, Trigger: registry.TriggerAPI,
				Actor: k.actor, Status: registry.Running, Input: []byte(`{}`), CreatedAt: time.Now().Add(-tt.created),
			}
			if tt.started > 0 {
				started := time.Now().Add(-tt.started)
				run.StartedAt = &started
			}
			if err := k.store.BeginRun(t.Context(), run); err != nil {
				t.Fatal(err)
			}
			if err := k.store.KeepRemoteJob(t.Context(), registry.RemoteJob{RunID: run.ID, Workspace: run.Workspace, Handle: "handle", Request: []byte(`{"inline":{"language":"bash"}}`)}); err != nil {
				t.Fatal(err)
			}
			k.Reattach(t.Context())
			got, err := k.store.Run(t.Context(), run.Workspace, run.ID)
			if err != nil || got.Status != tt.want {
				t.Errorf("%s, %+v, %v, want %s", got.Status, got.Error, err, tt.want)
			}
			if has, err := k.store.HasRemoteJob(t.Context(), run.ID); err != nil || has != (tt.want == registry.Running) {
				t.Errorf("has a job: %v, %v", has, err)
			}
		})
	}
}
