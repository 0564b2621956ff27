package store_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/runtimes"
)

// tree stores and returns a project for tasks.
func tree(t *testing.T, s *store.Store) registry.Project {
	t.Helper()
	p := registry.Project{ID: newID(), Workspace: ws, Name: "tree", CreatedAt: start, UpdatedAt: start, Change: 1}
	if err := s.CreateProject(t.Context(), p, registry.ProjectChange{Workspace: ws, ProjectID: p.ID, Number: 1, CreatedAt: start}); err != nil {
		t.Fatal(err)
	}
	return p
}

func waiting(t *testing.T, s *store.Store, p registry.Project, id string, priority int, at time.Time) registry.Task {
	t.Helper()
	task := registry.Task{
		ID: id, Workspace: ws, ProjectID: p.ID, Project: p.Name, AgentID: "a", Agent: "weather", Version: "1.0.0", Input: []byte(`{}`), Priority: priority,
		Status: registry.TaskQueued, Attempt: 1, Revision: 1, Creator: ada, CreatedAt: at, QueuedAt: at, UpdatedAt: at,
	}
	if err := s.InsertTask(t.Context(), task, 10); err != nil {
		t.Fatal(err)
	}
	return task
}

// claimed stores the next revision of a task with a new state, and returns it.
func claimed(t *testing.T, s *store.Store, task registry.Task, status registry.TaskStatus) registry.Task {
	t.Helper()
	task.Status = status
	task.Revision++
	if err := s.ChangeTask(t.Context(), task, ""); err != nil {
		t.Fatal(err)
	}
	return task
}

func TestTasks_Queue_PriorityAndAge(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		p := tree(t, s)
		waiting(t, s, p, "normal", 5, start)
		waiting(t, s, p, "old", 0, start.Add(-51*time.Minute)) // has waited longer than five steps of priority
		waiting(t, s, p, "urgent", 9, start.Add(time.Minute))
		var order []string
		for {
			queues, err := s.TaskQueues(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(queues) == 0 {
				break
			}
			task, err := s.Task(t.Context(), ws, queues[0].Task)
			if err != nil || len(queues) != 1 || queues[0].Workspace != ws {
				t.Fatal(queues, err)
			}
			order = append(order, task.ID)
			claimed(t, s, task, registry.TaskSpawning)
		}
		if !slices.Equal(order, []string{"urgent", "old", "normal"}) {
			t.Error(order)
		}
		for n := range 7 {
			waiting(t, s, p, fmt.Sprint("more", n), 5, start)
		}
		full := registry.Task{ID: "full", Workspace: ws, ProjectID: p.ID, Status: registry.TaskQueued}
		expect(t, s.InsertTask(t.Context(), full, 10), fault.TooManyRequests)
		full.ProjectID = "none"
		expect(t, s.InsertTask(t.Context(), full, 100), fault.NotFound)
		_, err := s.Task(t.Context(), ws, "full\x00")
		expect(t, err, fault.NotFound)
		_, err = s.Task(t.Context(), "other", "normal")
		expect(t, err, fault.NotFound)
	})
}

func TestTasks_Lists_HaveNoInput(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		task := waiting(t, s, tree(t, s), "one", 5, start)
		page, err := s.Tasks(t.Context(), ws, registry.TaskFilter{})
		if err != nil || len(page.Items) != 1 || page.Items[0].Input != nil || page.Items[0].Project != "tree" {
			t.Errorf("%+v, %v", page, err)
		}
		claimed(t, s, task, registry.TaskSpawning)
		own, err := s.ActiveTasks(t.Context(), true)
		if err != nil || len(own) != 1 || own[0].Input != nil {
			t.Fatalf("%+v, %v", own, err)
		}
		claimed(t, s, own[0], registry.TaskExecuting)
		if got, err := s.Task(t.Context(), ws, "one"); err != nil || string(got.Input) != `{}` {
			t.Errorf("a change without input must keep the input: %+v, %v", got, err)
		}
	})
}

func TestTasks_DescribedAndOfAgents_TwoQueues(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		p := tree(t, s)
		waiting(t, s, p, "second", 5, start.Add(time.Minute))
		task := waiting(t, s, p, "first", 5, start)
		task.AgentID, task.Agent, task.Version, task.Language, task.Feedback = "", "", "", runtimes.Python, "Not so."
		for _, id := range []string{"later", "sooner"} {
			task.ID, task.Description = id, "Change "+id
			task.QueuedAt = task.QueuedAt.Add(-time.Minute)
			if err := s.InsertTask(t.Context(), task, 10); err != nil {
				t.Fatal(err)
			}
		}
		queues, err := s.TaskQueues(t.Context())
		got := map[string]bool{}
		for _, q := range queues {
			got[q.Task] = q.Described
		}
		if err != nil || !maps.Equal(got, map[string]bool{"first": false, "sooner": true}) {
			t.Errorf("%+v, %v", queues, err)
		}
		page, err := s.Tasks(t.Context(), ws, registry.TaskFilter{})
		if err != nil || len(page.Items) != 4 {
			t.Fatal(page, err)
		}
		for _, item := range page.Items {
			if item.Description != "" || item.Feedback != "" || item.Described() != (item.AgentID == "") {
				t.Errorf("%+v", item)
			}
		}
		if got, err := s.Task(t.Context(), ws, "sooner"); err != nil || got.Description != "Change sooner" || got.Feedback != "Not so." {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestTasks_ClaimedAtOnce_OneServer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		task := waiting(t, s, tree(t, s), "one", 5, start)
		task.Status, task.Revision = registry.TaskSpawning, 2
		errs := make([]error, 8)
		var all sync.WaitGroup
		for n := range errs {
			all.Go(func() { errs[n] = s.ChangeTask(t.Context(), task, "") })
		}
		all.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else {
				expect(t, err, fault.Conflict)
			}
		}
		events, err := s.TaskEvents(t.Context(), ws, "one", 0, 10)
		if won != 1 || err != nil || len(events) != 2 || events[1].Seq != 2 {
			t.Errorf("%d claims, %v, %v", won, events, err)
		}
	})
}

func TestTasks_NextServer_FindsThoseAtWork(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o store.Options) {
		s := storetest.Reopen(t, o)
		if _, err := s.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		p := tree(t, s)
		at := claimed(t, s, waiting(t, s, p, "work", 5, start), registry.TaskSpawning)
		own, err := s.ActiveTasks(t.Context(), true)
		left, err2 := s.ActiveTasks(t.Context(), false)
		if len(own) != 1 || len(left) != 0 || err != nil || err2 != nil {
			t.Fatal(own, left, err, err2)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = storetest.Reopen(t, o)
		if _, err := s.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		own, err = s.ActiveTasks(t.Context(), true)
		left, err2 = s.ActiveTasks(t.Context(), false)
		if len(own) != 0 || len(left) != 1 || left[0].ID != at.ID || err != nil || err2 != nil {
			t.Fatal(own, left, err, err2)
		}
		claimed(t, s, left[0], registry.TaskSpawning)
		if own, err = s.ActiveTasks(t.Context(), true); len(own) != 1 || err != nil {
			t.Error(own, err)
		}
	})
}

func TestTasks_ExpiredChanges_Rejected(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		p := tree(t, s)
		task := waiting(t, s, p, "late", 5, start)
		overlay := registry.Overlay{ID: "o1", Workspace: ws, ProjectID: p.ID, RunID: "r1", Status: registry.OverlayOpen, CreatedAt: start, ExpiresAt: start.Add(time.Hour)}
		if err := s.InsertOverlay(t.Context(), overlay); err != nil {
			t.Fatal(err)
		}
		if o, err := s.OverlayOfRun(t.Context(), ws, "r1"); err != nil || o.ID != "o1" {
			t.Error(o, err)
		}
		task.OverlayID, task.RunID = "o1", "r1"
		claimed(t, s, task, registry.TaskReviewing)
		if n, err := s.ExpireOverlays(t.Context(), start.Add(2*time.Hour)); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		got, err := s.Task(t.Context(), ws, "late")
		if err != nil || got.Status != registry.TaskRejected || got.FinishedAt == nil || got.Project != "tree" {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
