package servertest_test

import (
	"net/http"
	"regexp"
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
		want               []string // texts that the body must contain
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
		"limits: exponent":        {"POST", execute, limited(`{"timeoutMs":1e-3}`), 422, fault.InvalidInput, []string{`"pointer":"/limits/timeoutMs"`}},
		"limits: large fraction":  {"POST", execute, limited(`{"memoryBytes":268435456.5}`), 422, fault.InvalidInput, []string{`"pointer":"/limits/memoryBytes"`}},
		"limits: fraction":        {"POST", execute, limited(`{"timeoutMs":1.5}`), 422, fault.InvalidInput, []string{`"pointer":"/limits/timeoutMs"`}},
		"limits: text":            {"POST", execute, limited(`{"timeoutMs":"1000"}`), 422, fault.InvalidInput, []string{`"pointer":"/limits/timeoutMs"`}},
		"limits: beyond integers": {"POST", execute, limited(`{"cpuMs":99999999999999999999}`), 422, fault.InvalidInput, []string{`"pointer":"/limits/cpuMs"`}},
		"limits: huge exponent":   {"POST", execute, limited(`{"processes":1e400}`), 422, fault.InvalidInput, []string{`"pointer":"/limits/processes"`}},
		"limits: zero":            {"POST", execute, limited(`{"diskBytes":0}`), 422, fault.InvalidInput, []string{`"pointer":"/limits/diskBytes"`}},
		"limits: negative":        {"POST", execute, limited(`{"recursionDepth":-1}`), 422, fault.InvalidInput, []string{`"pointer":"/limits/recursionDepth"`}},
		"limits: unknown":         {"POST", execute, limited(`{"timeout":1000}`), 422, fault.InvalidInput, []string{`"/limits`, "timeout"}},
		"limits of a version":     {"POST", agents + "/one/execute", `{"version":"1.0.0","limits":{"timeoutMs":1e-3}}`, 422, fault.InvalidInput, []string{`"pointer":"/limits/timeoutMs"`}},
		"unknown host function":   {"POST", agents, `{"name":"two","language":"bash","code":"x","capabilities":{"hostFunctions":["log","readFile"]}}`, 422, fault.InvalidInput, []string{`"pointer":"/capabilities/hostFunctions/1"`, "fetch, log, progress"}},
		"limits of an agent":      {"POST", agents, `{"name":"two","language":"bash","code":"x","limits":{"outputBytes":1e-3}}`, 422, fault.InvalidInput, []string{`"pointer":"/limits/outputBytes"`}},
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
		for _, number := range []string{"1000", "1e3", "1000.0"} { // In JSON Schema, these are the same integer.
			s.Want(t, http.StatusOK, "POST", execute, limited(`{"timeoutMs":`+number+`}`))
		}
	})
}

// Every route in the description must refuse an unknown query parameter, whatever else is in the request.
func TestQuery_UnknownParameter_BadRequestAtEveryRoute(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	var api struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string }
		}
	}
	s.Want(t, http.StatusOK, "GET", "/openapi.json", nil).Into(t, &api)
	routes := 0
	for path, methods := range api.Paths {
		for method, op := range methods {
			routes++
			at := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "x")
			answer := s.Do(t, strings.ToUpper(method), at+"?surprise=1", nil)
			if answer.Status != http.StatusBadRequest || !strings.Contains(string(answer.Body), "query parameter surprise is unknown") {
				t.Errorf("%s %s: %d %s", method, at, answer.Status, answer.Body)
			}
			for _, p := range op.Parameters {
				if p.In == "query" && !strings.Contains(string(answer.Body), p.Name) {
					t.Errorf("%s %s does not name its parameter %s: %s", method, at, p.Name, answer.Body)
				}
			}
		}
	}
	if routes < 90 {
		t.Errorf("only %d routes", routes)
	}
	for _, path := range []string{"/metrics", "/docs", "/openapi.json", "/schemas/tool-manifest.json", "/schemas/agent.json", "/mcp"} {
		s.Want(t, http.StatusBadRequest, "GET", path+"?surprise=1", nil)
	}
	s.Want(t, http.StatusNotFound, "GET", "/nowhere?surprise=1", nil)
	s.Want(t, http.StatusMethodNotAllowed, "PUT", "/api/v1/runs?surprise=1", map[string]any{})
	s.Want(t, http.StatusOK, "GET", "/api/v1/runs?workspace=default&limit=1", nil)
}

// The version in the query of an export selects the version. Reading an agent has no version.
func TestVersionInTheQuery(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	const agent = "/api/v1/code-agents/one"
	s.Create(t, map[string]any{"name": "one", "language": "bash", "code": "echo 1"})
	s.Publish(t, "one", "1.0.0")
	s.Publish(t, "one", "2.0.0")
	for query, want := range map[string]string{"": "one@2.0.0", "?version=1.0.0": "one@1.0.0", "?version=%5E1": "one@1.0.0"} {
		var manifest struct{ Reference string }
		s.Want(t, http.StatusOK, "POST", agent+"/export-tool"+query, map[string]any{}).Into(t, &manifest)
		if manifest.Reference != want {
			t.Errorf("%s is %s", query, manifest.Reference)
		}
	}
	s.Want(t, http.StatusNotFound, "POST", agent+"/export-tool?version=3.0.0", map[string]any{})
	s.Want(t, http.StatusOK, "POST", agent+"/export-tool?version=1.0.0", map[string]any{"version": "1.0.0"})
	s.Want(t, http.StatusUnprocessableEntity, "POST", agent+"/export-tool?version=1.0.0", map[string]any{"version": "2.0.0"})
	s.Want(t, http.StatusBadRequest, "GET", agent+"?version=1.0.0", nil)
}

// A cursor of another list is refused instead of being used as a position.
func TestCursorOfAnotherList_InvalidInput(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"script-runtime": "true"}))
	for _, name := range []string{"one", "two"} {
		s.Create(t, map[string]any{"name": name, "language": "bash", "code": "echo 1"})
		s.Publish(t, name, "1.0.0")
		s.Want(t, http.StatusOK, "PUT", "/api/v1/code-agents/"+name, map[string]any{"code": "echo 2"}, servertest.Headers{"If-Match": `"1"`})
		s.Want(t, http.StatusOK, "POST", "/api/v1/code-agents/"+name+"/publish", map[string]any{"public": true})
		s.Wait(t, s.Start(t, "output 1"))
	}
	lists := []string{"/api/v1/code-agents?limit=1", "/api/v1/code-agents?order=updated&limit=1", "/api/v1/code-agents/registry?limit=1", "/api/v1/runs?limit=1",
		"/api/v1/code-agents/one/draft/history?limit=1", "/api/v1/code-agents/two/draft/history?limit=1"}
	for _, from := range lists {
		var page struct{ NextCursor string }
		s.Want(t, http.StatusOK, "GET", from, nil).Into(t, &page)
		if page.NextCursor == "" {
			t.Fatalf("%s has one page", from)
		}
		for _, to := range lists {
			want := http.StatusUnprocessableEntity
			if to == from {
				want = http.StatusOK
			}
			s.Want(t, want, "GET", to+"&cursor="+page.NextCursor, nil)
		}
	}
}
