package servertest_test

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/monty/montytest"
	"github.com/atelier-run/atelier/server/servertest"
)

// TestMonty_PublishedAgent_RunsAndCallsAnother publishes an agent with the runtime Monty, which calls another agent.
func TestMonty_PublishedAgent_RunsAndCallsAnother(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"monty": montytest.Program(t)}))
	calledTools(t, s)
	s.Create(t, map[string]any{
		"name": "caller", "language": "python", "runtime": "monty", "capabilities": map[string]any{"tools": []string{"count-words@^1"}}, "inputSchema": schemaOf("text", "string"),
		"code": "def main(text, ctx):\n    print('counting')\n    return ctx.call_tool('count-words@^1', text=text)\n",
	})
	s.Publish(t, "caller", "1.0.0")
	run := s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/code-agents/caller/execute?version=1.0.0", map[string]any{"input": map[string]any{"text": "a b c"}}).Run(t)
	if string(run.Output) != "3" || run.Provenance.Runtime != string(runtimes.MontyEngine) || run.Stdout != "counting\n" {
		t.Errorf("%+v", run)
	}
	if calls := callsOf(t, s, run.RunID); len(calls) != 2 {
		t.Errorf("%+v", calls)
	}
}

// TestMonty_WaitsForApproval_ContinuesAfterRestart stops the server while a program waits for the approval of a run
// that it has called. Another process must continue the program at this call, with its variables, and without repeating
// its output.
func TestMonty_WaitsForApproval_ContinuesAfterRestart(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			data, program := t.TempDir(), montytest.Program(t)
			const token = "a-token-that-is-long-enough-to-be-one"
			p := servertest.Spawn(t, data, "--token", token, "--monty", program, "--shutdown-grace", "10ms")
			p.Token = token
			p.Create(t, map[string]any{"name": "asks", "language": "javascript", "code": "export default ({n}) => n * 2", "requiresApproval": true})
			p.Publish(t, "asks", "1.0.0")
			p.Create(t, map[string]any{"name": "count-words", "language": "python", "code": "def main(text): return len(text.split())\n"})
			p.Publish(t, "count-words", "1.0.0")
			p.Create(t, map[string]any{
				"name": "patient", "language": "python", "runtime": "monty", "capabilities": map[string]any{"tools": []string{"asks@^1", "count-words@^1"}}, "limits": map[string]any{"timeoutMs": 600_000},
				"code": "def main(n, ctx):\n    print('before')\n    seen = [n]\n    try:\n        seen.append(ctx.call_tool('asks@^1', n=n))\n    except RuntimeError as e:\n        seen.append('refused' if 'not today' in str(e) else str(e))\n    print('after')\n    seen.append(ctx.call_tool('count-words@^1', text='a b'))\n    return seen\n",
			})
			p.Publish(t, "patient", "1.0.0")
			start := func(n int) string {
				return p.Want(t, http.StatusAccepted, http.MethodPost, "/api/v1/code-agents/patient/execute?version=1.0.0", map[string]any{"input": map[string]any{"n": n}}, servertest.Headers{"Prefer": "respond-async"}).Run(t).RunID
			}
			approved, denied := start(4), start(5)
			draft := p.Want(t, http.StatusAccepted, http.MethodPost, "/api/v1/code-agents/patient/execute?version=draft", map[string]any{"input": map[string]any{"n": 6}}, servertest.Headers{"Prefer": "respond-async"}).Run(t).RunID
			for _, id := range []string{approved, denied, draft} {
				servertest.Eventually(t, "the program waits", func() bool {
					return strings.Contains(string(p.Want(t, http.StatusOK, http.MethodGet, "/api/v1/runs/"+id+"/events", nil).Body), `"awaiting_approval"`)
				})
			}
			p.Want(t, http.StatusOK, http.MethodPut, "/api/v1/code-agents/patient", map[string]any{"code": "def main(n, ctx):\n    return 'changed'\n", "capabilities": map[string]any{}}, servertest.Headers{"If-Match": `"1"`})
			p.Signal(t, signal)
			p.Exit()
			startedAnHourAgo(t, data, approved, denied, draft)
			again := servertest.On(t, data, servertest.Flags(t, map[string]string{"data": data, "token": token, "monty": program}))
			var list struct{ Items []registry.Approval }
			again.Want(t, http.StatusOK, http.MethodGet, "/api/v1/approvals?status=pending", nil).Into(t, &list)
			if len(list.Items) != 3 {
				t.Fatalf("approvals %+v", list.Items)
			}
			for _, one := range list.Items {
				decision := "approve"
				var whole registry.Approval
				again.Want(t, http.StatusOK, http.MethodGet, "/api/v1/approvals/"+one.ID, nil).Into(t, &whole)
				if string(whole.Input) == `{"n":5}` {
					decision = "deny"
				}
				decide(t, again.Client, http.StatusOK, one.ID, decision, "", "not today")
			}
			for id, output := range map[string]string{approved: "[4,8,2]", denied: `[5,"refused",2]`, draft: "[6,12,2]"} {
				if run := ended(t, again.Client, id); run.Status != "succeeded" || string(run.Output) != output || run.Stdout != "before\nafter\n" {
					t.Errorf("%+v %+v", run, run.Error)
				}
			}
		})
	}
}

// startedAnHourAgo changes the records of runs as if the server had been stopped for an hour. A program that is
// continued must have its whole time limit again.
func startedAnHourAgo(t *testing.T, data string, ids ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(data, "atelier.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, id := range ids {
		result, err := db.ExecContext(t.Context(), "UPDATE runs SET started_at = ? WHERE id = ?", time.Now().Add(-time.Hour).UTC().Format("2006-01-02 15:04:05.000000+00:00"), id)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := result.RowsAffected(); err != nil || n != 1 {
			t.Fatalf("%d rows, %v", n, err)
		}
	}
}

// TestMonty_WaitsForApproval_ApprovedRunStarts checks that a waiting program returns the only slot and its reservation
// in the quota. If too many programs wait, another one must be refused.
func TestMonty_WaitsForApproval_ApprovedRunStarts(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"monty": montytest.Program(t), "concurrency": "1", "quota-concurrent-runs": "1"}))
	s.Create(t, map[string]any{"name": "asks", "language": "javascript", "code": "export default ({n}) => n * 2", "requiresApproval": true})
	s.Publish(t, "asks", "1.0.0")
	s.Create(t, map[string]any{
		"name": "patient", "language": "python", "runtime": "monty", "capabilities": map[string]any{"tools": []string{"asks@^1"}}, "limits": map[string]any{"timeoutMs": 600_000},
		"code": "def main(n, ctx):\n    return ctx.call_tool('asks@^1', n=n) + 1\n",
	})
	s.Publish(t, "patient", "1.0.0")
	start := func(n int) string {
		return s.Want(t, http.StatusAccepted, http.MethodPost, "/api/v1/code-agents/patient/execute?version=1.0.0", map[string]any{"input": map[string]any{"n": n}}, servertest.Headers{"Prefer": "respond-async"}).Run(t).RunID
	}
	waiting := map[int]string{}
	for n := range 4 { // This is the maximum number of programs that may wait for one slot.
		waiting[n] = start(n)
		servertest.Eventually(t, "the program waits", func() bool {
			return strings.Contains(string(s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/runs/"+waiting[n]+"/events", nil).Body), `"awaiting_approval"`)
		})
	}
	if run := ended(t, s.Client, start(4)); run.Error == nil || !strings.Contains(run.Error.Message, "too many programs of this server wait") {
		t.Errorf("one more program: %+v", run)
	}
	var list struct{ Items []registry.Approval }
	s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/approvals?status=pending", nil).Into(t, &list)
	for _, one := range list.Items {
		var whole registry.Approval
		s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/approvals/"+one.ID, nil).Into(t, &whole)
		var input struct{ N int }
		if err := json.Unmarshal(whole.Input, &input); err != nil {
			t.Fatal(err)
		}
		if waiting[input.N] == "" {
			continue
		}
		decide(t, s.Client, http.StatusOK, one.ID, "approve", "", "")
		if run := ended(t, s.Client, waiting[input.N]); run.Status != "succeeded" || string(run.Output) != strconv.Itoa(2*input.N+1) {
			t.Errorf("%+v %+v", run, run.Error)
		}
		delete(waiting, input.N)
	}
	if len(waiting) > 0 {
		t.Errorf("no approval of %v", waiting)
	}
}

// TestFeatures_MissingInRuntime_RefusedWithField expects an error that names the runtime, the field and the runtimes
// that have the feature. It also expects the features of each runtime in the list of runtimes.
func TestFeatures_MissingInRuntime_RefusedWithField(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for name, tt := range map[string]struct {
		change map[string]any
		field  string
		others string
	}{
		"files":      {map[string]any{"code": nil, "files": map[string]string{"main.py": "def main(): pass", "other.py": ""}}, "/files", "choose python"},
		"packages":   {map[string]any{"packages": []string{"requests==2.32.3"}}, "/packages", "choose python"},
		"subprocess": {map[string]any{"capabilities": map[string]any{"subprocess": true}}, "/capabilities/subprocess", "choose python"},
		"projects":   {map[string]any{"capabilities": map[string]any{"files": map[string]any{"project": "shop"}}}, "/capabilities/files", "choose python"},
		"rules":      {map[string]any{"rules": map[string]any{"pack": "restricted"}}, "/rules", "choose python"},
		"goja":       {map[string]any{"language": "javascript", "runtime": "goja", "code": "export default () => 1", "capabilities": map[string]any{"subprocess": true}}, "/capabilities/subprocess", "choose node"},
	} {
		agent := map[string]any{"name": "needy", "language": "python", "runtime": "monty", "code": "def main(): pass"}
		for field, value := range tt.change {
			agent[field] = value
		}
		if agent["code"] == nil {
			delete(agent, "code")
		}
		refused := s.Want(t, http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/code-agents", agent).Problem(t)
		if refused.Code != fault.InvalidInput || !slices.ContainsFunc(refused.Errors, func(e fault.Detail) bool {
			return e.Pointer == tt.field && strings.Contains(e.Message, "does not have the feature") && strings.Contains(e.Message, tt.others)
		}) {
			t.Errorf("%s: %+v", name, refused)
		}
	}
	var list struct {
		Items []struct {
			Runtime  runtimes.Name
			Features []runtimes.Feature
		}
	}
	s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/runtimes", nil).Into(t, &list)
	for _, item := range list.Items {
		if len(item.Features) == 0 || slices.Contains(item.Features, runtimes.PackagesFeature) != slices.Contains([]runtimes.Name{runtimes.Goja, runtimes.NodeEngine, runtimes.PythonEngine}, item.Runtime) {
			t.Errorf("%+v", item)
		}
	}
}

// TestMonty_NotInstalled_Unavailable checks that the error contains the remedy if Monty is not installed.
func TestMonty_NotInstalled_Unavailable(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"monty": "/nowhere/monty"}))
	refused := s.Want(t, http.StatusServiceUnavailable, http.MethodPost, "/api/v1/execute", map[string]any{"language": "python", "runtime": "monty", "code": "def main(): pass", "input": map[string]any{}})
	if !strings.Contains(string(refused.Body), "pip install pydantic-monty-runtime") {
		t.Errorf("%s", refused.Body)
	}
}
