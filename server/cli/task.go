package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/atelier-run/atelier/registry"
)

type taskCommand struct {
	Submit      taskSubmitCommand      `cmd:"" help:"Submit a task. An agent, or a program written by a language model, changes a project. The changes wait for a decision."`
	List        taskListCommand        `cmd:"" help:"List tasks, newest first."`
	Show        taskShowCommand        `cmd:"" help:"Show a task with its events."`
	Diff        taskDiffCommand        `cmd:"" help:"Show the changes of a task as a unified diff."`
	Materialize taskMaterializeCommand `cmd:"" help:"Write the files of a task to a folder, or read the changed folder back."`
	Accept      taskAcceptCommand      `cmd:"" help:"Apply the changes of a task: all of its files or some."`
	Reject      taskRejectCommand      `cmd:"" help:"Reject the changes of a task: all of its files or some."`
	Cancel      taskCancelCommand      `cmd:"" help:"Cancel a task that has not proposed changes yet."`
	Retry       taskRetryCommand       `cmd:"" help:"Run a task again. Its undecided changes are rejected."`
}

func taskPath(id string, more ...string) string {
	path := "/api/v1/tasks/" + url.PathEscape(id)
	for _, part := range more {
		path += "/" + part
	}
	return path
}

type taskSubmitCommand struct {
	Reference string `arg:"" optional:"" field:"agent" help:"Agent with the capability files, such as add-docstrings or add-docstrings@1.0.0." placeholder:"REF"`
	Describe  string `field:"description" help:"Describe the change instead of naming an agent. A language model writes the program." placeholder:"TEXT"`
	Language  string `help:"Language of that program: python, javascript, typescript or bash (default: python)." placeholder:"NAME"`
	Project   string `help:"Project to change (default: the agent's own)." placeholder:"NAME"`
	Input     string `help:"Input as JSON, @FILE, or - for stdin (default: {})." placeholder:"JSON|@FILE|-"`
	Title     string `help:"Title of the task (default: agent and project, or the first line of the description)." placeholder:"TEXT"`
	Priority  int    `help:"Priority from 0 to 9; higher starts first. One step counts as much as ten minutes of waiting." default:"5" placeholder:"N"`
	asked
}

func (c *taskSubmitCommand) run(ctx context.Context, p Process) error {
	if (c.Reference == "") == (c.Describe == "") {
		return misusedf("set an agent, or describe the change with --describe")
	}
	input, err := inputOf(c.Input, p.Stdin)
	if err != nil {
		return err
	}
	body := map[string]any{"project": c.Project, "title": c.Title, "priority": c.Priority, "input": input}
	if c.Language != "" { // Send the language only if it is set, because the server refuses it together with an agent.
		body["language"] = c.Language
	}
	if c.Describe != "" {
		body["description"] = c.Describe
		return c.ask(ctx, p, http.MethodPost, "/api/v1/tasks", body, printTask(p))
	}
	ref, err := registry.ParseReference(c.Reference)
	if err != nil {
		return misusedf("%s: %s", c.Reference, sentence(err))
	}
	body["agent"], body["version"] = ref.Agent, ref.Version
	return c.ask(ctx, p, http.MethodPost, "/api/v1/tasks", body, printTask(p))
}

func printTask(p Process) func(json.RawMessage) error {
	return func(answer json.RawMessage) error {
		var t registry.Task
		if err := read(answer, &t); err != nil {
			return err
		}
		return p.say("the task %s is %s", t.ID, t.Status)
	}
}

type taskListCommand struct {
	Project string `help:"Only tasks of this project." placeholder:"NAME"`
	Status  string `help:"Only tasks in this state, for example queued, executing, reviewing or errored." placeholder:"STATE"`
	Limit   int    `help:"Maximum number of tasks." default:"50" placeholder:"N"`
	asked
}

func (c *taskListCommand) run(ctx context.Context, p Process) error {
	if c.Limit < 1 || c.Limit > 10_000 {
		return misusedf("--limit must be from 1 to 10000")
	}
	query := said(map[string]string{"project": c.Project, "status": c.Status})
	return list(ctx, p, c.asked, "/api/v1/tasks", query, c.Limit, func(all []registry.Task) error {
		t := newTable(p.Stdout, "ID", "STATE", "PRIORITY", "AGENT", "PROJECT", "FILES", "CREATED", "TITLE")
		for _, one := range all {
			t.row(one.ID, string(one.Status), strconv.Itoa(one.Priority), programOf(one), one.Project, strconv.Itoa(one.Files), one.CreatedAt.UTC().Format(time.RFC3339), one.Title)
		}
		return t.flush()
	})
}

type taskID struct {
	Task string `arg:"" help:"ID of the task."`
}

type taskShowCommand struct {
	taskID
	asked
}

func (c *taskShowCommand) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error {
		var answer json.RawMessage
		if err := server.call(ctx, http.MethodGet, taskPath(c.Task), nil, &answer); err != nil {
			return err
		}
		return c.print(p, answer, func(json.RawMessage) error {
			var task registry.Task
			var events struct {
				Items []struct {
					At   time.Time
					Data struct {
						registry.TaskNote
						registry.TaskAttempt
					}
				}
			}
			if err := read(answer, &task); err != nil {
				return err
			}
			if err := server.call(ctx, http.MethodGet, taskPath(c.Task, "events"), nil, &events); err != nil {
				return err
			}
			t := newTable(p.Stdout, "FIELD", "VALUE")
			t.row("id", task.ID)
			t.row("title", task.Title)
			t.row("status", string(task.Status))
			t.row("agent", programOf(task))
			if task.Described() {
				t.row("description", task.Description)
			}
			t.row("project", task.Project)
			t.row("run", or(task.RunID, "(none)"))
			t.row("files", strconv.Itoa(task.Files))
			if task.Summary != "" {
				t.row("summary", task.Summary)
			}
			if task.Error != nil {
				t.row("error", task.Error.Type+": "+task.Error.Message)
			}
			for _, e := range events.Items {
				text := string(e.Data.Status) + " " + e.Data.Message
				if e.Data.N > 0 {
					text = "answer " + strconv.Itoa(e.Data.N) + " is not usable: " + e.Data.Error
				}
				t.row(e.At.UTC().Format(time.RFC3339), text)
			}
			if err := t.flush(); err != nil || task.Program == nil {
				return err
			}
			return showProgram(p, *task.Program)
		})
	})
}

// programOf returns the name of the agent that a task runs. If a language model writes the program, it returns
// (described).
func programOf(t registry.Task) string {
	if t.Described() {
		return "(described)"
	}
	return t.Agent + "@" + t.Version
}

// showProgram prints the program that a language model wrote for a task.
func showProgram(p Process, program registry.TaskProgram) error {
	for _, path := range slices.Sorted(maps.Keys(program.Files)) {
		if _, err := fmt.Fprintf(p.Stdout, "\n# %s, written by %s\n%s\n", path, program.Model, strings.TrimRight(string(program.Files[path]), "\n")); err != nil {
			return err
		}
	}
	return nil
}

type taskDiffCommand struct {
	taskID
	asked
}

func (c *taskDiffCommand) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodGet, taskPath(c.Task, "diff"), nil, printOverlay(p))
}

type taskDecision struct {
	taskID
	Files []string `arg:"" optional:"" help:"Files to accept or reject (default: all undecided files)." placeholder:"PATH"`
	asked
}

func (c *taskDecision) decide(ctx context.Context, p Process, action, summary string) error {
	body := map[string]any{"files": c.Files, "summary": summary}
	if len(c.Files) == 0 {
		delete(body, "files")
	}
	return c.ask(ctx, p, http.MethodPost, taskPath(c.Task, action), body, printTask(p))
}

type taskAcceptCommand struct {
	taskDecision
	Summary string `help:"Summary of the change (default: the summary that the program wrote)." placeholder:"TEXT"`
}

func (c *taskAcceptCommand) run(ctx context.Context, p Process) error {
	return c.decide(ctx, p, "accept", c.Summary)
}

type taskRejectCommand struct{ taskDecision }

func (c *taskRejectCommand) run(ctx context.Context, p Process) error {
	return c.decide(ctx, p, "reject", "")
}

type taskCancelCommand struct {
	taskID
	asked
}

func (c *taskCancelCommand) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodPost, taskPath(c.Task, "cancel"), nil, printTask(p))
}

type taskRetryCommand struct {
	taskID
	Feedback string `help:"Comment on the last attempt. An agent receives it as the input property feedback. For a described task, the language model receives it." placeholder:"TEXT"`
	asked
}

func (c *taskRetryCommand) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodPost, taskPath(c.Task, "retry"), map[string]any{"feedback": c.Feedback}, printTask(p))
}
