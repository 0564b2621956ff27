package servertest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/servertest"
)

// An invalid parameter or number is rejected by name and never treated as missing.
func TestParametersAndNumbers(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"script-runtime": "true"}))
	s.Create(t, map[string]any{"name": "one", "language": "bash", "code": "echo 1"})
	s.Publish(t, "one", "1.0.0")
	run := s.Start(t, "output 1")
	s.Wait(t, run)
	const (
		agents  = "/api/v1/code-agents"
		execute = "/api/v1/execute"
	)
	limited := func(limits string) string {
		return `{"language":"bash","runtime":"script","code":"output 1","limits":` + limits + `}`
	}
	tests := map[string]struct {
		method, path, body string
		status             int
		code               fault.Code
		want               []string // in the body
	}{
		"status of no run":        {"GET", "/api/v1/runs?status=bogus", "", 422, fault.InvalidInput, []string{"query parameter status", "awaiting_approval", "timed_out"}},
		"status, twice":           {"GET", "/api/v1/runs?status=failed&status=failed", "", 422, fault.InvalidInput, []string{"query parameter status"}},
		"query that is none":      {"GET", "/api/v1/runs?status=%zz", "", 400, fault.BadRequest, []string{"query"}},
		"status in capitals":      {"GET", "/api/v1/runs?status=FAILED", "", 422, fault.InvalidInput, []string{"query parameter status"}},
		"since, no time":          {"GET", "/api/v1/runs?since=yesterday", "", 422, fault.InvalidInput, []string{"query parameter since"}},
		"limit, no number":        {"GET", "/api/v1/runs?limit=ten", "", 422, fault.InvalidInput, []string{"query parameter limit"}},
		"limit of nothing":        {"GET", "/api/v1/runs?limit=0", "", 422, fault.InvalidInput, []string{"query parameter limit", "1"}},
		"limit, too high":         {"GET", "/api/v1/runs?limit=201", "", 422, fault.InvalidInput, []string{"query parameter limit", "200"}},
		"limit, beyond integers":  {"GET", "/api/v1/runs?limit=99999999999999999999", "", 422, fault.InvalidInput, []string{"query parameter limit"}},
		"limit, fraction":         {"GET", "/api/v1/runs?limit=1.5", "", 422, fault.InvalidInput, []string{"query parameter limit"}},
		"cursor that is none":     {"GET", "/api/v1/runs?cursor=nonsense", "", 422, fault.InvalidInput, []string{"/cursor"}},
		"cursor, too long":        {"GET", "/api/v1/runs?cursor=" + strings.Repeat("x", 501), "", 422, fault.InvalidInput, []string{"query parameter cursor"}},
		"version, too long":       {"GET", "/api/v1/runs?version=" + strings.Repeat("x", 201), "", 422, fault.InvalidInput, []string{"query parameter version"}},
		"agents: language":        {"GET", agents + "?language=cobol", "", 422, fault.InvalidInput, []string{"query parameter language", "typescript"}},
		"agents: state":           {"GET", agents + "?state=gone", "", 422, fault.InvalidInput, []string{"query parameter state", "published"}},
		"agents: limit":           {"GET", agents + "?limit=-1", "", 422, fault.InvalidInput, []string{"query parameter limit"}},
		"agents: cursor":          {"GET", agents + "?cursor=nonsense", "", 422, fault.InvalidInput, []string{"/cursor"}},
		"agents: long words":      {"GET", agents + "?q=" + strings.Repeat("x", 201), "", 422, fault.InvalidInput, []string{"query parameter q"}},
		"manifest: format":        {"GET", agents + "/one/versions/1.0.0/manifest?format=nonsense", "", 422, fault.InvalidInput, []string{"query parameter format", "openai"}},
		"events: from, text":      {"GET", "/api/v1/runs/" + run + "/events?from=x", "", 422, fault.InvalidInput, []string{"query parameter from"}},
		"events: from, negative":  {"GET", "/api/v1/runs/" + run + "/events?from=-1", "", 422, fault.InvalidInput, []string{"query parameter from"}},
		"execute: version":        {"POST", agents + "/one/execute?version=" + strings.Repeat("x", 201), `{}`, 422, fault.InvalidInput, []string{"query parameter version"}},
		"limits: exponent":        {"POST", execute, limited(`{"timeoutMs":1e3}`), 422, fault.InvalidInput, []string{`"pointer":"/limits/timeoutMs"`}},
		"limits: whole fraction":  {"POST", execute, limited(`{"memoryBytes":268435456.0}`), 422, fault.InvalidInput, []string{`"pointer":"/limits/memoryBytes"`}},
		"limits: fraction":        {"POST", execute, limited(`{"timeoutMs":1.5}`), 422, fault.InvalidInput, []string{`"pointer":"/limits/timeoutMs"`}},
		"limits: text":            {"POST", execute, limited(`{"timeoutMs":"1000"}`), 422, fault.InvalidInput, []string{`"pointer":"/limits/timeoutMs"`}},
		"limits: beyond integers": {"POST", execute, limited(`{"cpuMs":99999999999999999999}`), 422, fault.InvalidInput, []string{`"pointer":"/limits/cpuMs"`}},
		"limits: huge exponent":   {"POST", execute, limited(`{"processes":1e400}`), 422, fault.InvalidInput, []string{`"pointer":"/limits/processes"`}},
		"limits: zero":            {"POST", execute, limited(`{"diskBytes":0}`), 422, fault.InvalidInput, []string{`"pointer":"/limits/diskBytes"`}},
		"limits: negative":        {"POST", execute, limited(`{"recursionDepth":-1}`), 422, fault.InvalidInput, []string{`"pointer":"/limits/recursionDepth"`}},
		"limits: unknown":         {"POST", execute, limited(`{"timeout":1000}`), 422, fault.InvalidInput, []string{`"/limits`, "timeout"}},
		"limits of a version":     {"POST", agents + "/one/execute", `{"version":"1.0.0","limits":{"timeoutMs":1e3}}`, 422, fault.InvalidInput, []string{`"pointer":"/limits/timeoutMs"`}},
		"limits of an agent":      {"POST", agents, `{"name":"two","language":"bash","code":"x","limits":{"outputBytes":1e3}}`, 422, fault.InvalidInput, []string{`"pointer":"/limits/outputBytes"`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var body any
			if tt.body != "" {
				body = tt.body
			}
			answer := s.Do(t, tt.method, tt.path, body)
			if p := answer.Problem(t); answer.Status != tt.status || p.Code != tt.code {
				t.Fatalf("got %d %s", answer.Status, answer.Body)
			}
			for _, want := range tt.want {
				if !strings.Contains(string(answer.Body), want) {
					t.Errorf("no %s in %s", want, answer.Body)
				}
			}
		})
	}
	t.Run("what is right passes", func(t *testing.T) {
		s.Want(t, http.StatusOK, "GET", "/api/v1/runs?status=succeeded&limit=200&since=2026-01-01T00:00:00Z", nil)
		s.Want(t, http.StatusOK, "GET", "/api/v1/runs?status=", nil)
		s.Want(t, http.StatusOK, "POST", execute, limited(`{"timeoutMs":1000}`))
	})
}
