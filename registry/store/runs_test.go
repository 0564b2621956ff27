package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/runtimes"
)

// finished returns a run whose fields have values that a wrong conversion or a missing escape would change.
func finished() registry.Run {
	code, at := 3, start.Add(time.Second)
	return registry.Run{
		ID: newID(), Workspace: ws, AgentID: "agent-1", Agent: "weather", Version: "1.0.0",
		Digest: "sha256:a", CodeDigest: "sha256:b", Language: runtimes.Python, Runtime: runtimes.PythonEngine, Trigger: registry.TriggerAPI,
		ParentRunID: "p", WorkflowRunID: "w", NodeID: "n", Actor: robot, Status: registry.Failed,
		Input:    json.RawMessage(`{"z":1.0,"a":12345678901234567890123,"z":"twice","nul":"\u0000","lone":"\ud800","html":"<&>"}`),
		Output:   json.RawMessage(`null`),
		Error:    &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "nul \x00 <b>", File: "main.py", Line: 7, Column: 3, Stack: "…", Remedy: "r"},
		ExitCode: &code, Stdout: "a\x00b\xff☂", Stderr: "e", Truncated: true,
		Validation: registry.Validation{Input: "passed", Output: "skipped"}, TokensUsed: 5,
		Metrics:    registry.Metrics{QueuedMs: 0.1, StartMs: 0.25, RunMs: 1e-3, TotalMs: 1.9, CPUMs: 1.1, RemoteMs: 1500, GPUMs: 90_000, RemoteCost: 0.25, EgressBytes: 1 << 33, PeakMemoryBytes: 1 << 40},
		InputsHash: "ih", OutputsHash: "oh", Isolation: "full", Route: registry.Route{Rule: "short", Reason: "r"}, Memory: 1 << 28, TraceID: "trace",
		CreatedAt: start, StartedAt: &at, FinishedAt: &at,
	}
}

func queued() registry.Run {
	return registry.Run{
		ID: newID(), Workspace: ws, Language: runtimes.Bash, Trigger: registry.TriggerStudio, Actor: ada,
		Status: registry.Queued, Input: json.RawMessage(`{}`), CreatedAt: start,
	}
}

func events(from, to int64) []runtimes.Event {
	var all []runtimes.Event
	for seq := from; seq <= to; seq++ {
		e := runtimes.Text(runtimes.KindStdout, fmt.Sprintf("line %d \x00 ☂\n", seq))
		e.Seq, e.At = seq, start.Add(time.Duration(seq)*time.Microsecond)
		all = append(all, e)
	}
	return all
}

func finish(t *testing.T, s *store.Store, run registry.Run, events ...runtimes.Event) registry.Run {
	t.Helper()
	if err := s.FinishRun(t.Context(), run, events); err != nil {
		t.Fatal(err)
	}
	return run
}

func begin(t *testing.T, s *store.Store, run registry.Run) registry.Run {
	t.Helper()
	if err := s.BeginRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	return run
}

func read(t *testing.T, s *store.Store, id string) registry.Run {
	t.Helper()
	run, err := s.Run(t.Context(), ws, id)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestRunComesBackAsItWas(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for name, want := range map[string]registry.Run{
			"everything": finished(),
			"little":     {ID: newID(), Workspace: ws, Status: registry.Succeeded, CreatedAt: start},
		} {
			finish(t, s, want)
			t.Log(name)
			same(t, read(t, s, want.ID), want)
			_, err := s.Run(t.Context(), "other", want.ID)
			expect(t, err, fault.NotFound)
		}
		run := finished()
		run.Input, run.Stdout = json.RawMessage("\"\xff\""), strings.Repeat("x", 1<<20)
		finish(t, s, run)
		if got := read(t, s, run.ID); string(got.Input) != "\"\uFFFD\"" || got.Stdout != run.Stdout {
			t.Errorf("invalid UTF-8 became %q", got.Input)
		}
	})
}

func TestRunMovesOnAndThenStays(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		run := begin(t, s, queued())
		run.Status, run.StartedAt = registry.Running, &start
		begin(t, s, run)
		same(t, read(t, s, run.ID), run)

		run.Status, run.Output = registry.Succeeded, json.RawMessage(`1`)
		finish(t, s, run, events(1, 2)...)
		for _, late := range []registry.Status{registry.Failed, registry.StatusInterrupted} {
			other := run
			other.Status = late
			finish(t, s, other, events(3, 4)...)
		}
		other := run
		other.Status = registry.Running
		begin(t, s, other)
		same(t, read(t, s, run.ID), run)
		got, err := s.Events(t.Context(), ws, run.ID, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, events(1, 2))

		if s.FinishRun(t.Context(), queued(), nil) == nil || s.BeginRun(t.Context(), finished()) == nil {
			t.Error("a run in the wrong state was accepted")
		}
		stolen := run
		stolen.Workspace = "other"
		expect(t, s.FinishRun(t.Context(), stolen, nil), fault.Conflict)
	})
}

func TestEventsComeInOrderAndOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		run := begin(t, s, queued())
		for _, part := range [][]runtimes.Event{events(1, 90), events(80, 200), nil, events(201, 207)} {
			if err := s.AppendEvents(t.Context(), ws, run.ID, part); err != nil {
				t.Fatal(err)
			}
		}
		run.Status = registry.Succeeded
		finish(t, s, run, events(205, 300)...)
		all, err := s.Events(t.Context(), ws, run.ID, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		same(t, all, events(1, 300))
		some, err := s.Events(t.Context(), ws, run.ID, 100, 5)
		if err != nil {
			t.Fatal(err)
		}
		same(t, some, events(101, 105))
		none, err := s.Events(t.Context(), "other", run.ID, 0, 0)
		if err != nil || len(none) != 0 {
			t.Errorf("another workspace sees %d events, %v", len(none), err)
		}
		expect(t, s.AppendEvents(t.Context(), ws, "unknown", events(1, 1)), fault.NotFound)
	})
}

func TestUseOfAnAgentIsCountedOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		a := create(t, s, agent("weather"))
		for range 3 {
			run := finished()
			run.AgentID = a.ID
			finish(t, s, run)
			finish(t, s, run)
		}
		inline := finished()
		inline.AgentID = ""
		finish(t, s, inline)
		draft := finished()
		draft.AgentID, draft.Version = a.ID, registry.DraftVersion
		finish(t, s, draft)
		got, err := s.Agent(t.Context(), ws, a.ID)
		if err != nil || got.UsageCount != 3 {
			t.Errorf("%d uses, %v", got.UsageCount, err)
		}
		page, err := s.ListAgents(t.Context(), ws, registry.AgentFilter{})
		if err != nil || page.Items[0].UsageCount != 3 {
			t.Errorf("the list has other uses: %+v, %v", page, err)
		}
	})
}

func TestListRunsNarrowsAndPages(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		a := create(t, s, agent("weather"))
		publish(t, s, a, "1.0.0")
		var ids []string // newest first
		for i := range 9 {
			run := finished()
			run.CreatedAt = start.Add(time.Duration(i/3) * time.Microsecond) // groups of three have the same time
			run.AgentID, run.Version = "", ""
			if i%2 == 0 {
				run.AgentID, run.Version, run.Status = a.ID, fmt.Sprintf("1.0.%d", i), registry.Succeeded
			}
			finish(t, s, run)
			ids = append([]string{run.ID}, ids...)
		}
		foreign := finished()
		foreign.Workspace = "other"
		finish(t, s, foreign)
		a.Name = "renamed"
		if err := s.PatchAgent(t.Context(), a, time.Time{}); err != nil {
			t.Fatal(err)
		}
		if err := s.DeleteAgent(t.Context(), ws, a.ID, false, start, registry.Deletion{}); err != nil {
			t.Fatal(err)
		}

		ofAgent := []string{ids[0], ids[2], ids[4], ids[6], ids[8]}
		tests := map[string]struct {
			filter registry.RunFilter
			want   []string
		}{
			"all":           {registry.RunFilter{}, ids},
			"pages":         {registry.RunFilter{Limit: 2}, ids},
			"agent's ID":    {registry.RunFilter{Agent: a.ID, Limit: 2}, ofAgent},
			"deleted name":  {registry.RunFilter{Agent: "renamed"}, ofAgent},
			"former name":   {registry.RunFilter{Agent: "weather"}, ofAgent},
			"unknown agent": {registry.RunFilter{Agent: "nobody"}, nil},
			"version":       {registry.RunFilter{Version: "1.0.4"}, []string{ids[4]}},
			"status":        {registry.RunFilter{Status: registry.Succeeded}, ofAgent},
			"since":         {registry.RunFilter{Since: start.Add(2 * time.Microsecond)}, ids[:3]},
		}
		for name, tt := range tests {
			var got []string
			for filter := tt.filter; ; {
				page, err := s.ListRuns(t.Context(), ws, filter)
				if err != nil {
					t.Fatal(name, err)
				}
				for _, run := range page.Items {
					got = append(got, run.ID)
					if run.Input != nil || run.Output != nil || run.Stdout != "" || run.Error == nil {
						t.Errorf("%s: a list has input or output, or no error: %+v", name, run)
					}
				}
				if filter.Cursor = page.NextCursor; filter.Cursor == "" {
					break
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("%s: got %v, want %v", name, got, tt.want)
			}
		}
	})
}

func TestInterruptEndsWhatWasAtWork(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		waiting, working, asking, done := queued(), queued(), queued(), finished()
		working.Status, asking.Status, working.Workspace = registry.Running, registry.AwaitingApproval, "other"
		begin(t, s, waiting)
		begin(t, s, working)
		begin(t, s, asking)
		finish(t, s, done)
		at := start.Add(time.Hour)
		if n, err := s.InterruptRuns(t.Context(), at); err != nil || n != 2 {
			t.Errorf("interrupted %d, %v", n, err)
		}
		got := read(t, s, waiting.ID)
		if got.Status != registry.StatusInterrupted || got.Error == nil || got.Error.Type != runtimes.Interrupted || got.FinishedAt == nil || !got.FinishedAt.Equal(at) {
			t.Errorf("%+v", got)
		}
		if got := read(t, s, asking.ID); got.Status != registry.AwaitingApproval {
			t.Errorf("a run that waits for a person is %s", got.Status)
		}
		same(t, read(t, s, done.ID), done)
		if n, err := s.InterruptRuns(t.Context(), at); err != nil || n != 0 {
			t.Errorf("interrupted again: %d, %v", n, err)
		}
	})
}
