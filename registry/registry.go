// Package registry defines the stored types: agents with one draft and immutable versions, references to them, runs
// with their provenance, and the actor behind each change. It contains no SQL and no HTTP. The JSON names are those of
// the HTTP API and of agent.yaml.
package registry

import (
	"encoding/json"
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

// DefaultWorkspace is the workspace of a single-user server. Every row belongs to a workspace.
const DefaultWorkspace = "default"

// ActorType is the kind of an actor.
type ActorType string

// These are the kinds of actors.
const (
	UserActor      ActorType = "user"
	TokenActor     ActorType = "token"
	AnonymousActor ActorType = "anonymous" // unauthenticated local caller of skills, where allowed
	SystemActor    ActorType = "system"
)

// Actor identifies the caller and the workspace.
type Actor struct {
	ID        string    `json:"id"`
	Type      ActorType `json:"type"`
	Name      string    `json:"name"`
	Workspace string    `json:"workspace"`
}

// Agent is a named code agent. Name is unique in its workspace, even with '-' replaced by '_'.
type Agent struct {
	ID               string
	Workspace        string
	Name             string
	Title            string
	Description      string
	Tags             []string
	Metadata         json.RawMessage // JSON object for the client's own use
	Listed           bool
	Publisher        string  // name of the publishing workspace; only set in the public registry
	Origin           *Origin // nil for an agent that was created here
	VersionCount     int64   // includes pre-releases
	LatestVersion    string  // the version that a reference to latest selects, "" before the first publish
	LatestDeprecated bool    // the latest version and all others without pre-release are deprecated
	UsageCount       int64
	LastUsedAt       *time.Time // nil before the first run
	LastRun          *LastRun   // only in lists; nil if none
	Unpublished      bool       // only in lists; the draft was saved after the latest version was published
	Draft            Draft
	Changelog        []ChangelogEntry // newest first
	CreatedAt        time.Time
	CreatedBy        string // ID of the creator
	Creator          Actor
	UpdatedAt        time.Time
	Editor           Actor      // actor of the last change
	DeletedAt        *time.Time // time of deletion; the name and versions of a deleted agent cannot be read or reused
	Deletion         Deletion   // details of the deletion
}

// Deletion records who deleted an agent, and why.
type Deletion struct {
	By      string `json:"by"` // the name of the actor
	Comment string `json:"comment"`
}

// ChangelogEntry is one published version in an agent's history.
type ChangelogEntry struct {
	Version string    `json:"version"`
	Changes string    `json:"changes"`
	Date    time.Time `json:"date"`
}

// Spec holds the fields that a draft and a version share: everything that determines how a program runs.
type Spec struct {
	Language         runtimes.Language     `json:"language"`
	Runtime          runtimes.Name         `json:"runtime"`
	Isolation        runtimes.Isolation    `json:"isolation,omitempty"` // "" is the default of the runtime
	Files            map[string]File       `json:"files"`
	Entrypoint       string                `json:"entrypoint"`
	InputSchema      json.RawMessage       `json:"inputSchema"`
	OutputSchema     json.RawMessage       `json:"outputSchema"`
	Packages         []string              `json:"packages"`
	Lock             *runtimes.Lock        `json:"lock,omitempty"` // exact packages of a version; nil for a draft, and without packages
	Environment      map[string]string     `json:"environment"`
	Secrets          []string              `json:"secrets"`
	Capabilities     runtimes.Capabilities `json:"capabilities"`
	Limits           runtimes.Limits       `json:"limits"`
	SafetyFlags      []string              `json:"safetyFlags"`
	RequiresApproval bool                  `json:"requiresApproval"`
	Deterministic    bool                  `json:"deterministic"`
	Rules            *runtimes.Rules       `json:"rules,omitempty"` // nil for none
}

// removedReuse is a removed isolation that older stored specs may contain.
const removedReuse runtimes.Isolation = "reuse"

// Current returns a stored spec without removed settings: isolation reuse becomes the runtime's default, which isolates
// runs more strictly.
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
	CurrentName   string    `json:"-"`     // the agent's name now; "" if it was not read
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
	Successor     string    `json:"successor,omitempty"` // the reference to use instead
	Override      *Override `json:"override,omitempty"`  // why the number is smaller than advised
	// RuntimeChoice explains why auto selected this runtime. It is nil if the author named the runtime, or the language
	// has only one.
	RuntimeChoice *RuntimeChoice `json:"runtimeChoice,omitempty"`
	// RuntimeAuto says that the author left the choice of the runtime to the server.
	RuntimeAuto bool `json:"runtimeAuto,omitempty"`
	// Tests describe what callers may rely on. The digest covers them; the content digest does not, because they do not
	// change what the program does.
	Tests       []Test       `json:"tests,omitempty"`
	Regressions *Regressions `json:"regressions,omitempty"` // the failed checks that the publisher accepted
	// Verdict is the answer of the gate when the version was published, nil if the gate was off or the version came from
	// an archive.
	Verdict *Verdict `json:"verdict,omitempty"`
	Spec
}

// Reference returns "name@1.2.0".
func (v Version) Reference() string { return v.Agent + "@" + v.Version }

// Status is the state of a run.
type Status string

// These are the states of a run; all but the first three are final.
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

// Statuses returns all states of a run.
func Statuses() []Status {
	return []Status{Queued, AwaitingApproval, Running, Succeeded, Failed, TimedOut, StatusCancelled, Blocked, StatusInterrupted}
}

// Final reports whether the state of a run can no longer change.
func (s Status) Final() bool { return s != Queued && s != AwaitingApproval && s != Running }

// StatusOf returns the state of a run that ended with the given error; nil means success.
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
	case runtimes.SyntaxError, runtimes.RuntimeError, runtimes.RecursionLimit, runtimes.InvalidInput, runtimes.InvalidOutput, runtimes.MemoryLimit,
		runtimes.OutputLimit, runtimes.ProcessLimit, runtimes.DiskLimit, runtimes.Denied:
		return Failed
	}
	return Failed
}

// Trigger is the API or entry point that started a run.
type Trigger string

// These are the triggers.
const (
	TriggerStudio Trigger = "studio"
	TriggerAPI    Trigger = "api"
	TriggerCLI    Trigger = "cli"
	TriggerSkill  Trigger = "skill"
	TriggerMCP    Trigger = "mcp"
	TriggerKafka  Trigger = "kafka"
	TriggerTool   Trigger = "tool" // another run called the agent
	TriggerTask   Trigger = "task"
)

// LastSeq is the highest seq of an event: the largest integer that every JSON reader represents exactly. The result of
// a run has it if its server crashed, because the number of events that readers have received is then unknown.
const LastSeq = 1<<53 - 1

// Run is the record of one execution: the caller, the program, the result, and digests that prove them. Times that are
// not known yet are nil or zero.
type Run struct {
	ID            string
	Workspace     string
	AgentID       string // "" for inline code
	Agent         string
	Version       string // "" for inline code, "draft" for a draft
	DraftRevision int64  // revision of the draft, 0 for other runs
	Digest        string // of the version, "" otherwise
	CodeDigest    string
	Language      runtimes.Language
	Runtime       runtimes.Name
	Trigger       Trigger
	ParentRunID   string
	WorkflowRunID string
	NodeID        string
	Actor         Actor
	RequestID     string // the client's own ID of the request, "" for none
	Claimed       Claim
	Server        string // server that executes or executed a run from the store; "" after an interruption
	Status        Status
	ResultSeq     int64 // seq of the result event; 0 before the end
	Withheld      bool  // input, output and output streams are not in the record, only their digests
	Input         json.RawMessage
	InputPreview  string // only in lists; the beginning of Input, "" if the input is large
	Output        json.RawMessage
	Error         *runtimes.ProgramError
	ExitCode      *int
	Stdout        string // last 64 KiB
	Stderr        string
	Truncated     bool // Stdout or Stderr is incomplete
	Validation    Validation
	TokensUsed    int64
	Metrics       Metrics
	InputsHash    string
	OutputsHash   string
	Isolation     string // full, reduced(missing parts) or none
	Route         Route
	Memory        int64 // memory limit in bytes
	TraceID       string
	CreatedAt     time.Time
	StartedAt     *time.Time
	FinishedAt    *time.Time
}

// Route records why the router chose the runtime of a run. It is zero if the run was refused before the router chose a
// runtime.
type Route struct {
	Rule   string `json:"rule" doc:"Rule of the router that chose the runtime; explicit if the program names it."`
	Reason string `json:"reason" doc:"The reason as a sentence."`
}

// Claim is the actor that a client says it acts for. The server does not check it, and it grants nothing.
type Claim struct {
	ID   string
	Type string
}

// Validation holds the results of checking input and output: passed, failed or skipped (no schema, or no output).
type Validation struct {
	Input  string `json:"input"`
	Output string `json:"output"`
}

// Metrics holds the duration of each phase of a run in milliseconds, and its resource usage.
type Metrics struct {
	QueuedMs        float64 `json:"queuedMs"`
	StartMs         float64 `json:"startMs"`
	RunMs           float64 `json:"runMs"`
	TotalMs         float64 `json:"totalMs"`
	CPUMs           float64 `json:"cpuMs"`
	RemoteMs        float64 `json:"remoteMs,omitempty" doc:"Time that a remote service bills."`
	GPUMs           float64 `json:"gpuMs,omitempty" doc:"Time on GPUs: the duration times the number of GPUs."`
	RemoteCost      float64 `json:"remoteCost,omitempty" doc:"Cost that a remote service reports, in the server's currency."`
	EgressBytes     int64   `json:"egressBytes,omitempty" doc:"Bytes between the program and granted hosts, in both directions."`
	PeakMemoryBytes int64   `json:"peakMemoryBytes"`
}
