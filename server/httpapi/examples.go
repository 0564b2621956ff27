package httpapi

import (
	_ "embed" // embeds the recorded answers
	"encoding/json"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// recordedAnswers contains an example answer of each operation, by the operation's ID. A test records them from a server.
//
//go:embed answers.json
var recordedAnswers []byte

// examples contains the examples in the API description.
type examples struct {
	parameters map[string]any
	bodies     map[string]string
	answers    map[string]any
}

func readExamples() (examples, error) {
	e := examples{parameters: parameterExamples(), bodies: bodyExamples()}
	if err := json.Unmarshal(recordedAnswers, &e.answers); err != nil {
		return e, fmt.Errorf("answers.json: %w", err)
	}
	return e, nil
}

// add adds an example to each parameter, to the body and to the successful answer of an operation.
func (e examples) add(op *huma.Operation) error {
	for _, p := range op.Parameters {
		if p.Example == nil {
			p.Example = e.parameters[op.OperationID+" "+p.Name]
		}
		if p.Example == nil {
			p.Example = e.parameters[p.Name]
		}
	}
	e.addAnswer(op)
	text := e.bodies[op.OperationID]
	if op.RequestBody == nil || text == "" {
		return nil
	}
	var example any
	if err := json.Unmarshal([]byte(text), &example); err != nil {
		return fmt.Errorf("operation %s: %w", op.OperationID, err)
	}
	op.RequestBody.Content["application/json"].Example = example
	return nil
}

// addAnswer adds the recorded answer to the first successful response that has a body.
func (e examples) addAnswer(op *huma.Operation) {
	answer, recorded := e.answers[op.OperationID]
	if !recorded {
		return
	}
	for _, status := range []string{"201", "200"} {
		if op.Responses[status] == nil {
			continue
		}
		for kind, media := range op.Responses[status].Content {
			if strings.HasSuffix(kind, "json") {
				media.Example = answer
				return
			}
		}
	}
}

// parameterExamples returns an example of each parameter. The key is the name of the parameter, or the ID of the
// operation and the name.
func parameterExamples() map[string]any {
	const run = "01980a3c-7c1e-7d35-9f0a-3a4f2b1c0d9e"
	return map[string]any{
		"Accept": "application/json", "agent": "weather", "code": true, "comment": "Replaced by forecast.", "cursor": "", "dryRun": true, "force": false, "format": "openai", "from": 0,
		"diffAgent from": "latest", "getUsage format": "json", "inferFromRuns runs": 20, "exportArchive agent": []string{"weather"}, "id": run, "Idempotency-Key": "order-4711", "If-Match": `"7"`, "invitation": run, "language": "python", "Last-Event-ID": "12", "limit": 20, "month": "2026-11", "budget": "gpu", "listed": false, "name": "weather",
		"order": "updated", "other": "1.1.0", "owner": "workflow:42/node:3", "Prefer": "respond-async", "publisher": "default", "q": "weather", "revision": 7,
		"run": run, "safety_flag": "external_call", "session": run, "reference": "weather@^1", "set": "travel", "since": "2026-01-01T00:00:00Z", "state": "published", "status": "failed",
		"tag": "demo", "tags": []string{"demo"}, "to": "draft", "token": run, "unusedSince": "2026-01-01T00:00:00Z", "user": run, "version": "1.0.0", "withTags": true,
		"workspace": "default", "X-Workspace": "default",
		"agentId": run, "all": true, "approval": run, "kind": "run", "listApprovals status": "pending", "listDeliveries state": "failed", "pack": "our-rules", "project": "shop", "overlay": run, "path": "src/main.py", "summary": "Import of the main branch", "strip": true, "description": "The shop", "listOverlays status": "open", "listTasks status": "reviewing", "task": run, "parentRunId": run, "request": run, "view": "failing",
	}
}

// bodyExamples returns an example of each body by the ID of its operation.
func bodyExamples() map[string]string {
	return map[string]string{
		"submitTask":          `{"agent":"add-docstrings","project":"shop","input":{"path":"src"},"priority":5}`,
		"acceptTask":          `{"files":["src/main.py"]}`,
		"rejectTask":          `{}`,
		"retryTask":           `{"feedback":"Keep the licence at the top of each file."}`,
		"acceptOverlay":       `{"files":["src/main.py"],"summary":"Docstrings"}`,
		"rejectOverlay":       `{}`,
		"acceptInvitation":    `{"secret":"ati_3f9c2b7d5e8a4c1f","name":"grace","password":"a long enough password"}`,
		"changePassword":      `{"current":"the old password","new":"a long enough password"}`,
		"copyAgent":           `{"name":"weather-copy"}`,
		"copyFromRegistry":    `{"version":"1.0.0","name":"weather-copy"}`,
		"collectGarbage":      `{"olderThanHours":720,"dryRun":true}`,
		"collectPackages":     `{"unusedHours":720}`,
		"createAgent":         `{"name":"weather","language":"python","code":"def main(city):\n    return {\"city\": city, \"degrees\": 21}\n","inputSchema":{"type":"object","required":["city"],"properties":{"city":{"type":"string"}}}}`,
		"createInvitation":    `{"role":"developer","note":"For Grace"}`,
		"createToken":         `{"name":"deployment","scopes":["run"]}`,
		"createWorkspace":     `{"name":"research","title":"Research"}`,
		"decideApproval":      `{"decision":"approve","scope":"once","comment":"Only reads."}`,
		"decideBlocked":       `{"action":"resubmit"}`,
		"deprecateVersion":    `{"deprecated":true,"reason":"Wrong unit.","successor":"weather@1.1.0"}`,
		"describeWorkspace":   `{"title":"Research and development"}`,
		"executeAgent":        `{"version":"1.0.0","input":{"city":"Oslo"}}`,
		"executeInline":       `{"language":"python","code":"def main(name):\n    return \"Hello, \" + name\n","input":{"name":"Grace"}}`,
		"exportTool":          `{"version":"1.0.0","format":"openai"}`,
		"format":              `{"language":"bash","code":"if true;then echo yes;fi"}`,
		"generateTests":       `{"count":24,"seed":42}`,
		"assistFix":           `{"runId":"0199c9a6-7b1e-7d2a-9f1c-2f6f0a4d1b11"}`,
		"assistGenerate":      `{"description":"Counts the words of a text.","language":"python","inputExample":{"text":"one two"}}`,
		"assistChange":        `{"agent":"weather","task":"change","description":"Answer in Fahrenheit too."}`,
		"assistTool":          `{"task":"Weather of a city.","inputExample":{"city":"Oslo"}}`,
		"assistExplain":       `{"agent":"weather"}`,
		"assistComplete":      `{"agent":"weather","file":"main.py","before":"def main(city):\n    ","after":"\n"}`,
		"switchLanguageModel": `{"on":false}`,
		"assistReview":        `{"agent":"weather"}`,
		"infer":               `{"language":"python","code":"def main(city: str, days: int = 3) -> list[float]:\n    return [21.0] * days\n"}`,
		"importTool":          `{"tool":{"type":"function","function":{"name":"getForecast","description":"Forecasts the weather.","parameters":{"type":"object","required":["city"],"properties":{"city":{"type":"string"}}}}},"language":"python"}`,
		"installSkill":        `{"name":"greet"}`,
		"labelDraftSave":      `{"label":"before the rewrite"}`,
		"listInRegistry":      `{"public":true}`,
		"openSession":         `{"name":"grace","password":"a long enough password"}`,
		"patchAgent":          `{"title":"Weather","tags":["demo"]}`,
		"promoteSkill":        `{"changelog":"Faster."}`,
		"publishVersion":      `{"bump":"minor","changelog":"Degrees may be negative."}`,
		"putPins":             `{"owner":"workflow:42/node:3","label":"Morning report","references":["weather@^1"]}`,
		"putRulePack":         `{"source":"name: our-rules\ntitle: Our own rules\nrules:\n  - id: no-telnet\n    title: Programs do not use telnet\n    severity: high\n    match: {fact: [import], name: [telnetlib]}\n    remedy: Use an encrypted protocol.\n"}`,
		"putToolSet":          `{"title":"Travel","references":["weather@1.0.0"]}`,
		"readInvitation":      `{"secret":"ati_3f9c2b7d5e8a4c1f"}`,
		"redraftAgent":        `{"from":"1.0.0"}`,
		"replayDraft":         `{"version":"latest","runs":20}`,
		"resolvePackages":     `{"renew":false}`,
		"resolveReferences":   `{"references":["weather@^1"]}`,
		"saveAgent":           `{"code":"def main(city):\n    return {\"city\": city, \"degrees\": 22}\n"}`,
		"runTests":            `{"version":"draft","names":["Oslo"]}`,
		"setGate":             `{"gate":"enforce","packs":["standard"],"disabledRules":[],"blockAt":"critical","escalateAt":"high","newCapability":"escalate","selfApproval":false,"approvalHours":72,"approveSideEffects":true}`,
		"tryRules":            `{"language":"python","code":"import os\nos.system(\"ls\")\n","pack":"standard"}`,
		"explainRoute":        `{"agent":"weather","version":"1.0.0","hints":{"longJob":true}}`,
		"putBudget":           `{"meter":"gpuMinutes","amount":60,"refuse":"remote"}`,
		"setQuotas":           `{"runsPerDay":10000}`,
		"setRole":             `{"role":"developer"}`,
		"setSecret":           `{"value":"not a real key"}`,
		"validate":            `{"language":"python","code":"def main(city):\n    return city\n"}`,
	}
}
