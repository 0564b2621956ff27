// Package tasks lets agents change the files of a project. A task waits in a queue and then runs. Afterwards its
// changes wait until a person decides about them. Tasks are stored, so that they continue after a restart.
package tasks

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/assist"
	"github.com/atelier-run/atelier/studio/projects"
	"github.com/atelier-run/atelier/studio/runs"
)

// Store stores tasks.
type Store interface {
	InsertTask(ctx context.Context, t registry.Task, most int) error
	Task(ctx context.Context, workspace, id string) (registry.Task, error)
	Tasks(ctx context.Context, workspace string, f registry.TaskFilter) (registry.TaskPage, error)
}

// Progress stores the changes of tasks.
type Progress interface {
	// ChangeTask stores the next revision of a task. If the task is active, it belongs to this server afterwards. Error:
	// Conflict if the task has been changed in the meantime.
	ChangeTask(ctx context.Context, t registry.Task, message string) error
	TaskQueues(ctx context.Context) ([]registry.TaskQueue, error)
	// ActiveTasks returns active tasks without their inputs. It returns all tasks of this server, or some tasks of servers
	// that have stopped.
	ActiveTasks(ctx context.Context, own bool) ([]registry.Task, error)
	// AddTaskEvent appends an event to a task. Error: Conflict if the task has been changed in the meantime.
	AddTaskEvent(ctx context.Context, t registry.Task, kind runtimes.Kind, data any, at time.Time) error
}

// Writer lets a language model write the program of a described task.
type Writer interface {
	Check(ctx context.Context, workspace string) error
	WriteTask(ctx context.Context, actor registry.Actor, o assist.Order, watch func(assist.Attempt)) (registry.TaskProgram, error)
}

// Reader reads the events of tasks, and the overlays of runs.
type Reader interface {
	TaskEvents(ctx context.Context, workspace, id string, from int64, limit int) ([]registry.TaskEvent, error)
	OverlayOfRun(ctx context.Context, workspace, run string) (registry.Overlay, error)
}

// Resolver returns the version that a reference selects.
type Resolver interface {
	Resolve(ctx context.Context, workspace string, ref registry.Reference) (registry.Version, error)
}

// Options configures a Service.
type Options struct {
	Store      Store
	Progress   Progress
	Reader     Reader
	Resolver   Resolver
	Runs       *runs.Service
	Projects   *projects.Service
	Writer     Writer
	Concurrent int // maximum number of tasks that this server executes at the same time
	Log        *slog.Logger
	Now        func() time.Time
	NewID      func() string
}

// Service executes tasks. It is safe for concurrent use.
type Service struct {
	Options
	wake chan struct{} // signals the dispatcher to look for queued tasks
	stop context.CancelCauseFunc
	done chan struct{} // closed when the dispatcher has ended
	all  sync.WaitGroup

	mu       sync.Mutex
	live     map[string]*worker   // workers by task ID
	later    map[held]time.Time   // time until which tasks wait because one of them was refused
	refusals map[held]int         // number of consecutive refusals
	watched  map[string]*watchers // readers by task ID
	readers  int
}

// held identifies tasks of a workspace that wait together after a refusal.
type held struct {
	workspace string
	described bool // whether these are only the tasks for which the language model writes a program
}

const (
	maxOpen     = 1000 // maximum number of unfinished tasks of a workspace
	maxAttempts = 100
	maxTitle    = 200
	maxFeedback = 16 << 10
	maxInput    = 1 << 20

	maxDescription = 16 << 10
)

// New returns a service. The service executes no tasks before Begin is called.
func New(o Options) *Service {
	return &Service{
		Options: o, wake: make(chan struct{}, 1), done: make(chan struct{}),
		live: map[string]*worker{}, later: map[held]time.Time{}, refusals: map[held]int{}, watched: map[string]*watchers{},
	}
}

// Request describes a task.
type Request struct {
	Agent    string // name or ID of the agent; "" if Description is set
	Version  string // version of the agent; "" means the latest version
	Project  string // name of the project; "" means the project that the agent names
	Title    string
	Input    json.RawMessage
	Priority int
	// Description describes the change. A language model then writes a program that makes the change. It is "" if Agent is
	// set.
	Description string
	Language    runtimes.Language // language of the program that the model writes; "" means Python
}

// Submit stores a task. The task starts as soon as a slot is free. Errors: NotFound; NoVersion; InvalidInput;
// StorageFull; TooManyRequests; for a described task also ModelUnavailable and QuotaExceeded.
func (s *Service) Submit(ctx context.Context, actor registry.Actor, req Request) (registry.Task, error) {
	if err := check(req); err != nil {
		return registry.Task{}, err
	}
	prepare := s.ofAgent
	if req.Description != "" {
		prepare = s.described
	}
	t, err := prepare(ctx, actor, req)
	if err == nil {
		err = s.Projects.Quotas.CheckAgentLimit(ctx, actor.Workspace) // Check the quota, because the input of the task is stored as long as the project.
	}
	if err != nil {
		return registry.Task{}, err
	}
	now := s.Now()
	t.ID, t.Workspace, t.Priority, t.Status, t.Attempt, t.Revision = s.NewID(), actor.Workspace, req.Priority, registry.TaskQueued, 1, 1
	t.Creator, t.CreatedAt, t.QueuedAt, t.UpdatedAt = actor, now, now, now
	if title := strings.TrimSpace(req.Title); title != "" {
		t.Title = title
	}
	if err := s.Store.InsertTask(ctx, t, maxOpen); err != nil {
		return registry.Task{}, err
	}
	s.Projects.Quotas.AddStored(actor.Workspace, int64(len(t.Input)+len(t.Description)))
	s.look()
	return t, nil
}

// ofAgent returns a new task that an agent executes.
func (s *Service) ofAgent(ctx context.Context, actor registry.Actor, req Request) (registry.Task, error) {
	version, err := s.Resolver.Resolve(ctx, actor.Workspace, registry.Reference{Agent: req.Agent, Version: orLatest(req.Version)})
	if err != nil {
		return registry.Task{}, err
	}
	name, problem := runs.TaskProject(version.Capabilities, req.Project)
	if problem != "" {
		pointer := "/project"
		if version.Capabilities.Files == nil || !version.Capabilities.Files.Write {
			pointer = "/agent"
		}
		return registry.Task{}, fault.Invalid(pointer, "%s", problem)
	}
	project, err := s.Projects.Get(ctx, actor, name)
	if err != nil {
		return registry.Task{}, err
	}
	input, err := s.Runs.CheckKept(ctx, actor.Workspace, version, req.Input)
	return registry.Task{
		Title: version.CurrentName + " on " + project.Name, AgentID: version.AgentID, Agent: version.CurrentName, Version: version.Version,
		ProjectID: project.ID, Project: project.Name, Input: input,
	}, err
}

func orLatest(version string) string {
	if version == "" {
		return registry.Latest
	}
	return version
}

// check rejects a request with invalid values.
func check(req Request) error {
	switch {
	case req.Version == registry.DraftVersion:
		return fault.Invalid("/version", "must be a published version, because a draft may change before the task runs. Publish it first.")
	case req.Priority < 0 || req.Priority > registry.MostPriority:
		return fault.Invalid("/priority", "must be from 0 to %d.", registry.MostPriority)
	case (req.Agent == "") == (req.Description == ""):
		return fault.Invalid("/agent", "must be set if there is no description, and absent otherwise.")
	case req.Description != "" && req.Version != "":
		return fault.Invalid("/version", "must be empty, because a described task has no agent.")
	case req.Description == "" && req.Language != "":
		return fault.Invalid("/language", "must be empty, because the agent sets its own project.")
	case req.Description != "" && req.Project == "":
		return fault.Invalid("/project", "must be the name of a project.")
	case len(req.Description) > maxDescription:
		return fault.Invalid("/description", "must be text of at most 16 KiB.")
	case len(req.Title) > maxTitle || !utf8.ValidString(req.Title) || strings.ContainsRune(req.Title, 0):
		return fault.Invalid("/title", "must be text of at most %d bytes.", maxTitle)
	case len(req.Input) > maxInput:
		return fault.Invalid("/input", "must be at most 1 MiB.")
	}
	return nil
}

// Get returns a task. Error: NotFound.
func (s *Service) Get(ctx context.Context, actor registry.Actor, id string) (registry.Task, error) {
	return s.Store.Task(ctx, actor.Workspace, id)
}

// List returns a page of tasks without their inputs, newest first. Error: NotFound if the project does not exist.
func (s *Service) List(ctx context.Context, actor registry.Actor, project string, f registry.TaskFilter) (registry.TaskPage, error) {
	if project != "" {
		p, err := s.Projects.Get(ctx, actor, project)
		if err != nil {
			return registry.TaskPage{}, err
		}
		f.Project = p.ID
	}
	return s.Store.Tasks(ctx, actor.Workspace, f)
}

// change stores the next revision of a task.
func (s *Service) change(ctx context.Context, t *registry.Task, message string) error {
	next := *t
	next.Revision++
	next.UpdatedAt = s.Now()
	next.FinishedAt = nil
	if next.Status.Final() {
		next.FinishedAt = &next.UpdatedAt
	}
	if err := s.Progress.ChangeTask(ctx, next, message); err != nil {
		return err
	}
	*t = next
	s.announce(t.ID)
	return nil
}
