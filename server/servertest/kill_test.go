package servertest_test

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/atelier-run/atelier/server/servertest"
)

// After kill -9 under load, every answered run must have its outcome, and every other run must be interrupted.
func TestKilledServerLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := servertest.Spawn(t, data, "--script-runtime", "--token", "a-token-that-is-long-enough-to-be-one")
	p.Token = "a-token-that-is-long-enough-to-be-one"
	p.Create(t, map[string]any{"name": "kept", "language": "javascript", "code": "export default ({n}) => n"})
	p.Publish(t, "kept", "1.0.0")

	var mu sync.Mutex
	answered, accepted := map[string]string{}, map[string]bool{}
	for range 3 { // These runs are accepted, and cannot finish before the kill.
		accepted[p.Start(t, "print begun\nwait")] = true
	}
	var clients sync.WaitGroup
	enough := make(chan struct{})
	for client := range 8 {
		clients.Go(func() {
			for n := 0; ; n++ {
				want := fmt.Sprint(client*1_000_000 + n)
				answer, err := p.Try(t.Context(), "POST", "/api/v1/code-agents/kept/execute",
					map[string]any{"version": "1.0.0", "input": map[string]any{"n": client*1_000_000 + n}})
				if err != nil || answer.Status != 200 {
					return // The server has ended.
				}
				mu.Lock()
				answered[answer.Run(t).RunID] = want
				if len(answered) == 200 {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}
	select {
	case <-enough:
	case <-time.After(60 * time.Second):
		t.Error("200 runs took more than a minute")
	}
	p.Signal(t, syscall.SIGKILL)
	p.Exit()
	clients.Wait()

	again := servertest.On(t, data, servertest.Flags(t, map[string]string{"data": data, "token": p.Token}))
	again.Token = p.Token
	if got := again.Execute(t, "kept", "1.0.0", map[string]int{"n": 7}); string(got.Output) != "7" {
		t.Errorf("the published version ends as %+v", got)
	}
	for id, want := range answered {
		if got := again.Get(t, id); got.Status != "succeeded" || string(got.Output) != want {
			t.Errorf("run %s was answered with %s and is found as %+v", id, want, got)
		}
	}
	for id := range accepted {
		got := again.Get(t, id)
		if got.Status != "interrupted" || got.Error == nil || got.Error.Type != "interrupted" {
			t.Errorf("run %s was running and is found as %+v", id, got)
		}
		if events, err := again.Stream(t, id, "").Rest(t); len(events) == 0 || events[len(events)-1].Kind != "result" {
			t.Errorf("its events are %v, %v", events, err)
		}
	}
	var running struct{ Items []servertest.Run }
	again.Want(t, 200, "GET", "/api/v1/runs?status=running", nil).Into(t, &running)
	if len(running.Items) != 0 {
		t.Errorf("%d runs run for ever", len(running.Items))
	}
	t.Logf("%d runs were answered before the kill", len(answered))
}

// After a signal, a run that ends within the grace period must be answered. A longer run must be interrupted and
// stored, and its request must be answered too.
func TestGracefulStop(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := servertest.Spawn(t, data, "--script-runtime", "--shutdown-grace", "5s", "--token", "a-token-that-is-long-enough-to-be-one")
	p.Token = "a-token-that-is-long-enough-to-be-one"
	endless := p.Start(t, "print begun\nwait")
	socket := p.Stream(t, endless, "")
	type told struct {
		answer servertest.Answer
		err    error
	}
	short, long := make(chan told, 1), make(chan told, 1)
	ask := func(script string, into chan told) {
		answer, err := p.Try(t.Context(), "POST", "/api/v1/execute", servertest.ScriptBody(script))
		into <- told{answer, err}
	}
	running := func(n int) func() bool {
		return func() bool {
			var list struct{ Items []servertest.Run }
			p.Want(t, 200, "GET", "/api/v1/runs?status=running", nil).Into(t, &list)
			return len(list.Items) == n
		}
	}
	go ask("wait", long)
	servertest.Eventually(t, "two runs run", running(2))
	go ask("sleep 3s\noutput \"done\"", short) // The run is long enough to be observed, but ends well within the grace period.
	servertest.Eventually(t, "three runs run", running(3))
	p.Signal(t, os.Interrupt)
	if got := <-short; got.err != nil || string(got.answer.Run(t).Output) != `"done"` {
		t.Errorf("the short run: %v %s", got.err, got.answer.Body)
	}
	if got := <-long; got.err != nil || got.answer.Run(t).Status != "interrupted" {
		t.Errorf("the long run: %v %s", got.err, got.answer.Body)
	}
	if events, err := socket.Rest(t); len(events) == 0 || events[len(events)-1].Kind != "result" {
		t.Errorf("the socket ended with %v, %v", kinds(events), err)
	}
	if code := p.Exit(); code != 0 {
		t.Errorf("exit %d\n%s", code, p.Log)
	}
	again := servertest.On(t, data, servertest.Flags(t, map[string]string{"data": data, "token": p.Token}))
	if got := again.Get(t, endless); got.Status != "interrupted" || got.Error.Type != "interrupted" {
		t.Errorf("found as %+v", got)
	}
}

// Regression: if the server had been killed, a retry with the same Idempotency-Key ran the program a second time.
func TestRetryAfterKill_SameIdempotencyKey_OneRun(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	const token = "a-token-that-is-long-enough-to-be-one"
	p := servertest.Spawn(t, data, "--script-runtime", "--token", token)
	p.Token = token
	key := servertest.Headers{"Idempotency-Key": "once"}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = p.Try(t.Context(), "POST", "/api/v1/execute", servertest.ScriptBody("print begun\nwait"), key) // Ignore the error: the server is killed during this request.
	}()
	var list struct{ Items []servertest.Run }
	for len(list.Items) == 0 {
		p.Want(t, 200, "GET", "/api/v1/runs", nil).Into(t, &list)
	}
	p.Signal(t, syscall.SIGKILL)
	p.Exit()
	<-gone

	again := servertest.On(t, data, servertest.Flags(t, map[string]string{"data": data, "token": token, "script-runtime": "true"}))
	again.Token = token
	answer := again.Want(t, 200, "POST", "/api/v1/execute", servertest.ScriptBody("print begun\nwait"), key)
	if run := answer.Run(t); run.RunID != list.Items[0].RunID || run.Status != "interrupted" || answer.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the retry is answered %+v", run)
	}
	again.Want(t, 200, "GET", "/api/v1/runs", nil).Into(t, &list)
	if len(list.Items) != 1 {
		t.Errorf("there are %d runs", len(list.Items))
	}
}
