package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// activeTasks lists the states in which a server works on a task, as SQL. The index uses the same list.
const activeTasks = "'spawning', 'generating', 'executing', 'submitting'"

// InsertTask stores a queued task. Errors: NotFound if the project does not exist; TooManyRequests if the workspace has
// too many tasks that have not ended.
func (s *Store) InsertTask(ctx context.Context, t registry.Task, most int) error {
	row, err := taskRowOf(t)
	if err != nil {
		return wrap("save task", err)
	}
	return s.change(ctx, "save task", func(ctx context.Context, tx bun.Tx) error {
		n, err := tx.NewSelect().Model((*taskRow)(nil)).Where("t.workspace_id = ?", t.Workspace).Where("t.status IN ('queued', " + activeTasks + ")").Count(ctx)
		if err != nil {
			return err
		}
		if int(n) >= most {
			return &fault.Error{Code: fault.TooManyRequests, Message: "The workspace has too many waiting tasks. Cancel some, or try again later.", RetryAfter: registry.PriorityStep}
		}
		if _, err := tx.NewInsert().Model(row).Exec(ctx); orphan(err) {
			return noProject()
		} else if err != nil {
			return err
		}
		if err := addTaskEvent(ctx, tx, t.ID, "status", t.Note(""), t.UpdatedAt); err != nil {
			return err
		}
		return s.markKey(ctx, tx, registry.Made{Kind: registry.MadeTask, ID: t.ID})
	})
}

// ChangeTask stores the next revision of a task, with an event about its state. After the change, an active task
// belongs to this server, and a task in another state belongs to no server. Error: Conflict if the task has changed or
// no longer exists.
func (s *Store) ChangeTask(ctx context.Context, t registry.Task, message string) error {
	row, err := taskRowOf(t)
	if err != nil {
		return wrap("change task", err)
	}
	if t.Status.Active() {
		by := s.identity.Load()
		row.ServerID, row.Epoch = by.server, by.epoch
	}
	columns := []string{"status", "attempt", "resumed", "run_id", "overlay_id", "summary", "files", "error", "revision", "server_id", "epoch", "priority", "queued_at", "due_at", "updated_at", "finished_at", "feedback"}
	if t.Program != nil { // lists do not read this column
		columns = append(columns, "program")
	}
	return s.change(ctx, "change task", func(ctx context.Context, tx bun.Tx) error {
		result, err := tx.NewUpdate().Model(row).Column(columns...).
			Where("t.workspace_id = ?", t.Workspace).Where("t.id = ?", t.ID).Where("t.revision = ?", t.Revision-1).Exec(ctx)
		if err != nil {
			return err
		}
		if err := expectRow(result, fault.New(fault.Conflict, "The task was changed in the meantime. Read it again, then repeat the request.")); err != nil {
			return err
		}
		return addTaskEvent(ctx, tx, t.ID, "status", t.Note(message), t.UpdatedAt)
	})
}

// AddTaskEvent appends an event to a task. Error: Conflict if the task has changed or no longer exists.
func (s *Store) AddTaskEvent(ctx context.Context, t registry.Task, kind runtimes.Kind, data any, at time.Time) error {
	return s.change(ctx, "add event of task", func(ctx context.Context, tx bun.Tx) error {
		result, err := tx.NewUpdate().Model((*taskRow)(nil)).Set("updated_at = ?", instant(at)). // locks the row of the task
														Where("t.workspace_id = ?", t.Workspace).Where("t.id = ?", t.ID).Where("t.revision = ?", t.Revision).Exec(ctx)
		if err != nil {
			return err
		}
		if err := expectRow(result, fault.New(fault.Conflict, "The task was changed in the meantime. Read it again, then repeat the request.")); err != nil {
			return err
		}
		return addTaskEvent(ctx, tx, t.ID, kind, data, at)
	})
}

// addTaskEvent appends an event. The transaction must have locked the row of the task.
func addTaskEvent(ctx context.Context, tx bun.Tx, task string, kind runtimes.Kind, data any, at time.Time) error {
	text, err := encode(data)
	if err != nil {
		return err
	}
	var last int64
	if err := tx.NewSelect().Model((*taskEventRow)(nil)).ColumnExpr("COALESCE(MAX(te.seq), 0)").Where("te.task_id = ?", task).Scan(ctx, &last); err != nil {
		return err
	}
	_, err = tx.NewInsert().Model(&taskEventRow{TaskID: task, Seq: last + 1, At: instant(at), Kind: string(kind), Data: text}).Exec(ctx)
	return err
}

// Task returns a task. Error: NotFound.
func (s *Store) Task(ctx context.Context, workspace, id string) (registry.Task, error) {
	if impossible(id) {
		return registry.Task{}, noTask()
	}
	var row taskRow
	err := s.tasks(&row).Where("t.workspace_id = ?", workspace).Where("t.id = ?", id).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.Task{}, noTask()
	}
	if err != nil {
		return registry.Task{}, wrap("read task", err)
	}
	t, err := row.task()
	return t, wrap("read task", err)
}

func noTask() error { return fault.New(fault.NotFound, "Task not found.") }

// tasks returns a query for tasks that also reads the names of their projects.
func (s *Store) tasks(into any) *bun.SelectQuery {
	return s.read.NewSelect().Model(into).ColumnExpr("t.*").ColumnExpr("p.name AS project").Join("JOIN projects AS p ON p.id = t.project_id")
}

// taskList returns a query for tasks without inputs and programs, which may have 1 MiB each. It also omits the columns
// that the caller names.
func (s *Store) taskList(into any, without ...string) *bun.SelectQuery {
	return s.read.NewSelect().Model(into).ExcludeColumn(append(without, "input", "program")...).ColumnExpr("p.name AS project").Join("JOIN projects AS p ON p.id = t.project_id")
}

// Tasks returns a page of tasks without their inputs, descriptions and feedback, newest first.
func (s *Store) Tasks(ctx context.Context, workspace string, f registry.TaskFilter) (registry.TaskPage, error) {
	page := registry.TaskPage{Items: []registry.Task{}}
	var rows []taskRow
	query := s.taskList(&rows, "description", "feedback").Where("t.workspace_id = ?", workspace)
	if f.Project != "" {
		query = query.Where("t.project_id = ?", f.Project)
	}
	if f.Status != "" {
		query = query.Where("t.status = ?", string(f.Status))
	}
	if f.Cursor != "" {
		var after overlayKey
		if err := readCursor("tasks", f.Cursor, &after); err != nil {
			return page, err
		}
		query = query.Where("(t.created_at, t.id) < (?, ?)", after.At, after.ID)
	}
	size := pageSize(f.Limit)
	if err := query.OrderExpr("t.created_at DESC, t.id DESC").Limit(int64(size) + 1).Scan(ctx); err != nil {
		return page, wrap("list tasks", err)
	}
	for n := range rows {
		if n == size {
			var err error
			page.NextCursor, err = cursorAt("tasks", overlayKey{rows[n-1].CreatedAt, rows[n-1].ID})
			return page, err
		}
		t, err := rows[n].task()
		if err != nil {
			return page, wrap("list tasks", err)
		}
		page.Items = append(page.Items, t)
	}
	return page, nil
}

// TaskEvents returns the events of a task that follow the number from, in order.
func (s *Store) TaskEvents(ctx context.Context, workspace, id string, from int64, limit int) ([]registry.TaskEvent, error) {
	var rows []taskEventRow
	err := s.read.NewSelect().Model(&rows).Join("JOIN tasks AS t ON t.id = te.task_id").Where("t.workspace_id = ?", workspace).
		Where("te.task_id = ?", id).Where("te.seq > ?", from).OrderExpr("te.seq").Limit(int64(limit)).Scan(ctx)
	events := make([]registry.TaskEvent, 0, len(rows))
	for _, row := range rows {
		events = append(events, registry.TaskEvent{Seq: row.Seq, At: row.At.UTC(), Kind: runtimes.Kind(row.Kind), Data: json.RawMessage(row.Data)})
	}
	return events, wrap("read events of task", err)
}

// TaskQueues returns the queues of all workspaces that contain tasks, each with its first task. A workspace has one
// queue for tasks of agents and one for described tasks.
func (s *Store) TaskQueues(ctx context.Context) ([]registry.TaskQueue, error) {
	var rows []struct {
		Workspace string
		Described bool
		ID        string
		Due       time.Time
	}
	// The query selects the first task of each queue. It does not use MIN(due_at), because in SQLite the result of an
	// aggregate function has no type.
	err := s.read.NewSelect().TableExpr("tasks AS t").ColumnExpr("t.workspace_id AS workspace, t.language <> '' AS described, t.id AS id, t.due_at AS due").Where("t.status = 'queued'").
		Where("NOT EXISTS (SELECT 1 FROM tasks AS o WHERE o.status = 'queued' AND o.workspace_id = t.workspace_id AND (o.language = '') = (t.language = '') AND (o.due_at, o.id) < (t.due_at, t.id))").Scan(ctx, &rows)
	queues := make([]registry.TaskQueue, 0, len(rows))
	for _, row := range rows {
		queues = append(queues, registry.TaskQueue{Workspace: row.Workspace, Described: row.Described, Task: row.ID, Due: row.Due.UTC()})
	}
	return queues, wrap("list queued tasks", err)
}

// ActiveTasks returns all active tasks of this server, or some active tasks of servers that are no longer registered.
// The tasks have no input, because ChangeTask does not need it.
func (s *Store) ActiveTasks(ctx context.Context, own bool) ([]registry.Task, error) {
	var rows []taskRow
	query := s.taskList(&rows).Where("t.status IN (" + activeTasks + ")").OrderExpr("t.due_at, t.id")
	if own {
		by := s.identity.Load()
		query = query.Where("t.server_id = ?", by.server).Where("t.epoch = ?", by.epoch)
	} else {
		query = query.Where("NOT " + atWork("t")).Limit(1000)
	}
	if err := query.Scan(ctx); err != nil {
		return nil, wrap("list active tasks", err)
	}
	all := make([]registry.Task, 0, len(rows))
	for n := range rows {
		t, err := rows[n].task()
		if err != nil {
			return nil, wrap("list active tasks", err)
		}
		all = append(all, t)
	}
	return all, nil
}

// OverlayOfRun returns the overlay that contains the changes proposed by a run. Error: NotFound if the run proposed
// none.
func (s *Store) OverlayOfRun(ctx context.Context, workspace, run string) (registry.Overlay, error) {
	var row overlayRow
	err := s.read.NewSelect().Model(&row).Where("o.run_id = ?", run).Where("o.workspace_id = ?", workspace).Limit(1).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.Overlay{}, noOverlay()
	}
	if err != nil {
		return registry.Overlay{}, wrap("read overlay", err)
	}
	o, err := row.overlay()
	return o, wrap("read overlay", err)
}

// endTasks ends the tasks in review that a condition selects, because a person has decided about their changes or their
// changes have expired. It runs in the transaction of the decision, so that the states of a task and its changes always
// agree.
func endTasks(ctx context.Context, tx bun.Tx, status registry.TaskStatus, message string, at time.Time, condition string, args ...any) error {
	var rows []taskRow
	if err := tx.NewSelect().Model(&rows).Column("id", "attempt", "run_id", "overlay_id").Where("t.status = 'reviewing'").Where(condition, args...).Scan(ctx); err != nil {
		return err
	}
	for _, row := range rows {
		_, err := tx.NewUpdate().Model((*taskRow)(nil)).Set("status = ?", string(status)).Set("revision = t.revision + 1").Set("updated_at = ?", instant(at)).Set("finished_at = ?", instant(at)).
			Where("t.id = ?", row.ID).Exec(ctx)
		if err != nil {
			return err
		}
		note := registry.TaskNote{Status: status, Attempt: row.Attempt, RunID: row.RunID, OverlayID: row.OverlayID, Message: message}
		if err := addTaskEvent(ctx, tx, row.ID, "status", note, at); err != nil {
			return err
		}
	}
	return nil
}

type taskRow struct {
	bun.BaseModel `bun:"table:tasks,alias:t"`

	ID          string     `bun:"id,pk"`
	WorkspaceID string     `bun:"workspace_id"`
	ProjectID   string     `bun:"project_id"`
	Project     string     `bun:"project,scanonly"`
	Title       string     `bun:"title"`
	Description string     `bun:"description"`
	Language    string     `bun:"language"`
	AgentID     string     `bun:"agent_id"`
	AgentName   string     `bun:"agent_name"`
	Version     string     `bun:"version"`
	Priority    int        `bun:"priority"`
	Status      string     `bun:"status"`
	Attempt     int        `bun:"attempt"`
	Resumed     bool       `bun:"resumed"`
	RunID       string     `bun:"run_id"`
	OverlayID   string     `bun:"overlay_id"`
	Summary     string     `bun:"summary"`
	Files       int        `bun:"files"`
	Error       string     `bun:"error"`
	Revision    int64      `bun:"revision"`
	ServerID    string     `bun:"server_id"`
	Epoch       int64      `bun:"epoch"`
	ActorID     string     `bun:"actor_id"`
	ActorType   string     `bun:"actor_type"`
	ActorName   string     `bun:"actor_name"`
	CreatedAt   time.Time  `bun:"created_at"`
	QueuedAt    time.Time  `bun:"queued_at"`
	DueAt       time.Time  `bun:"due_at"`
	UpdatedAt   time.Time  `bun:"updated_at"`
	FinishedAt  *time.Time `bun:"finished_at"`
	Feedback    string     `bun:"feedback"`
	Input       string     `bun:"input"`
	Program     string     `bun:"program"`
}

type taskEventRow struct {
	bun.BaseModel `bun:"table:task_events,alias:te"`

	TaskID string    `bun:"task_id,pk"`
	Seq    int64     `bun:"seq,pk"`
	At     time.Time `bun:"at"`
	Kind   string    `bun:"kind"`
	Data   string    `bun:"data"`
}

func taskRowOf(t registry.Task) (*taskRow, error) {
	row := &taskRow{
		ID: t.ID, WorkspaceID: t.Workspace, ProjectID: t.ProjectID, Title: t.Title, Description: t.Description, Language: string(t.Language), AgentID: t.AgentID, AgentName: t.Agent, Version: t.Version, Priority: t.Priority,
		Status: string(t.Status), Attempt: t.Attempt, Resumed: t.Resumed, RunID: t.RunID, OverlayID: t.OverlayID, Summary: t.Summary, Files: t.Files, Revision: t.Revision,
		ActorID: t.Creator.ID, ActorType: string(t.Creator.Type), ActorName: t.Creator.Name, CreatedAt: instant(t.CreatedAt), QueuedAt: instant(t.QueuedAt),
		DueAt: instant(t.QueuedAt.Add(-time.Duration(t.Priority) * registry.PriorityStep)), UpdatedAt: instant(t.UpdatedAt), FinishedAt: instantOrNil(t.FinishedAt),
		Feedback: t.Feedback, Input: document(t.Input),
	}
	var err error
	if t.Error != nil {
		row.Error, err = encode(t.Error)
	}
	if t.Program != nil && err == nil {
		row.Program, err = encode(t.Program)
	}
	return row, err
}

func (row *taskRow) task() (registry.Task, error) {
	t := registry.Task{
		ID: row.ID, Workspace: row.WorkspaceID, ProjectID: row.ProjectID, Project: row.Project, Title: row.Title, Description: row.Description, Language: runtimes.Language(row.Language), AgentID: row.AgentID, Agent: row.AgentName, Version: row.Version,
		Priority: row.Priority, Status: registry.TaskStatus(row.Status), Attempt: row.Attempt, Resumed: row.Resumed, RunID: row.RunID, OverlayID: row.OverlayID,
		Summary: row.Summary, Files: row.Files, Revision: row.Revision, Creator: actor(row.WorkspaceID, row.ActorID, row.ActorType, row.ActorName), CreatedAt: row.CreatedAt.UTC(),
		QueuedAt: row.QueuedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(), FinishedAt: instantOrNil(row.FinishedAt), Feedback: row.Feedback,
	}
	if row.Input != "" { // lists do not read this column
		t.Input = json.RawMessage(row.Input)
	}
	if row.Program != "" {
		t.Program = &registry.TaskProgram{}
		if err := json.Unmarshal([]byte(row.Program), t.Program); err != nil {
			return t, err
		}
	}
	if row.Error != "" {
		t.Error = &registry.TaskError{}
		if err := json.Unmarshal([]byte(row.Error), t.Error); err != nil {
			return t, err
		}
	}
	return t, nil
}
