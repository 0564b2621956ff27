package servertest_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/server/servertest"
)

// alike wraps a process as a Server, for helpers that only send requests.
func alike(p *servertest.Process) *servertest.Server { return &servertest.Server{Client: p.Client} }

// A person signs in at one server and works at the others. When the session ends at one server, it must end at all of
// them, and so must the streams that it opened there.
func TestReplicas_ThreeServers_SessionIsShared(t *testing.T) {
	t.Parallel()
	all := replicas(t, 3)
	one, two, three := all[0], all[1], all[2]
	id := two.Start(t, "print begun\nwait")
	for _, ends := range []string{"sign out", "end session"} {
		cookie := cookieOf(t, one.Want(t, 204, "POST", "/api/v1/session", map[string]string{"token": one.Token}, anonymous))
		who := as(cookie)
		for _, p := range all {
			p.Want(t, 200, "GET", "/api/v1/session", nil, who) // From now on, this server has cached the session.
		}
		events := listen(t, alike(two), id, who)
		if ends == "sign out" {
			three.Want(t, 204, "DELETE", "/api/v1/session", nil, who)
		} else {
			var list struct {
				Items []struct {
					ID      string
					Current bool
				}
			}
			three.Want(t, 200, "GET", "/api/v1/sessions", nil, who).Into(t, &list)
			for _, item := range list.Items {
				if item.Current {
					three.Want(t, 204, "DELETE", "/api/v1/sessions/"+item.ID, nil, who)
				}
			}
		}
		for i, p := range all {
			servertest.Eventually(t, fmt.Sprintf("%s: server %d refuses the session", ends, i+1), func() bool {
				return p.Do(t, "GET", "/api/v1/runs", nil, who).Status == 401
			})
		}
		if text, err := io.ReadAll(events); err != nil || strings.Contains(string(text), "event: result") {
			t.Errorf("%s: the stream at another server ended with %v: %s", ends, err, text)
		}
	}
	one.Want(t, 200, "POST", "/api/v1/runs/"+id+"/cancel", nil)
}

// A draft, its publication, a tool set and changes of an agent must be the same at every server.
func TestReplicas_ThreeServers_RegistryIsShared(t *testing.T) {
	t.Parallel()
	all := replicas(t, 3)
	one, two, three := all[0], all[1], all[2]
	const path = "/api/v1/code-agents/weather"
	one.Create(t, map[string]any{"name": "weather", "language": "javascript", "code": "export default () => 1"})
	first := servertest.Headers{"If-Match": `"1"`}
	two.Want(t, 200, "PUT", path, map[string]any{"code": "export default () => 2"}, first)
	for _, p := range all {
		if problem := p.Want(t, 409, "PUT", path, map[string]any{"code": "export default () => 3"}, first).Problem(t); problem.Code != "stale_draft" || problem.CurrentRevision != 2 {
			t.Errorf("an old draft is refused with %+v", problem)
		}
	}
	var saved sync.WaitGroup
	var answers [3]int
	for i, p := range all {
		saved.Go(func() {
			answer, err := p.Try(t.Context(), "PUT", path, map[string]any{"code": fmt.Sprint("export default () => ", 10+i)}, servertest.Headers{"If-Match": `"2"`})
			if answers[i] = answer.Status; err != nil {
				t.Error(err)
			}
		})
	}
	saved.Wait()
	if text := fmt.Sprint(answers); strings.Count(text, "200") != 1 || strings.Count(text, "409") != 2 {
		t.Errorf("three saves of one revision are answered with %s", text)
	}
	three.Publish(t, "weather", "1.0.0")
	two.Want(t, 200, "PUT", "/api/v1/tool-sets/daily", map[string]any{"title": "Daily", "references": []string{"weather@^1"}})
	if set := one.Want(t, 200, "GET", "/api/v1/tool-sets/daily", nil); !bytes.Contains(set.Body, []byte("1.0.0")) {
		t.Errorf("the set at another server is %s", set.Body)
	}
	three.Want(t, 204, "DELETE", "/api/v1/tool-sets/daily", nil)
	one.Want(t, 404, "GET", "/api/v1/tool-sets/daily", nil)
	for n := range 10 { // Each of the three changes must survive the other two.
		value := fmt.Sprint("v", n)
		var changed sync.WaitGroup
		for i, body := range []any{map[string]any{"title": value}, map[string]any{"description": value}, map[string]any{"tags": []string{value}}} {
			changed.Go(func() {
				if answer, err := all[i].Try(t.Context(), "PATCH", path, body); err != nil || answer.Status != 200 {
					t.Errorf("PATCH %v: %d %s %v", body, answer.Status, answer.Body, err)
				}
			})
		}
		changed.Wait()
		var got struct {
			Title, Description string
			Tags               []string
		}
		two.Want(t, 200, "GET", path, nil).Into(t, &got)
		if got.Title != value || got.Description != value || len(got.Tags) != 1 || got.Tags[0] != value {
			t.Fatalf("after simultaneous changes at three servers: %+v, want %s", got, value)
		}
	}
}

// A run that waits for an approval at one server can be decided at another server. It can also be decided at several
// servers at the same time.
func TestReplicas_ThreeServers_ApprovalIsDecidedElsewhere(t *testing.T) {
	t.Parallel()
	all := replicas(t, 3)
	one, two, three := all[0], all[1], all[2]
	one.Create(t, map[string]any{"name": "asks", "language": "javascript", "code": "export default ({n}) => n + 1", "requiresApproval": true})
	one.Publish(t, "asks", "1.0.0")
	waiting := waitingRun(t, one.Client, "asks", map[string]int{"n": 41})
	var decided sync.WaitGroup
	var answers [3]int
	for i, p := range all {
		decided.Go(func() {
			answer, err := p.Try(t.Context(), "POST", "/api/v1/approvals/"+waiting.ApprovalID, `{"decision":"approve"}`)
			if answers[i] = answer.Status; err != nil {
				t.Error(err)
			}
		})
	}
	decided.Wait()
	if text := fmt.Sprint(answers); strings.Count(text, "200") != 1 || strings.Count(text, "409") != 2 {
		t.Errorf("three decisions are answered with %s", text)
	}
	for _, p := range all {
		if run := ended(t, p.Client, waiting.RunID); run.Status != "succeeded" || string(run.Output) != "42" {
			t.Errorf("the run is %+v", run)
		}
	}
	denied := waitingRun(t, two.Client, "asks", map[string]int{"n": 1})
	decide(t, three.Client, 200, denied.ApprovalID, "deny", "", "not today")
	if run := ended(t, two.Client, denied.RunID); run.Status != "blocked" {
		t.Errorf("the denied run is %+v", run)
	}
	cancelled := waitingRun(t, one.Client, "asks", map[string]int{"n": 1})
	two.Want(t, 200, "POST", "/api/v1/runs/"+cancelled.RunID+"/cancel", nil)
	decide(t, three.Client, 409, cancelled.ApprovalID, "approve", "", "")
}

// Two other servers cancel the run at the same time. Both must get the same answer.
func TestReplicas_ThreeServers_CancelledTwiceElsewhere(t *testing.T) {
	t.Parallel()
	all := replicas(t, 3)
	id := all[0].Start(t, "print begun\nwait")
	var asked sync.WaitGroup
	for _, p := range all[1:] {
		asked.Go(func() {
			answer, err := p.Try(t.Context(), "POST", "/api/v1/runs/"+id+"/cancel", nil)
			if err != nil || answer.Status != 200 && answer.Status != http.StatusConflict || answer.Status == 200 && !bytes.Contains(answer.Body, []byte(`"cancelled"`)) {
				t.Errorf("cancel: %d %s %v", answer.Status, answer.Body, err)
			}
		})
	}
	asked.Wait()
	for _, p := range all {
		if run := p.Get(t, id); run.Status != "cancelled" {
			t.Errorf("the run is %+v", run)
		}
		p.Want(t, http.StatusConflict, "POST", "/api/v1/runs/"+id+"/cancel", nil)
	}
}

// When a server is killed, its task must continue at another server, and its runs that were counted but not recorded
// must be removed from the quota.
func TestReplicas_KilledServer_TaskContinuesElsewhere(t *testing.T) {
	t.Parallel()
	address := storetest.Options(t, storetest.Postgres).URL
	one := replicas(t, 1, "--database", address)[0]
	s := alike(one)
	importProject(t, s, "shop", map[string]string{"a.txt": "one\n"})
	tasker(t, s, "appends", appends)
	id := submit(t, s, map[string]any{"agent": "appends", "project": "shop", "input": map[string]any{"path": "a.txt", "text": "two", "ms": 6000}}).ID
	reach(t, s, id, registry.TaskExecuting)
	two := replicas(t, 1, "--database", address)[0]
	s = alike(two)
	one.Signal(t, syscall.SIGKILL)
	one.Exit()
	servertest.Eventually(t, "the other server ends the run of the killed one", func() bool { states := statesOf(t, s, id); return states[len(states)-1] != "executing" })
	task := reach(t, s, id, registry.TaskReviewing)
	if !task.Resumed {
		t.Errorf("%+v", task)
	}
	s.Want(t, 200, http.MethodPost, "/api/v1/tasks/"+id+"/accept", `{}`)
	if text := fileOf(t, s, "shop", "a.txt"); text != "one\ntwo\n" {
		t.Errorf("%q", text)
	}
	var quota struct{ Used registry.QuotaUse }
	var runs struct{ Items []servertest.Run }
	two.Want(t, 200, "GET", "/api/v1/runs", nil).Into(t, &runs)
	two.Want(t, 200, "GET", "/api/v1/quotas/default", nil).Into(t, &quota)
	if quota.Used.RunsPerDay != int64(len(runs.Items)) || quota.Used.ConcurrentRuns != 0 {
		t.Errorf("%d runs are recorded, and the quota counts %+v", len(runs.Items), quota.Used)
	}
}

// If a server is stopped for longer than its lease, it must end all its programs, even those that print nothing.
func TestReplicas_LeaseLost_SilentProgramEnds(t *testing.T) {
	t.Parallel()
	all := replicas(t, 2)
	one, two := all[0], all[1]
	id := one.Start(t, "wait")
	servertest.Eventually(t, "the other server says that the run is running", func() bool {
		return two.Do(t, "GET", "/api/v1/runs/"+id, nil).Status == 200 && two.Get(t, id).Status == "running"
	})
	one.Signal(t, syscall.SIGSTOP)
	defer one.Signal(t, syscall.SIGCONT)
	servertest.Eventually(t, "the run is interrupted", func() bool { return two.Get(t, id).Status == "interrupted" })
	one.Signal(t, syscall.SIGCONT)
	servertest.Eventually(t, "the program ends at its server", func() bool {
		return bytes.Contains(one.Want(t, 200, "GET", "/metrics", nil).Body, []byte("\natelier_runs_running 0\n"))
	})
	servertest.Eventually(t, "the server takes runs again", func() bool { return one.Script(t, "output 1").Status == 200 })
	for _, p := range all {
		if run := p.Get(t, id); run.Status != "interrupted" {
			t.Errorf("the run is %+v", run)
		}
	}
}
