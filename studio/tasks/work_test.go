package tasks

import (
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

func TestPasses(t *testing.T) {
	t.Parallel()
	for code, want := range map[fault.Code]bool{
		fault.QueueFull: true, fault.QuotaExceeded: true, fault.BudgetExceeded: true, fault.TooManyRequests: true, fault.StorageUnavailable: true, fault.SandboxUnavailable: true,
		fault.InvalidInput: false, fault.ModelUnavailable: false, fault.NotFound: false, fault.StorageFull: false,
	} {
		if got := passes(&fault.Error{Code: code}); got != want {
			t.Errorf("%s: %v, want %v", code, got, want)
		}
	}
}

func TestPasses_BusyModel_Later(t *testing.T) {
	t.Parallel()
	if !passes(&fault.Error{Code: fault.ModelUnavailable, RetryAfter: time.Second}) {
		t.Error("a task does not wait for a busy model")
	}
}

func TestPostpone_RefusalsInARow_WaitLonger(t *testing.T) {
	t.Parallel()
	s := New(Options{Now: time.Now})
	for n, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		if got := s.postpone(held{workspace: "one"}, &fault.Error{Code: fault.QueueFull}); got != want {
			t.Errorf("refusal %d: %s, want %s", n+1, got, want)
		}
	}
	for range 20 {
		s.postpone(held{workspace: "one"}, &fault.Error{Code: fault.QueueFull})
	}
	for name, got := range map[string]time.Duration{
		"many refusals": s.postpone(held{workspace: "one"}, &fault.Error{Code: fault.QueueFull, RetryAfter: time.Hour}),
		"a used budget": s.postpone(held{workspace: "two"}, &fault.Error{Code: fault.BudgetExceeded}),
	} {
		if got != mostWait {
			t.Errorf("%s: %s, want %s", name, got, mostWait)
		}
	}
	if got := s.postpone(held{workspace: "three"}, &fault.Error{Code: fault.QueueFull, RetryAfter: 5 * time.Second}); got != 5*time.Second {
		t.Errorf("another workspace waits %s", got)
	}
}

// If the language model refuses, only described tasks wait. Tasks of agents continue, because they do not use the
// model.
func TestPostpone_ModelRefuses_OnlyDescribedTasksWait(t *testing.T) {
	t.Parallel()
	s := New(Options{Now: time.Now})
	s.postpone(held{"one", true}, &fault.Error{Code: fault.BudgetExceeded})
	s.postpone(held{workspace: "two"}, &fault.Error{Code: fault.QueueFull})
	for queue, want := range map[registry.TaskQueue]bool{
		{Workspace: "one", Described: true}: true, {Workspace: "one"}: false,
		{Workspace: "two", Described: true}: true, {Workspace: "two"}: true,
		{Workspace: "three", Described: true}: false,
	} {
		if got := s.waits(queue); got != want {
			t.Errorf("%+v waits: %v, want %v", queue, got, want)
		}
	}
}
