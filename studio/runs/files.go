package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/projects"
)

// filesRule is the name of the rule in errors of file calls.
const filesRule = "files"

// maxFileEvents is the maximum number of file calls that are recorded as events. The last event states how many further
// calls were not recorded.
const maxFileEvents = 2_000

// TaskProject returns the project that a program may change for a task. If the program may not do so, it returns the
// reason.
func TaskProject(c runtimes.Capabilities, project string) (name, problem string) {
	switch {
	case c.Files == nil || !c.Files.Write:
		return "", `must name an agent with the capability {"files": {"project": "*", "write": true}}.`
	case c.Files.Project == runtimes.AnyProject && project == "":
		return "", "must name a project, because the agent works on any."
	case c.Files.Project == runtimes.AnyProject || project == "":
		return cmp.Or(project, c.Files.Project), ""
	case c.Files.Project != project:
		return "", "must be " + c.Files.Project + ", the project of the agent."
	}
	return project, ""
}

// forTask returns the capabilities of a program that runs for a task. If there is no project, the capabilities are
// unchanged.
func forTask(c runtimes.Capabilities, project string) (runtimes.Capabilities, error) {
	if project == "" {
		return c, nil
	}
	name, problem := TaskProject(c, project)
	if problem != "" {
		return c, fault.Invalid("/project", "%s", problem)
	}
	c.Files = &runtimes.Files{Project: name, Write: true}
	return c, nil
}

// openFiles starts the overlay of a program that may read a project. If the project does not exist, it returns a
// ProgramError.
func (l *execution) openFiles(ctx context.Context) (*runtimes.ProgramError, error) {
	granted := l.job.Capabilities.Files
	if granted == nil || l.service.Projects == nil {
		return nil, nil
	}
	if granted.Project == runtimes.AnyProject {
		failed := &runtimes.ProgramError{
			Type: runtimes.Denied, Message: "The program works on the project of a task, and this run belongs to no task.", Rule: filesRule,
			Remedy: "Submit a task with atelier task submit, or name a project in capabilities.files.project.",
		}
		l.noteDenied(&runtimes.CallError{Code: string(failed.Type), Message: failed.Message, Rule: failed.Rule, Remedy: failed.Remedy})
		return failed, nil
	}
	session, err := l.service.Projects.Open(ctx, l.job.Workspace, granted.Project, granted.Write)
	if failed := projects.OpenError(granted.Project, err); failed != nil {
		l.noteDenied(&runtimes.CallError{Code: string(failed.Type), Message: failed.Message, Rule: failed.Rule, Remedy: failed.Remedy})
		return failed, nil
	}
	l.files = session
	return nil, err
}

// closeFiles stores the program's file changes as an overlay before the run ends.
func (l *execution) closeFiles(ctx context.Context, outcome runtimes.Outcome) error {
	if l.files == nil {
		return nil
	}
	run := l.snapshot()
	run.Status = registry.StatusOf(outcome.Error)
	overlay, err := l.files.Close(ctx, run)
	if fault.Is(err, fault.NotFound) {
		l.emit(runtimes.KindLog, runtimes.LogData{Level: "error", Message: fmt.Sprintf("The project %s was deleted while the program ran. Its changes are lost.", l.files.Project())})
		return nil
	}
	if err != nil || overlay.ID == "" {
		return err
	}
	fields, err := json.Marshal(map[string]any{"project": l.files.Project(), "overlay": overlay.ID, "files": len(overlay.Entries)})
	if err != nil {
		return err
	}
	l.emit(runtimes.KindLog, runtimes.LogData{
		Level: "info", Fields: fields, Message: fmt.Sprintf("The run proposes changes to the project %s (files: %d). They wait for a decision.", l.files.Project(), len(overlay.Entries)),
	})
	return nil
}

// file executes a file call of the program and records it.
func (h host) file(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	l := h.execution
	began := l.service.Now()
	var result json.RawMessage
	facts := runtimes.CallData{Function: name}
	err := error(projects.NotGranted(name, "", false))
	if l.files != nil {
		result, facts, err = l.files.Call(ctx, name, args)
	}
	facts.Ms, facts.Status = ms(l.service.Now().Sub(began)), "succeeded"
	var refused *runtimes.CallError
	if errors.As(err, &refused) {
		l.noteDenied(refused)
		facts.Status, facts.Error = "refused", refused.Message
	} else if err != nil {
		facts.Status, facts.Error = "refused", "An internal error of the server occurred."
	}
	switch n := l.fileCalls.Add(1); {
	case n < maxFileEvents:
		l.emit(runtimes.KindCall, facts)
	case n == maxFileEvents:
		l.emit(runtimes.KindLog, runtimes.LogData{Level: "warn", Message: fmt.Sprintf("The run called host functions for files %d times. Further calls are executed, but have no event.", maxFileEvents)})
	}
	return result, err
}
