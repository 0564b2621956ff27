package servertest_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/server/servertest"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// If the queue is full, a run is rejected at once with a retry time. Waiting runs report their position.
func TestFullQueueRefuses(t *testing.T) {
	t.Parallel()
	s := scripted(t, map[string]string{"concurrency": "1", "queue-size": "2"})
	running := s.Start(t, "wait")
	servertest.Eventually(t, "the first run runs", func() bool { return s.Get(t, running).Status == "running" })
	waiting := []string{s.Start(t, "output 1"), s.Start(t, "output 2")}
	refused := s.Script(t, "output 3")
	seconds, err := strconv.Atoi(refused.Header.Get("Retry-After"))
	if p := refused.Problem(t); refused.Status != 429 || p.Code != "queue_full" || err != nil || seconds < 1 {
		t.Errorf("got %d %s, Retry-After %q", refused.Status, refused.Body, refused.Header.Get("Retry-After"))
	}
	e, err := s.Stream(t, waiting[1], "").Next(t)
	if err != nil || !strings.Contains(string(e.Data), `"position":2`) {
		t.Errorf("the last in the queue is told %s, %v", e.Data, err)
	}
	s.Want(t, 200, "POST", "/api/v1/runs/"+running+"/cancel", nil)
	for i, run := range waiting {
		if got := s.Wait(t, run); string(got.Output) != strconv.Itoa(i+1) {
			t.Errorf("run %d ended as %+v", i, got)
		}
	}
}

// Concurrent runs in different languages must all finish with their own results.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	programs := map[string]string{
		"javascript": "export default ({n}) => ({n})", "typescript": "export default (i: {n: number}) => ({n: i.n})",
		"python": "def main(n): return {'n': n}", "bash": "jq -c . <<< \"$INPUT\" 2>/dev/null || echo \"$INPUT\"",
	}
	var all sync.WaitGroup
	for language, code := range programs {
		for n := range 10 {
			all.Go(func() {
				body := map[string]any{"language": language, "code": code, "input": map[string]int{"n": n}}
				answer, err := s.Try(t.Context(), "POST", "/api/v1/execute", body)
				if err != nil || answer.Status != 200 {
					t.Errorf("%s %d: %v %s", language, n, err, answer.Body)
					return
				}
				if run := answer.Run(t); string(run.Output) != `{"n":`+strconv.Itoa(n)+`}` {
					t.Errorf("%s %d: %+v %+v", language, n, run, run.Error)
				}
			})
		}
	}
	all.Wait()
}

// If a worker dies, only its run may fail, and the next run must work.
func TestWorkerDeathIsOneFailedRun(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	deaths := map[string][2]string{
		"python":     {"import ctypes\ndef main(): ctypes.string_at(0)", "def main(): return 1"},
		"bash":       {`eval "echo \$(($(printf '(%.0s' {1..100000})1$(printf ')%.0s' {1..100000})))"`, "echo 1"},
		"javascript": {"export default () => 'x'.repeat(2 ** 29).split('').map((c) => ({c}))", "export default () => 1"},
	}
	for language, programs := range deaths {
		t.Run(language, func(t *testing.T) {
			run := s.Want(t, 200, "POST", "/api/v1/execute", map[string]any{"language": language, "code": programs[0]}).Run(t)
			if run.Success || run.Error == nil || run.Error.Message == "" {
				t.Errorf("ended as %+v", run)
			}
			next := s.Want(t, 200, "POST", "/api/v1/execute", map[string]any{"language": language, "code": programs[1]}).Run(t)
			if string(next.Output) != "1" {
				t.Errorf("the next ended as %+v, %+v", next, next.Error)
			}
		})
	}
}

// If a client disconnects, its run must be cancelled, unless the client sent an Idempotency-Key.
func TestClientThatLeaves(t *testing.T) {
	t.Parallel()
	s := scripted(t, nil)
	leave := func(program string, headers ...servertest.Headers) string {
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			_, err := s.Try(ctx, "POST", "/api/v1/execute", servertest.ScriptBody(program), headers...)
			if err == nil {
				t.Error("the client was answered")
			}
		}()
		var id string
		servertest.Eventually(t, "the run is there", func() bool {
			var list struct{ Items []servertest.Run }
			s.Want(t, 200, "GET", "/api/v1/runs?status=running", nil).Into(t, &list)
			if len(list.Items) > 0 {
				id = list.Items[0].RunID
			}
			return id != ""
		})
		cancel()
		<-gone
		return id
	}
	const long = "print here\nsleep 3s\noutput 1" // The time is longer than a client needs to disconnect.
	if got := s.Wait(t, leave("print here\nwait")); got.Status != "cancelled" {
		t.Errorf("ended as %+v", got)
	}
	if got := s.Wait(t, leave(long, servertest.Headers{"Idempotency-Key": "k"})); got.Status != "succeeded" {
		t.Errorf("with a key it ended as %+v", got)
	}
	again := s.Want(t, 200, "POST", "/api/v1/execute", servertest.ScriptBody(long), servertest.Headers{"Idempotency-Key": "k"})
	if again.Header.Get("Idempotency-Replayed") != "true" || string(again.Run(t).Output) != "1" {
		t.Errorf("back for the answer: %v %s", again.Header, again.Body)
	}
}

// The same request with the same key must get the stored answer. Another request with the same key must be rejected.
func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	s := scripted(t, nil)
	key := servertest.Headers{"Idempotency-Key": "create-1"}
	agent := `{"name":"once","language":"python","code":"def main(): return 1"}`
	first := s.Want(t, 201, "POST", "/api/v1/code-agents", agent, key)
	second := s.Want(t, 201, "POST", "/api/v1/code-agents", agent, key)
	if string(first.Body) != string(second.Body) || second.Header.Get("Idempotency-Replayed") != "true" || second.Header.Get("ETag") != `"1"` ||
		second.Header.Get("Location") != first.Header.Get("Location") {
		t.Errorf("first %s\nsecond %v %s", first.Body, second.Header, second.Body)
	}
	other := strings.Replace(agent, "once", "twice", 1)
	if p := s.Want(t, 409, "POST", "/api/v1/code-agents", other, key).Problem(t); p.Code != "idempotency_mismatch" {
		t.Errorf("got %+v", p)
	}
	runKey := servertest.Headers{"Idempotency-Key": "run-1"}
	one, two := s.Script(t, "print x\noutput 1", runKey), s.Script(t, "print x\noutput 1", runKey)
	if one.Run(t).RunID != two.Run(t).RunID {
		t.Errorf("two runs: %s %s", one.Body, two.Body)
	}
	if s.Script(t, "print x\noutput 1").Run(t).RunID == one.Run(t).RunID {
		t.Error("a request without a key was answered from memory")
	}
}

// Each run has one span with children in the trace of the caller, and the answer contains the trace.
func TestTraces(t *testing.T) {
	t.Parallel()
	seen := tracetest.NewInMemoryExporter()
	s := servertest.New(t, servertest.Traces(telemetry.NewTracesTo(seen)))
	const trace = "0af7651916cd43dd8448eb211c80319c"
	answer := s.Want(t, 200, "POST", "/api/v1/execute", map[string]any{"language": "bash", "code": "echo 1"},
		servertest.Headers{"traceparent": "00-" + trace + "-b7ad6b7169203331-01"})
	if got := answer.Header.Get("traceparent"); !strings.HasPrefix(got, "00-"+trace+"-") {
		t.Errorf("traceparent out is %q", got)
	}
	var stored struct{ TraceID string }
	s.Want(t, 200, "GET", "/api/v1/runs/"+answer.Run(t).RunID, nil).Into(t, &stored)
	if stored.TraceID != trace {
		t.Errorf("the run remembers %q", stored.TraceID)
	}
	names := map[string]bool{}
	for _, span := range seen.GetSpans() {
		if span.SpanContext.TraceID().String() == trace {
			names[span.Name] = true
		}
	}
	for _, want := range []string{"POST /api/v1/execute", "code.execute", "resolve", "validate", "queue", "run", "store"} {
		if !names[want] {
			t.Errorf("no span %s among %v", want, names)
		}
	}
}

// Spans must be sent to the collector that the standard variables name.
func TestTracesAreExported(t *testing.T) {
	t.Parallel()
	got := make(chan string, 16)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- r.URL.Path + " " + string(body)
	}))
	t.Cleanup(collector.Close)
	const token = "a-token-that-is-long-enough-to-be-one"
	p := servertest.SpawnWith(t, t.TempDir(), []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + collector.URL, "ATELIER_TOKEN=" + token, "ATELIER_SCRIPT_RUNTIME=yes"})
	p.Token = token
	p.Script(t, "output 1")
	p.Signal(t, os.Interrupt)
	if code := p.Exit(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if sent := <-got; !strings.HasPrefix(sent, "/v1/traces ") || !strings.Contains(sent, "code.execute") || !strings.Contains(sent, "code.runtime") {
		t.Errorf("sent %.300q", sent)
	}
}

func TestMetricsCountRequestsAndRuns(t *testing.T) {
	t.Parallel()
	s := scripted(t, nil)
	s.Script(t, "output 1")
	s.Script(t, "fail runtime_error no")
	metrics := string(s.Want(t, 200, "GET", "/metrics", nil, servertest.Headers{"Authorization": ""}).Body)
	for _, want := range []string{
		`atelier_runs_total{runtime="script",status="succeeded"} 1`, `atelier_runs_total{runtime="script",status="failed"} 1`,
		`atelier_http_requests_total{method="POST",route="/api/v1/execute",status="200"} 2`, "atelier_queue_waiting 0", `atelier_workers_idle{runtime="goja"}`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %s", want)
		}
	}
}

// An internal error is a problem document, and the run is stored.
func TestServerFailure(t *testing.T) {
	t.Parallel()
	s := scripted(t, nil)
	answer := s.Script(t, "server-fail")
	if p := answer.Problem(t); answer.Status != 500 || p.Code != "internal" || p.Detail != "Internal error." || !strings.Contains(string(answer.Body), `"requestId"`) {
		t.Errorf("got %s", answer.Body)
	}
	var list struct{ Items []servertest.Run }
	s.Want(t, 200, "GET", "/api/v1/runs", nil).Into(t, &list)
	if len(list.Items) != 1 || list.Items[0].Status != "interrupted" {
		t.Errorf("got %+v", list)
	}
	if missing := s.Do(t, "POST", "/api/v1/execute", map[string]any{"language": "bash", "runtime": "goja", "code": "1"}); missing.Status != 422 {
		t.Errorf("a runtime of another language: %d %s", missing.Status, missing.Body)
	}
}
