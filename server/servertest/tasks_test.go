package servertest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/servertest"
)

// appends is a program that waits some milliseconds and then adds a line to a file.
const appends = `export default async ({ path, text, ms, feedback }, ctx) => {
	const before = await ctx.readFile(path);
	if (ms) await new Promise((done) => setTimeout(done, ms));
	await ctx.writeFile(path, before + (feedback ?? text) + "\n");
	await ctx.submitResult("Added " + (feedback ?? text), [path]);
	return null;
}`

// tasker publishes an agent that may change any project.
func tasker(t *testing.T, s *servertest.Server, name, code string) {
	t.Helper()
	s.Want(t, 201, http.MethodPost, "/api/v1/code-agents", map[string]any{
		"name": name, "language": "javascript", "code": code, "capabilities": map[string]any{"files": map[string]any{"project": "*", "write": true}}, "safetyFlags": []string{"file_system"},
		"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"path": map[string]any{"type": "string"}, "feedback": map[string]any{"type": "string"}}},
	})
	s.Want(t, 201, http.MethodPost, "/api/v1/code-agents/"+name+"/versions", `{}`)
}

func submit(t *testing.T, s *servertest.Server, body map[string]any) registry.Task {
	t.Helper()
	var task registry.Task
	s.Want(t, 201, http.MethodPost, "/api/v1/tasks", body).Into(t, &task)
	return task
}

// reach waits until a task has the given state.
func reach(t *testing.T, s *servertest.Server, id string, status registry.TaskStatus) registry.Task {
	t.Helper()
	var task registry.Task
	servertest.Eventually(t, "the task is "+string(status), func() bool {
		s.Want(t, 200, http.MethodGet, "/api/v1/tasks/"+id, nil).Into(t, &task)
		if task.Status.Final() && task.Status != status {
			t.Fatalf("%+v %+v", task, task.Error)
		}
		return task.Status == status
	})
	return task
}

func TestTask_Accepted(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	importProject(t, s, "shop", map[string]string{"a.txt": "one\n", "b.txt": "two\n"})
	tasker(t, s, "appends", appends)
	key := servertest.Headers{"Idempotency-Key": "once"}
	body := map[string]any{"agent": "appends", "project": "shop", "title": "Three", "input": map[string]any{"path": "a.txt", "text": "three"}}
	var first, again registry.Task
	s.Want(t, 201, http.MethodPost, "/api/v1/tasks", body, key).Into(t, &first)
	s.Want(t, 201, http.MethodPost, "/api/v1/tasks", body, key).Into(t, &again)
	if first.ID != again.ID || first.Status != registry.TaskQueued || first.Priority != 5 {
		t.Errorf("%+v, %+v", first, again)
	}
	task := reach(t, s, first.ID, registry.TaskReviewing)
	if task.Files != 1 || task.Summary != "Added three" || task.RunID == "" {
		t.Errorf("%+v", task)
	}
	if run := s.Want(t, 200, http.MethodGet, "/api/v1/runs/"+task.RunID, nil).Run(t); run.Trigger != "task" {
		t.Errorf("%+v", run)
	}
	var diff struct {
		Files []struct{ Path, Unified string }
	}
	s.Want(t, 200, http.MethodGet, "/api/v1/tasks/"+task.ID+"/diff", nil).Into(t, &diff)
	if len(diff.Files) != 1 || !strings.Contains(diff.Files[0].Unified, "\n+three\n") {
		t.Errorf("%+v", diff)
	}
	s.Want(t, 409, http.MethodPost, "/api/v1/tasks/"+task.ID+"/cancel", nil)
	s.Want(t, 422, http.MethodPost, "/api/v1/tasks/"+task.ID+"/accept", `{"files":["b.txt"]}`)
	s.Want(t, 200, http.MethodPost, "/api/v1/tasks/"+task.ID+"/accept", `{"files":["a.txt"]}`).Into(t, &task)
	if task.Status != registry.TaskAccepted || task.FinishedAt == nil || fileOf(t, s, "shop", "a.txt") != "one\nthree\n" {
		t.Errorf("%+v", task)
	}
	s.Want(t, 409, http.MethodPost, "/api/v1/tasks/"+task.ID+"/accept", `{}`)
	s.Want(t, 409, http.MethodPost, "/api/v1/tasks/"+task.ID+"/retry", `{}`)
	var list struct{ Items []registry.Task }
	s.Want(t, 200, http.MethodGet, "/api/v1/tasks?project=shop&status=accepted", nil).Into(t, &list)
	if len(list.Items) != 1 || list.Items[0].ID != task.ID {
		t.Errorf("%+v", list)
	}
	if got := statesOf(t, s, task.ID); !slices.Equal(got, []string{"queued", "spawning", "executing", "submitting", "reviewing", "accepted"}) {
		t.Errorf("%v", got)
	}
}

// statesOf lists the states that a task has had so far.
func statesOf(t *testing.T, s *servertest.Server, id string) []string {
	t.Helper()
	var list struct {
		Items []struct{ Data registry.TaskNote }
	}
	s.Want(t, 200, http.MethodGet, "/api/v1/tasks/"+id+"/events", nil).Into(t, &list)
	var all []string
	for _, e := range list.Items {
		all = append(all, string(e.Data.Status))
	}
	return all
}

func TestTask_TwoOnOneFile_Conflict(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	importProject(t, s, "shop", map[string]string{"a.txt": "one\n"})
	tasker(t, s, "appends", appends)
	of := func(text string) string {
		return submit(t, s, map[string]any{"agent": "appends", "project": "shop", "input": map[string]any{"path": "a.txt", "text": text}}).ID
	}
	left, right := of("left"), of("right")
	reach(t, s, left, registry.TaskReviewing)
	reach(t, s, right, registry.TaskReviewing)
	s.Want(t, 200, http.MethodPost, "/api/v1/tasks/"+left+"/accept", `{}`)
	var conflict struct {
		Conflicts []struct{ Path, Unified, Project string }
	}
	s.Want(t, 409, http.MethodPost, "/api/v1/tasks/"+right+"/accept", `{}`).Into(t, &conflict)
	if len(conflict.Conflicts) != 1 || !strings.Contains(conflict.Conflicts[0].Unified, "+right") || !strings.Contains(conflict.Conflicts[0].Project, "+left") {
		t.Errorf("%+v", conflict)
	}
	if text := fileOf(t, s, "shop", "a.txt"); text != "one\nleft\n" {
		t.Errorf("%q", text)
	}
	// The second attempt must read the file as it is now.
	s.Want(t, 200, http.MethodPost, "/api/v1/tasks/"+right+"/retry", `{"feedback":"after left"}`)
	servertest.Eventually(t, "the second attempt is reviewed", func() bool {
		var task registry.Task
		s.Want(t, 200, http.MethodGet, "/api/v1/tasks/"+right, nil).Into(t, &task)
		return task.Attempt == 2 && task.Status == registry.TaskReviewing
	})
	s.Want(t, 200, http.MethodPost, "/api/v1/tasks/"+right+"/accept", `{}`)
	if text := fileOf(t, s, "shop", "a.txt"); text != "one\nleft\nafter left\n" {
		t.Errorf("%q", text)
	}
}

func TestTask_FileChangesWhileItRuns(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	importProject(t, s, "shop", map[string]string{"a.txt": "one\n"})
	tasker(t, s, "appends", appends)
	id := submit(t, s, map[string]any{"agent": "appends", "project": "shop", "input": map[string]any{"path": "a.txt", "text": "task", "ms": 1500}}).ID
	reach(t, s, id, registry.TaskExecuting)
	importProject(t, s, "shop", map[string]string{"a.txt": "one\nperson\n"})
	reach(t, s, id, registry.TaskReviewing)
	s.Want(t, 409, http.MethodPost, "/api/v1/tasks/"+id+"/accept", `{}`)
	if text := fileOf(t, s, "shop", "a.txt"); text != "one\nperson\n" {
		t.Errorf("%q", text)
	}
	var task registry.Task
	s.Want(t, 200, http.MethodPost, "/api/v1/tasks/"+id+"/reject", `{}`).Into(t, &task)
	if task.Status != registry.TaskRejected {
		t.Errorf("%+v", task)
	}
}

func TestTask_AcceptTwiceAtOnce(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	importProject(t, s, "shop", map[string]string{"a.txt": "one\n"})
	tasker(t, s, "appends", appends)
	id := submit(t, s, map[string]any{"agent": "appends", "project": "shop", "input": map[string]any{"path": "a.txt", "text": "two"}}).ID
	reach(t, s, id, registry.TaskReviewing)
	var all sync.WaitGroup
	codes := make([]int, 8)
	for n := range codes {
		all.Go(func() { codes[n] = s.Do(t, http.MethodPost, "/api/v1/tasks/"+id+"/accept", `{}`).Status })
	}
	all.Wait()
	slices.Sort(codes)
	if codes[0] != 200 || codes[1] != 409 || fileOf(t, s, "shop", "a.txt") != "one\ntwo\n" {
		t.Errorf("%v", codes)
	}
	var history struct{ Items []registry.ProjectChange }
	s.Want(t, 200, http.MethodGet, "/api/v1/projects/shop/changes", nil).Into(t, &history)
	if len(history.Items) != 2 {
		t.Errorf("%d changes", len(history.Items))
	}
}

func TestTask_Cancel(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	importProject(t, s, "shop", map[string]string{"a.txt": "one\n"})
	tasker(t, s, "appends", strings.Replace(appends, "if (ms)", `await ctx.writeFile("b.txt", "half"); if (ms)`, 1))
	id := submit(t, s, map[string]any{"agent": "appends", "project": "shop", "input": map[string]any{"path": "a.txt", "text": "two", "ms": 20_000}}).ID
	running := reach(t, s, id, registry.TaskExecuting)
	var task registry.Task
	s.Want(t, 200, http.MethodPost, "/api/v1/tasks/"+id+"/cancel", nil).Into(t, &task)
	if task.Status != registry.TaskErrored || task.Error == nil || task.Error.Type != "cancelled" {
		t.Errorf("%+v", task)
	}
	if run := s.Want(t, 200, http.MethodGet, "/api/v1/runs/"+running.RunID, nil).Run(t); run.Status != "cancelled" {
		t.Errorf("%+v", run)
	}
	var open struct{ Items []registry.Overlay }
	s.Want(t, 200, http.MethodGet, "/api/v1/projects/shop/overlays?status=open", nil).Into(t, &open)
	if len(open.Items) != 0 {
		t.Errorf("the changes of a cancelled task wait: %+v", open)
	}
	s.Want(t, 409, http.MethodPost, "/api/v1/tasks/"+id+"/cancel", nil)
}

// A token with only the scope run must not reject the changes of a task by a retry, and must not see tasks of other
// callers.
func TestTask_RunScope(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	importProject(t, s, "shop", map[string]string{"a.txt": "one\n"})
	tasker(t, s, "appends", appends)
	runner, reader := scoped(t, s, map[string]any{"scopes": []string{"run"}}), scoped(t, s, map[string]any{"scopes": []string{"read", "run"}})
	body := map[string]any{"agent": "appends", "project": "shop", "input": map[string]any{"path": "a.txt", "text": "two"}}
	var own registry.Task
	s.Want(t, 201, http.MethodPost, "/api/v1/tasks", body, runner).Into(t, &own)
	others := submit(t, s, body)
	for _, id := range []string{own.ID, others.ID} {
		reach(t, s, id, registry.TaskReviewing)
	}
	s.Want(t, 404, http.MethodPost, "/api/v1/tasks/"+others.ID+"/cancel", nil, runner)
	s.Want(t, 404, http.MethodPost, "/api/v1/tasks/"+others.ID+"/retry", `{}`, runner)
	s.Want(t, 403, http.MethodPost, "/api/v1/tasks/"+own.ID+"/retry", `{}`, runner)
	if p := s.Want(t, 403, http.MethodPost, "/api/v1/tasks/"+others.ID+"/retry", `{}`, reader).Problem(t); !slices.Equal(p.Needs, []string{"write"}) {
		t.Errorf("%+v", p)
	}
	var open struct{ Items []registry.Overlay }
	s.Want(t, 200, http.MethodGet, "/api/v1/projects/shop/overlays?status=open", nil).Into(t, &open)
	if len(open.Items) != 2 {
		t.Errorf("changes were rejected without the scope write: %+v", open)
	}
}

// Feedback is stored and the agent gets it. Therefore it must not contain a secret, and must match the input schema.
// Refused feedback must not reject the changes of the last attempt.
func TestTask_BadFeedback_ChangesStayOpen(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	importProject(t, s, "shop", map[string]string{"a.txt": "one\n"})
	s.Want(t, 200, http.MethodPut, "/api/v1/secrets/WORD", `{"value":"wordThatIsSecret"}`)
	s.Create(t, map[string]any{
		"name": "appends", "language": "javascript", "code": appends, "secrets": []string{"WORD"}, "capabilities": map[string]any{"files": map[string]any{"project": "*", "write": true}}, "safetyFlags": []string{"file_system"},
		"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"feedback": map[string]any{"type": "string", "maxLength": 40}}},
	})
	s.Publish(t, "appends", "1.0.0")
	task := reach(t, s, submit(t, s, map[string]any{"agent": "appends", "project": "shop", "input": map[string]any{"path": "a.txt", "text": "two"}}).ID, registry.TaskReviewing)
	for feedback, want := range map[string]string{"Say wordThatIsSecret.": "must not contain the value of a secret", strings.Repeat("x", 41): "40"} {
		refused := s.Want(t, 422, http.MethodPost, "/api/v1/tasks/"+task.ID+"/retry", map[string]string{"feedback": feedback}).Problem(t)
		if len(refused.Errors) != 1 || refused.Errors[0].Pointer != "/feedback" || !strings.Contains(refused.Errors[0].Message, want) {
			t.Errorf("%q: %+v", feedback, refused)
		}
	}
	if overlay := overlayOf(t, s, "shop"); overlay.Status != registry.OverlayOpen {
		t.Errorf("%+v", overlay)
	}
	s.Want(t, 200, http.MethodPost, "/api/v1/tasks/"+task.ID+"/retry", `{"feedback":"three"}`)
	if task = reach(t, s, task.ID, registry.TaskReviewing); task.Summary != "Added three" || task.Attempt != 2 {
		t.Errorf("%+v", task)
	}
}

func TestTask_StorageFull_Refused(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	importProject(t, s, "shop", map[string]string{"a.txt": "one\n"})
	tasker(t, s, "appends", appends)
	s.Want(t, 200, http.MethodPut, "/api/v1/quotas/default", map[string]int64{"storageBytes": 1})
	if answer := s.Want(t, 403, http.MethodPost, "/api/v1/tasks", `{"agent":"appends","project":"shop"}`); !strings.Contains(string(answer.Body), "storage_full") {
		t.Errorf("%s", answer.Body)
	}
}

func TestTask_Refusals(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	importProject(t, s, "shop", map[string]string{"a.txt": "one\n"})
	tasker(t, s, "appends", appends)
	tasker(t, s, "fails", `export default async (input, ctx) => { await ctx.writeFile("a.txt", "x"); throw new Error("no"); }`)
	tasker(t, s, "idle", `export default () => 1`)
	s.Create(t, map[string]any{"name": "plain", "language": "javascript", "code": "export default () => 1"})
	s.Want(t, 201, http.MethodPost, "/api/v1/code-agents/plain/versions", `{}`)
	for _, tt := range []struct {
		status int
		body   string
		want   string
	}{
		{422, `{"agent":"plain","project":"shop"}`, `/agent`},
		{422, `{"agent":"appends"}`, `/project`},
		{422, `{"agent":"appends","project":"shop","version":"draft"}`, `/version`},
		{422, `{"agent":"appends","project":"shop","priority":10}`, `/priority`},
		{422, `{"agent":"appends","project":"shop","input":{"path":7}}`, `/input/path`},
		{404, `{"agent":"appends","project":"none"}`, `Project not found`},
		{404, `{"agent":"none","project":"shop"}`, `not found`},
	} {
		if answer := s.Want(t, tt.status, http.MethodPost, "/api/v1/tasks", tt.body); !strings.Contains(string(answer.Body), tt.want) {
			t.Errorf("%s: %s", tt.body, answer.Body)
		}
	}
	failed := reach(t, s, submit(t, s, map[string]any{"agent": "fails", "project": "shop"}).ID, registry.TaskErrored)
	if failed.Error.Type != "runtime_error" {
		t.Errorf("%+v", failed.Error)
	}
	s.Want(t, 200, http.MethodGet, "/api/v1/tasks/"+failed.ID+"/diff", nil)
	s.Want(t, 409, http.MethodPost, "/api/v1/tasks/"+failed.ID+"/accept", `{}`)
	idle := reach(t, s, submit(t, s, map[string]any{"agent": "idle", "project": "shop"}).ID, registry.TaskAccepted)
	s.Want(t, 409, http.MethodGet, "/api/v1/tasks/"+idle.ID+"/diff", nil)
	inline := onProject("*", "javascript", "goja", appends)
	if run := s.Want(t, 200, http.MethodPost, "/api/v1/execute", inline).Run(t); run.Error == nil || run.Error.Type != "denied" {
		t.Errorf("%+v", run)
	}
}

// TestTask_Killed kills a server while a task executes. The next server must queue the task once more, and the task
// must end.
func TestTask_Killed(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	const token = "a-token-that-is-long-enough-to-be-one"
	begin := func() (*servertest.Process, *servertest.Server) {
		p := servertest.Spawn(t, data, "--token", token)
		p.Token = token
		return p, &servertest.Server{Client: p.Client}
	}
	p, s := begin()
	importProject(t, s, "shop", map[string]string{"a.txt": "one\n"})
	tasker(t, s, "appends", appends)
	id := submit(t, s, map[string]any{"agent": "appends", "project": "shop", "input": map[string]any{"path": "a.txt", "text": "two", "ms": 4000}}).ID
	reach(t, s, id, registry.TaskExecuting)
	p.Signal(t, syscall.SIGKILL)
	p.Exit()
	_, s = begin()
	task := reach(t, s, id, registry.TaskReviewing)
	want := []string{"queued", "spawning", "executing", "executing", "queued", "spawning", "executing", "submitting", "reviewing"}
	if got := statesOf(t, s, id); !slices.Equal(got, want) || !task.Resumed || task.Attempt != 1 {
		t.Errorf("%v, %+v", got, task)
	}
	if o := overlayOf(t, s, "shop"); o.RunID != task.RunID {
		t.Errorf("%+v", o)
	}
	s.Want(t, 200, http.MethodPost, "/api/v1/tasks/"+id+"/accept", `{}`)
	if text := fileOf(t, s, "shop", "a.txt"); text != "one\ntwo\n" {
		t.Errorf("%q", text)
	}
}

// TestTask_Priority submits tasks while all slots are used.
func TestTask_Priority(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"tasks-concurrent": "1"}))
	importProject(t, s, "shop", map[string]string{"a.txt": "one\n"})
	tasker(t, s, "appends", appends)
	of := func(priority, ms int) string {
		return submit(t, s, map[string]any{"agent": "appends", "project": "shop", "priority": priority, "input": map[string]any{"path": "a.txt", "text": fmt.Sprint(priority), "ms": ms}}).ID
	}
	first := of(5, 1500)
	reach(t, s, first, registry.TaskExecuting)
	low, high := of(1, 0), of(9, 0)
	a, b := reach(t, s, high, registry.TaskReviewing), reach(t, s, low, registry.TaskReviewing)
	if !a.UpdatedAt.Before(b.UpdatedAt) {
		t.Errorf("priority 9 ended at %s, priority 1 at %s", a.UpdatedAt, b.UpdatedAt)
	}
}
