package servertest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/servertest"
)

// Every invalid request has the documented status and code, and names the field.
func TestBadInput(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	const (
		agents  = "/api/v1/code-agents"
		execute = "/api/v1/execute"
	)
	s.Create(t, map[string]any{
		"name": "strict", "language": "javascript", "code": "export default ({n}) => n",
		"inputSchema": map[string]any{"type": "object", "required": []string{"n"}, "properties": map[string]any{"n": map[string]any{"type": "integer", "maximum": 9}}, "additionalProperties": false},
		"limits":      map[string]any{"timeoutMs": 5000},
	})
	s.Publish(t, "strict", "1.0.0")
	s.Create(t, map[string]any{"name": "draft-only", "language": "python", "code": "def main(): return 1"})
	s.Create(t, map[string]any{"name": "broken", "language": "typescript", "files": map[string]string{"main.ts": "import './lib/a'\nexport default () => 1", "lib/a.ts": "export const a = 1\nlet let = ;\n"}})
	deepSchema := `{"type":"object"` + strings.Repeat(`,"properties":{"a":{"type":"object"`, 70) + strings.Repeat("}}", 70) + "}"
	bomb := `{"$defs":{"a0":{"type":"integer"}`
	for i := range 30 {
		bomb += fmt.Sprintf(`,"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i+1, i, i)
	}
	bomb += `},"type":"object","properties":{"x":{"$ref":"#/$defs/a30"}}}`

	tests := map[string]struct {
		method, path, body string
		headers            servertest.Headers
		status             int
		code               fault.Code
		want               []string // texts that the body must contain
	}{
		"unknown language":    {"POST", execute, `{"language":"cobol","code":"x"}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/language"`}},
		"missing entry":       {"POST", agents, `{"name":"a","language":"python","files":{"other.py":"x"}}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/entrypoint"`}},
		"no code at all":      {"POST", execute, `{"language":"python"}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/files"`}},
		"code and files":      {"POST", execute, `{"language":"python","code":"x","files":{"main.py":"y"}}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/code"`}},
		"file out of the box": {"POST", agents, `{"name":"a","language":"python","files":{"main.py":"","../x.py":""}}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/files/..~1x.py"`}},
		"reserved name":       {"POST", agents, `{"name":"registry","language":"python","code":"x"}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/name"`}},
		"bad name":            {"POST", agents, `{"name":"Über agent","language":"python","code":"x"}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/name"`}},
		"taken name":          {"POST", agents, `{"name":"draft_only","language":"python","code":"x"}`, nil, 409, fault.NameTaken, nil},
		"limit over ceiling":  {"POST", agents, `{"name":"a","language":"python","code":"x","limits":{"timeoutMs":600001}}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/limits/timeoutMs"`, "600000"}},
		"removed isolation":   {"POST", agents, `{"name":"a","language":"javascript","runtime":"node","isolation":"reuse","code":"x"}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/isolation"`, `must be one of`}},
		"removed, inline":     {"POST", execute, `{"language":"javascript","runtime":"node","isolation":"reuse","code":"x"}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/isolation"`, `must be one of`}},
		"reserved variable":   {"POST", agents, `{"name":"a","language":"python","code":"x","environment":{"LD_PRELOAD":"x"}}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/environment/LD_PRELOAD"`}},
		"schema that is none": {"POST", agents, `{"name":"a","language":"python","code":"x","inputSchema":{"type":"objekt"}}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/inputSchema`}},
		"schema from afar":    {"POST", agents, `{"name":"a","language":"python","code":"x","inputSchema":{"type":"object","$ref":"https://example.com/s.json"}}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/inputSchema`}},
		"schema that is deep": {"POST", agents, `{"name":"a","language":"python","code":"x","inputSchema":` + deepSchema + `}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/inputSchema`}},
		"schema bomb":         {"POST", agents, `{"name":"a","language":"python","code":"x","inputSchema":` + bomb + `}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/inputSchema`}},

		"publish, wrong semver":    {"POST", agents + "/draft-only/versions", `{"version":"v1"}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/version"`}},
		"publish, existing":        {"POST", agents + "/strict/versions", `{"version":"1.0.0"}`, nil, 409, fault.VersionExists, nil},
		"publish, syntax error":    {"POST", agents + "/broken/versions", `{}`, nil, 422, fault.InvalidInput, []string{`"file":"lib/a.ts"`, `"line":2`, `"column":`}},
		"publish, unknown agent":   {"POST", agents + "/nobody/versions", `{}`, nil, 404, fault.NotFound, []string{"nobody"}},
		"export, never published":  {"POST", agents + "/draft-only/export-tool", `{}`, nil, 409, fault.NoVersion, []string{`"remedy":`}},
		"export, unknown format":   {"POST", agents + "/strict/export-tool", `{"format":"soap"}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/format"`}},
		"save, no If-Match":        {"PUT", agents + "/strict", `{"title":"x"}`, nil, 428, fault.PreconditionRequired, nil},
		"save, strange If-Match":   {"PUT", agents + "/strict", `{"title":"x"}`, servertest.Headers{"If-Match": "7"}, 400, fault.BadRequest, nil},
		"save, stale":              {"PUT", agents + "/strict", `{"title":"x"}`, servertest.Headers{"If-Match": `"7"`}, 409, fault.StaleDraft, []string{`"currentRevision":1`}},
		"unknown agent":            {"GET", agents + "/nobody", ``, nil, 404, fault.NotFound, []string{"nobody"}},
		"unknown version":          {"GET", agents + "/strict/versions/3.0.0", ``, nil, 404, fault.NotFound, []string{"3.0.0"}},
		"unknown run":              {"GET", "/api/v1/runs/00000000-0000-0000-0000-000000000000", ``, nil, 404, fault.NotFound, nil},
		"events of no run":         {"GET", "/api/v1/runs/nothing/events", ``, nil, 404, fault.NotFound, nil},
		"stream of events, no run": {"GET", "/api/v1/runs/nothing/events", ``, servertest.Headers{"Accept": "text/event-stream"}, 404, fault.NotFound, nil},
		"cancel of no run":         {"POST", "/api/v1/runs/nothing/cancel", ``, nil, 404, fault.NotFound, nil},

		"execute, no version":      {"POST", agents + "/strict/execute", `{"input":{"n":1}}`, nil, 422, fault.VersionRequired, []string{`"pointer":"/version"`}},
		"execute, unknown":         {"POST", agents + "/strict/execute", `{"version":"^2","input":{"n":1}}`, nil, 404, fault.NotFound, []string{"strict@^2"}},
		"execute, bad range":       {"POST", agents + "/strict/execute", `{"version":"one","input":{"n":1}}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/version"`}},
		"execute, bad digest":      {"POST", agents + "/strict/execute", `{"version":"sha256:ab","input":{"n":1}}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/version"`}},
		"execute, every violation": {"POST", agents + "/strict/execute", `{"version":"1.0.0","input":{"n":77,"extra":1}}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/input/n"`, "extra"}},
		"execute, raised limit":    {"POST", agents + "/strict/execute", `{"version":"1.0.0","input":{"n":1},"limits":{"timeoutMs":6000}}`, nil, 422, fault.InvalidInput, []string{`"pointer":"/limits/timeoutMs"`, "5000"}},

		"not JSON":          {"POST", execute, "{\n  nope", nil, 400, fault.BadRequest, []string{`"line":2`, `"column":3`}},
		"two documents":     {"POST", execute, `{} {}`, nil, 400, fault.BadRequest, nil},
		"too deep":          {"POST", execute, `{"language":"python","code":"x","input":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, nil, 400, fault.BadRequest, nil},
		"no JSON type":      {"POST", execute, `{}`, servertest.Headers{"Content-Type": "text/plain"}, 415, fault.UnsupportedMediaType, nil},
		"form":              {"POST", execute, `language=python`, servertest.Headers{"Content-Type": "application/x-www-form-urlencoded"}, 415, fault.UnsupportedMediaType, nil},
		"body too large":    {"POST", agents + "/a/execute", `{"version":"1.0.0","input":{"a":"` + strings.Repeat("x", 9<<20) + `"}}`, nil, 413, fault.BodyTooLarge, []string{`"maxBytes":8388608`}},
		"module too large":  {"POST", execute, `{"language":"wasm","code":"` + strings.Repeat("x", 48<<20) + `"}`, nil, 413, fault.BodyTooLarge, []string{`"maxBytes":46836392`}},
		"no token":          {"GET", agents, ``, servertest.Headers{"Authorization": ""}, 401, fault.Unauthenticated, nil},
		"wrong token":       {"GET", agents, ``, servertest.Headers{"Authorization": "Bearer atl_wrong"}, 401, fault.Unauthenticated, nil},
		"wrong Host":        {"GET", "/health", ``, servertest.Headers{"Host": "evil.example"}, 403, fault.BadHost, nil},
		"wrong Host, page":  {"GET", "/studio/", ``, servertest.Headers{"Host": "evil.example"}, 403, fault.BadHost, nil},
		"wrong Host, asset": {"GET", "/studio/assets/app-1.js", ``, servertest.Headers{"Host": "evil.example:80"}, 403, fault.BadHost, nil},
		"wrong Origin":      {"POST", execute, `{"language":"python","code":"def main(): return 1"}`, servertest.Headers{"Origin": "https://evil.example"}, 403, fault.BadOrigin, nil},
		"Origin null":       {"POST", execute, `{"language":"python","code":"def main(): return 1"}`, servertest.Headers{"Origin": "null"}, 403, fault.BadOrigin, nil},
		"no such route":     {"GET", "/api/v1/nowhere", ``, nil, 404, fault.NotFound, nil},
		"no such method":    {"DELETE", "/api/v1/runs", ``, nil, 405, fault.MethodNotAllowed, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var body any
			if tt.body != "" {
				body = tt.body
			}
			answer := s.Do(t, tt.method, tt.path, body, tt.headers)
			p := answer.Problem(t)
			if answer.Status != tt.status || p.Code != tt.code || p.Status != tt.status || p.Detail == "" {
				t.Errorf("got %d %s", answer.Status, answer.Body)
			}
			for _, want := range tt.want {
				if !strings.Contains(string(answer.Body), want) {
					t.Errorf("no %s in %s", want, answer.Body)
				}
			}
		})
	}
}

// A WebSocket request with a wrong Host or Origin is refused.
func TestSocketsOfOtherPagesAreRefused(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"script-runtime": "true"}))
	run := s.Start(t, "print done")
	s.Wait(t, run)
	upgrade := servertest.Headers{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
	}
	tests := map[string]struct {
		more   servertest.Headers
		status int
		code   fault.Code
	}{
		"our page":     {servertest.Headers{"Origin": s.URL}, http.StatusSwitchingProtocols, ""},
		"other page":   {servertest.Headers{"Origin": "http://evil.example"}, 403, fault.BadOrigin},
		"other port":   {servertest.Headers{"Origin": "http://127.0.0.1:1"}, 403, fault.BadOrigin},
		"nobody":       {servertest.Headers{"Origin": "null"}, 403, fault.BadOrigin},
		"rebound name": {servertest.Headers{"Host": "evil.example"}, 403, fault.BadHost},
		"no token":     {servertest.Headers{"Authorization": ""}, 401, fault.Unauthenticated},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.code == "" {
				if status := s.Handshake(t, "/api/v1/runs/"+run+"/stream", upgrade, tt.more); status != tt.status {
					t.Errorf("got %d", status)
				}
				return
			}
			answer := s.Do(t, "GET", "/api/v1/runs/"+run+"/stream", nil, upgrade, tt.more)
			if p := answer.Problem(t); answer.Status != tt.status || p.Code != tt.code {
				t.Errorf("got %d %s", answer.Status, answer.Body)
			}
		})
	}
}
