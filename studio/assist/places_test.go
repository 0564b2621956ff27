package assist

import (
	"context"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
)

func TestPlaces_TasksWait_PeopleComeFirst(t *testing.T) {
	t.Parallel()
	p := &places{}
	enter := func(task bool) func() {
		t.Helper()
		leave, err := p.enter(t.Context(), task, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	firstTask := enter(true)
	enter(true)
	if _, err := p.enter(t.Context(), true, time.Nanosecond); !fault.Is(err, fault.ModelUnavailable) {
		t.Errorf("a third task: %v, want a refusal although two places are free", err)
	}
	firstPerson := enter(false)
	enter(false)

	entered := make(chan string, 2)
	wait := func(name string, task bool, line *[]chan struct{}) {
		go func() {
			if _, err := p.enter(t.Context(), task, time.Minute); err == nil {
				entered <- name
			}
		}()
		for { // Repeat until the conversation waits.
			p.mu.Lock()
			n := len(*line)
			p.mu.Unlock()
			if n == 1 {
				return
			}
		}
	}
	wait("task", true, &p.queued)
	wait("person", false, &p.people)
	firstTask()
	if got := <-entered; got != "person" {
		t.Errorf("the freed place went to the %s that came first", got)
	}
	firstPerson()
	if got := <-entered; got != "task" {
		t.Errorf("the next place went to a %s", got)
	}
}

func TestPlaces_CancelledWhileWaiting_KeepsNoPlace(t *testing.T) {
	t.Parallel()
	p := &places{}
	leave := make([]func(), atOnce)
	for n := range leave {
		leave[n], _ = p.enter(t.Context(), false, time.Minute)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.enter(ended, false, time.Minute); !fault.Is(err, fault.Cancelled) {
		t.Errorf("error is %v, want cancelled", err)
	}
	for _, free := range leave {
		free()
	}
	if p.used != 0 || len(p.people) != 0 {
		t.Errorf("%d places are in use, %d people wait", p.used, len(p.people))
	}
}
