package servertest_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes/monty/montytest"
	"github.com/atelier-run/atelier/server/servertest"
	"github.com/atelier-run/atelier/studio/assist"
	"github.com/atelier-run/atelier/studio/llm"
	"github.com/atelier-run/atelier/studio/toolmaker"
)

// scriptedModel is a language model that returns prepared answers in order and records the conversations.
type scriptedModel struct {
	*httptest.Server

	mu      sync.Mutex
	answers []string
	asked   []string
	hold    chan struct{} // if set, answers wait until this channel is closed
}

func newScriptedModel(t *testing.T, answers ...string) *scriptedModel {
	s := &scriptedModel{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var question struct{ Messages []llm.Message }
		if err := json.NewDecoder(r.Body).Decode(&question); err != nil || r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer model-key" {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		all := ""
		for _, m := range question.Messages {
			all += m.Role + ": " + m.Content + "\n"
		}
		s.mu.Lock()
		s.asked = append(s.asked, all)
		s.mu.Unlock()
		if s.hold != nil {
			<-s.hold
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.answers) == 0 {
			http.Error(w, "no answer left", http.StatusTeapot)
			return
		}
		content := s.answers[0]
		s.answers = s.answers[1:]
		_ = json.NewEncoder(w).Encode(map[string]any{
			"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": content}, "finish_reason": "stop"}},
			"usage":   map[string]any{"prompt_tokens": 100, "completion_tokens": 10},
		})
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *scriptedModel) conversations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.asked...)
}

func withModel(t *testing.T, model *scriptedModel, more ...map[string]string) *servertest.Server {
	flags := map[string]string{
		"llm-base-url": model.URL + "/v1", "llm-model": "scripted", "llm-api-key": "model-key", "llm-first-delay": "1ms", "llm-attempts": "3",
	}
	for _, one := range more {
		maps.Copy(flags, one)
	}
	return servertest.New(t, servertest.Flags(t, flags))
}

const failing = "export default function main({ names }) {\n  return { first: names[0].toUpperCase(), secret: \"wordThatIsSecret\" };\n}\n"

func TestAssist_Fix(t *testing.T) {
	t.Parallel()
	model := newScriptedModel(t,
		"I think so, but here is only prose.",
		`{"explanation":"x","edits":[{"file":"main.js","old":"nothing like this","new":"y"}]}`,
		"Here it is:\n```json\n"+`{"explanation":"names may be empty.","edits":[{"file":"main.js","old":"names[0].toUpperCase()","new":"(names[0] ?? \"\").toUpperCase()"}]}`+"\n```",
	)
	s := withModel(t, model)
	s.Create(t, map[string]any{"name": "first", "language": "javascript", "code": failing})
	run := s.Want(t, 200, "POST", "/api/v1/code-agents/first/execute", `{"version":"draft","input":{"names":[]}}`).Run(t)
	if run.Error == nil {
		t.Fatal("the program should fail")
	}

	answer := s.Want(t, 200, "POST", "/api/v1/assist/fix", map[string]string{"runId": run.RunID}, servertest.Headers{"Accept": "text/event-stream"})
	stream := string(answer.Body)
	if n := strings.Count(stream, "event: attempt\n"); n != 2 {
		t.Errorf("%d failed attempts were streamed, want 2:\n%s", n, stream)
	}
	_, last, found := strings.Cut(stream, "event: proposal\ndata: ")
	if !found {
		t.Fatalf("no proposal in:\n%s", stream)
	}
	var p assist.Proposal
	if err := json.Unmarshal([]byte(last[:strings.IndexByte(last, '\n')]), &p); err != nil {
		t.Fatal(err)
	}
	if string(p.Trial.Output) != `{"first":"","secret":"wordThatIsSecret"}` || p.Trial.RunID == "" || len(p.Files) != 1 || p.Tokens.Input != 300 || p.Explanation != "names may be empty." {
		t.Errorf("proposal is %+v", p)
	}
	var agent struct {
		Draft struct{ Files map[string]string }
	}
	if s.Want(t, 200, "GET", "/api/v1/code-agents/first", nil).Into(t, &agent); agent.Draft.Files["main.js"] != failing {
		t.Error("the draft was changed")
	}
	asked := model.conversations()
	if len(asked) != 3 || !strings.Contains(asked[0], "toUpperCase") || !strings.Contains(asked[2], "occurs 0 times") {
		t.Errorf("the model did not get the program and the error of its answer: %q", asked)
	}
}

// TestAssist_FixStillFails checks that the error after the last failed attempt contains that attempt's reason.
func TestAssist_FixStillFails(t *testing.T) {
	t.Parallel()
	useless := `{"explanation":"x","edits":[{"file":"main.js","old":"names[0].toUpperCase()","new":"names[1].toUpperCase()"}]}`
	s := withModel(t, newScriptedModel(t, useless, useless, useless))
	s.Create(t, map[string]any{"name": "first", "language": "javascript", "code": failing})
	run := s.Want(t, 200, "POST", "/api/v1/code-agents/first/execute", `{"version":"draft","input":{"names":[]}}`).Run(t)
	if refused := s.Want(t, 503, "POST", "/api/v1/assist/fix", map[string]string{"runId": run.RunID}).Problem(t); refused.Code != "model_unavailable" || !strings.Contains(refused.Detail, "3 attempts") {
		t.Errorf("problem is %+v", refused)
	}
	ok := s.Want(t, 200, "POST", "/api/v1/code-agents/first/execute", `{"version":"draft","input":{"names":["a"]}}`).Run(t)
	s.Want(t, 422, "POST", "/api/v1/assist/fix", map[string]string{"runId": ok.RunID})
	s.Want(t, 404, "POST", "/api/v1/assist/fix", map[string]string{"runId": "absent"})
}

// TestAssist_Secrets checks that the model gets no values of secrets, and no input of a program with personal data.
func TestAssist_Secrets(t *testing.T) {
	t.Parallel()
	model := newScriptedModel(t, `{"explanation":"It takes names."}`, `{"explanation":"x","edits":[{"file":"main.js","old":"names[0].toUpperCase()","new":"String(names[0])"}]}`)
	s := withModel(t, model)
	s.Want(t, 200, "PUT", "/api/v1/secrets/WORD", `{"value":"wordThatIsSecret"}`)
	s.Create(t, map[string]any{"name": "first", "language": "javascript", "code": failing, "secrets": []string{"WORD"}, "safetyFlags": []string{"pii_risk"}})
	var opinion assist.Opinion
	if s.Want(t, 200, "POST", "/api/v1/assist/explain", `{"agent":"first"}`).Into(t, &opinion); opinion.Text != "It takes names." {
		t.Errorf("opinion is %+v", opinion)
	}
	run := s.Want(t, 200, "POST", "/api/v1/code-agents/first/execute", `{"version":"draft","input":{"names":[],"who":"AdaPersonal"}}`).Run(t)
	var p assist.Proposal
	if s.Want(t, 200, "POST", "/api/v1/assist/fix", map[string]string{"runId": run.RunID}).Into(t, &p); p.Trial.RunID != "" || p.Trial.Reason == "" {
		t.Errorf("a program with secrets was run: %+v", p.Trial)
	}
	for _, text := range model.conversations() {
		if strings.Contains(text, "wordThatIsSecret") || strings.Contains(text, "AdaPersonal") {
			t.Errorf("the model got a secret or the input:\n%s", text)
		}
	}
}

func TestAssist_Generate(t *testing.T) {
	t.Parallel()
	program := func(code, expected string) string {
		text, _ := json.Marshal(map[string]any{
			"name": "word-count", "title": "Count words", "description": "Counts words.", "plan": []string{"split", "count"},
			"files":       []any{map[string]string{"path": "main.py", "content": code}},
			"inputSchema": `{"type":"object","properties":{"text":{"type":"string","description":"Text."}},"required":["text"]}`, "outputSchema": map[string]any{"type": "integer"},
			"sampleInput": `{"text":"a b"}`, "tests": []any{map[string]any{"name": "two", "input": `{"text":"a b"}`, "output": expected}, map[string]any{"name": "none", "input": `{"text":""}`, "output": ""}},
		})
		return string(text)
	}
	right := "```python\ndef main(input, ctx):\n    return len(input[\"text\"].split())\n```"
	model := newScriptedModel(t,
		program("def main(input, ctx):\n    return eval(\"2\")\n", "2"), // the restricted rules forbid eval
		program(right, "3"), // The program is right, but the test is wrong.
		program(right, "2"),
	)
	s := withModel(t, model)
	var p assist.Program
	s.Want(t, 200, "POST", "/api/v1/assist/generate", `{"description":"Counts the words of a text.","language":"python","inputExample":{"text":"one two three"}}`).Into(t, &p)
	if len(p.Attempts) != 2 || string(p.Trial.Output) != "3" || len(p.Tests) != 2 || !p.Tests[1].Expect.Schema || p.Rules == nil {
		t.Errorf("program is %+v", p)
	}
	if _, used := usageOf(t, s); used[registry.TokensMeter] != 330 { // Tokens of failed attempts count too.
		t.Errorf("used %v", used)
	}
	if !strings.Contains(p.Attempts[0].Error, "eval") || !strings.Contains(p.Attempts[1].Error, "expects 3") {
		t.Errorf("attempts are %+v", p.Attempts)
	}
	s.Create(t, map[string]any{"name": p.Name, "language": p.Language, "files": p.Files, "entrypoint": p.Entrypoint, "inputSchema": p.InputSchema, "outputSchema": p.OutputSchema, "rules": p.Rules, "tests": p.Tests})
}

func TestAssist_Review(t *testing.T) {
	t.Parallel()
	s := withModel(t, newScriptedModel(t,
		`{"summary":"One fault.","findings":[{"file":"main.js","line":99,"severity":"high","message":"Fails for no names."}]}`,
		`{"summary":"One fault.","findings":[{"file":"main.js","line":2,"severity":"high","message":"Fails for no names."}]}`))
	s.Create(t, map[string]any{"name": "first", "language": "javascript", "code": failing})
	var opinion assist.Opinion
	if s.Want(t, 200, "POST", "/api/v1/assist/review", `{"agent":"first"}`).Into(t, &opinion); len(opinion.Findings) != 1 || opinion.Findings[0].Line != 2 {
		t.Errorf("opinion is %+v", opinion)
	}
}

func TestAssist_Off(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	if refused := s.Want(t, 503, "POST", "/api/v1/assist/explain", `{"agent":"first"}`).Problem(t); refused.Code != "model_unavailable" || !strings.HasPrefix(refused.Detail, "No LLM provider configured") {
		t.Errorf("problem is %+v", refused)
	}
}

// TestAssist_PersonalData checks that the model gets no input and no output of a program with pii_risk, even if the caller
// of the run asks for help right after it.
func TestAssist_PersonalData(t *testing.T) {
	t.Parallel()
	answer := `{"explanation":"x","edits":[{"file":"main.js","old":"throw new Error","new":"return String"}]}`
	model := newScriptedModel(t, answer)
	s := withModel(t, model)
	s.Create(t, map[string]any{
		"name": "personal", "language": "javascript", "safetyFlags": []string{"pii_risk"},
		"code": "export default function main({ who }) {\n  throw new Error(\"no entry for \" + who);\n}\n",
	})
	run := s.Want(t, 200, "POST", "/api/v1/code-agents/personal/execute", `{"version":"draft","input":{"who":"AdaPersonal"}}`).Run(t)
	var p assist.Proposal
	if s.Want(t, 200, "POST", "/api/v1/assist/fix", map[string]string{"runId": run.RunID}).Into(t, &p); p.Trial.RunID != "" || p.Trial.Reason == "" {
		t.Errorf("the change was run: %+v", p.Trial)
	}
	for _, text := range model.conversations() {
		if strings.Contains(text, "AdaPersonal") {
			t.Errorf("the model got personal data:\n%s", text)
		}
	}
}

// TestAssist_Hosts checks that a proposed program is not run if it could send the input to another host.
func TestAssist_Hosts(t *testing.T) {
	t.Parallel()
	s := withModel(t, newScriptedModel(t, `{"explanation":"x","edits":[{"file":"main.js","old":"names[0].toUpperCase()","new":"String(names[0])"}]}`))
	s.Create(t, map[string]any{
		"name": "first", "language": "javascript", "code": failing, "safetyFlags": []string{"network_access"},
		"capabilities": map[string]any{"hosts": []string{"api.example.com:443"}},
	})
	run := s.Want(t, 200, "POST", "/api/v1/code-agents/first/execute", `{"version":"draft","input":{"names":[]}}`).Run(t)
	var p assist.Proposal
	if s.Want(t, 200, "POST", "/api/v1/assist/fix", map[string]string{"runId": run.RunID}).Into(t, &p); p.Trial.RunID != "" || !strings.Contains(p.Trial.Reason, "hosts") {
		t.Errorf("trial is %+v", p.Trial)
	}
}

// TestAssist_Workspaces checks that only workspaces that may use the model are told that there is one.
func TestAssist_Workspaces(t *testing.T) {
	t.Parallel()
	model := newScriptedModel(t, `{"explanation":"It takes names."}`, `{"explanation":"It takes names."}`)
	s := withModel(t, model, map[string]string{"llm-workspaces": "acme", "llm-tokens-per-month": "200"})
	admin := browser{s, cookieOf(t, s.Do(t, "GET", signInLink(t, s), nil, anonymous))}
	acme := settle(t, s, admin, "acme", "ada")
	other := settle(t, s, admin, "other", "bob")
	named := func(who servertest.Headers) string {
		var capabilities struct{ LanguageModel string }
		s.Want(t, 200, "GET", "/api/v1/capabilities", nil, who).Into(t, &capabilities)
		return capabilities.LanguageModel
	}
	if got := []string{named(acme.bearer()), named(other.bearer()), named(nil)}; !slices.Equal(got, []string{"scripted", "", ""}) {
		t.Errorf("the workspaces learn of %q", got)
	}
	for _, who := range []tenant{acme, other} {
		s.Want(t, 201, "POST", "/api/v1/code-agents", map[string]any{"name": "first", "language": "javascript", "code": failing}, who.bearer())
	}
	s.Want(t, 503, "POST", "/api/v1/assist/explain", `{"agent":"first"}`, other.bearer())
	s.Want(t, 503, "POST", "/api/v1/assist/explain", `{"agent":"first"}`)

	s.Want(t, 200, "POST", "/api/v1/assist/explain", `{"agent":"first"}`, acme.bearer())
	var state llm.State
	s.Want(t, 200, "PUT", "/api/v1/language-model", `{"on":false}`, acme.bearer()).Into(t, &state)
	if state.On || !state.Allowed || state.Used.Total() != 110 || state.Limit != 200 {
		t.Errorf("state is %+v", state)
	}
	if refused := s.Want(t, 503, "POST", "/api/v1/assist/explain", `{"agent":"first"}`, acme.bearer()).Problem(t); !strings.Contains(refused.Detail, "switched the language model off") || named(acme.bearer()) != "" {
		t.Errorf("problem is %+v", refused)
	}
	s.Want(t, 200, "PUT", "/api/v1/language-model", `{"on":true}`, acme.bearer())
	s.Want(t, 200, "POST", "/api/v1/assist/explain", `{"agent":"first"}`, acme.bearer())
	if refused := s.Want(t, 429, "POST", "/api/v1/assist/explain", `{"agent":"first"}`, acme.bearer()).Problem(t); refused.Code != "quota_exceeded" || !strings.Contains(refused.Detail, "--llm-tokens-per-month") {
		t.Errorf("problem is %+v", refused)
	}
}

// TestAssist_Models_WorkspaceChoosesOne checks that each workspace can choose one of the models that the operator offers.
func TestAssist_Models_WorkspaceChoosesOne(t *testing.T) {
	t.Parallel()
	model := newCompleter(t, "", `{"explanation":"It takes names."}`)
	s := servertest.New(t, servertest.Flags(t, map[string]string{"llm-base-url": model.URL + "/v1", "llm-model": "usual", "llm-models": "large, usual"}))
	s.Create(t, map[string]any{"name": "first", "language": "javascript", "code": failing})
	var state llm.State
	if s.Want(t, 200, "GET", "/api/v1/language-model", nil).Into(t, &state); state.Model != "usual" || !slices.Equal(state.Models, []string{"usual", "large"}) {
		t.Errorf("state is %+v", state)
	}
	explainedBy := func(want string) {
		t.Helper()
		var opinion assist.Opinion
		s.Want(t, 200, "POST", "/api/v1/assist/explain", `{"agent":"first"}`).Into(t, &opinion)
		if last := model.asked[len(model.asked)-1]; opinion.Model != want || !strings.Contains(last, `"model":"`+want+`"`) {
			t.Errorf("%s explains, want %s: %.80s", opinion.Model, want, last)
		}
	}
	explainedBy("usual")
	s.Want(t, 200, "PUT", "/api/v1/language-model", `{"on":true,"model":"large"}`)
	explainedBy("large")
	s.Want(t, 200, "PUT", "/api/v1/language-model", `{"on":false}`)
	if s.Want(t, 200, "PUT", "/api/v1/language-model", `{"on":true}`).Into(t, &state); state.Model != "large" {
		t.Errorf("a switch forgets the choice: %+v", state)
	}
	if refused := s.Want(t, 422, "PUT", "/api/v1/language-model", `{"on":true,"model":"other"}`).Problem(t); len(refused.Errors) != 1 || refused.Errors[0].Pointer != "/model" || !strings.Contains(refused.Errors[0].Message, "usual, large") {
		t.Errorf("problem is %+v", refused)
	}
	s.Want(t, 200, "PUT", "/api/v1/language-model", `{"on":true,"model":"usual"}`)
	explainedBy("usual")
}

// TestAssist_Change checks that each task of a change proposes only its own part: files, tests, documentation or schemas.
func TestAssist_Change(t *testing.T) {
	t.Parallel()
	answer := func(edits, input, output, sample string, tests ...any) string {
		text, _ := json.Marshal(map[string]any{"explanation": "x", "edits": json.RawMessage(edits), "inputSchema": input, "outputSchema": output, "sampleInput": sample, "tests": append([]any{}, tests...)})
		return string(text)
	}
	test := func(name, input, output string) any {
		return map[string]string{"name": name, "input": input, "output": output}
	}
	const (
		greeting = "export default function main({ names }) {\n  return { first: names[0] };\n}\n"
		edits    = `[{"file":"main.js","old":"names[0]","new":"names[0] ?? \"nobody\""}]`
		schema   = `{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"},"description":"Names."}},"required":["names"]}`
		sample   = `{"names":["a"]}`
	)
	tests := map[string]struct {
		task    string
		answers []string
		wrong   string // expected part of the error of the first attempt
		check   func(assist.Proposal) bool
	}{
		"change": {"change", []string{
			answer(edits, "", "", sample, test("none", `{"names":[]}`, `{"first":"somebody"}`)),
			answer(edits, "", "", sample, test("none", `{"names":[]}`, `{"first":"nobody"}`)),
		}, "expects", func(p assist.Proposal) bool {
			return strings.Contains(string(p.Files["main.js"]), "nobody") && len(p.Tests) == 1 && p.Schemas == nil
		}},
		"tests": {"tests", []string{
			answer(edits, "", "", sample), answer("[]", "", "", sample, test("one", sample, `{"first":"a"}`)),
		}, "write tests", func(p assist.Proposal) bool { return len(p.Files) == 0 && len(p.Tests) == 1 }},
		"document": {"document", []string{
			answer("[]", schema, "", sample), answer(`[{"file":"main.js","old":"export","new":"// Greets.\nexport"}]`, "", "", sample),
		}, "write edits", func(p assist.Proposal) bool { return len(p.Files) == 1 && len(p.Tests) == 0 && p.Schemas == nil }},
		"schemas": {"schemas", []string{
			answer("[]", `{"type":"nothing"}`, "", sample), answer("[]", schema, "", sample),
		}, "not valid", func(p assist.Proposal) bool {
			return len(p.Files) == 0 && p.Schemas != nil && len(p.Schemas.Output) == 0 && string(p.Schemas.Input) == schema
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := withModel(t, newScriptedModel(t, tt.answers...))
			s.Create(t, map[string]any{"name": "first", "language": "javascript", "code": greeting})
			body := map[string]string{"agent": "first", "task": tt.task}
			if tt.task == "change" {
				body["description"] = "Greet nobody if there is no name."
			}
			var p assist.Proposal
			s.Want(t, 200, "POST", "/api/v1/assist/change", body).Into(t, &p)
			if len(p.Attempts) != 1 || !strings.Contains(p.Attempts[0].Error, tt.wrong) || !tt.check(p) || p.Trial.RunID == "" {
				t.Errorf("proposal is %+v", p)
			}
			body["description"] = "x"
			if tt.task == "change" {
				delete(body, "description")
			}
			s.Want(t, 422, "POST", "/api/v1/assist/change", body)
		})
	}
}

// TestAskLLM checks that a program in each language can ask the model. The model gets no secret, and the run's record has
// the number of tokens.
func TestAskLLM(t *testing.T) {
	t.Parallel()
	programs := map[string]map[string]any{
		"goja":   {"language": "javascript", "runtime": "goja", "code": "export default async (input, ctx) => ctx.askLLM('Say \"hi\" to ' + ctx.env.WORD, 'As a\\nfriend.')"},
		"node":   {"language": "javascript", "runtime": "node", "code": "export default async (input, ctx) => ctx.askLLM('Say \"hi\" to ' + ctx.env.WORD, 'As a\\nfriend.')"},
		"python": {"language": "python", "runtime": "python", "code": "def main(input, ctx):\n    return ctx.ask_llm('Say \"hi\" to ' + ctx.env['WORD'], context='As a\\nfriend.')\n"},
		"monty":  {"language": "python", "runtime": "monty", "code": "def main(input, ctx):\n    return ctx.ask_llm('Say \"hi\" to ' + ctx.env['WORD'], context='As a\\nfriend.')\n"},
		"bash":   {"language": "bash", "runtime": "bash", "code": "answer=$(atelier ask \"Say \\\"hi\\\" to $WORD\" $'As a\\nfriend.')\nprintf '%s' \"$answer\" | python3 -c 'import json,sys; print(json.dumps(sys.stdin.read()))'\n"},
	}
	const answer = "hi \"you\" \\ é\u2028\nsecond line"
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := newScriptedModel(t, answer)
			flags := map[string]string{}
			if name == "monty" {
				flags["monty"] = montytest.Program(t)
			}
			s := withModel(t, model, flags)
			s.Want(t, 200, "PUT", "/api/v1/secrets/WORD", `{"value":"wordThatIsSecret"}`)
			program["name"], program["secrets"], program["safetyFlags"] = "asks", []string{"WORD"}, []string{"external_call"}
			program["outputSchema"] = map[string]any{}
			program["capabilities"] = map[string]any{"hostFunctions": []string{"askLLM"}, "subprocess": true}
			if name != "bash" {
				program["capabilities"] = map[string]any{"hostFunctions": []string{"askLLM"}}
			}
			s.Create(t, program)
			answered := s.Want(t, 200, "POST", "/api/v1/code-agents/asks/execute", `{"version":"draft","input":{}}`)
			run := answered.Run(t)
			if want, _ := json.Marshal(answer); !run.Success || !sameText(string(run.Output), string(want)) {
				t.Fatalf("output is %s, want %s; error %+v, stderr %s", run.Output, want, run.Error, run.Stderr)
			}
			asked := model.conversations()
			if len(asked) != 1 || asked[0] != "user: <context>\nAs a\nfriend.\n</context>\n\nSay \"hi\" to ***\n" {
				t.Errorf("the model was asked %q", asked)
			}
			if !strings.Contains(string(answered.Body), `"tokensUsed":110`) {
				t.Errorf("the run did not count 110 tokens: %s", answered.Body)
			}
			events := string(s.Want(t, 200, "GET", "/api/v1/runs/"+run.RunID+"/events", nil).Body)
			if !strings.Contains(events, `"function":"askLLM"`) || !strings.Contains(events, `"tokens":110`) {
				t.Errorf("events are %s", events)
			}
		})
	}
}

// TestAskLLM_NoValue checks that a missing value is sent to the model as empty text, and that a missing prompt is refused.
func TestAskLLM_NoValue(t *testing.T) {
	t.Parallel()
	javascript := "export default async (input, ctx) => {\n  try { await ctx.askLLM(null) } catch (error) { return [error.message, await ctx.askLLM('hi', null)] }\n}"
	python := "def main(input, ctx):\n    try:\n        ctx.ask_llm(None)\n    except Exception as error:\n        return [str(error), ctx.ask_llm('hi', None)]\n"
	for name, program := range map[string]map[string]any{
		"goja":   {"language": "javascript", "runtime": "goja", "code": javascript},
		"node":   {"language": "javascript", "runtime": "node", "code": javascript},
		"python": {"language": "python", "runtime": "python", "code": python},
		"monty":  {"language": "python", "runtime": "monty", "code": python},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flags := map[string]string{}
			if name == "monty" {
				flags["monty"] = montytest.Program(t)
			}
			model := newScriptedModel(t, "hello")
			s := withModel(t, model, flags)
			program["name"], program["safetyFlags"], program["outputSchema"] = "asks", []string{"external_call"}, map[string]any{}
			program["capabilities"] = map[string]any{"hostFunctions": []string{"askLLM"}}
			s.Create(t, program)
			run := s.Want(t, 200, "POST", "/api/v1/code-agents/asks/execute", `{"version":"draft","input":{}}`).Run(t)
			var got []string
			if err := json.Unmarshal(run.Output, &got); err != nil || len(got) != 2 || !strings.Contains(got[0], "prompt must not be empty") || got[1] != "hello" {
				t.Fatalf("output is %s, error %+v", run.Output, run.Error)
			}
			if asked := model.conversations(); !slices.Equal(asked, []string{"user: hi\n"}) {
				t.Errorf("the model was asked %q", asked)
			}
		})
	}
}

// sameText reports whether two JSON texts have the same value.
func sameText(a, b string) bool {
	var left, right string
	return json.Unmarshal([]byte(a), &left) == nil && json.Unmarshal([]byte(b), &right) == nil && left == right
}

func TestAskLLM_Refused(t *testing.T) {
	t.Parallel()
	granted := map[string]any{"hostFunctions": []string{"askLLM"}}
	twice := "export default async (input, ctx) => [await ctx.askLLM('one'), await ctx.askLLM('two')]"
	tests := map[string]struct {
		program map[string]any
		flags   map[string]string
		model   bool
		want    string
	}{
		"not granted": {map[string]any{"code": twice}, nil, true, `Add "askLLM" to capabilities.hostFunctions.`},
		"personal":    {map[string]any{"code": twice, "capabilities": granted, "safetyFlags": []string{"pii_risk", "external_call"}}, nil, true, "Call askLLM in another agent"},
		"bounded":     {map[string]any{"code": twice, "capabilities": granted}, map[string]string{"llm-tokens-per-run": "100"}, true, "--llm-tokens-per-run"},
		"no model":    {map[string]any{"code": twice, "capabilities": granted}, nil, false, "No LLM provider configured"},
		"no prompt":   {map[string]any{"code": "export default async (input, ctx) => ctx.askLLM('')", "capabilities": granted}, nil, true, "prompt must not be empty"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s *servertest.Server
			if tt.model {
				s = withModel(t, newScriptedModel(t, "1", "2"), tt.flags)
			} else {
				s = servertest.New(t)
			}
			tt.program["name"], tt.program["language"], tt.program["runtime"], tt.program["outputSchema"] = "asks", "javascript", "goja", map[string]any{}
			s.Create(t, tt.program)
			run := s.Want(t, 200, "POST", "/api/v1/code-agents/asks/execute", `{"version":"draft","input":{}}`).Run(t)
			if run.Error == nil || !strings.Contains(run.Error.Message+run.Error.Remedy, tt.want) {
				t.Errorf("error is %+v", run.Error)
			}
		})
	}
}

// TestAssist_Tool checks that a request for a tool finds a published one. If none fits, it creates a draft, and publishes it
// only if the gate allows it.
func TestAssist_Tool(t *testing.T) {
	t.Parallel()
	program := func(name, about, code string) string {
		text, _ := json.Marshal(map[string]any{
			"name": name, "title": about, "description": about, "plan": []string{"one step"}, "files": []any{map[string]string{"path": "main.py", "content": code}},
			"inputSchema": `{"type":"object","properties":{"text":{"type":"string","description":"Text."}},"required":["text"]}`, "outputSchema": `{}`,
			"sampleInput": `{"text":"a b"}`, "tests": []any{},
		})
		return string(text)
	}
	model := newScriptedModel(t,
		program("word-count", "Reverses the letters of words.", "def main(input, ctx):\n    return input['text'][::-1]\n"),
		program("shout", "Shouts a sentence in capitals.", "def main(input, ctx):\n    return input['text'].upper()\n"))
	s := withModel(t, model)
	s.Create(t, map[string]any{
		"name": "word-count", "language": "python", "description": "Counts words.", "code": "def main(text):\n    return len(text.split())\n",
		"inputSchema": map[string]any{"type": "object", "required": []string{"text"}, "properties": map[string]any{"text": map[string]string{"type": "string"}}},
	})
	find := func(body string) (tool toolmaker.Tool) {
		t.Helper()
		s.Want(t, 200, "POST", "/api/v1/assist/tools", body).Into(t, &tool)
		return tool
	}
	s.Publish(t, "word-count", "1.0.0")
	if tool := find(`{"task":"Count the words in a text.","inputExample":{"text":"a b"}}`); tool.Outcome != toolmaker.Found || tool.Name != "word-count" || tool.Version != "1.0.0" || !strings.Contains(tool.Reason, "3 of 3 words") {
		t.Errorf("tool is %+v", tool)
	}
	drafted := find(`{"task":"Reverse all letters of words.","inputExample":{"text":"ab"}}`)
	if drafted.Outcome != toolmaker.Drafted || drafted.Name != "word-count-2" || drafted.Version != "" {
		t.Errorf("tool is %+v", drafted)
	}
	if tool := find(`{"task":"Reverse all letters of words.","inputExample":{"text":"ab"}}`); tool.Outcome != toolmaker.Waiting || tool.AgentID != drafted.AgentID {
		t.Errorf("the repeated request made another tool: %+v", tool)
	}
	if tool := find(`{"task":"Shout sentences in capitals.","autoPromote":true}`); tool.Outcome != toolmaker.Published || tool.Version != "1.0.0" {
		t.Errorf("tool is %+v", tool)
	}
	s.Want(t, 200, "GET", "/api/v1/code-agents/shout/versions/1.0.0", nil)
	s.Want(t, 422, "POST", "/api/v1/assist/tools", `{"task":"of the"}`)
	if asked := model.conversations(); len(asked) != 2 {
		t.Errorf("the model was asked %d times, want 2", len(asked))
	}
	// Clients of skills get the same tools.
	for body, want := range map[string]string{
		`{"user_text":"Count the words in a text.","input_example":{"text":"a b"}}`:                       `"success":true,"outcome":"found","name":"word-count"`,
		`{"user_text":"Reverse all letters","intent":"of words","input_example":{"text":"ab"},"other":1}`: `"success":true,"outcome":"waiting","name":"word-count-2"`,
		`{"user_text":"Translate a poem to Latin."}`:                                                      `"error_type":"model_unavailable"`,
	} {
		if got := string(s.Want(t, 200, "POST", "/v1/skills/autonomous_skill_task", body).Body); !strings.Contains(got, want) {
			t.Errorf("%s: %s", body, got)
		}
	}
}

// newEmbedder starts a model whose vectors have three directions: texts about counting, texts about colours, and all other
// texts. After fail is called, its requests fail.
func newEmbedder(t *testing.T) (url string, asked func() []string, fail func()) {
	t.Helper()
	var mu sync.Mutex
	var texts []string
	failing := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var question struct {
			Model string
			Input []string
		}
		mu.Lock()
		defer mu.Unlock()
		if err := json.NewDecoder(r.Body).Decode(&question); err != nil || r.URL.Path != "/v1/embeddings" || question.Model != "vectors" || failing {
			http.Error(w, "no vectors", http.StatusServiceUnavailable)
			return
		}
		data := []any{}
		for i, text := range question.Input {
			vector := []float32{0, 0, 1}
			switch {
			case strings.Contains(text, "ount") || strings.Contains(text, "How many"):
				vector = []float32{1, 0, 0.1}
			case strings.Contains(text, "olour"):
				vector = []float32{0, 1, 0.1}
			}
			data = append(data, map[string]any{"index": i, "embedding": vector})
		}
		texts = append(texts, question.Input...)
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data, "usage": map[string]any{"prompt_tokens": 5}})
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1", func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(texts)
		}, func() {
			mu.Lock()
			defer mu.Unlock()
			failing = true
		}
}

// TestAssist_ToolByMeaning checks that a published tool without a word of the task is found by its vector, that the vector
// of each tool is requested once, and that words are compared if the model returns no vectors.
func TestAssist_ToolByMeaning(t *testing.T) {
	t.Parallel()
	address, asked, fail := newEmbedder(t)
	s := servertest.New(t, servertest.Flags(t, map[string]string{"llm-base-url": address, "llm-model": "none", "llm-attempts": "1", "llm-embedding-model": "vectors"}))
	for name, about := range map[string]string{"word-count": "Counts words.", "paint": "Mixes colours."} {
		s.Create(t, map[string]any{
			"name": name, "language": "python", "description": about, "code": "def main(text):\n    return 1\n",
			"inputSchema": map[string]any{"type": "object", "required": []string{"text"}, "properties": map[string]any{"text": map[string]string{"type": "string"}}},
		})
		s.Publish(t, name, "1.0.0")
	}
	task := `{"task":"How many terms does this sentence contain?","inputExample":{"text":"a b"}}`
	for range 2 {
		var tool toolmaker.Tool
		s.Want(t, 200, "POST", "/api/v1/assist/tools", task).Into(t, &tool)
		if tool.Outcome != toolmaker.Found || tool.Name != "word-count" || !strings.Contains(tool.Reason, "by the model vectors: similarity 1.00") {
			t.Errorf("tool is %+v", tool)
		}
	}
	if texts := asked(); len(texts) != 4 || !strings.HasPrefix(texts[3], "How many") || !slices.ContainsFunc(texts, func(one string) bool { return strings.Contains(one, "Mixes colours.") }) {
		t.Errorf("the model got %q", texts)
	}
	var state struct{ Used registry.Tokens }
	if s.Want(t, 200, "GET", "/api/v1/language-model", nil).Into(t, &state); state.Used.Input != 10 {
		t.Errorf("used %+v", state.Used)
	}
	s.Want(t, 503, "POST", "/api/v1/assist/tools", `{"task":"How many terms does this sentence contain?","inputExample":{"other":1}}`) // The input example does not fit the schema of the tool.
	s.Want(t, 503, "POST", "/api/v1/assist/tools", `{"task":"Fold a paper crane."}`)
	fail()
	var tool toolmaker.Tool
	s.Want(t, 200, "POST", "/api/v1/assist/tools", `{"task":"Count the words in a text."}`).Into(t, &tool)
	if tool.Name != "word-count" || !strings.Contains(tool.Reason, "3 of 3 words") {
		t.Errorf("by words the tool is %+v", tool)
	}
	s.Want(t, 503, "POST", "/api/v1/assist/tools", task)
}

// TestAssist_ToolGate checks that a new tool is not published if the caller lacks the scope approve, or if the gate
// escalates it.
func TestAssist_ToolGate(t *testing.T) {
	t.Parallel()
	answer := `{"name":"shout","title":"Shout","description":"Shouts.","plan":[],"files":[{"path":"main.py","content":"def main(input, ctx):\n    return 1\n"}],"inputSchema":"{\"type\":\"object\"}","outputSchema":"","sampleInput":"{}","tests":[]}`
	s := withModel(t, newScriptedModel(t, answer))
	var made struct{ Secret string }
	s.Want(t, 201, "POST", "/api/v1/tokens", `{"name":"writer","scopes":["write","run"]}`).Into(t, &made)
	var tool toolmaker.Tool
	s.Want(t, 200, "POST", "/api/v1/assist/tools", `{"task":"Yell a phrase.","autoPromote":true}`, servertest.Headers{"Authorization": "Bearer " + made.Secret}).Into(t, &tool)
	if tool.Outcome != toolmaker.Drafted {
		t.Errorf("a writer published %+v", tool)
	}
	s.Want(t, 201, "POST", "/api/v1/tokens", `{"name":"reader","scopes":["write"]}`).Into(t, &made)
	s.Want(t, 403, "POST", "/api/v1/assist/tools", `{"task":"Yell a phrase."}`, servertest.Headers{"Authorization": "Bearer " + made.Secret})
}

// completer is a language model that answers the Completions API with a text, and the Chat Completions API with another.
type completer struct {
	*httptest.Server
	middle string // text that the Completions API returns; "" if the model has no such API

	mu    sync.Mutex
	asked []string // paths and bodies of the requests
}

func newCompleter(t *testing.T, middle, chat string) *completer {
	c := &completer{middle: middle}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.asked = append(c.asked, r.URL.Path+" "+string(body))
		switch {
		case r.URL.Path == "/v1/chat/completions":
			_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"content": chat}}}, "usage": map[string]any{"prompt_tokens": 50, "completion_tokens": 5}})
		case c.middle == "":
			http.Error(w, "suffix is not supported", http.StatusBadRequest)
		default:
			_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"text": c.middle, "finish_reason": "length"}}, "usage": map[string]any{"prompt_tokens": 20, "completion_tokens": 2}})
		}
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *completer) paths() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	paths := []string{}
	for _, one := range c.asked {
		path, _, _ := strings.Cut(one, " ")
		paths = append(paths, path)
	}
	return paths
}

// TestAssist_Complete checks that code is completed at the cursor, by fill-in-the-middle if the model supports it and by a
// chat otherwise, and that no value of a secret is sent.
func TestAssist_Complete(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		middle, chat string
		want         string
		tokens       int64
		paths        []string
	}{
		"fill in the middle":     {"names[0]\n", "", "names[0]", 22, []string{"/v1/completions", "/v1/completions"}},
		"in words":               {"", "```javascript\n  return names[0]\n```", "names[0]", 55, []string{"/v1/completions", "/v1/chat/completions", "/v1/chat/completions"}},
		"the rest of the line":   {"names[0]; // rest", "", "names[0];", 22, []string{"/v1/completions", "/v1/completions"}},
		"nothing to be inserted": {" \n", "", "", 22, []string{"/v1/completions", "/v1/completions"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := newCompleter(t, tt.middle, tt.chat)
			s := servertest.New(t, servertest.Flags(t, map[string]string{"llm-base-url": model.URL + "/v1", "llm-model": "large", "llm-completion-model": "small"}))
			s.Want(t, 200, "PUT", "/api/v1/secrets/WORD", `{"value":"wordThatIsSecret"}`)
			s.Create(t, map[string]any{"name": "first", "language": "javascript", "code": failing, "secrets": []string{"WORD"}})
			rest := ""
			if strings.HasSuffix(tt.middle, "rest") {
				rest = " // rest"
			}
			at := map[string]string{"agent": "first", "file": "main.js", "before": "const word = \"wordThatIsSecret\";\nexport default ({ names }) => {\n  return ", "after": rest + "\n}\n"}
			for range 2 { // In the second round the server knows whether the model supports fill-in-the-middle.
				var got assist.Suggestion
				if s.Want(t, 200, "POST", "/api/v1/assist/complete", at).Into(t, &got); got.Text != tt.want || got.Tokens.Input+got.Tokens.Output != tt.tokens || got.Model != "small" {
					t.Errorf("suggestion is %+v, want %q", got, tt.want)
				}
			}
			if got := model.paths(); !slices.Equal(got, tt.paths) {
				t.Errorf("asked %v, want %v", got, tt.paths)
			}
			at["before"], at["after"] = "const word = \"wordThat", "IsSecret\";\n"
			var got assist.Suggestion
			if s.Want(t, 200, "POST", "/api/v1/assist/complete", at).Into(t, &got); got.Text != "" || len(model.paths()) != len(tt.paths) {
				t.Errorf("the model was asked within the value of a secret: %+v", got)
			}
			for _, one := range model.asked {
				if strings.Contains(one, "wordThatIsSecret") || !strings.Contains(one, `"small"`) {
					t.Errorf("the model got %s", one)
				}
			}
		})
	}
}

// TestAssist_Complete_BusyModel_AskedOnce checks that a completion is not retried if the model is busy, because a late
// suggestion is useless.
func TestAssist_Complete_BusyModel_AskedOnce(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	t.Cleanup(busy.Close)
	s := servertest.New(t, servertest.Flags(t, map[string]string{"llm-base-url": busy.URL + "/v1", "llm-model": "m"}))
	s.Create(t, map[string]any{"name": "first", "language": "javascript", "code": failing})
	refused := s.Want(t, 503, "POST", "/api/v1/assist/complete", `{"agent":"first","file":"main.js","before":"x","after":""}`).Problem(t)
	if refused.Code != "model_unavailable" || asked.Load() != 1 {
		t.Errorf("the model was asked %d times, problem %+v", asked.Load(), refused)
	}
}
