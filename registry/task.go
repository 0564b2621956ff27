package registry

import (
	"encoding/json"
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

// TaskStatus is the state of a task.
type TaskStatus string

// These are the values of TaskStatus. An accepted task is final. A rejected or failed task can be tried again.
const (
	TaskQueued     TaskStatus = "queued"
	TaskSpawning   TaskStatus = "spawning"   // a server has started to process the task
	TaskGenerating TaskStatus = "generating" // a language model writes the program
	TaskExecuting  TaskStatus = "executing"  // the program runs, or its run waits for an approval
	TaskSubmitting TaskStatus = "submitting" // the run has ended, and the server reads its changes
	TaskReviewing  TaskStatus = "reviewing"  // the changes wait for a person
	TaskAccepted   TaskStatus = "accepted"
	TaskRejected   TaskStatus = "rejected"
	TaskErrored    TaskStatus = "errored"
)

// Final reports whether the task has ended.
func (s TaskStatus) Final() bool {
	return s == TaskAccepted || s == TaskRejected || s == TaskErrored
}

// Active reports whether a server is processing the task.
func (s TaskStatus) Active() bool {
	return s == TaskSpawning || s == TaskGenerating || s == TaskExecuting || s == TaskSubmitting
}

const (
	// MostPriority is the highest priority of a task.
	MostPriority = 9
	// PriorityStep is the waiting time that one step of priority is worth. Because waiting counts, tasks of high priority
	// cannot delay a task of low priority forever.
	PriorityStep = 10 * time.Minute
)

// Task is a request to change the files of a project. An agent makes the change, or a program that a language model
// writes from a description. A person accepts or rejects the result.
type Task struct {
	ID          string            `json:"id"`
	Workspace   string            `json:"-"`
	Title       string            `json:"title"`
	AgentID     string            `json:"agentId" doc:"Empty for a described task."`
	Agent       string            `json:"agent" doc:"Empty for a described task."`
	Version     string            `json:"version" doc:"The published version that runs. Empty for a described task."`
	Description string            `json:"description,omitempty" doc:"Description of the change, for which a language model writes the program. Absent in lists."`
	Language    runtimes.Language `json:"language,omitempty" doc:"Language of the program that the model writes."`
	Program     *TaskProgram      `json:"program,omitempty" doc:"The last program that the model wrote. Absent in lists."`
	ProjectID   string            `json:"-"`
	Project     string            `json:"project"`
	Input       json.RawMessage   `json:"input"`
	Feedback    string            `json:"feedback" doc:"A person's comment on the last attempt. Empty in lists."`
	Priority    int               `json:"priority" doc:"Priority from 0 to 9; higher starts first. One step counts as much as ten minutes of waiting."`
	Status      TaskStatus        `json:"status" enum:"queued,spawning,generating,executing,submitting,reviewing,accepted,rejected,errored"`
	Attempt     int               `json:"attempt" doc:"Number of the attempt, starting at 1. Each retry adds 1."`
	Resumed     bool              `json:"resumed" doc:"true if the server stopped during this attempt and the task was queued again."`
	RunID       string            `json:"runId,omitempty" doc:"The run of this attempt."`
	OverlayID   string            `json:"overlayId,omitempty" doc:"ID of the overlay with the changes of this attempt."`
	Summary     string            `json:"summary" doc:"Summary that the program wrote."`
	Files       int               `json:"files" doc:"Number of files that the program changed."`
	Error       *TaskError        `json:"error,omitempty" doc:"Reason why the task failed."`
	Revision    int64             `json:"revision"`
	Creator     Actor             `json:"creator"`
	CreatedAt   time.Time         `json:"createdAt"`
	QueuedAt    time.Time         `json:"queuedAt" doc:"Time when this attempt was queued."`
	UpdatedAt   time.Time         `json:"updatedAt"`
	FinishedAt  *time.Time        `json:"finishedAt,omitempty"`
}

// TaskProgram is a program that a language model wrote for a described task. The program can only change the overlay of
// this task. The server does not store it as an agent.
type TaskProgram struct {
	Attempt     int             `json:"attempt" doc:"Attempt of the task that it was written for."`
	Entrypoint  string          `json:"entrypoint"`
	Files       map[string]File `json:"files"`
	Explanation string          `json:"explanation" doc:"Explanation by the model."`
	Plan        []string        `json:"plan"`
	Model       string          `json:"model"`
	Tokens      Tokens          `json:"tokens" doc:"Tokens of all answers for this attempt."`
	Verdict     *Verdict        `json:"verdict,omitempty" doc:"Verdict of the gate on the program. Absent if the gate is off."`
}

// TaskAttempt is the data of a task event of the kind attempt. The event reports that the program in an answer of the
// model was not usable.
type TaskAttempt struct {
	N       int    `json:"n"`
	Error   string `json:"error" doc:"Why the answer was not usable, in the words sent to the model."`
	DelayMs int64  `json:"delayMs" doc:"Delay before the next answer; 0 after the last one."`
}

// TaskError holds the reason why a task failed.
type TaskError struct {
	Type    string `json:"type" doc:"The type of the run's error, or cancelled, interrupted, refused, generation."`
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`
}

// TaskNote is the data of a task event of the kind status.
type TaskNote struct {
	Status    TaskStatus `json:"status"`
	Attempt   int        `json:"attempt"`
	RunID     string     `json:"runId,omitempty"`
	OverlayID string     `json:"overlayId,omitempty"`
	Message   string     `json:"message,omitempty"`
}

// Described reports whether a language model writes the program of the task.
func (t Task) Described() bool { return t.Language != "" }

// Note returns the data of an event that reports the current state of a task.
func (t Task) Note(message string) TaskNote {
	return TaskNote{t.Status, t.Attempt, t.RunID, t.OverlayID, message}
}

// TaskFilter selects tasks. Zero fields select all.
type TaskFilter struct {
	Project string // ID of the project; "" for all projects
	Status  TaskStatus
	Cursor  string
	Limit   int
}

// TaskPage is a page of tasks, newest first.
type TaskPage struct {
	Items      []Task
	NextCursor string
}

// TaskQueue is the queue of a workspace for tasks of agents, or its queue for described tasks.
type TaskQueue struct {
	Workspace string
	Described bool
	Task      string    // ID of the first task in the queue
	Due       time.Time // due time of the first task; the queue with the earliest time comes first
}

// TaskEvent is one event of a task.
type TaskEvent = runtimes.Event
