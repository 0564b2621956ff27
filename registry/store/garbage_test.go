package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/blobs"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// twice runs a sweep with dry and then without. Both must count the same, and a third sweep must find nothing.
func twice(t *testing.T, want int, sweep func(dry bool) (registry.Garbage, error)) {
	t.Helper()
	dry, err := sweep(true)
	if err != nil || dry.Count != want || want > 0 && dry.Bytes == 0 {
		t.Errorf("a dry sweep found %+v, %v, want %d", dry, err, want)
	}
	if done, err := sweep(false); err != nil || done != dry {
		t.Errorf("the sweep removed %+v, %v, want %+v", done, err, dry)
	}
	if again, err := sweep(false); err != nil || again.Count != 0 || again.Bytes != 0 {
		t.Errorf("another sweep removed %+v, %v", again, err)
	}
}

func TestSweepTasks_OnlyEndedOnesOfTheWorkspace(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		p, ctx := tree(t, s), t.Context()
		end := func(id string, at time.Time) {
			task := waiting(t, s, p, id, 5, start)
			task.FinishedAt, task.OverlayID = &at, "changes of "+id
			claimed(t, s, task, registry.TaskRejected)
			o := registry.Overlay{ID: task.OverlayID, Workspace: ws, ProjectID: p.ID, Status: registry.OverlayRejected, CreatedAt: start, DecidedAt: &start, Entries: []registry.OverlayEntry{{Path: "a"}}}
			if err := s.InsertOverlay(ctx, o); err != nil {
				t.Fatal(err)
			}
		}
		end("old", start)
		end("young", start.Add(2*time.Hour))
		waiting(t, s, p, "queued", 5, start)
		for _, status := range []registry.OverlayStatus{registry.OverlayOpen, registry.OverlayAccepted, registry.OverlayExpired} {
			o := registry.Overlay{ID: string(status), Workspace: ws, ProjectID: p.ID, Status: status, CreatedAt: start, ExpiresAt: start, DecidedAt: &start, Entries: []registry.OverlayEntry{{Path: "a"}}}
			if err := s.InsertOverlay(ctx, o); err != nil {
				t.Fatal(err)
			}
		}
		before := start.Add(time.Hour)
		if g, err := s.SweepTasks(ctx, "another", before, false); err != nil || g.Count != 0 {
			t.Errorf("another workspace: %+v, %v", g, err)
		}
		twice(t, 1, func(dry bool) (registry.Garbage, error) { return s.SweepTasks(ctx, ws, before, dry) })
		twice(t, 2, func(dry bool) (registry.Garbage, error) { return s.SweepOverlays(ctx, ws, before, dry) }) // the overlay of the old task, and the expired overlay
		for id, code := range map[string]fault.Code{"old": fault.NotFound, "young": "", "queued": ""} {
			if _, err := s.Task(ctx, ws, id); code != "" && !fault.Is(err, code) || code == "" && err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		for id, stays := range map[string]bool{"open": true, "accepted": true, "expired": false, "changes of old": false, "changes of young": true} {
			if _, err := s.Overlay(ctx, ws, p.ID, id); (err == nil) != stays {
				t.Errorf("overlay %s: %v", id, err)
			}
		}
	})
}

func TestSweepDraftHistory_NewestAndLabelledStay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx, a := t.Context(), agent("weather")
		if err := s.CreateAgent(ctx, a); err != nil {
			t.Fatal(err)
		}
		for n := range 4 {
			a.Draft.Files = map[string]registry.File{"main.ts": registry.File("// " + string(rune('a'+n)))}
			a.Draft.SavedAt = start.Add(time.Duration(n) * time.Minute)
			saved, err := s.SaveDraft(ctx, a, a.Draft.Revision)
			if err != nil {
				t.Fatal(err)
			}
			a = saved
		}
		if err := s.LabelDraftSave(ctx, ws, a.ID, 2, "kept"); err != nil {
			t.Fatal(err)
		}
		twice(t, 3, func(dry bool) (registry.Garbage, error) {
			return s.SweepDraftHistory(ctx, ws, start.Add(time.Hour), dry)
		})
		page, err := s.DraftSaves(ctx, ws, a.ID, "", 50)
		if err != nil || len(page.Items) != 2 || page.Items[0].Revision != 5 || page.Items[1].Revision != 2 {
			t.Errorf("%+v, %v", page.Items, err)
		}
		if draft, err := s.DraftSave(ctx, ws, a.ID, 2); err != nil || string(draft.Files["main.ts"]) != "// a" {
			t.Errorf("%+v, %v", draft.Files, err)
		}
	})
}

// TestSweepBlobs_ManyBlobs_OnlyThoseOfVersionsStay checks that a sweep of several groups of blobs keeps the blobs of
// versions in each group and removes all others.
func TestSweepBlobs_ManyBlobs_OnlyThoseOfVersionsStay(t *testing.T) {
	t.Parallel()
	for _, d := range []storetest.Dialect{storetest.SQLite, storetest.Postgres} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			o := storetest.Options(t, d)
			s := storetest.Reopen(t, o)
			const orphans, versions = 450, 3
			for n := range orphans {
				if _, err := o.Blobs.Put(t.Context(), "", []byte(fmt.Sprint("orphan ", n))); err != nil {
					t.Fatal(err)
				}
			}
			large := agent("large")
			if err := s.CreateAgent(t.Context(), large); err != nil {
				t.Fatal(err)
			}
			for n := range versions {
				large.Draft.Files = map[string]registry.File{"main.js": []byte(strings.Repeat(fmt.Sprint(n), 200_000))}
				publish(t, s, large, fmt.Sprintf("1.%d.0", n))
			}
			later := time.Now().Add(time.Hour)
			twice(t, orphans, func(dry bool) (registry.Garbage, error) { return s.SweepBlobs(t.Context(), later, dry) })
			left := 0
			if err := o.Blobs.List(t.Context(), func(blobs.Stored) error { left++; return nil }); err != nil || left != versions {
				t.Errorf("%d blobs are left, %v", left, err)
			}
		})
	}
}
