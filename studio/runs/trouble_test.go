package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/router"
	"github.com/atelier-run/atelier/studio/access"
	"github.com/atelier-run/atelier/studio/runs"
	"github.com/atelier-run/atelier/studio/secrets"
)

// refusing is a store that rejects one write of events.
type refusing struct {
	*store.Store
	once    atomic.Bool
	refused chan struct{}
}

func (r *refusing) AppendEvents(ctx context.Context, workspace, id string, events []runtimes.Event) error {
	if r.once.CompareAndSwap(false, true) {
		close(r.refused)
		return errors.New("the disk is full")
	}
	return r.Store.AppendEvents(ctx, workspace, id, events)
}

func TestEventsThatCouldNotBeStoredAreStoredLater(t *testing.T) {
	t.Parallel()
	var journal *refusing
	k := newKitOver(t, 1, 1, func(s *store.Store) runs.Journal {
		journal = &refusing{Store: s, refused: make(chan struct{})}
		return journal
	})
	run := k.start(t, program("print a\nwait"))
	<-journal.refused
	if _, err := k.Cancel(t.Context(), k.actor, run.ID); err != nil {
		t.Fatal(err)
	}
	events, err := eventsOf(t.Context(), k.Service, k.actor, run.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		if e.Seq != int64(i)+1 {
			t.Fatalf("event %d has seq %d: events are lost", i, e.Seq)
		}
	}
	if !slices.ContainsFunc(events, func(e runtimes.Event) bool { return string(e.Data) == `"a\n"` }) {
		t.Errorf("the first output is not among %d events", len(events))
	}
}

// hesitant is a store that once rejects the second record of a run, the one with the status running.
type hesitant struct {
	*store.Store
	begun atomic.Int64
}

func (h *hesitant) BeginRun(ctx context.Context, run registry.Run) error {
	if h.begun.Add(1) == 2 {
		return fault.New(fault.StorageUnavailable, "The database does not answer.")
	}
	return h.Store.BeginRun(ctx, run)
}

// Regression: a run that could not be recorded as running during an outage stayed queued in the database, without
// events.
func TestRunThatCouldNotBeBegun_BegunLater(t *testing.T) {
	t.Parallel()
	k := newKitOver(t, 1, 1, func(s *store.Store) runs.Journal { return &hesitant{Store: s} })
	run := k.start(t, program("print a\nwait"))
	for stored := false; !stored; {
		events, err := k.store.Events(t.Context(), k.actor.Workspace, run.ID, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		stored = slices.ContainsFunc(events, func(e runtimes.Event) bool { return string(e.Data) == `"a\n"` })
	}
	if found, err := k.store.Run(t.Context(), k.actor.Workspace, run.ID); err != nil || found.Status != registry.Running {
		t.Errorf("recorded is %s, %v", found.Status, err)
	}
	if _, err := k.Cancel(t.Context(), k.actor, run.ID); err != nil {
		t.Fatal(err)
	}
}

// slow is a store that takes a long time to record a run.
type slow struct {
	*store.Store
	asked, release chan struct{}
	once           sync.Once // Delay only the first write; a long run is written again when it ends.
}

func (s *slow) BeginRun(ctx context.Context, run registry.Run) error {
	s.once.Do(func() { close(s.asked) })
	<-s.release
	return s.Store.BeginRun(ctx, run)
}

func TestCloseWaitsForARunThatIsBeingAccepted(t *testing.T) {
	t.Parallel()
	journal := &slow{asked: make(chan struct{}), release: make(chan struct{})}
	k := newKitOver(t, 2, 1, func(s *store.Store) runs.Journal {
		journal.Store = s
		return journal
	})
	accepted := make(chan string, 1)
	go func() {
		run, err := k.Start(t.Context(), k.actor, program("wait"))
		if err != nil {
			t.Error(err)
		}
		accepted <- run.ID
	}()
	<-journal.asked
	closed := make(chan struct{})
	go func() {
		k.Close()
		close(closed)
	}()
	for { // Repeat until Close has begun to reject new runs.
		if _, err := k.Execute(t.Context(), k.actor, program("output 1")); fault.Is(err, fault.ShuttingDown) {
			break
		}
	}
	select {
	case <-closed:
		t.Error("Close left a run behind")
	default:
	}
	close(journal.release)
	id := <-accepted
	<-closed
	if stored, err := k.store.Run(t.Context(), k.actor.Workspace, id); err != nil || stored.Status != registry.StatusInterrupted {
		t.Errorf("status %s, %v", stored.Status, err)
	}
}

func TestResultKeepsWhatTheProgramWrote(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	run, err := k.Execute(t.Context(), k.actor, program(`output {"html":"<b>&"}`))
	if err != nil {
		t.Fatal(err)
	}
	result := k.waitFor(t, run.ID, runtimes.KindResult)
	if !strings.Contains(string(result.Data), `{"html":"<b>&"}`) {
		t.Errorf("the result is %s", result.Data)
	}
}

// forgetful is a store that rejects the final record of a run.
type forgetful struct{ *store.Store }

func (forgetful) FinishRun(context.Context, registry.Run, []runtimes.Event) error {
	return errors.New("the disk is full")
}

// A result that could not be stored must never be reported.
func TestARunThatWasNotStoredHasNotSucceeded(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	var service *runs.Service
	actor, counted := access.Administrator(), make(chan registry.Run, 1)
	service = serviceOver(t, s, forgetful{s}, 1, 1, meter(func(run registry.Run) {
		seen, err := service.Get(t.Context(), actor, run.ID)
		if err != nil || seen.Status != registry.StatusInterrupted || seen.Output != nil || seen.Error == nil {
			t.Errorf("told is %s %s %+v, %v", seen.Status, seen.Output, seen.Error, err)
		}
		if seen.OutputsHash != "" || seen.ExitCode != nil || seen.Validation.Output != "skipped" {
			t.Errorf("of the output is told %q, %v, %s", seen.OutputsHash, seen.ExitCode, seen.Validation.Output)
		}
		counted <- run
	}))
	request := program("output 1")
	request.Inline.OutputSchema = json.RawMessage(`{"type":"integer"}`)
	if run, err := service.Execute(t.Context(), actor, request); err == nil {
		t.Errorf("the run is %s", run.Status)
	}
	if run := <-counted; run.Status != registry.Succeeded {
		t.Errorf("counted is %s", run.Status)
	}
}

// A run whose final record could not be stored is reported as interrupted. Its record still has the status running
// until the server restarts.
func TestARunWhoseEndWasNotStored(t *testing.T) {
	t.Parallel()
	k := newKitOver(t, 1, 1, func(s *store.Store) runs.Journal { return forgetful{s} })
	id := k.start(t, program("output 1")).ID
	k.Close()
	if stored, err := k.store.Run(t.Context(), k.actor.Workspace, id); err != nil || stored.Status.Final() {
		t.Fatalf("stored is %s, %v", stored.Status, err)
	}
	run, err := k.Get(t.Context(), k.actor, id)
	if err != nil || run.Status != registry.StatusInterrupted || run.Error == nil {
		t.Errorf("it is %s %+v, %v", run.Status, run.Error, err)
	}
	page, err := k.List(t.Context(), k.actor, registry.RunFilter{})
	if err != nil || len(page.Items) != 1 || page.Items[0].Status != registry.StatusInterrupted {
		t.Errorf("in the list is %+v, %v", page.Items, err)
	}
	page, err = k.List(t.Context(), k.actor, registry.RunFilter{Status: registry.Queued})
	if err != nil || len(page.Items) > 0 {
		t.Errorf("queued is %+v, %v", page.Items, err)
	}
	if _, err := k.Cancel(t.Context(), k.actor, id); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("cancelled: %v", err)
	}
	if err := k.store.AppendEvents(t.Context(), k.actor.Workspace, id, []runtimes.Event{{Seq: 1, Kind: runtimes.KindStdout, Data: json.RawMessage("{}")}}); err != nil {
		t.Fatal(err)
	}
	for _, from := range []int64{0, 1, 9} { // The last reader has also seen events that could not be stored.
		events, err := eventsOf(t.Context(), k.Service, k.actor, id, from)
		if err != nil || len(events) == 0 || events[len(events)-1].Kind != runtimes.KindResult {
			t.Fatalf("events from %d: %+v, %v", from, events, err)
		}
		if events, err = eventsOf(t.Context(), k.Service, k.actor, id, events[len(events)-1].Seq); err != nil || len(events) > 0 {
			t.Errorf("behind the result: %+v, %v", events, err)
		}
	}
}

// troubled is a runtime whose programs succeed although the server failed to answer one of their calls.
type troubled struct{}

func (troubled) Run(context.Context, runtimes.Job, runtimes.Host) (runtimes.Outcome, error) {
	return runtimes.Outcome{Output: json.RawMessage("1"), CallErr: errors.New("no room for hunter2hunter2")}, nil
}

// The cause of a failed call must be logged, with its secrets redacted. The program must only learn that the call
// failed.
func TestWhatFailedInACallIsLogged(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	withSecrets(t, k, secrets.Request{Name: "KEY", Value: "hunter2hunter2"})
	var log strings.Builder
	k.Log = slog.New(slog.NewTextHandler(&log, nil))
	k.Router = router.New(router.Options{Engines: map[runtimes.Name]runtimes.Runtime{runtimes.Script: troubled{}}, Running: 1})
	req := program("")
	req.Inline.Secrets = []string{"KEY"}
	run, err := k.Execute(t.Context(), k.actor, req)
	if err != nil || run.Status != registry.Succeeded || !strings.Contains(log.String(), `level=ERROR msg="run finished"`) || !strings.Contains(log.String(), `call_error="no room for ***"`) {
		t.Errorf("%+v, %v, the log is %s", run, err, log.String())
	}
}

// overtaken is a store whose database another server takes over before a run has ended.
type overtaken struct{ *store.Store }

func (o overtaken) FinishRun(ctx context.Context, run registry.Run, events []runtimes.Event) error {
	begun := run
	begun.Status = registry.Running
	if err := o.BeginRun(ctx, begun); err != nil {
		return err
	}
	if _, err := o.InterruptRuns(ctx, run.CreatedAt); err != nil {
		return err
	}
	return o.Store.FinishRun(ctx, run, events)
}

func TestExecute_AnotherServerTookOver_AnswersAsRecorded(t *testing.T) {
	t.Parallel()
	k := newKitOver(t, 1, 1, func(s *store.Store) runs.Journal { return overtaken{s} })
	_, err := k.Execute(t.Context(), k.actor, program("output 1"))
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Code != fault.RunInterrupted {
		t.Fatalf("answered %v", err)
	}
	id, _ := refused.Extra["runId"].(string)
	if run, err := k.Get(t.Context(), k.actor, id); err != nil || run.Status != registry.StatusInterrupted {
		t.Errorf("recorded is %s, %v", run.Status, err)
	}
}

// unready is a store that cannot record runs.
type unready struct{ *store.Store }

func (unready) Ready() error { return fault.New(fault.StorageUnavailable, "The disk is full.") }

func TestExecute_NothingCanBeRecorded_RefusedBeforeItRuns(t *testing.T) {
	t.Parallel()
	k := newKitOver(t, 1, 1, func(s *store.Store) runs.Journal { return unready{s} })
	if _, err := k.Execute(t.Context(), k.actor, program("output 1")); !fault.Is(err, fault.StorageUnavailable) {
		t.Errorf("answered %v", err)
	}
	if _, err := k.Start(t.Context(), k.actor, program("output 1")); !fault.Is(err, fault.StorageUnavailable) {
		t.Errorf("answered %v", err)
	}
}

// deaf is a store that rejects the events and the final record of a run, like the store of a killed server.
type deaf struct{ *store.Store }

func (deaf) AppendEvents(context.Context, string, string, []runtimes.Event) error {
	return errors.New("the server is dead")
}

func (deaf) FinishRun(context.Context, registry.Run, []runtimes.Event) error {
	return errors.New("the server is dead")
}

// Regression: a reader had received events that were never stored. The result of the interrupted run then got a number
// that the reader had already seen.
func TestFollow_ServerDiedAfterItShowedMore_ReaderGetsTheResult(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	actor := access.Administrator()
	before := serviceOver(t, s, deaf{s}, 1, 1, meter(func(registry.Run) {}))
	run, err := before.Start(t.Context(), actor, program("print a\nlog info b\nlog info c\nwait"))
	if err != nil {
		t.Fatal(err)
	}
	live, err := before.Follow(t.Context(), actor, run.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	var seen int64
	for seen < 4 {
		e, err := live.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		seen = e.Seq
	}
	if _, err := s.InterruptRuns(t.Context(), run.CreatedAt); err != nil {
		t.Fatal(err)
	}
	after := serviceOver(t, s, s, 1, 1, meter(func(registry.Run) {}))
	for _, from := range []int64{0, 1, seen, seen + 1} {
		events, err := eventsOf(t.Context(), after, actor, run.ID, from)
		if err != nil || len(events) == 0 || events[len(events)-1].Kind != runtimes.KindResult || events[len(events)-1].Seq <= from {
			t.Fatalf("events from %d: %+v, %v", from, events, err)
		}
		if again, err := eventsOf(t.Context(), after, actor, run.ID, events[len(events)-1].Seq); err != nil || len(again) > 0 {
			t.Errorf("behind the result: %+v, %v", again, err)
		}
	}
}

func TestFollow_FinishedRun_ResultKeepsItsNumber(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	run, err := k.Execute(t.Context(), k.actor, program("print a\noutput 1"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := eventsOf(t.Context(), k.Service, k.actor, run.ID, 0)
	if err != nil || len(all) < 3 {
		t.Fatalf("%+v, %v", all, err)
	}
	last := all[len(all)-1]
	if last.Kind != runtimes.KindResult || last.Seq != int64(len(all)) {
		t.Errorf("the last of %d events is %s %d", len(all), last.Kind, last.Seq)
	}
	for from, want := range map[int64]int{last.Seq - 1: 1, last.Seq: 0, last.Seq + 1: 1} {
		if got, err := eventsOf(t.Context(), k.Service, k.actor, run.ID, from); err != nil || len(got) != want {
			t.Errorf("from %d: %+v, %v", from, got, err)
		}
	}
}

// outage is a store that stores the final record of a run only when the test calls the functions in kept.
type outage struct {
	*store.Store
	kept chan func()
}

func (outage) FinishRun(context.Context, registry.Run, []runtimes.Event) error {
	return fault.New(fault.StorageUnavailable, "The database does not answer.")
}

func (o outage) FinishLater(run registry.Run, events []runtimes.Event, stored func(error)) bool {
	o.kept <- func() { stored(o.Store.FinishRun(context.Background(), run, events)) }
	return true
}

// The caller must get an error that the result is not stored yet. Readers must get the result when it is stored.
func TestExecute_ShortOutage_ResultIsStoredLater(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	journal := outage{s, make(chan func(), 1)}
	service := serviceOver(t, s, journal, 1, 1, meter(func(registry.Run) {}))
	service.Later = journal
	actor := access.Administrator()
	request := program("print a\noutput 1")
	request.Watch = func(e runtimes.Event) {
		if e.Kind == runtimes.KindResult {
			t.Error("a result was shown before it was durable")
		}
	}
	_, err := service.Execute(t.Context(), actor, request)
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Code != fault.StorageUnavailable || refused.RetryAfter == 0 {
		t.Fatalf("answered %v", err)
	}
	id, _ := refused.Extra["runId"].(string)
	if run, err := service.Get(t.Context(), actor, id); err != nil || run.Status != registry.Running {
		t.Errorf("the run is %s, %v", run.Status, err)
	}
	reader, err := service.Follow(t.Context(), actor, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	(<-journal.kept)()
	var last runtimes.Event
	for e, err := reader.Next(t.Context()); err == nil; e, err = reader.Next(t.Context()) {
		last = e
	}
	if last.Kind != runtimes.KindResult || !strings.Contains(string(last.Data), `"succeeded"`) {
		t.Errorf("the last event is %+v", last)
	}
	if run, err := service.Get(t.Context(), actor, id); err != nil || run.Status != registry.Succeeded || string(run.Output) != "1" {
		t.Errorf("recorded is %s %s, %v", run.Status, run.Output, err)
	}
}
