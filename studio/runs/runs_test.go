package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/goleak"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/router"
	"github.com/atelier-run/atelier/runtimes/script"
	"github.com/atelier-run/atelier/studio/access"
	"github.com/atelier-run/atelier/studio/engines"
	"github.com/atelier-run/atelier/studio/references"
	"github.com/atelier-run/atelier/studio/routing"
	"github.com/atelier-run/atelier/studio/runs"
	"github.com/atelier-run/atelier/studio/specs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counter is a meter that sends every ended run to a channel, so that a test can wait for it.
type counter chan registry.Run

func (c counter) RunFinished(run registry.Run) { c <- run }

func (c counter) RunUnrecorded(run registry.Run) { c <- run }

// meter calls the test's function after a run has ended and before its result is reported.
type meter func(registry.Run)

func (m meter) RunFinished(run registry.Run) { m(run) }

func (m meter) RunUnrecorded(run registry.Run) { m(run) }

// kit combines the service with the real store and the script runtime.
type kit struct {
	*runs.Service
	store    *store.Store
	finished counter
	actor    registry.Actor
}

// eventsOf returns the present events of a run, like the API.
func eventsOf(ctx context.Context, s *runs.Service, actor registry.Actor, id string, from int64) ([]runtimes.Event, error) {
	f, err := s.Events(ctx, actor, id, from)
	if err != nil {
		return nil, err
	}
	var events []runtimes.Event
	for {
		e, err := f.Next(ctx)
		if err == io.EOF {
			return events, nil
		}
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
}

func newKit(t *testing.T, running, queue int) *kit {
	t.Helper()
	return newKitOver(t, running, queue, func(s *store.Store) runs.Journal { return s })
}

// newKitOver returns a kit whose journal is the test's wrapper of the store.
func newKitOver(t *testing.T, running, queue int, journal func(*store.Store) runs.Journal) *kit {
	t.Helper()
	s := storetest.Open(t, storetest.SQLite)
	finished := make(counter, 1000)
	return &kit{Service: serviceOver(t, s, journal(s), running, queue, finished), store: s, finished: finished, actor: access.Administrator()}
}

func serviceOver(t *testing.T, s *store.Store, journal runs.Journal, running, queue int, counts runs.Meter) *runs.Service {
	t.Helper()
	validator := specs.NewValidator(schema.NewCache(16))
	checker := specs.New(validator, runtimes.DefaultLimits(), runtimes.DefaultCeilings())
	table, err := routing.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	service := runs.New(runs.Options{
		Journal: journal, Archive: s, Drafts: s, Resolver: references.New(s, time.Now), Validator: validator,
		Specs: checker, Routing: routing.New(routing.Options{Table: table, Specs: checker, Engines: engines.New(engines.Options{Specs: checker})}),
		Router: router.New(router.Options{Engines: map[runtimes.Name]runtimes.Runtime{runtimes.Script: script.New()}, Running: running, Queue: queue}),
		Meter:  counts, Tracer: noop.NewTracerProvider().Tracer(""), Log: slog.New(slog.DiscardHandler),
		Ceilings: runtimes.DefaultCeilings(), Level: "none", Now: time.Now, NewID: func() string { return uuid.Must(uuid.NewV7()).String() },
	})
	t.Cleanup(service.Close)
	return service
}

// program returns a request for an inline program of the script runtime.
func program(source string) runs.Request {
	return runs.Request{Trigger: registry.TriggerAPI, Inline: &registry.Spec{
		Language: runtimes.Bash, Runtime: runtimes.Script, Files: map[string]registry.File{"main.sh": registry.File(source)},
	}}
}

func (k *kit) start(t *testing.T, req runs.Request) registry.Run {
	t.Helper()
	run, err := k.Start(t.Context(), k.actor, req)
	if err != nil {
		t.Fatal(err)
	}
	return run.Run
}

// waitFor follows a run until it emits an event of the kind, and returns the event.
func (k *kit) waitFor(t *testing.T, id string, kind runtimes.Kind) runtimes.Event {
	t.Helper()
	follower, err := k.Follow(t.Context(), k.actor, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	for {
		e, err := follower.Next(t.Context())
		if err != nil {
			t.Fatalf("no %s event: %v", kind, err)
		}
		if e.Kind == kind {
			return e
		}
	}
}

func TestExecuteAnswersWhatIsStored(t *testing.T) {
	t.Parallel()
	k := newKit(t, 2, 2)
	req := program("print hello\nlog info note\noutput {\"b\":1,\"a\":12345678901234567890}")
	req.Input = json.RawMessage(`{"x":1}`)
	run, err := k.Execute(t.Context(), k.actor, req)
	if err != nil {
		t.Fatal(err)
	}
	if run.Status != registry.Succeeded || run.Stdout != "hello\n" || string(run.Output) != `{"b":1,"a":12345678901234567890}` || run.OutputsHash == "" {
		t.Fatalf("run %+v", run)
	}
	stored, err := k.Get(t.Context(), k.actor, run.ID)
	if err != nil {
		t.Fatal(err)
	}
	told, _ := json.Marshal(runs.AnswerOf(run.Run))
	kept, _ := json.Marshal(runs.AnswerOf(stored))
	if string(told) != string(kept) {
		t.Errorf("the answer and the record differ:\n%s\n%s", told, kept)
	}
	events, err := eventsOf(t.Context(), k.Service, k.actor, run.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []runtimes.Kind
	for i, e := range events {
		kinds = append(kinds, e.Kind)
		if e.Seq != int64(i)+1 {
			t.Errorf("event %d has seq %d", i, e.Seq)
		}
	}
	want := []runtimes.Kind{runtimes.KindStatus, runtimes.KindStdout, runtimes.KindLog, runtimes.KindResult}
	if !slices.Equal(kinds, want) {
		t.Errorf("kinds %v, want %v", kinds, want)
	}
	for from := range int64(5) { // A reader that resumes at any position must get each remaining event once.
		rest, err := eventsOf(t.Context(), k.Service, k.actor, run.ID, from)
		if err != nil || len(rest) != max(0, len(want)-int(from)) {
			t.Errorf("from %d: %d events, %v", from, len(rest), err)
		}
	}
}

func TestRefusedRequestsLeaveNoRun(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	schemaed := program("output {}")
	schemaed.Inline.InputSchema = json.RawMessage(`{"type":"object","required":["city","days"],"properties":{"days":{"type":"integer","maximum":7}}}`)
	schemaed.Input = json.RawMessage(`{"days":99}`)
	tooMuch := program("output {}")
	tooMuch.Limits = runtimes.Limits{MemoryBytes: 1 << 50}
	tooLittle := program("output {}")
	tooLittle.Limits = runtimes.Limits{MemoryBytes: 1, TimeoutMs: 1}
	malformed := program("output {}")
	malformed.Input = json.RawMessage(`{"a":1,"a":2}`)
	tests := map[string]struct {
		req  runs.Request
		code fault.Code
		at   []string
	}{
		"no version":       {runs.Request{Agent: "weather"}, fault.VersionRequired, []string{"/version"}},
		"unknown agent":    {runs.Request{Agent: "weather", Version: "1.0.0"}, fault.NotFound, nil},
		"malformed range":  {runs.Request{Agent: "weather", Version: "^^"}, fault.InvalidInput, []string{"/version"}},
		"two violations":   {schemaed, fault.InvalidInput, []string{"/input", "/input/days"}},
		"too little":       {tooLittle, fault.InvalidInput, []string{"/limits/memoryBytes"}},
		"above a ceiling":  {tooMuch, fault.InvalidInput, []string{"/limits/memoryBytes"}},
		"duplicate keys":   {malformed, fault.InvalidInput, []string{"/input/a"}},
		"runtime not here": {runs.Request{Inline: &registry.Spec{Language: runtimes.Python, Files: map[string]registry.File{"main.py": nil}}}, fault.RuntimeUnavailable, nil},
	}
	for name, tt := range tests {
		_, err := k.Execute(t.Context(), k.actor, tt.req)
		var refused *fault.Error
		if !errors.As(err, &refused) || refused.Code != tt.code {
			t.Errorf("%s: error %v, want %s", name, err, tt.code)
			continue
		}
		for _, pointer := range tt.at {
			if !slices.ContainsFunc(refused.Details, func(d fault.Detail) bool { return d.Pointer == pointer }) {
				t.Errorf("%s: details %+v, want one at %s", name, refused.Details, pointer)
			}
		}
	}
	page, err := k.List(t.Context(), k.actor, registry.RunFilter{})
	if err != nil || len(page.Items) != 0 {
		t.Fatalf("%d runs were recorded, %v", len(page.Items), err)
	}
}

func TestOutputSchemaIsEnforced(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	req := program(`output {"n":"seven"}`)
	req.Inline.OutputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
	run, err := k.Execute(t.Context(), k.actor, req)
	if err != nil {
		t.Fatal(err)
	}
	if run.Error == nil || run.Error.Type != runtimes.InvalidOutput || run.Validation.Output != "failed" || run.Status != registry.Failed {
		t.Fatalf("run %+v, error %+v", run.Validation, run.Error)
	}
}

func TestClientThatGoesAwayCancelsItsRun(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	ctx, gone := context.WithCancel(t.Context())
	done := make(chan registry.Run, 1)
	go func() {
		run, err := k.Execute(ctx, k.actor, program("print waiting\nwait"))
		if err != nil {
			t.Error(err)
		}
		done <- run.Run
	}()
	// Wait until the list contains the running run: then its row is stored.
	var page registry.RunPage
	for len(page.Items) == 0 {
		var err error
		if page, err = k.List(t.Context(), k.actor, registry.RunFilter{}); err != nil {
			t.Fatal(err)
		}
	}
	k.waitFor(t, page.Items[0].ID, runtimes.KindStdout)
	gone()
	if run := <-done; run.Status != registry.StatusCancelled || run.Stdout != "waiting\n" {
		t.Fatalf("status %s, stdout %q", run.Status, run.Stdout)
	}
}

func TestAcceptedRunIsDurableAndCanBeCancelled(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 5)
	first := k.start(t, program("print first\nwait"))
	if stored, err := k.store.Run(t.Context(), k.actor.Workspace, first.ID); err != nil || stored.Status.Final() {
		t.Fatalf("an accepted run is not in the store: %v", err)
	}
	k.waitFor(t, first.ID, runtimes.KindStdout)
	second := k.start(t, program("output 2"))
	var position runtimes.StatusData
	if err := json.Unmarshal(k.waitFor(t, second.ID, runtimes.KindStatus).Data, &position); err != nil || position.Status != "queued" || position.Position != 1 {
		t.Fatalf("second run: %+v, %v", position, err)
	}
	third := k.start(t, program("output 3"))
	cancelled, err := k.Cancel(t.Context(), k.actor, third.ID)
	if err != nil || cancelled.Status != registry.StatusCancelled {
		t.Fatalf("cancelled in the queue: %s, %v", cancelled.Status, err)
	}
	if cancelled, err = k.Cancel(t.Context(), k.actor, first.ID); err != nil || cancelled.Status != registry.StatusCancelled {
		t.Fatalf("cancelled at work: %s, %v", cancelled.Status, err)
	}
	k.waitFor(t, second.ID, runtimes.KindResult)
	if _, err := k.Cancel(t.Context(), k.actor, second.ID); !fault.Is(err, fault.Conflict) {
		t.Fatalf("cancelling a run that ended: %v", err)
	}
}

func TestFullQueue(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	k.start(t, program("wait"))
	k.start(t, program("wait"))
	_, err := k.Start(t.Context(), k.actor, program("output 1"))
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Code != fault.QueueFull || refused.RetryAfter <= 0 {
		t.Fatalf("error %v", err)
	}
}

func TestCloseInterruptsAndRefuses(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	run := k.start(t, program("print here\nwait"))
	k.waitFor(t, run.ID, runtimes.KindStdout)
	k.Close()
	stored, err := k.Get(t.Context(), k.actor, run.ID)
	if err != nil || stored.Status != registry.StatusInterrupted || stored.Error.Type != runtimes.Interrupted || stored.Stdout != "here\n" {
		t.Fatalf("status %s, %v", stored.Status, err)
	}
	if _, err := k.Execute(t.Context(), k.actor, program("output 1")); !fault.Is(err, fault.ShuttingDown) {
		t.Fatalf("after Close: %v", err)
	}
}

func TestServerFailureIsAnErrorAndARecord(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	_, err := k.Execute(t.Context(), k.actor, program("server-fail"))
	if err == nil {
		t.Fatal("no error")
	}
	if run := <-k.finished; run.Status.Final() == false || run.Error == nil {
		t.Fatalf("run %+v", run)
	}
}

func TestAnotherWorkspaceSeesNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	live := k.start(t, program("print x\nwait"))
	k.waitFor(t, live.ID, runtimes.KindStdout)
	stranger := registry.Actor{ID: "x", Type: registry.TokenActor, Workspace: "other"}
	_, getErr := k.Get(t.Context(), stranger, live.ID)
	_, cancelErr := k.Cancel(t.Context(), stranger, live.ID)
	_, followErr := k.Follow(t.Context(), stranger, live.ID, 0)
	_, eventsErr := eventsOf(t.Context(), k.Service, stranger, live.ID, 0)
	for what, err := range map[string]error{"get": getErr, "cancel": cancelErr, "follow": followErr, "events": eventsErr} {
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v, want not_found", what, err)
		}
	}
}

func TestFollowLiveToTheEnd(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	run := k.start(t, program("print a\nsleep 300ms\nprint b\noutput {}")) // The run is long enough to be stored as running, with events, before it ends.
	follower, err := k.Follow(t.Context(), k.actor, run.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	seq := int64(0)
	for {
		e, err := follower.Next(t.Context())
		if err == io.EOF {
			break
		}
		if err != nil || e.Seq != seq+1 {
			t.Fatalf("after %d came %d, %v", seq, e.Seq, err)
		}
		seq = e.Seq
	}
	<-k.finished
	stored, err := eventsOf(t.Context(), k.Service, k.actor, run.ID, 0)
	if err != nil || int64(len(stored)) != seq {
		t.Fatalf("%d events live, %d stored, %v", seq, len(stored), err)
	}
}

// beforeTold executes a run and calls the test's function after the run has ended and before its result is reported.
func beforeTold(t *testing.T, then func(service *runs.Service, actor registry.Actor, id string) error) {
	t.Helper()
	s := storetest.Open(t, storetest.SQLite)
	var service *runs.Service
	actor, told := access.Administrator(), make(chan error, 1)
	service = serviceOver(t, s, s, 2, 2, meter(func(run registry.Run) {
		seen, err := service.Get(t.Context(), actor, run.ID)
		if err != nil || !seen.Status.Final() {
			told <- fmt.Errorf("the run is %s, %v", seen.Status, err)
			return
		}
		told <- then(service, actor, run.ID)
	}))
	if _, err := service.Execute(t.Context(), actor, program("print 1\noutput 2")); err != nil {
		t.Fatal(err)
	}
	if err := <-told; err != nil {
		t.Error(err)
	}
}

// A reader of the events of an ended run must wait for the result, even if the result is not reported yet.
func TestEventsOfARunThatHasEnded(t *testing.T) {
	t.Parallel()
	beforeTold(t, func(service *runs.Service, actor registry.Actor, id string) error {
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		events, err := eventsOf(gone, service, actor, id, 0)
		if !errors.Is(err, context.Canceled) { // The reader returned events without waiting for the result.
			return fmt.Errorf("%d events came at once, %v", len(events), err)
		}
		return nil
	})
}

// Cancelling an ended run must return Conflict, even if the result of the run is not reported yet.
func TestARunThatHasEndedIsNotCancelled(t *testing.T) {
	t.Parallel()
	beforeTold(t, func(service *runs.Service, actor registry.Actor, id string) error {
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := service.Cancel(gone, actor, id); !fault.Is(err, fault.Conflict) {
			return fmt.Errorf("cancelling it: %v", err)
		}
		return nil
	})
}

// Regression: a reader that resumed after the events were removed received nothing, as if it had seen the result.
func TestAResultAfterItsEventsWereSwept(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	run, err := k.Execute(t.Context(), k.actor, program("print a\nprint b\noutput {}"))
	if err != nil {
		t.Fatal(err)
	}
	after := func(seq int64) []runtimes.Event {
		t.Helper()
		events, err := eventsOf(t.Context(), k.Service, k.actor, run.ID, seq)
		if err != nil {
			t.Fatal(err)
		}
		return events
	}
	whole := after(0)
	seen := whole[len(whole)-1].Seq
	if more := after(seen); len(more) != 0 {
		t.Errorf("after the result came %+v", more)
	}
	if n, err := k.store.SweepEvents(t.Context(), time.Now().Add(time.Hour), 10); err != nil || n == 0 {
		t.Fatalf("%d events were swept, %v", n, err)
	}
	if more := after(seen); len(more) != 0 {
		t.Errorf("after the result came %+v", more)
	}
	for _, from := range []int64{0, 1, seen - 1, seen + 1} {
		events := after(from)
		if len(events) != 1 || events[0].Kind != runtimes.KindResult || events[0].Seq <= from {
			t.Fatalf("from %d came %+v", from, events)
		}
		if more := after(events[0].Seq); len(more) != 0 {
			t.Errorf("from %d came %+v after the result", from, more)
		}
	}
}
