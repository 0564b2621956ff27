package httpapi_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry/manifest"
	"github.com/atelier-run/atelier/server/httpapi"
	"github.com/atelier-run/atelier/server/problem"
)

func newAPI() *httpapi.API {
	return httpapi.New(httpapi.Options{
		Problems: problem.Writer{Log: slog.New(slog.DiscardHandler)}, BodyBytes: 1 << 20, Now: time.Now,
	})
}

func do(t *testing.T, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	newAPI().Router().ServeHTTP(w, r)
	return w
}

func TestDescriptionIsComplete(t *testing.T) {
	t.Parallel()
	text, err := newAPI().OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var api struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			OperationID string
			Summary     string
			Tags        []string
			Responses   map[string]any
		}
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(text, &api); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(api.OpenAPI, "3.1") {
		t.Errorf("version is %s", api.OpenAPI)
	}
	seen := map[string]bool{}
	for path, methods := range api.Paths {
		for method, op := range methods {
			if op.OperationID == "" || op.Summary == "" || len(op.Tags) != 1 || len(op.Responses) == 0 || seen[op.OperationID] {
				t.Errorf("%s %s is incomplete or there twice: %+v", method, path, op)
			}
			seen[op.OperationID] = true
		}
	}
	for ref := range strings.SplitSeq(string(text), `"$ref": "#/components/schemas/`) {
		if name, _, ok := strings.Cut(ref, `"`); ok && !strings.Contains(name, "{") && api.Components.Schemas[name] == nil {
			t.Errorf("no schema %s", name)
		}
	}
	if strings.Contains(string(text), "ErrorModel") {
		t.Error("the framework's error model is described")
	}
}

// Every body is checked against the description before a handler sees it.
func TestBodiesAreCheckedByPointer(t *testing.T) {
	t.Parallel()
	const agents = httpapi.Base + "/code-agents"
	tests := map[string]struct {
		method, path, body string
		status             int
		want               []string
	}{
		"absent":               {"POST", agents, ``, 422, []string{`"code":"invalid_input"`, "A JSON body is required."}},
		"not JSON":             {"POST", agents, `{"name":`, 400, []string{`"code":"bad_request"`, `"line":1`}},
		"no object":            {"POST", agents, `[]`, 422, []string{`"message":"must be an object`}},
		"unknown property":     {"POST", agents, `{"name":"a","colour":"secret-red"}`, 422, []string{`colour`}},
		"wrong type":           {"POST", agents, `{"name":17}`, 422, []string{`"pointer":"/name"`}},
		"unknown language":     {"POST", agents, `{"name":"a","language":"secret-cobol"}`, 422, []string{`"pointer":"/language"`}},
		"name of a file":       {"POST", agents, `{"files":{"lib/main.ts":17,"~.ts":"x"}}`, 422, []string{`"pointer":"/files/lib~1main.ts"`}},
		"limit below":          {"POST", agents, `{"files":{"main.ts":"x"},"limits":{"timeoutMs":-1}}`, 422, []string{`"pointer":"/limits/timeoutMs"`}},
		"several at once":      {"POST", agents, `{"name":1,"tags":"x","limits":{"cpuMs":"y"}}`, 422, []string{`"pointer":"/name"`, `"pointer":"/tags"`, `"pointer":"/limits/cpuMs"`}},
		"publish":              {"POST", agents + "/a/versions", `{"bump":"secret-huge"}`, 422, []string{`"pointer":"/bump"`}},
		"deprecate":            {"PATCH", agents + "/a/versions/1.0.0", `{}`, 422, []string{`deprecated`}},
		"export":               {"POST", agents + "/a/export-tool", `{"format":"secret-soap"}`, 422, []string{`"pointer":"/format"`}},
		"execute":              {"POST", agents + "/a/execute", `{"version":1}`, 422, []string{`"pointer":"/version"`}},
		"execute, limits":      {"POST", agents + "/a/execute", `{"version":"1.0.0","limits":{"timeoutMs":"long"}}`, 422, []string{`"pointer":"/limits/timeoutMs"`}},
		"inline":               {"POST", httpapi.Base + "/execute", `{"code":"1"}`, 422, []string{`language`}},
		"resolve":              {"POST", httpapi.Base + "/references/resolve", `{"references":[]}`, 422, []string{`"pointer":"/references"`}},
		"validate":             {"POST", httpapi.Base + "/validate", `{"language":"python","files":[]}`, 422, []string{`"pointer":"/files"`}},
		"format":               {"POST", httpapi.Base + "/format", `{"language":"bash","code":"x","indent":9}`, 422, []string{`"pointer":"/indent"`}},
		"token":                {"POST", httpapi.Base + "/tokens", `{"name":""}`, 422, []string{`"pointer":"/name"`}},
		"session, too large":   {"POST", httpapi.Base + "/session", `{"token":"` + strings.Repeat("x", 9000) + `"}`, 413, []string{`"code":"body_too_large"`, `"maxBytes":8192`}},
		"parameter":            {"GET", httpapi.Base + "/runs?limit=secret-many", ``, 422, []string{`query parameter limit`}},
		"parameter, range":     {"GET", agents + "?limit=5000", ``, 422, []string{`query parameter limit`}},
		"parameter, choice":    {"GET", agents + "?state=secret-lost", ``, 422, []string{`query parameter state`}},
		"parameter, time":      {"GET", httpapi.Base + "/runs?since=secret-ago", ``, 422, []string{`query parameter since`}},
		"no such route":        {"GET", "/nowhere", ``, 404, []string{`"code":"not_found"`}},
		"no such method":       {"PUT", httpapi.Base + "/runs", `{}`, 405, []string{`"code":"method_not_allowed"`}},
		"If-Match is missing":  {"PUT", agents + "/a", `{}`, 428, []string{`"code":"precondition_required"`}},
		"value no field holds": {"POST", agents, `{"limits":{"timeoutMs":1e300}}`, 422, []string{`"code":"invalid_input"`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := do(t, tt.method, tt.path, tt.body)
			if w.Code != tt.status || w.Header().Get("Content-Type") != problem.MediaType {
				t.Errorf("got %d, %s", w.Code, w.Header().Get("Content-Type"))
			}
			for _, want := range tt.want {
				if !strings.Contains(w.Body.String(), want) {
					t.Errorf("no %s in %s", want, w.Body)
				}
			}
			if strings.Contains(w.Body.String(), "secret-") {
				t.Errorf("a value is echoed: %s", w.Body)
			}
		})
	}
}

func TestMethodNotAllowedSaysWhichAre(t *testing.T) {
	t.Parallel()
	w := do(t, http.MethodPut, httpapi.Base+"/runs", "{}")
	if got := w.Header().Values("Allow"); len(got) != 1 || got[0] != "GET, HEAD" {
		t.Errorf("Allow is %v", got)
	}
}

func TestDocumentation_NoOtherHostNoInlineScript(t *testing.T) {
	t.Parallel()
	w := do(t, http.MethodGet, "/docs", "")
	page := w.Body.String()
	if w.Code != 200 || !strings.Contains(page, "/api/v1/code-agents/{agent}/execute") || !strings.Contains(page, `id="schema-RunAnswer"`) {
		t.Errorf("got %d, %.300s", w.Code, page)
	}
	for _, wanted := range []string{
		`/api/v1/code-agents/AGENT/execute&#39; \`, `-H &#39;If-Match: &#34;REVISION&#34;&#39;`, `-H &#39;Content-Type: application/json&#39;`, `<h3>Answer <code>201</code> Created <a href="#schema-Agent">Agent</a></h3>`,
		`<tr><td><code>language</code></td><td>`,
	} {
		if !strings.Contains(page, wanted) {
			t.Errorf("no %s in the page", wanted)
		}
	}
	for _, unwanted := range []string{"<script>", `<script src="/`, "onclick", `="http`, "url(http", "<no value>"} {
		if strings.Contains(page, unwanted) {
			t.Errorf("%s in the page", unwanted)
		}
	}
}

func TestSchemaOfManifestsIsServed(t *testing.T) {
	t.Parallel()
	w := do(t, http.MethodGet, "/schemas/tool-manifest.json", "")
	if w.Code != 200 || !json.Valid(w.Body.Bytes()) || !strings.Contains(w.Body.String(), "manifestVersion") {
		t.Errorf("got %d %.200s", w.Code, w.Body)
	}
}

// TestFormatsAreDescribed fails if a format is added that the description does not list.
func TestFormatsAreDescribed(t *testing.T) {
	t.Parallel()
	text, err := newAPI().OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(manifest.Formats())
	if err != nil {
		t.Fatal(err)
	}
	var flat bytes.Buffer
	if err := json.Compact(&flat, text); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(flat.String(), `"enum":`+string(list)); n != 2 {
		t.Errorf("%d of 2 routes list %s", n, list)
	}
}
