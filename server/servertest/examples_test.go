package servertest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes/packages/packagestest"
	"github.com/atelier-run/atelier/server/servertest"
)

var updateAnswers = flag.Bool("update-answers", false, "write server/httpapi/answers.json anew")

// exchange sends the example request of each operation to a server and records the answer.
type exchange struct {
	t       *testing.T
	s       *servertest.Server
	api     apiDescription
	answers map[string]json.RawMessage
}

// change replaces parts of the example request of an operation: parameters by name, and the body by the key "body".
type change map[string]string

// do sends the example request of an operation and records a JSON answer. The answer must be a success and match its
// schema.
func (x exchange) do(id string, changes change, who ...servertest.Headers) (answer map[string]any) {
	t := x.t
	t.Helper()
	method, path, op := x.find(id)
	query, headers := url.Values{}, servertest.Headers{}
	for _, p := range op.Parameters {
		value, changed := changes[p.Name]
		if !changed {
			value = strings.Trim(string(p.Example), `"`)
		}
		switch {
		case p.In == "path":
			path = strings.Replace(path, "{"+p.Name+"}", url.PathEscape(value), 1)
		case p.Name == "If-Match" && p.Required:
			headers["If-Match"] = "*"
		case p.In == "query" && (p.Required || changed):
			query.Set(p.Name, value)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	var body any
	if op.RequestBody != nil {
		body = string(op.RequestBody.Content["application/json"].Example)
		if changed, ok := changes["body"]; ok {
			body = changed
		}
		if strings.HasPrefix(changes["body"], "\x1f\x8b") {
			headers["Content-Type"] = "application/gzip"
		}
	}
	got := x.s.Do(t, method, path, body, append(who, headers)...)
	if got.Status/100 != 2 {
		t.Errorf("%s: %s %s: %d: %s", id, method, path, got.Status, got.Body)
		return map[string]any{}
	}
	schema := op.schemaOf(got.Status)
	if schema == nil {
		return map[string]any{}
	}
	if err := x.api.fits(schema, got.Body); err != nil {
		t.Errorf("%s: %v", id, err)
	}
	x.answers[id] = got.Body
	got.Into(t, &answer)
	return answer
}

func (x exchange) find(id string) (method, path string, op apiOperation) {
	x.t.Helper()
	for path, methods := range x.api.Paths {
		for method, op := range methods {
			if op.OperationID == id {
				return strings.ToUpper(method), path, op
			}
		}
	}
	x.t.Fatalf("there is no operation %s", id)
	return "", "", op
}

// schemaOf returns the schema of a JSON answer, or nil if there is none.
func (o apiOperation) schemaOf(status int) json.RawMessage {
	for kind, media := range o.Responses[fmt.Sprint(status)].Content {
		if strings.HasSuffix(kind, "json") && kind != "application/problem+json" {
			return media.Schema
		}
	}
	return nil
}

// itemOf returns a member of the first item in a list.
func itemOf(list map[string]any, member string) string {
	items, _ := list["items"].([]any)
	for _, item := range items {
		if value, ok := item.(map[string]any)[member].(string); ok {
			return value
		}
	}
	return ""
}

func memberOf(answer map[string]any, member string) string {
	text, _ := answer[member].(string)
	return text
}

// TestExamples_RealServer_Succeed sends the example requests of the API description to a real server. With
// -update-answers it writes the answers to the file from which the description takes its example answers.
func TestExamples_RealServer_Succeed(t *testing.T) {
	t.Parallel()
	denies := &atomic.Bool{}
	policy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintf(w, `{"result":%t}`, !denies.Load()) }))
	t.Cleanup(policy.Close)
	model := newScriptedModel(t,
		`{"explanation":"It returns the temperature of a city."}`,
		`return {"city": city, "degrees": 21}`,
		`{"summary":"One fault.","findings":[{"file":"main.py","line":2,"severity":"low","message":"The unit is not documented."}]}`,
		`{"explanation":"The unit can be chosen.","edits":[{"file":"main.py","old":"def main(city):","new":"def main(city, unit='celsius'):"}],"inputSchema":"","outputSchema":"","sampleInput":"{\"city\":\"Oslo\"}","tests":[]}`,
		`{"explanation":"text may be missing.","edits":[{"file":"main.py","old":"input[\"text\"]","new":"input.get(\"text\", \"\")"}]}`,
		`{"name":"word-count","title":"Count words","description":"Counts the words of a text.","plan":["split","count"],"files":[{"path":"main.py","content":"def main(input, ctx):\n    return len(input[\"text\"].split())\n"}],`+
			`"inputSchema":"{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\",\"description\":\"Text.\"}},\"required\":[\"text\"]}","outputSchema":"{\"type\":\"integer\"}","sampleInput":"{\"text\":\"a b\"}","tests":[{"name":"two","input":"{\"text\":\"a b\"}","output":"2"}]}`)
	index := packagestest.NewIndex(t, greetings("1.0.0"), shouting())
	hook := receive(t, 0)
	flags := hook.flags(map[string]string{
		"policy-url": policy.URL, "policy-cache": "0s", "script-runtime": "true",
		"llm-base-url": model.URL + "/v1", "llm-model": "scripted", "llm-api-key": "model-key", "llm-first-delay": "1ms",
		"python-index": index.Simple(), "uv": packagestest.UV(t), "packages-dir": packagestest.Dir(t),
	})
	delete(flags, "public-url") // The session cookie must be sent over HTTP here.
	s := servertest.New(t, servertest.Flags(t, flags))
	x := exchange{t, s, describedBy(t, s), map[string]json.RawMessage{}}
	x.agents()
	x.runs(denies)
	x.packages()
	x.assistance()
	x.tasks()
	x.people()
	x.skills()
	x.ends()
	path := filepath.Join(servertest.Root(t), "server", "httpapi", "answers.json")
	if *updateAnswers && !t.Failed() {
		writeAnswers(t, path, x.answers)
	}
	for path, methods := range x.api.Paths {
		for method, op := range methods {
			if described := op.schemaOf(200) != nil || op.schemaOf(201) != nil; described && x.answers[op.OperationID] == nil {
				t.Errorf("%s %s (%s) was not called", strings.ToUpper(method), path, op.OperationID)
			}
		}
	}
}

// agents creates, changes, publishes and exports the agent of the examples.
func (x exchange) agents() {
	x.do("createAgent", nil)
	x.do("patchAgent", nil)
	x.do("saveAgent", change{"body": `{"tests":[{"name":"Oslo","input":{"city":"Oslo"},"expect":{"schema":true}}]}`})
	x.do("publishVersion", change{"body": `{"version":"1.0.0","changelog":"First version."}`})
	x.do("saveAgent", nil)
	x.do("publishVersion", nil)
	x.do("runTests", nil)
	x.do("generateTests", nil)
	x.do("inferFromRuns", nil)
	for _, id := range []string{"getAgent", "listAgents", "diffAgent", "listDraftHistory", "getDraftRuntime", "getDraftVerdict", "listVersions", "getVersion", "diffVersions", "getManifest", "getSBOM", "exportTool", "copyAgent", "resolveReferences", "deprecateVersion"} {
		x.do(id, nil)
	}
	x.do("getDraftSave", change{"revision": "1"})
	x.do("restoreDraftSave", change{"revision": "1"})
	x.do("redraftAgent", nil)
	x.do("importTool", nil)
	x.do("putToolSet", nil)
	x.do("getToolSet", nil)
	x.do("listToolSets", nil)
	x.do("getServerJSON", change{"set": "travel"})
	x.do("putPins", nil)
	x.do("listPins", nil)
	x.do("listOwnedPins", nil)
	x.do("listInRegistry", nil)
	x.do("getListedAgent", nil)
	x.do("getListedVersion", nil)
	x.do("copyFromRegistry", change{"id": itemOf(x.do("browseRegistry", nil), "id"), "body": `{"version":"1.0.0","name":"weather-of-others"}`})
	for _, id := range []string{"getCapabilities", "getHealth", "getReady", "listRuntimes", "listSamples", "listContracts", "listSignInMethods", "validate", "format", "infer", "getQuotas", "getQuotasOf", "setQuotas", "getLanguageModel", "listRulePacks", "putRulePack", "tryRules"} {
		x.do(id, nil)
	}
	x.do("getContract", nil)
	x.do("putBudget", nil)
	x.do("listBudgets", nil)
	x.do("setSecret", change{"name": "API_KEY"})
	x.s.Create(x.t, map[string]any{"name": "forecast", "language": "python", "code": "def main():\n    return 1\n", "secrets": []string{"API_KEY"}})
	x.do("listSecrets", nil)
	x.do("listSecretUses", change{"name": "API_KEY"})
}

// runs executes versions, waits for approvals and lets a policy deny a run.
func (x exchange) runs(denies *atomic.Bool) {
	x.do("getRouter", nil)
	x.do("explainRoute", nil)
	x.do("executeAgent", nil)
	run := memberOf(x.do("executeInline", nil), "runId")
	x.do("getRun", change{"run": run})
	x.do("listRunEvents", change{"run": run})
	x.do("listRuns", nil)
	x.do("replayDraft", nil)
	sleeping := x.s.Want(x.t, 202, http.MethodPost, "/api/v1/execute", map[string]any{"language": "bash", "code": "sleep 30"}, servertest.Headers{"Prefer": "respond-async"}).Run(x.t).RunID
	x.do("cancelRun", change{"run": sleeping})
	x.s.Wait(x.t, sleeping)
	denies.Store(true)
	x.s.Want(x.t, 200, http.MethodPost, "/api/v1/code-agents/weather/execute", `{"version":"1.0.0","input":{"city":"Oslo"}}`)
	denies.Store(false)
	x.do("decideBlocked", change{"request": itemOf(x.do("listBlocked", nil), "id")})
	setGate(x.t, x.s.Client, map[string]any{"gate": "enforce", "selfApproval": true})
	x.s.Create(x.t, map[string]any{"name": "asks", "language": "python", "code": "def main(city):\n    return city\n", "requiresApproval": true})
	x.s.Publish(x.t, "asks", "1.0.0")
	x.s.Want(x.t, 202, http.MethodPost, "/api/v1/code-agents/asks/execute", `{"version":"1.0.0","input":{"city":"Oslo"}}`)
	approval := change{"approval": itemOf(x.do("listApprovals", nil), "id")}
	x.do("getApproval", approval)
	x.do("diffApproval", approval)
	servertest.Eventually(x.t, "the webhook is delivered", func() bool {
		return itemOf(x.do("listDeliveries", nil), "state") == string(registry.DeliveryDelivered)
	})
	x.do("decideApproval", approval)
	x.do("setGate", nil)
	x.do("getGate", nil)
	setGate(x.t, x.s.Client, map[string]any{"gate": "off"})
	x.do("getUsage", nil)
}

func (x exchange) packages() {
	x.s.Create(x.t, map[string]any{"name": "greeter", "language": "python", "code": greeter, "packages": []string{"greetings"}})
	greeter := change{"agent": "greeter", "body": `{"install":true}`}
	x.do("resolvePackages", greeter)
	x.do("getPackageTypes", greeter)
	x.do("searchPackages", change{"q": "greetings"})
	x.do("listPackageVersions", change{"name": "greetings"})
	x.do("listPackageDependencies", change{"name": "greetings"})
	x.do("listInstalledLocks", nil)
	x.do("listInstalledPackages", nil)
	x.do("collectPackages", nil)
	x.do("collectGarbage", nil)
}

func (x exchange) assistance() {
	x.do("assistExplain", nil)
	x.do("assistComplete", nil)
	x.do("assistReview", nil)
	x.do("assistChange", nil)
	x.s.Create(x.t, map[string]any{"name": "word-count", "language": "python", "code": "def main(input, ctx):\n    return len(input[\"text\"].split())\n"})
	failed := x.s.Execute(x.t, "word-count", "draft", map[string]any{})
	x.do("assistFix", change{"body": `{"runId":"` + failed.RunID + `"}`})
	x.do("assistGenerate", nil)
	x.do("assistTool", nil)
	x.do("findSkillForTask", nil)
	x.do("switchLanguageModel", nil)
}

func (x exchange) tasks() {
	importing := change{"body": string(packed(x.t, map[string]string{"src/main.py": "print(1)\n"}))}
	x.do("importProject", importing)
	x.do("listProjects", nil)
	x.do("getProject", nil)
	x.do("listProjectChanges", nil)
	x.do("getProjectFile", nil)
	tasker(x.t, x.s, "add-docstrings", `export default async (input, ctx) => {
		await ctx.writeFile("src/main.py", '"""Prints a number."""\n' + await ctx.readFile("src/main.py"));
		await ctx.submitResult("Docstrings for 1 file", ["src/main.py"]);
		return null;
	}`)
	submitted := func() change { return change{"task": memberOf(x.do("submitTask", nil), "id")} }
	reviewed := func(task change) change {
		reach(x.t, x.s, task["task"], registry.TaskReviewing)
		return task
	}
	task := reviewed(submitted())
	x.do("getTask", task)
	x.do("diffTask", task)
	x.do("listTasks", nil)
	x.do("listTaskEvents", task)
	x.do("retryTask", task)
	x.do("rejectTask", reviewed(task))
	x.do("acceptTask", reviewed(submitted()))
	x.s.Create(x.t, map[string]any{"name": "waits", "language": "bash", "code": "sleep 30", "capabilities": map[string]any{"files": map[string]any{"project": "*", "write": true}}, "safetyFlags": []string{"file_system"}})
	x.s.Publish(x.t, "waits", "1.0.0")
	x.do("cancelTask", change{"task": submit(x.t, x.s, map[string]any{"agent": "waits", "project": "shop"}).ID})
	overlay := func(line string) change {
		x.s.Want(x.t, 200, http.MethodPost, "/api/v1/execute", onProject("shop", "python", "", "async def main(input, ctx):\n    await ctx.write_file('src/main.py', '# "+line+"\\n')\n"))
		return change{"overlay": overlayOf(x.t, x.s, "shop").ID}
	}
	first := overlay("first")
	x.do("listOverlays", nil)
	x.do("diffOverlay", first)
	x.do("readBackOverlay", change{"overlay": first["overlay"], "body": string(packed(x.t, map[string]string{"src/main.py": "print(3)\n"}))})
	x.do("acceptOverlay", first)
	x.do("rejectOverlay", overlay("second"))
}

func (x exchange) people() {
	x.do("createToken", nil)
	x.do("listTokens", nil)
	x.do("createWorkspace", nil)
	x.do("describeWorkspace", nil)
	x.do("listWorkspaces", nil)
	link := memberOf(x.do("createInvitation", nil), "link")
	_, secret, _ := strings.Cut(link, "#")
	x.do("listInvitations", nil)
	x.do("readInvitation", change{"body": `{"secret":"` + secret + `"}`})
	katherine := as(join(x.t, x.s, "katherine", secret).cookie)
	x.do("getSession", nil, katherine)
	x.do("listOwnSessions", nil, katherine)
	x.do("listSessions", nil)
	x.do("listMembers", nil)
}

func (x exchange) skills() {
	x.do("registerSkill", nil)
	x.do("executeSkill", nil)
	for _, id := range []string{"listSkills", "listCallableSkills", "getCallableSkill", "getSkillSchemas", "listInstalledSkills", "listPriors", "listImportableModules", "validateSkillCode"} {
		x.do(id, nil)
	}
	x.do("runSkill", nil)
	created := func(name string) {
		x.do("createSkill", change{"body": `{"name":"` + name + `","code":"def run(action, args):\n    return {\"text\": \"Hello\"}\n","description":"Greets somebody by name."}`})
	}
	created("hello")
	x.do("promoteSkill", change{"name": "hello"})
	created("goodbye")
	x.do("promoteSkillByName", change{"body": `{"name":"goodbye","changelog":"Faster."}`})
	x.do("uninstallSkillByName", change{"body": `{"name":"goodbye"}`})
	x.do("installSkillFrom", change{"body": `{"name":"goodbye"}`})
	x.s.Want(x.t, 204, http.MethodDelete, "/api/v1/skills/hello", nil)
	x.do("installSkill", change{"body": `{"name":"hello"}`})
}

// ends exports the workspace, and deletes and restores the agent of the examples.
func (x exchange) ends() {
	archive := x.s.Want(x.t, 200, http.MethodGet, "/api/v1/archive", nil).Body
	x.s.Want(x.t, 204, http.MethodDelete, "/api/v1/code-agents/weather?force=true", nil)
	x.do("restoreAgent", nil)
	x.do("importArchive", change{"body": string(archive)})
}

// writeAnswers writes the recorded answers. It replaces real secrets, uses the same IDs and times every time, and
// shortens lists and texts.
func writeAnswers(t *testing.T, path string, answers map[string]json.RawMessage) {
	t.Helper()
	known := map[string]string{}
	var shorten func(value any) any
	shorten = func(value any) any {
		switch value := value.(type) {
		case map[string]any:
			for name, member := range value {
				value[name] = shorten(member)
			}
		case []any:
			for i := range value {
				value[i] = shorten(value[i])
			}
			if len(value) > 0 && reflect.TypeOf(value[0]).Kind() == reflect.Map {
				return value[:1]
			}
			return value[:min(len(value), 3)]
		case string:
			if runes := []rune(value); len(runes) > 200 {
				return string(runes[:199]) + "…"
			}
		}
		return value
	}
	id := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
	secret, address := regexp.MustCompile(`\b(at[il])_[\w-]{40,}`), regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	moment := regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	all := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		text := id.ReplaceAllFunc(answers[name], func(found []byte) []byte {
			if known[string(found)] == "" {
				known[string(found)] = fmt.Sprintf("01980a3c-7c1e-7d35-9f0a-3a4f2b1c%04x", len(known))
			}
			return []byte(known[string(found)])
		})
		text = secret.ReplaceAll(text, []byte("${1}_example"))
		text = address.ReplaceAll(text, []byte("https://atelier.example.com"))
		var value any
		decoder := json.NewDecoder(bytes.NewReader(moment.ReplaceAll(text, []byte("2026-11-26T09:00:00Z"))))
		decoder.UseNumber()
		if err := decoder.Decode(&value); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = shorten(value)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "\t")
	if err := errors.Join(encoder.Encode(all), os.WriteFile(path, text.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}
