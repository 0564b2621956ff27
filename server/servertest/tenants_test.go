package servertest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/server/app"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/server/servertest"
)

// tenant is a workspace with an administrator and a token.
type tenant struct {
	browser
	name  string
	token string
	me    me
}

func (w tenant) bearer() servertest.Headers {
	return servertest.Headers{"Authorization": "Bearer " + w.token}
}

// settle creates a workspace with its administrator.
func settle(t *testing.T, s *servertest.Server, admin browser, name, person string) tenant {
	t.Helper()
	s.Want(t, 201, "POST", "/api/v1/workspaces", map[string]string{"name": name, "title": "Title of " + name})
	b := join(t, s, person, invite(t, s, "administrator", as(admin.cookie), servertest.Headers{"X-Workspace": name}))
	var made struct{ Secret string }
	b.want(t, 201, "POST", "/api/v1/tokens", map[string]any{"name": "token of " + name, "scopes": []string{"admin"}}).Into(t, &made)
	return tenant{browser: b, name: name, token: made.Secret, me: b.me(t)}
}

// possessions contains the identifiers of a workspace's resources. Each one is paired with an identifier of the same
// form that does not exist.
type possessions struct {
	agents, runs, tokens, sessions, ownSessions, invitations, users, workspaces, secrets, skills, owners, digests, unlisted, sets, approvals, packs, projects, overlays, tasks, budgets [][2]string
	markers                                                                                                                                                                             []string // texts that prove a leak if an answer contains them
}

const nowhere = "00000000-0000-7000-8000-000000000000"

// populate creates one resource of every kind in a workspace.
func populate(t *testing.T, s *servertest.Server, w tenant) possessions {
	t.Helper()
	who := w.bearer()
	id := func(answer servertest.Answer) string {
		t.Helper()
		var made struct{ ID, RunID string }
		answer.Into(t, &made)
		if made.ID == "" && made.RunID == "" {
			t.Fatalf("no ID in %s", answer.Body)
		}
		return made.ID + made.RunID
	}
	agent := id(s.Want(t, 201, "POST", "/api/v1/code-agents", map[string]any{
		"name": "alpha-ledger", "title": "The alpha ledger", "description": "Counts marbles for Alpha.", "tags": []string{"alphatag"},
		"language": "javascript", "code": "export default () => 'alphaoutput' // alphasource",
	}, who))
	version := func(number string) string {
		var made struct{ Digest string }
		s.Want(t, 201, "POST", "/api/v1/code-agents/alpha-ledger/versions", map[string]any{"version": number, "changelog": "alphachange"}, who).Into(t, &made)
		return made.Digest
	}
	digest := version("1.0.0")
	s.Want(t, 200, "PUT", "/api/v1/code-agents/alpha-ledger", `{"language":"javascript","code":"export default () => 'alphaoutput' // alphasource, again"}`, who, servertest.Headers{"If-Match": `"1"`})
	second := version("1.1.0")
	s.Want(t, 201, "POST", "/api/v1/code-agents", `{"name":"alpha-gone","language":"javascript","code":"export default () => 1"}`, who)
	s.Want(t, 204, "DELETE", "/api/v1/code-agents/alpha-gone", nil, who)
	ended := id(s.Want(t, 200, "POST", "/api/v1/code-agents/alpha-ledger/execute", `{"version":"1.0.0","input":{}}`, who))
	long := servertest.ScriptBody("print alphaprinted\nwait")
	long["limits"] = map[string]any{"timeoutMs": 600_000} // The run lasts longer than all requests of the test.
	running := id(s.Want(t, 202, "POST", "/api/v1/execute", long, who, servertest.Headers{"Prefer": "respond-async"}))
	servertest.Eventually(t, "the run has begun", func() bool {
		return s.Want(t, 200, "GET", "/api/v1/runs/"+running, nil, who).Run(t).Status == "running"
	})
	s.Want(t, 201, "POST", "/api/v1/code-agents", `{"name":"alpha-asks","language":"javascript","code":"export default () => 1","requiresApproval":true}`, who)
	s.Want(t, 201, "POST", "/api/v1/code-agents/alpha-asks/versions", `{}`, who)
	var asked struct{ ApprovalID string }
	s.Want(t, 202, "POST", "/api/v1/code-agents/alpha-asks/execute", `{"version":"1.0.0","input":{"alpha":1}}`, who).Into(t, &asked)
	waiting := asked.ApprovalID
	s.Want(t, 200, "PUT", "/api/v1/rule-packs/alpha-pack", map[string]string{"source": "name: alpha-pack\nrules:\n  - {id: alpha, title: Alpha, severity: low, match: {fact: [call]}, remedy: Alpha}\n"}, who)
	s.Want(t, 200, "PUT", "/api/v1/pins", `{"owner":"workflow:alpha","label":"Alpha flow","references":["alpha-ledger@^1"]}`, who)
	s.Want(t, 200, "PUT", "/api/v1/tool-sets/alpha-set", `{"title":"Alpha tools","references":["alpha-ledger@^1"]}`, who)
	s.Want(t, 200, "PUT", "/api/v1/budgets/alpha-budget", `{"meter":"runs","amount":1000000}`, who)
	s.Want(t, 200, "PUT", "/api/v1/secrets/ALPHA_KEY", `{"value":"alphasecretvalue"}`, who)
	s.Want(t, 200, "POST", "/v1/skills/create", `{"name":"alphaskill","description":"Adds for Alpha.","code":"def run(action, args):\n    return 1\n","auto_promote":true}`, who)
	s.Want(t, 200, "POST", "/api/v1/projects/alpha-project/import?summary=alphaimport", string(packed(t, map[string]string{"alpha.txt": "alphatext"})), who, servertest.Headers{"Content-Type": "application/gzip"})
	s.Want(t, 200, "POST", "/api/v1/execute", onProject("alpha-project", "javascript", "goja", "export default (i, ctx) => ctx.writeFile('alpha.txt', 'alphaproposal')"), who)
	var proposed struct{ Items []struct{ ID string } }
	s.Want(t, 200, "GET", "/api/v1/projects/alpha-project/overlays", nil, who).Into(t, &proposed)
	overlay := proposed.Items[0].ID
	s.Want(t, 201, "POST", "/api/v1/code-agents", `{"name":"alpha-works","language":"javascript","code":"export default () => 1","capabilities":{"files":{"project":"alpha-project","write":true}},"safetyFlags":["file_system"]}`, who)
	s.Want(t, 201, "POST", "/api/v1/code-agents/alpha-works/versions", `{}`, who)
	task := id(s.Want(t, 201, "POST", "/api/v1/tasks", `{"agent":"alpha-works","title":"alphatask"}`, who))
	servertest.Eventually(t, "the task has ended", func() bool {
		return strings.Contains(string(s.Want(t, 200, "GET", "/api/v1/tasks/"+task, nil, who).Body), `"status":"accepted"`)
	})
	token := id(s.Want(t, 201, "POST", "/api/v1/tokens", `{"name":"alphatoken"}`, who))
	s.Want(t, 201, "POST", "/api/v1/invitations", `{"role":"viewer","note":"alphanote"}`, who)
	first := func(path string) string {
		var list struct{ Items []struct{ ID string } }
		s.Want(t, 200, "GET", path, nil, as(w.cookie)).Into(t, &list)
		return list.Items[0].ID
	}
	invitation, session := first("/api/v1/invitations"), first("/api/v1/me/sessions")
	const noDigest = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	return possessions{
		agents:      [][2]string{{"alpha-ledger", "omega-ledger"}, {agent, nowhere}, {"alpha-gone", "omega-gone"}},
		runs:        [][2]string{{ended, nowhere}, {running, nowhere}},
		tokens:      [][2]string{{token, nowhere}},
		sessions:    [][2]string{{session, strings.Repeat("0", len(session))}},
		ownSessions: [][2]string{{session, strings.Repeat("0", len(session))}},
		invitations: [][2]string{{invitation, nowhere}},
		users:       [][2]string{{w.me.Actor.ID, nowhere}},
		workspaces:  [][2]string{{w.name, "nothing"}, {w.me.Workspace.ID, nowhere}},
		secrets:     [][2]string{{"ALPHA_KEY", "OMEGA_KEY"}},
		skills:      [][2]string{{"alphaskill", "omegaskill"}},
		owners:      [][2]string{{"workflow:alpha", "workflow:omega"}},
		digests:     [][2]string{{digest, noDigest}, {second, noDigest}},
		unlisted:    [][2]string{{agent, nowhere}},
		sets:        [][2]string{{"alpha-set", "omega-set"}},
		approvals:   [][2]string{{waiting, nowhere}},
		packs:       [][2]string{{"alpha-pack", "omega-pack"}},
		budgets:     [][2]string{{"alpha-budget", "omega-budget"}},
		projects:    [][2]string{{"alpha-project", "omega-project"}},
		overlays:    [][2]string{{overlay, nowhere}},
		tasks:       [][2]string{{task, nowhere}},
		markers: []string{
			"alpha", "Alpha", "ALPHA", agent, ended, running, token, session, invitation, digest, second, strings.TrimPrefix(digest, "sha256:"),
			w.me.Actor.ID, w.me.Actor.Name, w.me.Workspace.ID, w.me.Workspace.Name, w.me.Workspace.Title,
		},
	}
}

// walk describes how to request a route for a resource of another workspace. In the query and the body, each § is
// replaced by the identifier of the resource; so is the path parameter at. Other path parameters come from the caller's
// workspace. A route without a resource is requested once, and its answer is searched for leaks.
type walk struct {
	about [][2]string
	at    string // path parameter to replace; "" if the identifier is in the query or the body
	query string
	body  string
	wants int // status for a resource of another workspace; 0 means 404; -1 means any status, but the same as for a resource that does not exist
	sent  servertest.Headers
}

// walks has an entry for every route. If an entry is missing, the test fails.
func walks(has possessions) map[string]walk {
	const (
		agents  = "/api/v1/code-agents"
		one     = agents + "/{agent}"
		exact   = one + "/versions/{version}"
		save    = one + "/draft/history/{revision}"
		listed  = agents + "/registry/{publisher}/{name}"
		project = "/api/v1/projects/{project}"
		overlay = project + "/overlays/{overlay}"
		task    = "/api/v1/tasks/{task}"
		code    = `{"language":"javascript","code":"export default () => 1"}`
	)
	agent := func(body string) walk {
		return walk{about: has.agents, at: "agent", body: body, sent: servertest.Headers{"If-Match": `"1"`}}
	}
	run := walk{about: has.runs, at: "run"}
	anything := walk{}
	socket := servertest.Headers{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "c2l4dGVlbiBieXRlcyEhIQ=="}
	references := [][2]string{}
	for _, a := range has.agents {
		for _, version := range []string{"1.0.0", "^1", "latest", has.digests[0][0]} {
			references = append(references, [2]string{a[0] + "@" + version, a[1] + "@" + strings.Replace(version, has.digests[0][0], has.digests[0][1], 1)})
		}
	}
	return map[string]walk{
		"GET /api/v1/archive":                     {about: has.agents, query: "agent=§"},
		"POST /api/v1/archive":                    {body: `{}`, wants: -1},
		"GET /api/v1/capabilities":                anything,
		"GET " + agents:                           {query: "q=alpha&code=true&limit=200"},
		"POST " + agents:                          {body: `{"name":"another","language":"javascript","code":"export default () => 1"}`},
		"GET " + agents + "/registry":             {query: "q=alpha&tag=alphatag"},
		"GET " + listed:                           {about: has.agents, at: "name"},
		"GET " + listed + "/versions/{version}":   {about: has.agents, at: "name"},
		"POST " + agents + "/import-tool":         {body: `{"tool":{"name":"another","inputSchema":{"type":"object"}}}`},
		"POST " + agents + "/registry/{id}/copy":  {about: has.unlisted, at: "id", body: `{}`},
		"GET " + one:                              agent(""),
		"PUT " + one:                              agent(code),
		"PATCH " + one:                            agent(`{"title":"x"}`),
		"DELETE " + one:                           agent(""),
		"POST " + one + "/copy":                   agent(`{"name":"copied"}`),
		"GET " + one + "/diff":                    agent(""),
		"POST " + one + "/draft":                  agent(`{"from":"1.0.0"}`),
		"GET " + one + "/draft/history":           agent(""),
		"GET " + one + "/events":                  agent(""),
		"GET " + save:                             agent(""),
		"PATCH " + save:                           agent(`{"label":"x"}`),
		"POST " + save + "/restore":               agent(""),
		"POST " + one + "/execute":                agent(`{"version":"1.0.0","input":{}}`),
		"POST " + one + "/export-tool":            agent(`{"version":"1.0.0","format":"openai"}`),
		"GET " + one + "/pins":                    agent(""),
		"POST " + one + "/publish":                agent(`{"public":true}`),
		"POST " + one + "/replay":                 agent(`{"version":"1.0.0"}`),
		"POST " + one + "/tests/generate":         agent(`{"version":"1.0.0"}`),
		"POST " + one + "/tests/run":              agent(`{"version":"1.0.0"}`),
		"POST " + one + "/restore":                agent(""),
		"GET " + one + "/runtime":                 agent(""),
		"GET " + one + "/schemas-from-runs":       agent(""),
		"GET " + one + "/verdict":                 agent(""),
		"GET " + one + "/versions":                agent(""),
		"POST " + one + "/versions":               agent(`{}`),
		"GET " + exact:                            {about: has.digests, at: "version"},
		"PATCH " + exact:                          {about: has.digests, at: "version", body: `{"deprecated":true}`},
		"GET " + exact + "/diff/{other}":          {about: has.digests, at: "other"},
		"GET " + exact + "/manifest":              {about: has.digests, at: "version"},
		"POST /api/v1/execute":                    {about: has.runs, body: `{"language":"bash","runtime":"script","code":"output 1","parentRunId":"§"}`, wants: 200},
		"GET /api/v1/invitations":                 anything,
		"POST /api/v1/invitations":                {body: `{"role":"viewer"}`},
		"POST /api/v1/invitations/accept":         {body: `{"secret":"ati_x"}`},
		"POST /api/v1/invitations/read":           {body: `{"secret":"ati_x"}`},
		"DELETE /api/v1/invitations/{invitation}": {about: has.invitations, at: "invitation"},
		"PUT /api/v1/me/password":                 {body: `{"new":"a password of some length"}`},
		"GET /api/v1/me/sessions":                 anything,
		"DELETE /api/v1/me/sessions/{session}":    {about: has.ownSessions, at: "session", wants: -1},
		"GET /api/v1/members":                     anything,
		"DELETE /api/v1/members/{user}":           {about: has.users, at: "user"},
		"PATCH /api/v1/members/{user}":            {about: has.users, at: "user", body: `{"role":"viewer"}`},
		"GET /api/v1/openapi.json":                anything,
		"DELETE /api/v1/pins":                     {about: has.owners, query: "owner=§", wants: -1},
		"GET /api/v1/pins":                        {about: has.owners, query: "owner=§", wants: 200},
		"PUT /api/v1/pins":                        {about: references, body: `{"owner":"mine","references":["§"]}`, wants: -1},
		"GET /api/v1/approvals":                   anything,
		"GET /api/v1/approval-deliveries":         anything,
		"GET /api/v1/approvals/{approval}":        {about: has.approvals, at: "approval"},
		"GET /api/v1/approvals/{approval}/diff":   {about: has.approvals, at: "approval"},
		"POST /api/v1/approvals/{approval}":       {about: has.approvals, at: "approval", body: `{"decision":"approve"}`},
		"GET /api/v1/blocked":                     anything,
		"POST /api/v1/blocked/{request}":          {about: has.approvals, at: "request", body: `{"action":"drop"}`},
		"GET /api/v1/gate":                        anything,
		"PUT /api/v1/gate":                        anything,
		"POST /api/v1/gate/try":                   {body: code},
		"GET /api/v1/router":                      anything,
		"POST /api/v1/router/explain":             {about: has.agents, body: `{"agent":"§","version":"1.0.0"}`},
		"GET /api/v1/rule-packs":                  anything,
		"PUT /api/v1/rule-packs/{pack}":           {about: has.packs, at: "pack", body: `{"source":"name: other\nrules: []\n"}`, wants: -1},
		"DELETE /api/v1/rule-packs/{pack}":        {about: has.packs, at: "pack"},
		"GET /api/v1/projects":                    anything,
		"GET " + project:                          {about: has.projects, at: "project"},
		"DELETE " + project:                       {about: has.projects, at: "project"},
		"POST " + project + "/import":             {about: has.projects, at: "project", body: `{}`, wants: -1},
		"GET " + project + "/file":                {about: has.projects, at: "project", query: "path=alpha.txt"},
		"GET " + project + "/changes":             {about: has.projects, at: "project"},
		"GET " + project + "/overlays":            {about: has.projects, at: "project"},
		"GET " + overlay + "/diff":                {about: has.overlays, at: "overlay"},
		"GET " + overlay + "/archive":             {about: has.overlays, at: "overlay"},
		"PUT " + overlay + "/archive":             {about: has.overlays, at: "overlay", body: `{}`, wants: -1},
		"POST " + overlay + "/accept":             {about: has.overlays, at: "overlay", body: `{}`},
		"POST " + overlay + "/reject":             {about: has.overlays, at: "overlay", body: `{}`},
		"GET /api/v1/usage":                       anything,
		"GET /api/v1/tasks":                       {about: has.projects, query: "project=§"},
		"POST /api/v1/tasks":                      {about: has.agents, body: `{"agent":"§"}`},
		"GET " + task:                             {about: has.tasks, at: "task"},
		"GET " + task + "/events":                 {about: has.tasks, at: "task"},
		"GET " + task + "/diff":                   {about: has.tasks, at: "task"},
		"POST " + task + "/accept":                {about: has.tasks, at: "task", body: `{}`},
		"POST " + task + "/reject":                {about: has.tasks, at: "task", body: `{}`},
		"POST " + task + "/cancel":                {about: has.tasks, at: "task"},
		"POST " + task + "/retry":                 {about: has.tasks, at: "task", body: `{}`},
		"GET /api/v1/budgets":                     anything,
		"PUT /api/v1/budgets/{budget}":            {about: has.budgets, at: "budget", body: `{"meter":"runs","amount":1}`, wants: -1},
		"DELETE /api/v1/budgets/{budget}":         {about: has.budgets, at: "budget"},
		"GET /api/v1/quotas":                      anything,
		"GET /api/v1/quotas/{workspace}":          {about: has.workspaces, at: "workspace", wants: -1},
		"PUT /api/v1/quotas/{workspace}":          {about: has.workspaces, at: "workspace", body: `{"runsPerDay":1}`, wants: -1},
		"POST /api/v1/references/resolve":         {about: references, body: `{"references":["§"]}`, wants: 200},
		"GET /api/v1/runs":                        {about: has.agents, query: "agent=§", wants: -1},
		"GET /api/v1/runs/{run}":                  run,
		"POST /api/v1/runs/{run}/cancel":          run,
		"GET /api/v1/runs/{run}/events":           run,
		"GET /api/v1/runs/{run}/stream":           {about: has.runs, at: "run", sent: socket},
		"GET /api/v1/runtimes":                    anything,
		"GET /api/v1/samples":                     anything,
		"GET /api/v1/secrets":                     anything,
		"PUT /api/v1/secrets/{name}":              {about: has.agents, query: "agent=§", body: `{"value":"some value"}`},
		"DELETE /api/v1/secrets/{name}":           {about: has.secrets, at: "name"},
		"GET /api/v1/secrets/{name}/uses":         {about: has.secrets, at: "name", wants: -1},
		"GET /api/v1/session":                     anything,
		"GET /api/v1/session/methods":             anything,
		"POST /api/v1/session":                    {body: `{"name":"alan","password":"of nobody here"}`},
		"DELETE /api/v1/session":                  {wants: -1},
		"GET /api/v1/sessions":                    anything,
		"DELETE /api/v1/sessions/{session}":       {about: has.sessions, at: "session"},
		"GET /api/v1/skills":                      anything,
		"POST /api/v1/skills":                     {about: has.skills, body: `{"name":"§"}`},
		"POST /api/v1/skills/{name}/promote":      {about: has.skills, at: "name", body: `{}`},
		"DELETE /api/v1/skills/{name}":            {about: has.skills, at: "name"},
		"GET /api/v1/tool-sets":                   anything,
		"GET /api/v1/tool-sets/{set}":             {about: has.sets, at: "set"},
		"PUT /api/v1/tool-sets/{set}":             {about: references, at: "", body: `{"references":["§"]}`, wants: 422},
		"DELETE /api/v1/tool-sets/{set}":          {about: has.sets, at: "set"},
		"GET /api/v1/server.json":                 {about: has.sets, query: "set=§"},
		"GET /mcp":                                {wants: -1},
		"POST /mcp":                               {body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, wants: -1},
		"DELETE /mcp":                             {wants: -1},
		"GET /mcp/{reference}":                    {about: references, at: "reference"},
		"POST /mcp/{reference}":                   {about: references, at: "reference", body: `{}`},
		"DELETE /mcp/{reference}":                 {about: references, at: "reference"},
		"GET /mcp/sets/{set}":                     {about: has.sets, at: "set"},
		"POST /mcp/sets/{set}":                    {about: has.sets, at: "set", body: `{}`},
		"DELETE /mcp/sets/{set}":                  {about: has.sets, at: "set"},
		"GET /api/v1/tokens":                      anything,
		"POST /api/v1/tokens":                     {about: has.agents, body: `{"name":"x","agents":["§"]}`, wants: 422},
		"DELETE /api/v1/tokens/{token}":           {about: has.tokens, at: "token"},
		"POST /api/v1/validate":                   {body: code},
		"POST /api/v1/infer":                      {body: code},
		"POST /api/v1/assist/fix":                 {about: has.runs, body: `{"runId":"§"}`, wants: 503},
		"POST /api/v1/assist/generate":            {body: `{"description":"x","language":"bash"}`, wants: 503},
		"POST /api/v1/assist/change":              {about: has.agents, body: `{"agent":"§","task":"tests"}`, wants: 503},
		"POST /api/v1/assist/tools":               {body: `{"task":"nothing such exists"}`, wants: 503},
		"POST /api/v1/assist/explain":             {about: has.agents, body: `{"agent":"§"}`, wants: 503},
		"POST /api/v1/assist/complete":            {about: has.agents, body: `{"agent":"§","file":"main.py","before":"x","after":""}`, wants: 503},
		"GET /api/v1/language-model":              {},
		"PUT /api/v1/language-model":              {body: `{"on":true}`},
		"POST /api/v1/assist/review":              {about: has.agents, body: `{"agent":"§"}`, wants: 503},
		"POST /api/v1/format":                     {body: `{"language":"bash","code":"echo  1"}`},
		"GET /api/v1/workspaces":                  anything,
		"POST /api/v1/workspaces":                 {about: [][2]string{{"acme", "nothing"}}, body: `{"name":"§"}`, wants: 403},
		"PATCH /api/v1/workspaces/{workspace}":    {about: has.workspaces, at: "workspace", body: `{"title":"x"}`},
		"DELETE /api/v1/workspaces/{workspace}":   {about: has.workspaces, at: "workspace", wants: 403},
		"GET /health":                             anything,
		"GET /ready":                              anything,
		"GET /skills/list":                        anything,
		"POST /skills/execute":                    {about: has.skills, body: `{"skill":"§","args":{}}`, wants: -1},
		"POST /skills/register":                   {body: `{}`},
		"GET /skills/{id}":                        {about: has.skills, at: "id"},
		"GET /skills/{id}/schema":                 {about: has.skills, at: "id"},
		"GET /v1/contracts":                       anything,
		"GET /v1/contracts/{name}":                {about: has.skills, at: "name"},
		"POST /v1/context/priors":                 {body: `{"context":"yaml"}`},
		"GET /v1/packages":                        anything,
		"GET /v1/packages/installed":              anything,
		"GET /api/v1/packages/installed":          anything,
		"GET /api/v1/packages/search":             {query: "language=python&q=x", wants: -1},
		"GET /api/v1/packages/versions":           {query: "language=python&name=x", wants: -1},
		"GET /api/v1/packages/dependencies":       {query: "language=python&name=x", wants: -1},
		"GET " + one + "/packages/types":          agent(""),
		"POST /api/v1/gc":                         {body: `{}`},
		"POST /api/v1/packages/gc":                {body: `{"unusedHours":720}`, wants: 403},
		"POST " + one + "/packages/resolve":       agent(`{}`),
		"GET " + one + "/versions/{version}/sbom": agent(""),
		"GET /v1/skills":                          anything,
		"POST /v1/skills/create":                  {about: has.skills, body: `{"name":"§","description":"Adds numbers up.","code":"x = 1"}`, wants: 200}, // This request stores no draft.
		"POST /v1/skills/install":                 {about: has.skills, body: `{"name":"§"}`},
		"POST /v1/skills/promote":                 {about: has.skills, body: `{"name":"§"}`},
		"POST /v1/skills/autonomous_skill_task":   {body: `{"user_text":"nothing such exists"}`}, // The server has no model.
		"POST /v1/skills/run":                     {about: has.skills, body: `{"name":"§"}`, wants: -1},
		"POST /v1/skills/uninstall":               {about: has.skills, body: `{"name":"§"}`},
		"POST /v1/validation/code":                {body: `{"code":"def run(action, args): pass"}`},
	}
}

// outside lists public routes that the API description does not contain.
func outside() []string {
	return []string{"GET /", "GET /docs", "GET /login", "GET /metrics", "GET /openapi.json", "GET /schemas/agent.json", "GET /schemas/tool-manifest.json", "GET /studio/"}
}

// routes lists all routes of the API description and of the gate, by method and pattern.
func routes(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(servertest.Root(t), "docs", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	all := gate.Guarded()
	for path, methods := range doc.Paths {
		for method := range methods {
			all = append(all, strings.ToUpper(method)+" "+path)
		}
	}
	all = append(all, outside()...)
	slices.Sort(all)
	return slices.Compact(all)
}

var (
	parameterIn = regexp.MustCompile(`\{([a-z]+)\}`)
	// byChance matches values that differ between two answers to the same request.
	byChance = regexp.MustCompile(`"(?:runId|executionId|execution_id|requestId|request_id|id|timestamp|createdAt|updatedAt|savedAt|publishedAt|at)": ?"[^"]*"|"(?:execution_time_ms|executionTime|executionTimeMs|queuedMs|startMs|runMs|totalMs|cpuMs|peakMemoryBytes)": ?[0-9.e-]+`)
)

// asked returns the request for a resource of another workspace, or for a resource that does not exist.
func (w walk) asked(pattern, value string) (path, body string) {
	path = parameterIn.ReplaceAllStringFunc(pattern, func(p string) string {
		name := strings.Trim(p, "{}")
		own := map[string]string{"agent": "mine", "version": "1.0.0", "revision": "1", "other": "1.1.0", "name": "MY_KEY", "run": nowhere, "id": nowhere, "publisher": "acme", "set": "mine", "reference": "mine", "project": "mine"}
		if name == w.at {
			return url.PathEscape(value)
		}
		return own[name]
	})
	if w.query != "" {
		path += "?" + strings.ReplaceAll(w.query, "§", url.QueryEscape(value))
	}
	return path, strings.ReplaceAll(w.body, "§", value)
}

// answered returns an answer without the requested name, and without values that are different each time.
func answered(a servertest.Answer, asked string) string {
	var headers []string
	for name, values := range a.Header {
		if !slices.Contains([]string{"Date", "X-Request-Id", "Traceparent", "Content-Length", "Location", "Etag"}, name) {
			headers = append(headers, name+": "+strings.Join(values, ","))
		}
	}
	slices.Sort(headers)
	text := string(a.Body)
	name, _, _ := strings.Cut(asked, "@") // The name is the part of a reference before the @.
	for _, form := range []string{asked, url.QueryEscape(asked), name} {
		if form != "" {
			text = strings.ReplaceAll(text, form, "ASKED")
		}
	}
	return fmt.Sprintf("%d\n%s\n%s", a.Status, strings.Join(headers, "\n"), byChance.ReplaceAllString(text, "BYCHANCE"))
}

// Every route and method is requested for every resource of another workspace. The answer must equal the answer for a
// resource that does not exist, byte for byte. No answer may mention the resource.
func TestWorkspacesAreKeptApart(t *testing.T) {
	t.Parallel()
	for _, d := range []storetest.Dialect{storetest.SQLite, storetest.Postgres} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			keptApart(t, storetest.Options(t, d).URL)
		})
	}
}

func keptApart(t *testing.T, database string) {
	ledger, began := &ledger{}, time.Now()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"script-runtime": "true", "database": database}), func(o *app.Options) {
		o.Asked, o.Now = ledger.note, func() time.Time { return began } // The clock stands still, so that cached values do not expire during the test.
	})
	admin := browser{s, cookieOf(t, s.Do(t, "GET", signInLink(t, s), nil, anonymous))}
	acme, other := settle(t, s, admin, "acme", "grace"), settle(t, s, admin, "other", "eve")
	has := populate(t, s, acme)
	s.Want(t, 201, "POST", "/api/v1/code-agents", `{"name":"mine","language":"javascript","code":"export default () => 1"}`, other.bearer())
	s.Want(t, 201, "POST", "/api/v1/code-agents/mine/versions", `{"version":"1.0.0"}`, other.bearer())
	s.Want(t, 200, "GET", "/api/v1/code-agents/mine/versions/1.0.0/diff/1.0.0", nil, other.bearer()) // From here on, the answer is cached.
	before := inventory(t, acme)

	w := walker{T: t, s: s, ledger: ledger, has: has, callers: map[string]servertest.Headers{"token": other.bearer(), "session": as(other.cookie)}}
	table := walks(has)
	for _, route := range routes(t) {
		line, ok := table[route]
		ok = ok || slices.Contains(outside(), route)
		if !ok {
			t.Errorf("%s has no line in the walk: say how it is asked about what another workspace has", route)
			continue
		}
		delete(table, route)
		w.route(route, line, acme)
	}
	for route := range table {
		t.Errorf("%s is no route any more", route)
	}
	for _, name := range []string{"alpha-ledger", "alphaskill"} { // Each workspace has its own names.
		s.Want(t, 201, "POST", "/api/v1/code-agents", map[string]string{"name": name, "language": "javascript", "code": "export default () => 1"}, other.bearer())
	}
	if after := inventory(t, acme); after != before {
		t.Errorf("what the workspace has is not what it was:\n%s\nbefore:\n%s", after, before)
	}
	t.Logf("routes × methods: %d, requests: %d, leaks: %d", w.routes, w.requests, w.leaks)
	if w.routes < 80 || w.requests < 400 {
		t.Error("that is too little to be all")
	}
}

// All workspaces can read and copy an agent that is listed in the registry. They see its ID but not its creator. All
// other data of the agent must stay private.
func TestWhatIsListedIsForAll(t *testing.T) {
	t.Parallel()
	s := scripted(t, nil)
	admin := browser{s, cookieOf(t, s.Do(t, "GET", signInLink(t, s), nil, anonymous))}
	acme, other := settle(t, s, admin, "acme", "grace"), settle(t, s, admin, "other", "eve")
	has := populate(t, s, acme)
	s.Want(t, 200, "POST", "/api/v1/code-agents/alpha-ledger/publish", `{"public":true}`, acme.bearer())
	listing := s.Want(t, 200, "GET", "/api/v1/code-agents/registry?q=alpha", nil, other.bearer())
	if !strings.Contains(string(listing.Body), "The alpha ledger") {
		t.Errorf("the registry has %s", listing.Body)
	}
	copied := s.Want(t, 201, "POST", "/api/v1/code-agents/registry/"+has.unlisted[0][0]+"/copy", `{"name":"mine"}`, other.bearer())
	read := s.Want(t, 200, "GET", "/api/v1/code-agents/registry/acme/alpha-ledger", nil, other.bearer())
	version := s.Want(t, 200, "GET", "/api/v1/code-agents/registry/acme/alpha-ledger/versions/^1", nil, other.bearer())
	if !strings.Contains(string(read.Body), "alphachange") || !strings.Contains(string(version.Body), "alphasource, again") {
		t.Errorf("%s\n%s", read.Body, version.Body)
	}
	told := string(listing.Body) + string(copied.Body) + string(read.Body) + string(version.Body)
	private := []string{acme.me.Actor.ID, acme.me.Actor.Name, acme.me.Workspace.ID, acme.me.Workspace.Title, "token of acme", "alphaprinted", "alphasecretvalue"}
	for _, marker := range private {
		if strings.Contains(told, marker) {
			t.Errorf("the registry tells %q: %s", marker, told)
		}
	}
	for _, path := range []string{"", "/versions", "/pins", "/versions/1.0.0/manifest"} {
		s.Want(t, 404, "GET", "/api/v1/code-agents/alpha-ledger"+path, nil, other.bearer())
	}
	s.Want(t, 200, "POST", "/api/v1/code-agents/alpha-ledger/publish", `{"public":false}`, acme.bearer())
	s.Want(t, 404, "POST", "/api/v1/code-agents/registry/"+has.unlisted[0][0]+"/copy", `{"name":"again"}`, other.bearer())
	for _, path := range []string{"", "/versions/1.0.0"} {
		s.Want(t, 404, "GET", "/api/v1/code-agents/registry/acme/alpha-ledger"+path, nil, other.bearer())
	}
}

// inventory returns everything that a workspace shows to its own administrator, except for values that change on
// reading.
func inventory(t *testing.T, w tenant) string {
	t.Helper()
	var all strings.Builder
	for _, path := range []string{
		"code-agents", "code-agents/alpha-ledger", "code-agents/alpha-ledger/versions", "code-agents/alpha-ledger/pins", "code-agents?state=deleted", "runs", "pins?owner=workflow:alpha",
		"tokens", "invitations", "members", "secrets", "skills", "workspaces", "quotas",
	} {
		all.Write(w.want(t, 200, "GET", "/api/v1/"+path, nil).Body)
	}
	used := regexp.MustCompile(`"(?:lastUsedAt|until)":"[^"]*",?|"cpuSeconds[A-Za-z]*":[0-9.]+`)
	return used.ReplaceAllString(all.String(), "")
}

// ledger counts the database operations of each request.
type ledger struct {
	mu    sync.Mutex
	asked map[string][]string // operations by request ID
}

func (l *ledger) note(ctx context.Context, operation string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked == nil {
		l.asked = map[string][]string{}
	}
	id := telemetry.RequestID(ctx)
	l.asked[id] = append(l.asked[id], operation)
}

func (l *ledger) of(a servertest.Answer) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.asked[a.Header.Get(gate.RequestIDHeader)], " ")
}

// walker sends requests and compares the answers.
type walker struct {
	*testing.T
	s                       *servertest.Server
	ledger                  *ledger
	has                     possessions
	callers                 map[string]servertest.Headers
	routes, requests, leaks int
}

func (w *walker) leak(format string, args ...any) {
	w.Helper()
	w.leaks++
	w.Errorf(format, args...)
}

// ask sends a request and searches the answer for data of another workspace. It ignores the requested name.
func (w *walker) ask(method, path, body, asked string, headers ...servertest.Headers) servertest.Answer {
	w.Helper()
	w.requests++
	var sent any
	if body != "" {
		sent = body
	}
	answer := w.s.Do(w.T, method, path, sent, headers...)
	text := answered(answer, asked)
	for _, marker := range w.has.markers {
		if strings.Contains(text, marker) && !strings.Contains(body+path, marker) {
			w.leak("%s %s %s tells %q: %s", method, path, body, marker, text)
		}
	}
	return answer
}

func (w *walker) route(route string, line walk, acme tenant) {
	w.Helper()
	w.routes++
	method, pattern, _ := strings.Cut(route, " ")
	ways := []servertest.Headers{{}}
	if strings.HasSuffix(pattern, "/events") {
		ways = append(ways, servertest.Headers{"Accept": "text/event-stream"})
	}
	for name, who := range w.callers {
		if pattern == "/api/v1/session" && method == http.MethodDelete && name == "session" {
			continue // This request would sign out the caller of this test.
		}
		for _, way := range ways {
			w.abroad(name, method, pattern, line, who, way)
		}
		w.inside(name, method, pattern, line, who, acme)
	}
}

// abroad sends the requests of another workspace's caller.
func (w *walker) abroad(name, method, pattern string, line walk, who, way servertest.Headers) {
	w.Helper()
	if line.about == nil {
		path, body := line.asked(pattern, "")
		w.ask(method, path, body, "", line.sent, way, who)
		return
	}
	for _, pair := range line.about {
		ask := func(value string) servertest.Answer {
			w.s.Want(w.T, 200, "GET", "/api/v1/capabilities", nil, who) // Afterwards the gate has cached its look-ups.
			path, body := line.asked(pattern, value)
			return w.ask(method, path, body, value, line.sent, way, who)
		}
		foreign, none := ask(pair[0]), ask(pair[1])
		if got, want := w.ledger.of(foreign), w.ledger.of(none); got != want { // A caller could measure a different number of operations.
			w.leak("%s %s with a %s: for another's %s the database is asked %s, for nothing %s", method, pattern, name, pair[0], got, want)
		}
		if got, want := answered(foreign, pair[0]), answered(none, pair[1]); got != want {
			w.leak("%s %s with a %s: about another's %s\n%s\nabout nothing\n%s", method, pattern, name, pair[0], got, want)
		}
		want := line.wants
		if want == 0 {
			want = http.StatusNotFound
		}
		if want != -1 && foreign.Status != want {
			w.leak("%s %s with a %s about %s: %d %s, want %d", method, pattern, name, pair[0], foreign.Status, foreign.Body, want)
		}
	}
}

// inside requests another workspace with X-Workspace, or with the URL of a WebSocket.
func (w *walker) inside(name, method, pattern string, line walk, who servertest.Headers, acme tenant) {
	w.Helper()
	if !slices.Contains(gate.Guarded(), method+" "+pattern) {
		return
	}
	value := ""
	if len(line.about) > 0 {
		value = line.about[0][0]
	}
	path, body := line.asked(pattern, value)
	for _, foreign := range []string{acme.name, acme.me.Workspace.ID} {
		var answers []string
		for _, workspace := range []string{foreign, "nothing"} {
			chosen := servertest.Headers{"X-Workspace": workspace}
			asked := path
			if line.sent["Upgrade"] != "" {
				chosen, asked = servertest.Headers{}, path+"?workspace="+workspace
			}
			answer := w.ask(method, asked, body, workspace, line.sent, who, chosen)
			if answer.Status != http.StatusNotFound || !strings.Contains(string(answer.Body), "workspace") {
				w.leak("%s %s with a %s in the workspace %s: %d %s", method, pattern, name, workspace, answer.Status, answer.Body)
			}
			answers = append(answers, answered(answer, workspace))
		}
		if answers[0] != answers[1] {
			w.leak("%s %s with a %s: in another's workspace\n%s\nin none\n%s", method, pattern, name, answers[0], answers[1])
		}
	}
}
