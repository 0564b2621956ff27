package servertest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/server/app"
	"github.com/atelier-run/atelier/server/servertest"
)

// calledTools publishes the agents shout and count. The programs of these tests call them.
func calledTools(t *testing.T, s *servertest.Server) {
	t.Helper()
	s.Create(t, map[string]any{
		"name": "shout", "language": "javascript", "code": "export default ({ text }) => ({ text: text.toUpperCase() })",
		"inputSchema": schemaOf("text", "string"), "outputSchema": schemaOf("text", "string"),
	})
	s.Publish(t, "shout", "1.0.0")
	s.Create(t, map[string]any{"name": "count-words", "language": "python", "code": "def main(text): return len(text.split())\n", "inputSchema": schemaOf("text", "string")})
	s.Publish(t, "count-words", "1.0.0")
}

// callsOf returns the call events of a run.
func callsOf(t *testing.T, s *servertest.Server, run string) []runtimes.CallData {
	t.Helper()
	var page struct {
		Items []runtimes.Event `json:"items"`
	}
	s.Want(t, 200, http.MethodGet, "/api/v1/runs/"+run+"/events", nil).Into(t, &page)
	var calls []runtimes.CallData
	for _, e := range page.Items {
		if e.Kind == runtimes.KindCall {
			var data runtimes.CallData
			if err := json.Unmarshal(e.Data, &data); err != nil {
				t.Fatal(err)
			}
			calls = append(calls, data)
		}
	}
	return calls
}

// traceOf returns the trace that a run belongs to.
func traceOf(t *testing.T, s *servertest.Server, run string) string {
	t.Helper()
	var record struct{ TraceID string }
	s.Want(t, 200, http.MethodGet, "/api/v1/runs/"+run, nil).Into(t, &record)
	return record.TraceID
}

func TestCodeMode_EachLanguageCallsTwoAgents(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	calledTools(t, s)
	programs := map[string]map[string]any{
		"goja, ctx": {"language": "javascript", "runtime": "goja", "code": `export default async (input, ctx) => {
			const { text } = await ctx.callTool("shout@^1", input);
			return { text, words: await ctx.callTool("count-words", { text }) };
		}`},
		"goja, stubs": {"language": "typescript", "runtime": "goja", "code": `import { shout, count_words } from "agents";
		export default async (input: { text: string }) => {
			const { text } = await shout(input);
			return { text, words: await count_words({ text }) };
		}`},
		"node, stubs": {"language": "typescript", "runtime": "node", "code": `import * as agents from "agents";
		export default async (input: { text: string }, ctx: any) => {
			const { text } = await agents.shout(input);
			return { text, words: await ctx.callTool("count-words@1.0.0", { text }) };
		}`},
		"python": {"language": "python", "code": `from agents import shout
def main(input, ctx):
    text = shout(input)["text"]
    return {"text": text, "words": ctx.call_tool("count-words@1.0.0", text=text)}
`},
		"bash": {"language": "bash", "code": `text=$(atelier call shout "$INPUT")
words=$(atelier call count-words "$text")
echo "${text%\}},\"words\":$words}"
`},
	}
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exact := "count-words@1.0.0"
			if strings.HasPrefix(name, "goja, ctx") {
				exact = "count-words@latest"
			}
			program["capabilities"] = map[string]any{"tools": []string{"shout@^1", exact}}
			program["input"] = map[string]string{"text": "good day"}
			run := s.Want(t, 200, http.MethodPost, "/api/v1/execute", program).Run(t)
			if string(run.Output) != `{"text":"GOOD DAY","words":2}` {
				t.Fatalf("output %s, error %+v, stderr %s", run.Output, run.Error, run.Stderr)
			}
			calls := callsOf(t, s, run.RunID)
			if len(calls) != 4 || calls[0].Status != "running" || calls[1].Status != "succeeded" || calls[1].Version != "1.0.0" || calls[0].RunID != calls[1].RunID {
				t.Fatalf("calls %+v", calls)
			}
			child := s.Get(t, calls[0].RunID)
			if child.Trigger != "tool" || child.Parent != run.RunID || child.Provenance.Agent != "shout" {
				t.Errorf("child %+v", child)
			}
			var children struct {
				Items []servertest.Run `json:"items"`
			}
			s.Want(t, 200, http.MethodGet, "/api/v1/runs?parentRunId="+run.RunID, nil).Into(t, &children)
			if len(children.Items) != 2 {
				t.Errorf("%d children", len(children.Items))
			}
			trace := traceOf(t, s, run.RunID)
			for _, called := range children.Items {
				if got := traceOf(t, s, called.RunID); got != trace || trace == "" {
					t.Errorf("the trace of a called run is %q, and that of its caller %q", got, trace)
				}
			}
		})
	}
}

func TestCodeMode_PublishedVersion_CallsThePinnedVersion(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	calledTools(t, s)
	s.Create(t, map[string]any{
		"name": "greet", "language": "javascript", "code": `export default (input, ctx) => ctx.callTool("shout", input)`,
		"capabilities": map[string]any{"tools": []string{"shout@^1"}},
	})
	s.Publish(t, "greet", "1.0.0")
	s.Want(t, 200, http.MethodPut, "/api/v1/code-agents/shout", map[string]any{"code": "export default () => ({ text: 'new' })"}, servertest.Headers{"If-Match": `"1"`})
	s.Publish(t, "shout", "1.1.0")
	if run := s.Execute(t, "greet", "1.0.0", map[string]string{"text": "hi"}); string(run.Output) != `{"text":"HI"}` {
		t.Errorf("the published version got %s, %+v", run.Output, run.Error)
	}
	if run := s.Execute(t, "greet", "draft", map[string]string{"text": "hi"}); string(run.Output) != `{"text":"new"}` {
		t.Errorf("the draft got %s, %+v", run.Output, run.Error)
	}
	var version struct{ Capabilities runtimes.Capabilities }
	s.Want(t, 200, http.MethodGet, "/api/v1/code-agents/greet/versions/1.0.0", nil).Into(t, &version)
	if pins := version.Capabilities.Pinned; len(pins) != 1 || pins[0].Version != "1.0.0" || pins[0].Reference != "shout@^1" {
		t.Errorf("pins %+v", pins)
	}
}

func TestCodeMode_Failures_AreTypedErrors(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	calledTools(t, s)
	s.Create(t, map[string]any{"name": "fails", "language": "javascript", "code": `export default () => { throw new Error("no luck") }`})
	s.Publish(t, "fails", "1.0.0")
	caught := func(call string) string {
		return `export default async (_, ctx) => { try { return await ` + call + ` } catch (e) { return { code: e.code, message: e.message, tool: e.tool ?? null } } }`
	}
	tests := map[string]struct{ code, want string }{
		"not granted":     {caught(`ctx.callTool("weather@^1", {})`), `"code":"denied"`},
		"other range":     {caught(`ctx.callTool("shout@^2", {})`), `"code":"denied"`},
		"wrong input":     {caught(`ctx.callTool("shout@^1", { text: 7 })`), `"code":"invalid_arguments"`},
		"failing program": {caught(`ctx.callTool("fails", {})`), `"type":"runtime_error"`},
		"no version":      {caught(`ctx.callTool("count-words", {})`), `"type":"not_found"`},
		"cyclic input":    {caught(`(() => { const a = {}; a.a = a; return ctx.callTool("shout@^1", a); })()`), `contains itself`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := s.Want(t, 200, http.MethodPost, "/api/v1/execute", map[string]any{
				"language": "javascript", "runtime": "goja", "code": test.code, "capabilities": map[string]any{"tools": []string{"shout@^1", "fails@1.0.0", "count-words@^7"}},
			}).Run(t)
			if !strings.Contains(string(run.Output), test.want) {
				t.Errorf("output %s, want %s; error %+v", run.Output, test.want, run.Error)
			}
		})
	}
	t.Run("a denial that nobody catches", func(t *testing.T) {
		t.Parallel()
		run := s.Want(t, 200, http.MethodPost, "/api/v1/execute", map[string]any{"language": "python", "code": "def main(ctx): ctx.call_tool('weather')\n"}).Run(t)
		if run.Error == nil || run.Error.Type != runtimes.Denied || run.Error.Rule != "tools" || run.Error.Grant == nil || run.Error.Grant.Tools[0] != "weather@latest" {
			t.Errorf("error %+v", run.Error)
		}
	})
	t.Run("a reference without a version", func(t *testing.T) {
		t.Parallel()
		for _, tools := range [][]string{{"shout"}, {"shout@draft"}, {"Shout@1.0.0"}, {"shout@^1", "shout@^2"}} {
			p := s.Want(t, 422, http.MethodPost, "/api/v1/execute", map[string]any{"language": "bash", "code": "true", "capabilities": map[string]any{"tools": tools}}).Problem(t)
			if len(p.Errors) != 1 || !strings.HasPrefix(p.Errors[0].Pointer, "/capabilities/tools/") {
				t.Errorf("%v: %+v", tools, p)
			}
		}
	})
	t.Run("publishing a reference to nothing", func(t *testing.T) {
		t.Parallel()
		s.Create(t, map[string]any{"name": "lost", "language": "bash", "code": "true", "capabilities": map[string]any{"tools": []string{"nobody@^1"}}})
		p := s.Want(t, 422, http.MethodPost, "/api/v1/code-agents/lost/versions", map[string]string{"version": "1.0.0"}).Problem(t)
		if len(p.Errors) != 1 || p.Errors[0].Pointer != "/capabilities/tools/0" {
			t.Errorf("%+v", p)
		}
	})
}

func TestCodeMode_TooManyCalls_TypedError(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	calledTools(t, s)
	run := s.Want(t, 200, http.MethodPost, "/api/v1/execute", map[string]any{
		"language": "javascript", "runtime": "goja", "capabilities": map[string]any{"tools": []string{"shout@^1"}}, "limits": map[string]any{"timeoutMs": 600_000},
		"code": `export default async (_, ctx) => { for (let i = 0; ; i++) { console.log(i); await ctx.callTool("shout@^1", { text: "a" }) } }`,
	}).Run(t)
	if run.Error == nil || run.Error.Type != runtimes.Denied || run.Error.Rule != "tools" || !strings.HasSuffix(run.Stdout, "\n100\n") {
		t.Errorf("error %+v, stdout %s", run.Error, run.Stdout)
	}
}

// Agents may call agents three levels deep. A call at the fourth level ends with an error.
func TestCodeMode_TooDeep_TypedError(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	calledTools(t, s)
	below := "shout"
	for _, name := range []string{"a", "b", "c", "d"} {
		s.Create(t, map[string]any{
			"name": name, "language": "javascript", "code": `export default (input, ctx) => ctx.callTool("` + below + `", input)`,
			"capabilities": map[string]any{"tools": []string{below + "@^1"}},
		})
		s.Publish(t, name, "1.0.0")
		below = name
	}
	if run := s.Execute(t, "c", "1.0.0", map[string]string{"text": "x"}); !run.Success {
		t.Errorf("three below: %+v", run.Error)
	}
	if run := s.Execute(t, "d", "1.0.0", map[string]string{"text": "x"}); run.Success || !strings.Contains(run.Error.Message, "at most 3 agents") {
		t.Errorf("four below: %+v", run.Error)
	}
}

// Twice as many programs as may run at once call other agents at the same time. This must not cause a deadlock.
func TestCodeMode_ManyParents_NoDeadlock(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, func(o *app.Options) { o.Config.Concurrency = 2 })
	calledTools(t, s)
	s.Create(t, map[string]any{
		"name": "outer", "language": "javascript", "code": `export default (input, ctx) => ctx.callTool("shout", input)`, "capabilities": map[string]any{"tools": []string{"shout@1.0.0"}},
	})
	s.Publish(t, "outer", "1.0.0")
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			answer, err := s.Try(t.Context(), http.MethodPost, "/api/v1/execute", map[string]any{
				"language": "javascript", "runtime": "goja", "code": `export default (input, ctx) => ctx.callTool("outer", { text: "x" })`, "capabilities": map[string]any{"tools": []string{"outer@1.0.0"}},
			})
			if err != nil || answer.Status != 200 || !strings.Contains(string(answer.Body), `{"text":"X"}`) {
				t.Errorf("%v %d %s", err, answer.Status, answer.Body)
			}
		})
	}
	all.Wait()
}

func TestCodeMode_CancelledParent_CancelsTheChild(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "sleeps", "language": "bash", "code": "sleep 60"})
	s.Publish(t, "sleeps", "1.0.0")
	parent := s.Want(t, 202, http.MethodPost, "/api/v1/execute", map[string]any{
		"language": "python", "code": "from agents import sleeps\ndef main(): sleeps()\n", "capabilities": map[string]any{"tools": []string{"sleeps@1.0.0"}},
	}, servertest.Headers{"Prefer": "respond-async"}).Run(t).RunID
	var calls []runtimes.CallData
	servertest.Eventually(t, "the child runs", func() bool {
		calls = callsOf(t, s, parent)
		return len(calls) == 1
	})
	s.Want(t, 200, http.MethodPost, "/api/v1/runs/"+parent+"/cancel", nil)
	if run := s.Wait(t, parent); run.Status != "cancelled" {
		t.Errorf("parent %+v", run)
	}
	if child := s.Wait(t, calls[0].RunID); child.Status != "cancelled" {
		t.Errorf("child %+v", child)
	}
}

func TestCodeMode_TimeLimit_IsInherited(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "sleeps", "language": "bash", "code": "sleep 60"})
	s.Publish(t, "sleeps", "1.0.0")
	run := s.Want(t, 200, http.MethodPost, "/api/v1/execute", map[string]any{
		"language": "javascript", "runtime": "goja", "code": `export default (_, ctx) => ctx.callTool("sleeps", {})`,
		"limits": map[string]any{"timeoutMs": 700}, "capabilities": map[string]any{"tools": []string{"sleeps@1.0.0"}},
	}).Run(t)
	calls := callsOf(t, s, run.RunID)
	if run.Success || len(calls) == 0 {
		t.Fatalf("run %+v", run)
	}
	if child := s.Get(t, calls[0].RunID); child.Status != "timed_out" && child.Status != "cancelled" {
		t.Errorf("child %+v", child)
	}
}
