package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/studio/projects"
	"github.com/atelier-run/atelier/studio/tasks"
)

// TaskBody describes a task.
type TaskBody struct {
	Agent       string            `json:"agent,omitempty" maxLength:"100" doc:"Name or ID of an agent that has the capability files with write. Set either agent or description."`
	Description string            `json:"description,omitempty" maxLength:"16384" doc:"Description of the change. A language model writes a program from the description, the input and the paths of the project's files. The program can change only the task's overlay."`
	Language    runtimes.Language `json:"language,omitempty" enum:"javascript,typescript,python,bash" doc:"Language of the program that the model writes (default: python)."`
	Version     string            `json:"version,omitempty" maxLength:"100" doc:"1.2.0, ^1, latest or a digest (default: latest). The task uses the version that this resolves to now."`
	Project     string            `json:"project,omitempty" maxLength:"63" doc:"Name of the project (default: the project of the agent). An agent with the project * can change any project."`
	Title       string            `json:"title,omitempty" maxLength:"200" doc:"Title (default: agent and project, or the first line of the description)."`
	Input       json.RawMessage   `json:"input,omitempty" doc:"Input of the agent (default: {})."`
	Priority    *int              `json:"priority,omitempty" minimum:"0" maximum:"9" doc:"Priority from 0 to 9; higher starts first (default: 5). One step counts as much as ten minutes of waiting."`
}

// TaskRetry contains a person's feedback about the last attempt of a task.
type TaskRetry struct {
	Feedback string `json:"feedback,omitempty" maxLength:"16384" doc:"Comment on the last attempt. An agent receives it as the input property feedback, which its input schema must declare if it has one. For a described task, the language model receives it."`
}

// TaskList is one page of tasks, newest first.
type TaskList struct {
	Items      []registry.Task `json:"items"`
	NextCursor string          `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
}

// TaskEventList lists the events of a task that exist so far.
type TaskEventList struct {
	Items []registry.TaskEvent `json:"items"`
}

// TaskRef is a path parameter that names a task.
type TaskRef struct {
	Task string `path:"task" maxLength:"100" doc:"ID of the task."`
}

// normalPriority is the priority of a task if the request does not set one.
const normalPriority = 5

type taskAnswer struct{ Body registry.Task }

func (a *API) submitTask() {
	type in struct{ Body TaskBody }
	type answer struct {
		Location string `header:"Location"`
		Body     registry.Task
	}
	add(a, endpoint{
		id: "submitTask", method: http.MethodPost, path: Base + "/tasks", tag: "tasks", summary: "Submit a task", status: http.StatusCreated,
		about:      "Queues a task. It starts when the server has capacity, and its changes wait for a decision. In a workspace, the task with the highest priority starts first; ten minutes of waiting count as one step of priority.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.NoVersion, fault.InvalidInput, fault.StorageFull, fault.TooManyRequests, fault.ModelUnavailable, fault.QuotaExceeded},
	}, func(ctx context.Context, q *in) (*answer, error) {
		b := q.Body
		priority := normalPriority
		if b.Priority != nil {
			priority = *b.Priority
		}
		t, err := a.Tasks.Submit(keyed(ctx), actor(ctx), tasks.Request{Agent: b.Agent, Version: b.Version, Project: b.Project, Title: b.Title, Input: b.Input, Priority: priority, Description: b.Description, Language: b.Language})
		return &answer{a.BasePath + Base + "/tasks/" + t.ID, t}, err
	})
}

func (a *API) listTasks() {
	type in struct {
		Paging
		Project string              `query:"project" maxLength:"63" doc:"Only tasks of this project."`
		Status  registry.TaskStatus `query:"status" enum:"queued,spawning,generating,executing,submitting,reviewing,accepted,rejected,errored" doc:"Only tasks in this state."`
	}
	type answer struct{ Body TaskList }
	add(a, endpoint{
		id: "listTasks", method: http.MethodGet, path: Base + "/tasks", tag: "tasks", summary: "List tasks, newest first",
		about: "Lists all tasks of the workspace, without their inputs (null), descriptions and feedback.", refusals: []fault.Code{fault.NotFound, fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*answer, error) {
		page, err := a.Tasks.List(ctx, actor(ctx), q.Project, registry.TaskFilter{Status: q.Status, Cursor: q.Cursor, Limit: q.Limit})
		return &answer{TaskList(page)}, err
	})
}

func (a *API) getTask() {
	add(a, endpoint{
		id: "getTask", method: http.MethodGet, path: Base + "/tasks/{task}", tag: "tasks", summary: "Read a task",
		about: "Returns the state of the task, and the run and the changes of the last attempt.", refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *TaskRef) (*taskAnswer, error) {
		t, err := a.Tasks.Get(ctx, actor(ctx), q.Task)
		return &taskAnswer{t}, err
	})
}

func (a *API) listTaskEvents() {
	type in struct {
		TaskRef
		From int64  `query:"from" minimum:"0" doc:"Only events with a higher seq."`
		Last string `header:"Last-Event-ID" doc:"Sent by a reconnecting EventSource instead of from."`
	}
	schemas := a.huma.OpenAPI().Components.Schemas
	add(a, endpoint{
		id: "listTaskEvents", method: http.MethodGet, path: Base + "/tasks/{task}/events", tag: "tasks", summary: "Get the events of a task",
		about:    "Returns the events so far as JSON: changes of state (kind status), and unusable answers of the language model (kind attempt, with n, error and delayMs). The list is complete: a task has a limited number of attempts. With Accept: text/event-stream, returns a stream that ends when the task is accepted, rejected or errored. Events of the program are events of its run.",
		refusals: []fault.Code{fault.NotFound, fault.TooManyRequests}, instead: a.streamTaskEvents,
		answers: map[string]*huma.Response{"200": {Description: "The events.", Content: map[string]*huma.MediaType{
			"application/json":  {Schema: schemas.Schema(reflect.TypeFor[TaskEventList](), true, "")},
			"text/event-stream": {},
		}}},
	}, func(ctx context.Context, q *in) (*huma.StreamResponse, error) {
		events, err := a.Tasks.Events(ctx, actor(ctx), q.Task, q.From, false)
		if err != nil {
			return nil, err
		}
		first, err := events.Next(ctx) // Until the first event, the request may still fail.
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(c huma.Context) {
			c.SetHeader("Content-Type", "application/json")
			c.SetStatus(http.StatusOK)
			if err := listEvents(ctx, c.BodyWriter(), first, err, events); err != nil {
				panic(http.ErrAbortHandler) // Abort the connection, so that a truncated answer does not look complete.
			}
		}}, nil
	})
}

// streamTaskEvents serves the events of a task to an EventSource. It returns an error only before the stream begins.
func (a *API) streamTaskEvents(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet || !wantsStream(r.Header.Get("Accept")) {
		return false
	}
	from, err := startOf(r)
	if err == nil {
		var events *tasks.Follower
		if events, err = a.Tasks.Events(r.Context(), actor(r.Context()), chi.URLParam(r, "task"), from, true); err == nil {
			err = sendEvents(w, r, events, heartbeat)
		}
	}
	if err != nil {
		a.Problems.Write(w, r, err)
	}
	return true
}

func (a *API) diffTask() {
	type answer struct{ Body projects.OverlayDifference }
	add(a, endpoint{
		id: "diffTask", method: http.MethodGet, path: Base + "/tasks/{task}/diff", tag: "tasks", summary: "Compare the changes of a task with the project",
		about:    "Returns unified diffs from the files that the run read, and whether each change can still be applied to the current project.",
		refusals: []fault.Code{fault.NotFound, fault.Conflict},
	}, func(ctx context.Context, q *TaskRef) (*answer, error) {
		diff, err := a.Tasks.Diff(ctx, actor(ctx), q.Task)
		return &answer{diff}, err
	})
}

func (a *API) acceptTask() {
	type in struct {
		TaskRef
		Body OverlayDecision
	}
	add(a, endpoint{
		id: "acceptTask", method: http.MethodPost, path: Base + "/tasks/{task}/accept", tag: "tasks", summary: "Accept the changes of a task",
		about:      "Applies all changed files to the project, or only the given ones. If the project has changed the same lines meanwhile, nothing is applied, and the answer is a conflict that contains both changes.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.Conflict, fault.InvalidInput, fault.StorageFull},
	}, func(ctx context.Context, q *in) (*taskAnswer, error) {
		t, err := a.Tasks.Accept(ctx, actor(ctx), q.Task, projects.Decision(q.Body))
		return &taskAnswer{t}, err
	})
}

func (a *API) rejectTask() {
	type in struct {
		TaskRef
		Body OverlayDecision
	}
	add(a, endpoint{
		id: "rejectTask", method: http.MethodPost, path: Base + "/tasks/{task}/reject", tag: "tasks", summary: "Reject the changes of a task",
		about:      "Rejects all changed files, or only the given ones. The project does not change.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.Conflict, fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*taskAnswer, error) {
		t, err := a.Tasks.Reject(ctx, actor(ctx), q.Task, projects.Decision(q.Body))
		return &taskAnswer{t}, err
	})
}

func (a *API) cancelTask() {
	add(a, endpoint{
		id: "cancelTask", method: http.MethodPost, path: Base + "/tasks/{task}/cancel", tag: "tasks", summary: "Cancel a task",
		about:      "Ends a task that has not proposed changes yet, and its run. The state of the task becomes errored, with the error cancelled.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.Conflict},
	}, func(ctx context.Context, q *TaskRef) (*taskAnswer, error) {
		if err := a.mayTouchTask(ctx, q.Task); err != nil {
			return nil, err
		}
		t, err := a.Tasks.Cancel(ctx, actor(ctx), q.Task)
		return &taskAnswer{t}, err
	})
}

// mayTouchTask returns NotFound for a task of another caller if the caller has the scope run but not read. The gate
// does the same for runs.
func (a *API) mayTouchTask(ctx context.Context, id string) error {
	if gate.Require(ctx, registry.ReadScope) == nil {
		return nil
	}
	t, err := a.Tasks.Get(ctx, actor(ctx), id)
	if err == nil && (t.Creator.ID != actor(ctx).ID || t.Creator.Type != actor(ctx).Type) {
		err = fault.New(fault.NotFound, "Task not found.")
	}
	return err
}

func (a *API) retryTask() {
	type in struct {
		TaskRef
		Body TaskRetry
	}
	add(a, endpoint{
		id: "retryTask", method: http.MethodPost, path: Base + "/tasks/{task}/retry", tag: "tasks", summary: "Run a task again",
		about:      "Queues a task again that is in the state reviewing, rejected or errored. Its undecided changes are rejected first; this requires the scope write.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.Conflict, fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*taskAnswer, error) {
		if err := a.mayTouchTask(ctx, q.Task); err != nil {
			return nil, err
		}
		t, err := a.Tasks.Retry(ctx, actor(ctx), q.Task, q.Body.Feedback, gate.Require(ctx, registry.WriteScope))
		return &taskAnswer{t}, err
	})
}
