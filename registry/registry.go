// Package registry is the vocabulary of what is saved: agents with one draft and immutable versions, references to them,
// runs with their provenance, and the actor behind each change. It knows no SQL and no HTTP. The JSON names are those of
// the HTTP contract and of agent.yaml.
package registry

import (
	"encoding/json"
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

// DefaultWorkspace is the tenant of a server with a single user. Every row belongs to a workspace.
const DefaultWorkspace = "default"

// ActorType says what kind of caller acts.
type ActorType string

// The kinds of actors.
const (
	UserActor      ActorType = "user"
	TokenActor     ActorType = "token"
	AnonymousActor ActorType = "anonymous" // a caller of skills on this machine, where that is allowed
	SystemActor    ActorType = "system"
)

// Actor is who asks, in which workspace.
type Actor struct {
	ID        string    `json:"id"`
	Type      ActorType `json:"type"`
	Name      string    `json:"name"`
	Workspace string    `json:"workspace"`
}

// Agent is a named code agent. Name is unique in its workspace, also after '-' became '_'.
type Agent struct {
	ID               string
	Workspace        string
	Name             string
	Title            string
	Description      string
	Tags             []string
	Metadata         json.RawMessage // an object of the client's own
	Listed           bool
	Publisher        string  // in the registry: the name of the workspace that lists it
	Origin           *Origin // nil for an agent that was made here
	VersionCount     int64   // pre-releases included
	LatestVersion    string  // what a reference to latest stands for, "" before the first publish
	LatestDeprecated bool    // it is deprecated, as is every other without pre-release
	UsageCount       int64
	LastUsedAt       *time.Time // nil before the first run
	Draft            Draft
	Changelog        []ChangelogEntry // newest first
	CreatedAt        time.Time
	CreatedBy        string // the creator's ID
	Creator          Actor
	UpdatedAt        time.Time
	Editor           Actor      // who changed it last
	DeletedAt        *time.Time // a tombstone keeps the name and its versions out of reach and reuse
	Deletion         Deletion   // what the tombstone says
}

// Deletion says who deleted an agent and why.
type Deletion struct {
	By      string `json:"by"` // the name of the actor
	Comment string `json:"comment"`
}

// ChangelogEntry is one published version as an agent's history shows it.
type ChangelogEntry struct {
	Version string    `json:"version"`
	Changes string    `json:"changes"`
	Date    time.Time `json:"date"`
}

// Spec is what a draft and a version have in common: everything that decides how a program runs.
type Spec struct {
	Language         runtimes.Language     `json:"language"`
	Runtime          runtimes.Name         `json:"runtime"`
	Isolation        runtimes.Isolation    `json:"isolation,omitempty"` // "" is the default of the runtime
	Files            map[string]File       `json:"files"`
	Entrypoint       string                `json:"entrypoint"`
	InputSchema      json.RawMessage       `json:"inputSchema"`
	OutputSchema     json.RawMessage       `json:"outputSchema"`
	Packages         []string              `json:"packages"`
	Environment      map[string]string     `json:"environment"`
	Secrets          []string              `json:"secrets"`
	Capabilities     runtimes.Capabilities `json:"capabilities"`
	Limits           runtimes.Limits       `json:"limits"`
	SafetyFlags      []string              `json:"safetyFlags"`
	RequiresApproval bool                  `json:"requiresApproval"`
	Deterministic    bool                  `json:"deterministic"`
	Rules            *runtimes.Rules       `json:"rules,omitempty"` // nil for none
}

// removedReuse is an isolation that specs may have that were stored before it was removed.
const removedReuse runtimes.Isolation = "reuse"

// Current returns a stored spec without settings that were removed since: isolation reuse becomes the runtime's default,
// which keeps runs further apart.
func (s Spec) Current() Spec {
	if s.Isolation == removedReuse {
		s.Isolation = runtimes.Pooled
	}
	return s
}

// Version is an immutable published state of an agent.
type Version struct {
	ID            string    `json:"-"`
	AgentID       string    `json:"agentId"`
	Agent         string    `json:"agent"` // the agent's name when it was published
	CurrentName   string    `json:"-"`     // the agent's name now; "" where nobody asked
	Title         string    `json:"title"`
	Description   string    `json:"description"`
	Version       string    `json:"version"` // semver
	Digest        string    `json:"digest"`
	ContentDigest string    `json:"contentDigest"`
	CodeDigest    string    `json:"codeDigest"`
	Changelog     string    `json:"changelog"`
	PublishedAt   time.Time `json:"publishedAt"`
	PublishedBy   string    `json:"publishedBy"` // the publisher's ID
	Publisher     Actor     `json:"-"`
	Deprecated    bool      `json:"deprecated"`
	Reason        string    `json:"reason,omitempty"`    // of the deprecation
	Successor     string    `json:"successor,omitempty"` // a reference to what should be used instead
	Override      *Override `json:"override,omitempty"`  // why the number is smaller than advised
	// RuntimeChoice is why auto became this runtime; nil where somebody named it, or the language has one alone.
	RuntimeChoice *RuntimeChoice `json:"runtimeChoice,omitempty"`
	Spec
}

// Reference returns "name@1.2.0".
func (v Version) Reference() string { return v.Agent + "@" + v.Version }

// Status is where a run stands.
type Status string

// The states of a run; all but the first three are final.
const (
	Queued            Status = "queued"
	AwaitingApproval  Status = "awaiting_approval"
	Running           Status = "running"
	Succeeded         Status = "succeeded"
	Failed            Status = "failed"
	TimedOut          Status = "timed_out"
	StatusCancelled   Status = "cancelled"
	Blocked           Status = "blocked"
	StatusInterrupted Status = "interrupted"
)

// Statuses are all the states of a run.
func Statuses() []Status {
	return []Status{Queued, AwaitingApproval, Running, Succeeded, Failed, TimedOut, StatusCancelled, Blocked, StatusInterrupted}
}

// Final reports whether a run in this state will not change any more.
func (s Status) Final() bool { return s != Queued && s != AwaitingApproval && s != Running }

// StatusOf is the state of a run that ended with this error; nil means success.
func StatusOf(err *runtimes.ProgramError) Status {
	if err == nil {
		return Succeeded
	}
	switch err.Type {
	case runtimes.Timeout:
		return TimedOut
	case runtimes.Cancelled:
		return StatusCancelled
	case runtimes.Interrupted:
		return StatusInterrupted
	case runtimes.SyntaxError, runtimes.RuntimeError, runtimes.RecursionLimit, runtimes.InvalidOutput, runtimes.MemoryLimit,
		runtimes.OutputLimit, runtimes.ProcessLimit, runtimes.DiskLimit, runtimes.Denied:
		return Failed
	}
	return Failed
}

// Trigger says by which door a run came.
type Trigger string

// The triggers of this house.
const (
	TriggerStudio Trigger = "studio"
	TriggerAPI    Trigger = "api"
	TriggerCLI    Trigger = "cli"
	TriggerSkill  Trigger = "skill"
	TriggerMCP    Trigger = "mcp"
)

// LastSeq is the highest number that an event can have: the largest integer that every JSON reader knows exactly. The result
// of a run has it where nobody knows how many events readers have seen, because the run's server died.
const LastSeq = 1<<53 - 1

// Run is one execution: who asked for what, how it ended, and the proof. Times that are not known yet are nil or zero.
type Run struct {
	ID            string
	Workspace     string
	Organisation  string
	AgentID       string // "" for inline code
	Agent         string
	Version       string // "" for inline code, "draft" for a draft
	DraftRevision int64  // of a draft, 0 otherwise
	Digest        string // of the version, "" otherwise
	CodeDigest    string
	Language      runtimes.Language
	Runtime       runtimes.Name
	Trigger       Trigger
	ParentRunID   string
	WorkflowRunID string
	NodeID        string
	Actor         Actor
	Status        Status
	ResultSeq     int64 // the number of the result among the run's events; 0 before the end
	Input         json.RawMessage
	Output        json.RawMessage
	Error         *runtimes.ProgramError
	ExitCode      *int
	Stdout        string // the last 64 KiB
	Stderr        string
	Truncated     bool // Stdout or Stderr is not the whole output
	Validation    Validation
	TokensUsed    int64
	Metrics       Metrics
	InputsHash    string
	OutputsHash   string
	Isolation     string // full, reduced(what is missing), none
	Memory        int64  // the memory limit in bytes
	TraceID       string
	CreatedAt     time.Time
	StartedAt     *time.Time
	FinishedAt    *time.Time
}

// Validation tells what came of checking input and output: passed, failed or skipped (no schema, or no output).
type Validation struct {
	Input  string `json:"input"`
	Output string `json:"output"`
}

// Metrics is where a run's time went, in milliseconds, and its peak memory.
type Metrics struct {
	QueuedMs        float64 `json:"queuedMs"`
	StartMs         float64 `json:"startMs"`
	RunMs           float64 `json:"runMs"`
	TotalMs         float64 `json:"totalMs"`
	CPUMs           float64 `json:"cpuMs"`
	PeakMemoryBytes int64   `json:"peakMemoryBytes"`
}
