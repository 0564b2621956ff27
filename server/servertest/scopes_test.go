package servertest_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/servertest"
)

// operation is a route in docs/openapi.json.
type operation struct {
	method, path string // path with a value for every parameter
	needs        []string
	public       bool
}

var parameter = regexp.MustCompile(`\{[^}]+\}`)

// operations returns all routes in docs/openapi.json.
func operations(t *testing.T) []operation {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(servertest.Root(t), "docs", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct{ Security []map[string][]string }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	all := []operation{{method: "GET", path: "/api/v1/openapi.json"}} // The API description does not contain its own route.
	for path, methods := range doc.Paths {
		for method, described := range methods {
			op := operation{method: strings.ToUpper(method), path: parameter.ReplaceAllString(path, "x")}
			for _, way := range described.Security {
				op.public = op.public || len(way) == 0
				for _, scope := range slices.Concat(way["token"], way["session"]) {
					if !slices.Contains(op.needs, scope) {
						op.needs = append(op.needs, scope)
					}
				}
			}
			all = append(all, op)
		}
	}
	return all
}

// scoped creates a token with the given scopes.
func scoped(t *testing.T, s *servertest.Server, body map[string]any) servertest.Headers {
	t.Helper()
	if body["name"] == nil {
		body["name"] = "walker"
	}
	var made struct{ Secret string }
	s.Want(t, 201, "POST", "/api/v1/tokens", body).Into(t, &made)
	return servertest.Headers{"Authorization": "Bearer " + made.Secret}
}

// Every route must reject requests without a credential, and tokens without the scope in the route's description. A
// token with only that scope must pass the gate. This includes WebSockets and event streams.
func TestEveryRouteWantsItsScope(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	if strings.Contains(s.Log.String(), "needs.go and the routes do not agree") {
		t.Error("a route does not say what it needs; the log has its name")
	}
	only := map[string]servertest.Headers{}
	var scopes []string
	for _, scope := range registry.Scopes() {
		scopes = append(scopes, string(scope))
		only[string(scope)] = scoped(t, s, map[string]any{"scopes": []string{string(scope)}})
	}
	all, walked, refused := operations(t), 0, 0
	for _, op := range all {
		if op.public {
			continue
		}
		ways := []servertest.Headers{{}}
		if strings.HasPrefix(op.path, "/api/v1/runs/x/") {
			ways = append(ways, servertest.Headers{"Accept": "text/event-stream"},
				servertest.Headers{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "c2l4dGVlbiBieXRlcyEhIQ=="})
		}
		for _, accept := range ways {
			if answer := s.Do(t, op.method, op.path, nil, accept, servertest.Headers{"Authorization": ""}); answer.Status != http.StatusUnauthorized {
				t.Errorf("%s %s without a token: %d %s", op.method, op.path, answer.Status, answer.Body)
			}
			for _, scope := range scopes {
				walked++
				may := len(op.needs) == 0 || scope == "admin" || slices.Contains(op.needs, scope)
				if op.path == "/api/v1/session" && op.method == http.MethodDelete && scope != "admin" {
					continue // A token has no session that this route could end.
				}
				answer := s.Do(t, op.method, op.path, nil, accept, only[scope])
				if strings.HasPrefix(op.path, "/api/v1/me/") {
					if answer.Status < 400 || answer.Status == http.StatusUnauthorized {
						t.Errorf("%s %s is for people, and answers a token: %d %s", op.method, op.path, answer.Status, answer.Body)
					}
					continue
				}
				if may {
					if answer.Status == http.StatusForbidden || answer.Status == http.StatusUnauthorized {
						t.Errorf("%s %s with %s: %d %s", op.method, op.path, scope, answer.Status, answer.Body)
					}
					continue
				}
				refused++
				p := answer.Problem(t)
				if answer.Status != http.StatusForbidden || p.Code != fault.Forbidden || !slices.Equal(p.Needs, op.needs) || !strings.Contains(p.Detail, "scope "+strings.Join(op.needs, " or ")) {
					t.Errorf("%s %s with %s: %d %s, want 403 that names %v", op.method, op.path, scope, answer.Status, answer.Body, op.needs)
				}
			}
		}
	}
	t.Logf("%d routes, %d requests with a token, %d refused for want of a scope", len(all), walked, refused)
	if len(all) < 60 || refused < 150 {
		t.Error("that is too few to be all")
	}
}

// The described scopes must be consistent: routes with only the scope read change nothing, and no route that only reads
// needs more.
func TestScopesFitWhatRoutesDo(t *testing.T) {
	t.Parallel()
	harmless := []string{"PUT /api/v1/me/password", "DELETE /api/v1/me/sessions/x", "POST /api/v1/validate", "POST /api/v1/gate/try", "POST /api/v1/format", "POST /api/v1/references/resolve", "POST /api/v1/router/explain", "POST /api/v1/code-agents/x/export-tool", "DELETE /api/v1/session", "POST /v1/validation/code", "POST /v1/context/priors"}
	for _, op := range operations(t) {
		route := op.method + " " + op.path
		reads := len(op.needs) == 0 || slices.Contains(op.needs, "read")
		switch {
		case op.public:
		case op.method != "GET" && reads && !slices.Contains(harmless, route):
			t.Errorf("%s is open to those who may only read", route)
		case op.method == "GET" && !reads && !slices.Contains(op.needs, "admin"):
			t.Errorf("%s only reads, and asks for %v", route, op.needs)
		}
	}
}

// A token that is restricted to an agent can use this agent under any of its names, and the agent's runs, but nothing
// else.
func TestTokenOfOneAgent(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for _, name := range []string{"mine", "yours"} {
		s.Create(t, map[string]any{"name": name, "language": "javascript", "code": "export default () => 1"})
		s.Publish(t, name, "1.0.0")
	}
	s.Want(t, 200, "PATCH", "/api/v1/code-agents/mine", `{"name":"ours"}`)
	yours := s.Execute(t, "yours", "1.0.0", map[string]any{})
	restricted := scoped(t, s, map[string]any{"scopes": []string{"read", "run", "write", "approve"}, "agents": []string{"ours"}})
	for _, name := range []string{"ours", "mine"} {
		s.Want(t, 200, "GET", "/api/v1/code-agents/"+name, nil, restricted)
	}
	run := s.Want(t, 200, "POST", "/api/v1/code-agents/mine/execute", `{"version":"1.0.0","input":{}}`, restricted).Run(t)
	s.Want(t, 200, "GET", "/api/v1/runs/"+run.RunID, nil, restricted)
	for _, op := range operations(t) {
		switch {
		case op.public || len(op.needs) == 0 || slices.Contains(op.needs, "admin"):
		case strings.HasPrefix(op.path, "/api/v1/code-agents/x") && !strings.HasSuffix(op.path, "/copy"):
			path := strings.Replace(op.path, "/x", "/yours", 1)
			foreign, none := s.Do(t, op.method, path, nil, restricted), s.Do(t, op.method, op.path, nil, restricted)
			if foreign.Status != 404 || strings.ReplaceAll(string(foreign.Body), "yours", "x") != string(none.Body) {
				t.Errorf("%s %s: %d %s, of an agent that is not there %s", op.method, path, foreign.Status, foreign.Body, none.Body)
			}
		case strings.HasPrefix(op.path, "/api/v1/runs/x"):
			path := strings.Replace(op.path, "/x", "/"+yours.RunID, 1)
			if answer := s.Do(t, op.method, path, nil, restricted); answer.Status != 404 {
				t.Errorf("%s %s: %d %s", op.method, path, answer.Status, answer.Body)
			}
		default:
			if answer := s.Do(t, op.method, op.path, nil, restricted); answer.Status != 403 || !strings.Contains(string(answer.Body), "restricted to the agent ours") {
				t.Errorf("%s %s: %d %s", op.method, op.path, answer.Status, answer.Body)
			}
		}
	}
	session := s.Want(t, 204, "POST", "/api/v1/session", map[string]string{"token": strings.TrimPrefix(restricted["Authorization"], "Bearer ")}, servertest.Headers{"Authorization": ""})
	s.Want(t, 200, "GET", "/api/v1/code-agents/ours", nil, as(cookieOf(t, session)))
	s.Want(t, 404, "GET", "/api/v1/code-agents/yours", nil, as(cookieOf(t, session)))
	s.Want(t, 403, "GET", "/api/v1/code-agents", nil, as(cookieOf(t, session)))
}

// A caller with run but without read sees only the runs it started.
func TestRunWithoutReadSeesItsOwnRuns(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"script-runtime": "true"}))
	runner, other := scoped(t, s, map[string]any{"scopes": []string{"run"}}), scoped(t, s, map[string]any{"scopes": []string{"run"}})
	run := s.Script(t, "output 1", runner).Run(t)
	for _, path := range []string{"", "/events"} {
		s.Want(t, 200, "GET", "/api/v1/runs/"+run.RunID+path, nil, runner)
		s.Want(t, 404, "GET", "/api/v1/runs/"+run.RunID+path, nil, other)
	}
	s.Want(t, 404, "POST", "/api/v1/runs/"+run.RunID+"/cancel", nil, other)
	s.Want(t, 409, "POST", "/api/v1/runs/"+run.RunID+"/cancel", nil, runner)
}

// Callers of a skill run its latest version at once. Therefore every route that creates or removes such a version must
// require approve.
func TestVersionsOfSkillsNeedApprove(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Want(t, 200, "POST", "/v1/skills/create", `{"name":"adder","description":"Adds numbers up.","code":"def run(action, args):\n    return 1\n"}`)
	s.Create(t, map[string]any{"name": "plain", "language": "python", "code": "def main(input):\n    return 1\n"})
	writer := scoped(t, s, map[string]any{"scopes": []string{"read", "run", "write"}})
	for path, body := range map[string]string{"versions": `{}`, "export-tool": `{"publish":true}`} {
		p := s.Want(t, 403, "POST", "/api/v1/code-agents/adder/"+path, body, writer).Problem(t)
		if !slices.Equal(p.Needs, []string{"approve"}) {
			t.Errorf("%s: %+v", path, p)
		}
	}
	runner := scoped(t, s, map[string]any{"scopes": []string{"run"}})
	if p := s.Want(t, 403, "POST", "/api/v1/code-agents/plain/export-tool", `{"publish":true}`, runner).Problem(t); !slices.Equal(p.Needs, []string{"write"}) {
		t.Errorf("export that publishes: %+v", p)
	}
	s.Want(t, 201, "POST", "/api/v1/code-agents/plain/versions", `{}`, writer)
	var created struct{ Promoted bool }
	s.Want(t, 200, "POST", "/v1/skills/create", `{"name":"doubler","description":"Doubles numbers.","code":"def run(action, args):\n    return 2\n","auto_promote":true}`, writer).Into(t, &created)
	if created.Promoted {
		t.Error("auto_promote made a version without approve")
	}
	approver := scoped(t, s, map[string]any{"scopes": []string{"approve"}})
	s.Want(t, 200, "POST", "/v1/skills/promote", `{"name":"adder"}`, approver)
	for route, body := range map[string]string{"PATCH /versions/1.0.0": `{"deprecated":true}`, "DELETE ": ""} {
		method, path, _ := strings.Cut(route, " ")
		if p := s.Want(t, 403, method, "/api/v1/code-agents/adder"+path, body, writer).Problem(t); !slices.Equal(p.Needs, []string{"approve"}) {
			t.Errorf("%s: %+v", route, p)
		}
	}
	s.Want(t, 200, "PATCH", "/api/v1/code-agents/plain/versions/1.0.0", `{"deprecated":true}`, writer)
	s.Want(t, 204, "DELETE", "/api/v1/code-agents/adder", nil)
	if p := s.Want(t, 403, "POST", "/api/v1/code-agents/adder/restore", nil, writer).Problem(t); !slices.Equal(p.Needs, []string{"approve"}) {
		t.Errorf("restore: %+v", p)
	}
	s.Want(t, 200, "POST", "/api/v1/code-agents/adder/restore", nil)
}

// By default a token has all scopes except admin. Invalid requests must be rejected by field.
func TestTokensAsAskedFor(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "mine", "language": "python", "code": "def main(input):\n    return 1\n"})
	var session struct {
		Scopes []string
		Agents []struct{ Name string }
	}
	s.Want(t, 200, "GET", "/api/v1/session", nil, scoped(t, s, map[string]any{"agents": []string{"mine", "mine"}})).Into(t, &session)
	if !slices.Equal(session.Scopes, []string{"read", "run", "write", "approve"}) || len(session.Agents) != 1 || session.Agents[0].Name != "mine" {
		t.Errorf("got %+v", session)
	}
	for pointer, body := range map[string]string{
		"/scopes/0": `{"name":"x","scopes":["root"]}`,
		"/agents/1": `{"name":"x","agents":["mine","nobody"]}`,
		"/scopes":   `{"name":"x","scopes":["admin"],"agents":["mine"]}`,
		"/name":     `{"name":""}`,
	} {
		if p := s.Want(t, 422, "POST", "/api/v1/tokens", body).Problem(t); len(p.Errors) != 1 || p.Errors[0].Pointer != pointer {
			t.Errorf("%s: %+v", body, p)
		}
	}
}

// The last use of a token is visible immediately and survives a restart.
func TestLastUseOfTokens(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := servertest.On(t, data)
	used := scoped(t, s, map[string]any{"name": "used"})
	scoped(t, s, map[string]any{"name": "unused"})
	s.Want(t, 200, "GET", "/api/v1/code-agents", nil, used)
	lastUse := func(s *servertest.Server) map[string]string {
		var list struct {
			Items []struct{ Name, LastUsedAt string }
		}
		s.Want(t, 200, "GET", "/api/v1/tokens", nil).Into(t, &list)
		all := map[string]string{}
		for _, token := range list.Items {
			all[token.Name] = token.LastUsedAt
		}
		return all
	}
	before := lastUse(s)
	if before["used"] == "" || before["unused"] != "" {
		t.Errorf("last used: %v", before)
	}
	s.Stop(t)
	if after := lastUse(servertest.On(t, data)); after["used"] != before["used"] {
		t.Errorf("last used: %v, before the end %v", after, before)
	}
}
