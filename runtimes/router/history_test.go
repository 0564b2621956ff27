package router

import (
	"testing"
	"time"
)

func TestHistory(t *testing.T) {
	start := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	at := func(minutes, seconds int) time.Time {
		return start.Add(time.Duration(minutes)*time.Minute + time.Duration(seconds)*time.Second)
	}
	var h history
	h.note(at(0, 1), 1, present{1, 0})
	h.note(at(0, 2), 1, present{2, 3})
	h.note(at(0, 3), 0, present{1, 1}) // one of two runs ends, the other goes on for minutes, and so does a waiting one
	h.note(at(3, 0), 0, present{0, 0})
	h.note(at(4, 0), 1, present{1, 0})
	h.note(at(4, 1), 0, present{0, 0})

	got := h.last(at(5, 30))
	if len(got) != historySteps || !got[len(got)-1].At.Equal(at(5, 0)) || !got[0].At.Equal(at(5-historySteps+1, 0)) {
		t.Fatalf("%d minutes from %s to %s", len(got), got[0].At, got[len(got)-1].At)
	}
	want := []Minute{
		{At: at(0, 0), Started: 2, Running: 2, Waiting: 3},
		{At: at(1, 0), Running: 1, Waiting: 1},
		{At: at(2, 0), Running: 1, Waiting: 1},
		{At: at(3, 0), Running: 1, Waiting: 1},
		{At: at(4, 0), Started: 1, Running: 1},
		{At: at(5, 0)},
	}
	for i, m := range got[len(got)-len(want):] {
		if m != want[i] {
			t.Errorf("minute %d: %+v, want %+v", i, m, want[i])
		}
	}
	h.note(at(6, 0), 1, present{1, 0})
	for _, m := range h.last(at(200, 0)) { // the run goes on for hours
		if m.Started != 0 || m.Running != 1 {
			t.Errorf("hours later: %+v", m)
		}
	}
	h.note(at(210, 0), 0, present{0, 0})
	for i, m := range h.last(at(220, 0)) {
		if want := map[bool]int{true: 1}[!m.At.After(at(210, 0))]; m.Running != want {
			t.Errorf("minute %d: %+v, want %d runs", i, m, want)
		}
	}
	for _, m := range h.last(at(400, 0)) {
		if m.Started != 0 || m.Running != 0 || m.Waiting != 0 {
			t.Errorf("hours later: %+v", m)
		}
	}
}
