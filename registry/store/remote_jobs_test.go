package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// TestRemoteJobs_RunWithAJob_ContinuesOrEnds checks that a run with a job at another service is not interrupted, and
// that a server may adopt it until it has ended.
func TestRemoteJobs_RunWithAJob_ContinuesOrEnds(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		run, done := queued(), finished()
		run.Status = registry.Running
		begin(t, s, run)
		finish(t, s, done)
		job := registry.RemoteJob{RunID: run.ID, Workspace: ws, Handle: "handle", Request: []byte(`{"limits":{}}`)}
		for range 2 { // a repetition changes nothing
			if err := s.KeepRemoteJob(t.Context(), job); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := s.InterruptRuns(t.Context(), start.Add(time.Hour)); err != nil || n != 0 {
			t.Errorf("interrupted %d, %v", n, err)
		}
		for _, list := range []func(context.Context) ([]registry.RemoteJob, error){s.RemoteJobs, s.LeftJobs} {
			jobs, err := list(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			same(t, jobs, []registry.RemoteJob{{RunID: job.RunID, Workspace: job.Workspace}})
		}
		whole, err := s.RemoteJob(t.Context(), run.ID)
		if err != nil {
			t.Fatal(err)
		}
		same(t, whole, job)
		if _, err := s.RemoteJob(t.Context(), done.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("a run without a job: %v", err)
		}
		for id, want := range map[string]bool{run.ID: true, done.ID: false} {
			if has, err := s.HasRemoteJob(t.Context(), id); err != nil || has != want {
				t.Errorf("%s has a job: %v, %v, want %v", id, has, err, want)
			}
		}
		if adopted, err := s.AdoptRun(t.Context(), ws, run.ID); err != nil || adopted {
			t.Errorf("adopted by a server without a lease: %v, %v", adopted, err)
		}
		if err := s.ForgetRemoteJob(t.Context(), run.ID); err != nil {
			t.Fatal(err)
		}
		if n, err := s.InterruptRuns(t.Context(), start.Add(time.Hour)); err != nil || n != 1 {
			t.Errorf("interrupted %d, %v", n, err)
		}
	})
}

// TestAdoptRun_JobIsStored_OneOwner checks that a server with a lease can adopt an unfinished run while its job is
// stored.
func TestAdoptRun_JobIsStored_OneOwner(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		if _, err := s.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		run, done := queued(), finished()
		run.Status = registry.Running
		begin(t, s, run)
		finish(t, s, done)
		for _, id := range []string{run.ID, done.ID} {
			if err := s.KeepRemoteJob(t.Context(), registry.RemoteJob{RunID: id, Workspace: ws, Handle: "handle", Request: []byte(`{}`)}); err != nil {
				t.Fatal(err)
			}
		}
		for _, tt := range []struct {
			adopt         func(ctx context.Context, workspace, id string) (bool, error)
			workspace, id string
			want          bool
		}{
			{s.AdoptRun, ws, run.ID, true},
			{s.AdoptRun, ws, done.ID, false},
			{s.AdoptRun, ws, newID(), false},
			{s.AdoptRun, "other", run.ID, false},
			{s.AdoptAndForget, "other", run.ID, false},
			{s.AdoptAndForget, ws, run.ID, true},
			{s.AdoptAndForget, ws, run.ID, false},
			{s.AdoptRun, ws, run.ID, false}, // its job was removed
		} {
			if adopted, err := tt.adopt(t.Context(), tt.workspace, tt.id); err != nil || adopted != tt.want {
				t.Errorf("adopted %s of %s: %v, %v, want %v", tt.id, tt.workspace, adopted, err, tt.want)
			}
		}
	})
}
