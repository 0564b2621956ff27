package remote_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/trace"

	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
	"github.com/atelier-run/atelier/runtimes/remote"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

const hello = `{"success":true,"output":{"n":1},"stdout":"hi\n","exitCode":0}`

// clock is a fake clock that only the test advances.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time { return time.Unix(c.at.Load(), 0) }

func newEngine(t *testing.T, c *clock) *remote.Engine {
	t.Helper()
	engine := remote.New(remote.Options{
		Egress:  egress.New(egress.Options{Ceiling: func(string) hostpattern.Ceiling { return hostpattern.Ceiling{All: true, Private: true} }}),
		Backoff: time.Millisecond, Now: c.now, Start: 10 * time.Second, Grace: time.Millisecond,
	})
	t.Cleanup(engine.Close)
	return engine
}

// job returns a job whose program names a service, and which is granted the host of an address.
func job(t *testing.T, service remote.Service, address string) runtimes.Job {
	t.Helper()
	file, err := json.Marshal(service)
	if err != nil {
		t.Fatal(err)
	}
	p := runtimetest.Python()
	return p.Job("x", func(j *runtimes.Job) {
		j.Runtime, j.Files[remote.File] = runtimes.RemoteEngine, file
		j.Capabilities.Hosts = []string{strings.TrimPrefix(address, "http://"), "other.example:443"}
	})
}

// TestOpenAPI_Answers_BecomeOutcomes checks the outcome of each kind of answer, the number of calls, and the content of the
// requests.
func TestOpenAPI_Answers_BecomeOutcomes(t *testing.T) {
	t.Parallel()
	reply := func(status int, body string, headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	breakOff := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"succ`))
		_ = http.NewResponseController(w).Flush() // an error also breaks the connection
		panic(http.ErrAbortHandler)
	}
	const atMostOne = -1 // on a busy machine the run may time out before the call arrives
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	tests := map[string]struct {
		idempotent bool
		replies    []http.HandlerFunc // the last one repeats
		calls      int64
		want       runtimes.ErrorType
		message    string
	}{
		"succeeds":                    {replies: []http.HandlerFunc{reply(200, hello)}, calls: 1},
		"busy, then succeeds":         {replies: []http.HandlerFunc{reply(429, ""), reply(200, hello)}, calls: 2},
		"failing":                     {replies: []http.HandlerFunc{reply(503, `{"detail":"Down."}`)}, calls: 1, want: runtimes.RuntimeError, message: "status 503: Down."},
		"failing, with a key":         {idempotent: true, replies: []http.HandlerFunc{reply(503, ""), reply(500, ""), reply(200, hello)}, calls: 3},
		"always failing, with a key":  {idempotent: true, replies: []http.HandlerFunc{reply(503, "")}, calls: 4, want: runtimes.RuntimeError, message: "status 503"},
		"refused":                     {replies: []http.HandlerFunc{reply(422, `{"detail":"Not valid.","errors":[{"pointer":"/limits/timeoutMs","message":"must be less."}]}`)}, calls: 1, want: runtimes.RuntimeError, message: "Not valid; /limits/timeoutMs must be less."},
		"no credentials":              {replies: []http.HandlerFunc{reply(401, "")}, calls: 1, want: runtimes.RuntimeError, message: "401"},
		"redirect":                    {replies: []http.HandlerFunc{reply(302, "", "Location", "/other")}, calls: 1, want: runtimes.RuntimeError, message: "302"},
		"cut in half":                 {replies: []http.HandlerFunc{breakOff}, calls: 1, want: runtimes.RuntimeError, message: "sent an incomplete answer"},
		"cut in half, with a key":     {idempotent: true, replies: []http.HandlerFunc{breakOff, reply(200, hello)}, calls: 2},
		"connection broken":           {replies: []http.HandlerFunc{func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }}, calls: 1, want: runtimes.RuntimeError, message: "may have run there"},
		"not JSON":                    {replies: []http.HandlerFunc{reply(200, "hello")}, calls: 1, want: runtimes.RuntimeError, message: "without the field success"},
		"accepted only":               {replies: []http.HandlerFunc{reply(202, "{}")}, calls: 1, want: runtimes.RuntimeError, message: "before the program ended"},
		"result not JSON":             {replies: []http.HandlerFunc{reply(200, `{"success":true,"output":{"a":1,"a":2}}`)}, calls: 1, want: runtimes.InvalidOutput},
		"result too large":            {replies: []http.HandlerFunc{reply(200, `{"success":true,"output":"`+strings.Repeat("x", 2<<20)+`"}`)}, calls: 1, want: runtimes.OutputLimit},
		"answer without end":          {replies: []http.HandlerFunc{reply(200, strings.Repeat(" ", 4<<20))}, calls: 1, want: runtimes.OutputLimit},
		"too much output":             {replies: []http.HandlerFunc{reply(200, `{"success":true,"stdout":"`+strings.Repeat("x", 2<<20)+`"}`)}, calls: 1, want: runtimes.OutputLimit},
		"failed without a reason":     {replies: []http.HandlerFunc{reply(200, `{"success":false}`)}, calls: 1, want: runtimes.RuntimeError, message: "without a reason"},
		"timed out there":             {replies: []http.HandlerFunc{reply(200, `{"success":false,"error":{"type":"timeout","message":"Late."}}`)}, calls: 1, want: runtimes.Timeout, message: "Late."},
		"cancelled there":             {replies: []http.HandlerFunc{reply(200, `{"success":false,"error":{"type":"cancelled"}}`)}, calls: 1, want: runtimes.Interrupted, message: "at the service"},
		"unknown kind of error there": {replies: []http.HandlerFunc{reply(200, `{"success":false,"error":{"type":"odd","message":"Odd.","file":"/etc/passwd","line":1}}`)}, calls: 1, want: runtimes.RuntimeError, message: "Odd."},
		"never answers":               {replies: []http.HandlerFunc{hang}, calls: atMostOne, want: runtimes.Timeout, message: "100 ms"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n := calls.Add(1)
				var sent struct {
					Files        map[string]string
					Capabilities struct{ Hosts, HostFunctions []string }
				}
				if err := json.NewDecoder(r.Body).Decode(&sent); err != nil || len(sent.Files) != 1 || len(sent.Capabilities.Hosts) != 1 || strings.Join(sent.Capabilities.HostFunctions, " ") != "log" {
					t.Errorf("sent %+v, %v", sent, err)
				}
				if r.Header.Get("Traceparent") == "" || (r.Header.Get("Idempotency-Key") != "") != tt.idempotent {
					t.Errorf("headers %v", r.Header)
				}
				tt.replies[min(int(n), len(tt.replies))-1](w, r)
			}))
			t.Cleanup(server.Close)
			j := job(t, remote.Service{URL: server.URL + "/run", Protocol: remote.OpenAPI, Idempotent: tt.idempotent}, server.URL)
			j.Capabilities.HostFunctions = []string{"log", "askLLM"} // askLLM must not be passed on to the service
			if tt.calls == atMostOne {
				j.Limits.TimeoutMs = 100
			}
			ctx := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}}))
			host := runtimetest.NewHost()
			outcome, err := newEngine(t, &clock{}).Run(ctx, j, host)
			switch e := outcome.Error; {
			case err != nil:
				t.Error(err)
			case tt.want == "" && (e != nil || string(outcome.Output) != `{"n":1}` || host.Stdout(t) != "hi\n" || *outcome.ExitCode != 0 || outcome.Level != remote.Level):
				t.Errorf("%+v %+v", outcome, e)
			case tt.want != "" && (e == nil || e.Type != tt.want || !strings.Contains(e.Message, tt.message) || e.File != "" || e.Remedy == "" && tt.message != "Odd." && tt.want != runtimes.InvalidOutput):
				t.Errorf("%+v", e)
			}
			if got := calls.Load(); got != tt.calls && (tt.calls != atMostOne || got > 1) {
				t.Errorf("%d calls, want %d", got, tt.calls)
			}
		})
	}
}

// TestOpenAPI_ReportedUse_Counts checks that the usage has the GPU time and the cost that a service reports, up to a
// maximum.
func TestOpenAPI_ReportedUse_Counts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		metrics string
		gpu     time.Duration
		cost    float64
	}{
		"reported":   {`{"gpuMs":75000,"remoteCost":0.25}`, 75 * time.Second, 0.25},
		"absent":     {`{}`, 0, 0},
		"negative":   {`{"gpuMs":-1,"remoteCost":-1}`, 0, 0},
		"impossible": {`{"gpuMs":1e300,"remoteCost":1e300}`, 1e10 * time.Millisecond, 1e6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(`{"success":true,"output":1,"metrics":` + tt.metrics + `}`))
			}))
			t.Cleanup(server.Close)
			j := job(t, remote.Service{URL: server.URL + "/run", Protocol: remote.OpenAPI}, server.URL)
			outcome, _ := runtimetest.Run(t, newEngine(t, &clock{}), j)
			if outcome.Error != nil || outcome.Usage.GPU != tt.gpu || outcome.Usage.RemoteCost != tt.cost {
				t.Errorf("%+v %+v", outcome.Usage, outcome.Error)
			}
		})
	}
}

// TestBreaker_FailuresInARow_NotCalledUntilLater checks that a service that does not answer is not called for a while. Then
// exactly one call tests it, and an answer closes the breaker.
func TestBreaker_FailuresInARow_NotCalledUntilLater(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	var healthy atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		if !healthy.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = w.Write([]byte(hello))
	}))
	t.Cleanup(server.Close)
	now := &clock{}
	engine := newEngine(t, now)
	service := remote.Service{URL: server.URL, Protocol: remote.OpenAPI}
	run := func(workspace string) *runtimes.ProgramError {
		t.Helper()
		j := job(t, service, server.URL)
		j.Workspace = workspace
		outcome, _ := runtimetest.Run(t, engine, j)
		return outcome.Error
	}
	for range 5 {
		run("one")
	}
	if e := run("one"); calls.Load() != 5 || e == nil || !strings.Contains(e.Message, "failed 5 times in a row") {
		t.Errorf("%d calls, %+v", calls.Load(), e)
	}
	if run("two"); calls.Load() != 6 {
		t.Error("failures of one workspace count for another")
	}
	now.at.Add(31)
	run("one")
	if e := run("one"); calls.Load() != 7 || e == nil {
		t.Errorf("%d calls: more than one tries again", calls.Load())
	}
	now.at.Add(31)
	healthy.Store(true)
	for range 2 {
		if e := run("one"); e != nil {
			t.Errorf("%+v", e)
		}
	}
}

// TestMCP_RealServer_RunsAndReports runs programs with a tool of a real MCP server.
func TestMCP_RealServer_RunsAndReports(t *testing.T) {
	t.Parallel()
	server := mcp.NewServer(&mcp.Implementation{Name: "far", Version: "1"}, nil)
	schema := json.RawMessage(`{"type":"object"}`)
	tool := func(name string, result func(*mcp.CallToolRequest) *mcp.CallToolResult) {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: schema}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return result(r), nil })
	}
	tool("run", func(r *mcp.CallToolRequest) *mcp.CallToolResult {
		_ = r.Session.NotifyProgress(t.Context(), &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1, Total: 2, Message: "half"})
		return &mcp.CallToolResult{StructuredContent: json.RawMessage(hello)}
	})
	tool("text", func(*mcp.CallToolRequest) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: hello}}}
	})
	tool("broken", func(*mcp.CallToolRequest) *mcp.CallToolResult {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "no GPU"}}}
	})
	tool("large", func(*mcp.CallToolRequest) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("x", 6<<20)}}}
	})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	web := httptest.NewServer(handler)
	t.Cleanup(web.Close)
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	t.Cleanup(locked.Close)
	for name, tt := range map[string]struct {
		url, tool, message string
		want               runtimes.ErrorType
	}{
		"structured":     {url: web.URL, tool: "run"},
		"text":           {url: web.URL, tool: "text"},
		"error":          {web.URL, "broken", "no GPU", runtimes.RuntimeError},
		"no such tool":   {web.URL, "absent", "absent", runtimes.RuntimeError},
		"too large":      {web.URL, "large", "output limit", runtimes.OutputLimit},
		"no credentials": {locked.URL, "run", "401", runtimes.RuntimeError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outcome, host := runtimetest.Run(t, newEngine(t, &clock{}), job(t, remote.Service{URL: tt.url, Protocol: remote.MCP, Tool: tt.tool}, tt.url))
			if tt.want != "" {
				if e := outcome.Error; e == nil || e.Type != tt.want || !strings.Contains(e.Message, tt.message) {
					t.Errorf("%+v", e)
				}
				return
			}
			if outcome.Error != nil || string(outcome.Output) != `{"n":1}` || host.Stdout(t) != "hi\n" {
				t.Errorf("%+v %s", outcome.Error, outcome.Output)
			}
		})
	}
}

// TestRun_WithoutAService_Refused checks the outcomes of a program that names no service, of a service whose host is not
// granted, and of a workspace with language rules.
func TestRun_WithoutAService_Refused(t *testing.T) {
	t.Parallel()
	engine := newEngine(t, &clock{})
	service := remote.Service{URL: "http://192.0.2.1/", Protocol: remote.OpenAPI}
	for name, tt := range map[string]struct {
		change func(*runtimes.Job)
		want   runtimes.ErrorType
	}{
		"no file":     {func(j *runtimes.Job) { delete(j.Files, remote.File) }, runtimes.RuntimeError},
		"not granted": {func(*runtimes.Job) {}, runtimes.Denied},
		"rules":       {func(j *runtimes.Job) { j.Rules = &runtimes.Rules{Pack: runtimes.Restricted} }, runtimes.Denied},
	} {
		j := job(t, service, "http://198.51.100.1:80")
		tt.change(&j)
		if outcome, _ := runtimetest.Run(t, engine, j); outcome.Error == nil || outcome.Error.Type != tt.want {
			t.Errorf("%s: %+v", name, outcome.Error)
		}
	}
	for _, protocol := range []remote.Protocol{remote.MCP, remote.Atelier} {
		if outcome, _ := runtimetest.Run(t, engine, job(t, remote.Service{URL: "http://192.0.2.1/", Protocol: protocol, Tool: map[remote.Protocol]string{remote.MCP: "x"}[protocol]}, "http://198.51.100.1:80")); outcome.Error == nil || outcome.Error.Type != runtimes.Denied || outcome.Error.Grant == nil {
			t.Errorf("%s: %+v", protocol, outcome.Error)
		}
	}
}

// TestAtelier_RunningReportedAgainAndAgain_TimesOut checks that a service cannot extend a program's time limit by reporting
// its start repeatedly.
func TestAtelier_RunningReportedAgainAndAgain_TimesOut(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusAccepted)
			_, _ = w.Write([]byte(`{"runId":"far"}`))
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for seq := 1; ; seq++ {
			_, _ = fmt.Fprintf(w, "data: {\"seq\":%d,\"kind\":\"status\",\"data\":{\"status\":\"running\"}}\n\n", seq)
			_ = http.NewResponseController(w).Flush() // an error also ends the request
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			case <-t.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	j := job(t, remote.Service{URL: server.URL, Protocol: remote.Atelier}, server.URL)
	j.Limits.TimeoutMs = 100
	outcome, err := newEngine(t, &clock{}).Run(ctx, j, runtimetest.NewHost())
	if err != nil || outcome.Error == nil || outcome.Error.Type != runtimes.Timeout {
		t.Errorf("%+v, %v", outcome.Error, err)
	}
}

// TestOpenAPI_StartTimeOfTheService_Bounded checks that the start time of a run is at most the duration of the run, even if
// the service reports a longer one.
func TestOpenAPI_StartTimeOfTheService_Bounded(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"success":true,"output":1,"metrics":{"startMs":1e300}}`))
	}))
	t.Cleanup(server.Close)
	began := time.Now()
	outcome, _ := runtimetest.Run(t, newEngine(t, &clock{}), job(t, remote.Service{URL: server.URL, Protocol: remote.OpenAPI}, server.URL))
	if u := outcome.Usage; outcome.Error != nil || u.Start < 0 || u.Start > time.Since(began) || u.Run <= 0 {
		t.Errorf("%+v %+v", u, outcome.Error)
	}
}
