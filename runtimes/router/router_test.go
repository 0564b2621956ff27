package router_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/router"
)

func admit(t *testing.T, r *router.Router, workspace string) *router.Ticket {
	t.Helper()
	ticket, err := r.Admit(workspace, router.Source{})
	if err != nil {
		t.Fatal(err)
	}
	return ticket
}

func waiting(ctx context.Context, t *router.Ticket) bool {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return t.Wait(ctx, func(router.Position) {}) != nil
}

func TestFullQueueIsRefusedWithRetryAfter(t *testing.T) {
	t.Parallel()
	r := router.New(router.Options{Running: 1, Queue: 1})
	first := admit(t, r, "a")
	second := admit(t, r, "a")
	_, err := r.Admit("a", router.Source{})
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Code != fault.QueueFull || refused.RetryAfter < time.Second {
		t.Fatalf("third Admit: %v, want queue_full with RetryAfter", err)
	}
	other := admit(t, r, "b") // another workspace has its own queue
	first.Release()
	if err := second.Wait(t.Context(), func(router.Position) {}); err != nil {
		t.Fatal(err)
	}
	second.Release()
	if err := other.Wait(t.Context(), func(router.Position) {}); err != nil {
		t.Fatal(err)
	}
	other.Release()
	if load := r.Load(); load.Running != 0 || load.Waiting != 0 {
		t.Fatalf("after all were released: %+v", load)
	}
}

func TestWorkspacesTakeTurns(t *testing.T) {
	t.Parallel()
	r := router.New(router.Options{Running: 1, Queue: 10})
	running := admit(t, r, "flood")
	var flood []*router.Ticket
	for range 5 {
		flood = append(flood, admit(t, r, "flood"))
	}
	quiet := admit(t, r, "quiet")
	running.Release()
	if waiting(t.Context(), flood[0]) {
		t.Fatal("the oldest ticket still waits")
	}
	flood[0].Release()
	if waiting(t.Context(), quiet) {
		t.Fatal("the quiet workspace waits behind the flood")
	}
	quiet.Release()
	for _, ticket := range flood[1:] {
		if waiting(t.Context(), ticket) {
			t.Fatal("a ticket of the flood was never served")
		}
		ticket.Release()
	}
}

// TestFloodLeavesAPlace checks that runs of one workspace that never end leave a slot for a workspace without active runs,
// whose run starts at once.
func TestFloodLeavesAPlace(t *testing.T) {
	t.Parallel()
	r := router.New(router.Options{Running: 4, Queue: 10})
	var flood []*router.Ticket
	for range 6 {
		flood = append(flood, admit(t, r, "flood"))
	}
	if !waiting(t.Context(), flood[3]) {
		t.Fatal("the flood has all slots")
	}
	quiet := admit(t, r, "quiet")
	if waiting(t.Context(), quiet) {
		t.Fatal("the quiet workspace waits for runs that may never end")
	}
	if again := admit(t, r, "quiet"); !waiting(t.Context(), again) {
		t.Fatal("a fifth run has started")
	}
	quiet.Release()
	if load := r.Load(); load.Running != 4 || load.Waiting != 3 {
		t.Fatalf("the second quiet run did not get the slot of the first: %+v", load)
	}
}

// TestFewestRunsAtWorkGoFirst checks that a free slot goes to the workspace with the fewest active runs, even if others have
// waited longer.
func TestFewestRunsAtWorkGoFirst(t *testing.T) {
	t.Parallel()
	r := router.New(router.Options{Running: 3, Queue: 10})
	running := []*router.Ticket{admit(t, r, "flood"), admit(t, r, "flood"), admit(t, r, "busy")}
	flood, busy, quiet := admit(t, r, "flood"), admit(t, r, "busy"), admit(t, r, "quiet")
	running[0].Release()
	if waiting(t.Context(), quiet) || !waiting(t.Context(), flood) || !waiting(t.Context(), busy) {
		t.Fatal("the slot did not go to the workspace without active runs")
	}
	running[1].Release()
	if waiting(t.Context(), flood) || !waiting(t.Context(), busy) {
		t.Fatal("the slot did not go to the flood, which has no active run any more")
	}
	running[2].Release()
	if waiting(t.Context(), busy) {
		t.Fatal("the last run waits although a slot is free")
	}
}

// TestFewPlacesAreNotKept checks that no slot is reserved if there are only a few: with --concurrency 2, one workspace may
// have two active runs.
func TestFewPlacesAreNotKept(t *testing.T) {
	t.Parallel()
	r := router.New(router.Options{Running: 2, Queue: 10})
	admit(t, r, "only")
	if waiting(t.Context(), admit(t, r, "only")) {
		t.Fatal("a slot is reserved")
	}
}

func TestPositionsMoveUp(t *testing.T) {
	t.Parallel()
	r := router.New(router.Options{Running: 1, Queue: 10})
	running, gone, last := admit(t, r, "a"), admit(t, r, "a"), admit(t, r, "a")
	positions := make(chan int, 10)
	done := make(chan error, 1)
	go func() {
		done <- last.Wait(context.WithoutCancel(t.Context()), func(p router.Position) { positions <- p.At })
	}()
	if p := <-positions; p != 2 {
		t.Fatalf("first position %d, want 2", p)
	}
	gone.Release() // removes a waiting ticket from the queue
	if p := <-positions; p != 1 {
		t.Fatalf("position after the release of an earlier ticket %d, want 1", p)
	}
	running.Release()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	last.Release()
}

func TestManyRunsNeverExceedTheBound(t *testing.T) {
	t.Parallel()
	const bound = 3
	r := router.New(router.Options{Running: bound, Queue: 1000})
	var mu sync.Mutex
	live, most := 0, 0
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			ticket, err := r.Admit([]string{"a", "b", "c"}[i%3], router.Source{})
			if err != nil {
				t.Error(err)
				return
			}
			defer ticket.Release()
			if i%10 == 0 { // some tickets are released at once
				return
			}
			if err := ticket.Wait(t.Context(), func(router.Position) {}); err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			live++
			most = max(most, live)
			mu.Unlock()
			mu.Lock()
			live--
			mu.Unlock()
		})
	}
	all.Wait()
	if load := r.Load(); most > bound || load.Running != 0 || load.Waiting != 0 {
		t.Fatalf("most at once %d, load after %+v", most, load)
	}
}

func TestUnknownRuntime(t *testing.T) {
	t.Parallel()
	_, err := router.New(router.Options{Running: 1}).Run(t.Context(), runtimes.Job{Runtime: "cobol"}, nil)
	if !fault.Is(err, fault.RuntimeUnavailable) {
		t.Fatalf("Run() error = %v", err)
	}
}

// TestAFloodOfOneAgent_OtherAgentsAndCallersTakeTurns fills the queue with runs of one agent. Runs of other agents and
// callers must still be admitted, and must start before most of the waiting runs.
func TestAFloodOfOneAgent_OtherAgentsAndCallersTakeTurns(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]router.Source{
		"another agent":  {Agent: "quiet", Caller: "service"},
		"another caller": {Agent: "flood", Caller: "person"},
		"inline code":    {Caller: "service"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := router.New(router.Options{Running: 1, Queue: 100})
			running := admitFrom(t, r, router.Source{Agent: "flood", Caller: "service"})
			flood := fill(t, r, router.Source{Agent: "flood", Caller: "service"})
			if len(flood) != 75 {
				t.Errorf("one agent has %d of 100 places", len(flood))
			}
			if name == "another caller" {
				flood[len(flood)-1].Release() // callers of one agent share its places
			}
			quiet := admitFrom(t, r, other)
			if at := position(t, quiet); at.At > 2 || at.Expected <= 0 {
				t.Errorf("it waits at %+v", at)
			}
			running.Release()
			if !waiting(t.Context(), flood[0]) { // the flood waited longer, so it is first; then it is the turn of the other source
				flood[0].Release()
			}
			if waiting(t.Context(), quiet) {
				t.Error("it waits behind the flood")
			}
		})
	}
}

func TestInteractiveRunsGoFirst(t *testing.T) {
	t.Parallel()
	r := router.New(router.Options{Running: 1, Queue: 10})
	running := admitFrom(t, r, router.Source{Agent: "a", Caller: "person"})
	batch := admitFrom(t, r, router.Source{Agent: "b", Caller: "service"})
	person := admitFrom(t, r, router.Source{Agent: "a", Caller: "person", Interactive: true})
	if first, second := position(t, person).At, position(t, batch).At; first != 1 || second != 2 {
		t.Errorf("positions %d and %d", first, second)
	}
	running.Release()
	if waiting(t.Context(), person) || !waiting(t.Context(), batch) {
		t.Error("the batch went first")
	}
}

// TestCallersShareWhateverTheirAgents checks that callers share a slot equally, however many agents each of them calls.
func TestCallersShareWhateverTheirAgents(t *testing.T) {
	t.Parallel()
	r := router.New(router.Options{Running: 1, Queue: 100})
	running := admitFrom(t, r, router.Source{Agent: "first", Caller: "other"})
	tickets := map[*router.Ticket]string{}
	for i := range 12 {
		for _, caller := range []string{"x", "y"} {
			tickets[admitFrom(t, r, router.Source{Agent: fmt.Sprint(caller, i), Caller: caller})] = caller
		}
	}
	for range 4 {
		tickets[admitFrom(t, r, router.Source{Agent: "z", Caller: "z"})] = "z"
	}
	served := map[string]int{}
	for range 12 {
		running.Release()
		for ticket, caller := range tickets {
			if !waiting(t.Context(), ticket) {
				running = ticket
				served[caller]++
				delete(tickets, ticket)
				break
			}
		}
	}
	if served["x"] != 4 || served["y"] != 4 || served["z"] != 4 {
		t.Errorf("served %v", served)
	}
}

// TestPause_AnotherRunStarts_ContinuesFirst pauses a program that waits for an approval, so that the approved run can start.
// The paused program must continue before runs that have not started.
func TestPause_AnotherRunStarts_ContinuesFirst(t *testing.T) {
	t.Parallel()
	r := router.New(router.Options{Running: 1, Queue: 10, Paused: 1})
	program := admit(t, r, "a")
	if !program.Pause() {
		t.Fatal("the program cannot pause")
	}
	approved := admit(t, r, "a")
	if waiting(t.Context(), approved) || approved.Pause() {
		t.Fatal("the approved run waits, or a second one may pause")
	}
	person := admitFrom(t, r, router.Source{Interactive: true})
	continued := make(chan error, 1)
	go func() { continued <- program.Continue(t.Context()) }()
	for r.Load().Waiting != 2 {
		runtime.Gosched()
	}
	approved.Release()
	if err := <-continued; err != nil || !waiting(t.Context(), person) {
		t.Fatalf("the paused program does not continue first: %v", err)
	}
	program.Release()
	if waiting(t.Context(), person) {
		t.Fatal("the slot was not returned")
	}
	person.Release()
	if load := r.Load(); load.Running != 0 || load.Waiting != 0 {
		t.Errorf("%+v", load)
	}
}

// TestPause_ManyOfOneWorkspace_AnotherPauses checks that the paused programs of one workspace leave places for the paused
// programs of another workspace.
func TestPause_ManyOfOneWorkspace_AnotherPauses(t *testing.T) {
	t.Parallel()
	r := router.New(router.Options{Running: 2, Queue: 100, Paused: 16})
	var paused []*router.Ticket
	for range 5 {
		program := admit(t, r, "a")
		if waiting(t.Context(), program) {
			t.Fatal("it does not start")
		}
		if program.Pause() != (len(paused) < 4) {
			t.Fatalf("after %d that paused", len(paused))
		}
		paused = append(paused, program)
	}
	other := admit(t, r, "b")
	if waiting(t.Context(), other) || !other.Pause() {
		t.Error("a program of another workspace cannot pause")
	}
	other.Release()
	paused[0].Release()
	again := admit(t, r, "a")
	if waiting(t.Context(), again) || !again.Pause() {
		t.Error("the place of a program that ended stays taken")
	}
	for _, ticket := range append(paused[1:], again) {
		ticket.Release()
	}
	if load := r.Load(); load.Running != 0 || load.Waiting != 0 {
		t.Errorf("%+v", load)
	}
}

// TestPause_Released_NoSlotIsLost releases a paused run, before or while it waits for a slot to continue. Its slot must be
// free afterwards.
func TestPause_Released_NoSlotIsLost(t *testing.T) {
	t.Parallel()
	r := router.New(router.Options{Running: 1, Queue: 10, Paused: 1})
	for name, end := range map[string]func(program *router.Ticket){
		"while it is paused": func(program *router.Ticket) {
			program.Release()
			if err := program.Continue(t.Context()); err == nil || program.Pause() {
				t.Error("a released run continues")
			}
		},
		"while it waits": func(program *router.Ticket) {
			other := admit(t, r, "a")
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := program.Continue(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
			program.Release()
			other.Release()
		},
	} {
		program := admit(t, r, "a")
		if !program.Pause() {
			t.Fatalf("%s: it keeps its slot", name)
		}
		end(program)
		if load := r.Load(); load.Running != 0 || load.Waiting != 0 {
			t.Errorf("%s: %+v", name, load)
		}
	}
}

func admitFrom(t *testing.T, r *router.Router, source router.Source) *router.Ticket {
	t.Helper()
	ticket, err := r.Admit("a", source)
	if err != nil {
		t.Fatal(err)
	}
	return ticket
}

// fill queues runs of one source until they are refused.
func fill(t *testing.T, r *router.Router, source router.Source) []*router.Ticket {
	t.Helper()
	for all := []*router.Ticket{}; ; {
		ticket, err := r.Admit("a", source)
		if fault.Is(err, fault.QueueFull) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ticket)
	}
}

func position(t *testing.T, ticket *router.Ticket) (at router.Position) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = ticket.Wait(ctx, func(p router.Position) { at = p }) // ctx has ended, so Wait reports the position and returns
	return at
}

// BenchmarkPositions measures how long it takes to report the position to each of many waiting runs.
func BenchmarkPositions(b *testing.B) {
	const waiting = 2000
	r := router.New(router.Options{Running: 1, Queue: waiting})
	var tickets []*router.Ticket
	for i := range waiting / 2 {
		ticket, err := r.Admit("a", router.Source{Agent: fmt.Sprint(i), Caller: fmt.Sprint(i % 10)})
		if err != nil {
			b.Fatal(err)
		}
		tickets = append(tickets, ticket)
	}
	ended, cancel := context.WithCancel(b.Context())
	cancel()
	for b.Loop() {
		for i, ticket := range tickets[1:] {
			at := 0
			_ = ticket.Wait(ended, func(p router.Position) { at = p.At }) // the context has ended, so Wait returns at once
			if at < 1 || at >= len(tickets) {
				b.Fatalf("ticket %d waits at %d", i, at)
			}
		}
	}
}
