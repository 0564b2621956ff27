// Package registry defines the types that the server stores: agents with one draft and immutable versions, references
// to versions, runs with their provenance, and the actor behind each change. The package contains no SQL and no HTTP
// code. The JSON names of the fields are those of the HTTP API and of agent.yaml.
package registry

import (
	"encoding/json"
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

// DefaultWorkspace is the only workspace of a single-user server. Every row belongs to a workspace.
const DefaultWorkspace = "default"

// ActorType is the kind of an actor.
type ActorType string

// These are the values of ActorType.
const (
	UserActor      ActorType = "user"
	TokenActor     ActorType = "token"
	AnonymousActor ActorType = "anonymous" // local caller of skills without authentication, where the configuration allows it
	SystemActor    ActorType = "system"
)

// Actor identifies a caller, and the workspace in which the caller acts.
type Actor struct {
	ID        string    `json:"id"`
	Type      ActorType `json:"type"`
	Name      string    `json:"name"`
	Workspace string    `json:"workspace"`
}

// Agent is a named code agent. Its name is unique in its workspace; '-' and '_' count as the same character.
type Agent struct {
	ID               string
	Workspace        string
	Name             string
	Title            string
	Description      string
	Tags             []string
	Metadata         json.RawMessage // JSON object in which clients store their own data
	Listed           bool
	Publisher        string  // name of the workspace that published the agent; only set in the public registry
	Origin           *Origin // nil if the agent was not copied from the public registry
	VersionCount     int64   // includes pre-releases
	LatestVersion    string  // the version that a reference to latest selects, "" before the first publish
	LatestDeprecated bool    // true if the latest version and all other versions without pre-release are deprecated
	UsageCount       int64
	LastUsedAt       *time.Time // nil before the first run
	LastRun          *LastRun   // only set in lists; nil if there is no such run
	Unpublished      bool       // only set in lists; the draft was saved after the latest version was published
	Draft            Draft
	Changelog        []ChangelogEntry // newest first
	CreatedAt        time.Time
	CreatedBy        string // ID of the creator
	Creator          Actor
	UpdatedAt        time.Time
	Editor           Actor      // actor who made the last change
	DeletedAt        *time.Time // time of deletion; a deleted agent and its versions cannot be read, and its name cannot be reused
	Deletion         Deletion   // who deleted the agent, and why
}

// Deletion records who deleted an agent, and why.
type Deletion struct {
	By      string `json:"by"` // name of the actor
	Comment string `json:"comment"`
}

// ChangelogEntry describes one published version in the history of an agent.
type ChangelogEntry struct {
	Version string    `json:"version"`
	Changes string    `json:"changes"`
	Date    time.Time `json:"date"`
}

// Spec holds the fields that a draft and a version share. They determine how a program runs.
type Spec struct {
	Language         runtimes.Language     `json:"language"`
	Runtime          runtimes.Name         `json:"runtime"`
	Isolation        runtimes.Isolation    `json:"isolation,omitempty"` // "" means the default of the runtime
	Files            map[string]File       `json:"files"`
	Entrypoint       string                `json:"entrypoint"`
	InputSchema      json.RawMessage       `json:"inputSchema"`
	OutputSchema     json.RawMessage       `json:"outputSchema"`
	Packages         []string              `json:"packages"`
	Lock             *runtimes.Lock        `json:"lock,omitempty"` // exact packages of a version; nil for a draft, and for a version without packages
	Environment      map[string]string     `json:"environment"`
	Secrets          []string              `json:"secrets"`
	Capabilities     runtimes.Capabilities `json:"capabilities"`
	Limits           runtimes.Limits       `json:"limits"`
	SafetyFlags      []string              `json:"safetyFlags"`
	RequiresApproval bool                  `json:"requiresApproval"`
	Deterministic    bool                  `json:"deterministic"`
	Rules            *runtimes.Rules       `json:"rules,omitempty"` // nil for none
}

// removedReuse is an isolation that no longer exists. Older stored specs may contain it.
const removedReuse runtimes.Isolation = "reuse"

// Current returns a stored spec without removed settings. It replaces the isolation reuse by the runtime's default,
// which is stricter.
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
	Agent         string    `json:"agent"` // name of the agent when the version was published
	CurrentName   string    `json:"-"`     // name of the agent now; "" if the store did not read it
	Title         string    `json:"title"`
	Description   string    `json:"description"`
	Version       string    `json:"version"` // semver
	Digest        string    `json:"digest"`
	ContentDigest string    `json:"contentDigest"`
	CodeDigest    string    `json:"codeDigest"`
	Changelog     string    `json:"changelog"`
	PublishedAt   time.Time `json:"publishedAt"`
	PublishedBy   string    `json:"publishedBy"` // ID of the publisher
	Publisher     Actor     `json:"-"`
	Deprecated    bool      `json:"deprecated"`
	Reason        string    `json:"reason,omitempty"`    // reason of the deprecation
	Successor     string    `json:"successor,omitempty"` // reference to use instead of a deprecated version
	Override      *Override `json:"override,omitempty"`  // reason why the number is smaller than recommended
	// RuntimeChoice explains why auto selected this runtime. It is nil if the author named the runtime, or if the language
	// has only one runtime.
	RuntimeChoice *RuntimeChoice `json:"runtimeChoice,omitempty"`
	// RuntimeAuto is true if the author let the server choose the runtime.
	RuntimeAuto bool `json:"runtimeAuto,omitempty"`
	// Tests describe the behavior on which callers may rely. Digest covers the tests. ContentDigest does not, because
	// tests do not change how the program behaves.
	Tests       []Test       `json:"tests,omitempty"`
	Regressions *Regressions `json:"regressions,omitempty"` // failed checks that the publisher accepted
	// Verdict is the answer of the policy gate when the version was published. It is nil if the gate was off, or if the
	// version was imported from an archive.
	Verdict *Verdict `json:"verdict,omitempty"`
	Spec
}

// Reference returns "name@1.2.0".
func (v Version) Reference() string { return v.Agent + "@" + v.Version }

// Status is the state of a run.
type Status string

// These are the values of Status. All but the first three are final.
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

// Statuses returns all values of Status.
func Statuses() []Status {
	return []Status{Queued, AwaitingApproval, Running, Succeeded, Failed, TimedOut, StatusCancelled, Blocked, StatusInterrupted}
}

// Final reports whether the state can no longer change.
func (s Status) Final() bool { return s != Queued && s != AwaitingApproval && s != Running }

// StatusOf returns the state of a run that ended with the given error. A nil error means success.
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

// These are the values of Trigger.
const (
	TriggerStudio Trigger = "studio"
	TriggerAPI    Trigger = "api"
	TriggerCLI    Trigger = "cli"
	TriggerSkill  Trigger = "skill"
	TriggerMCP    Trigger = "mcp"
	TriggerKafka  Trigger = "kafka"
	TriggerTool   Trigger = "tool" // another run called this agent
	TriggerTask   Trigger = "task"
)

// LastSeq is the highest sequence number of an event: the largest integer that every JSON reader represents exactly. If
// the server crashes during a run, the result event of the run gets this number, because it is unknown how many events
// readers have received.
const LastSeq = 1<<53 - 1

// Run is the record of one execution: the caller, the program, the result, and digests that prove them. A time that is
// not known yet is nil or zero.
type Run struct {
	ID            string
	Workspace     string
	AgentID       string // "" for inline code
	Agent         string
	Version       string // "" for inline code, "draft" for a draft
	DraftRevision int64  // revision of the draft, 0 for other runs
	Digest        string // digest of the version; "" for a draft and for inline code
	CodeDigest    string
	Language      runtimes.Language
	Runtime       runtimes.Name
	Trigger       Trigger
	ParentRunID   string
	WorkflowRunID string
	NodeID        string
	Actor         Actor
	RequestID     string // request ID that the client chose, "" if it sent none
	Claimed       Claim
	Server        string // server that executes or has executed the run; "" after an interruption
	Status        Status
	ResultSeq     int64 // sequence number of the result event; 0 until the run has ended
	Withheld      bool  // true if the record contains only digests of the input, output and output streams
	Input         json.RawMessage
	InputPreview  string // only set in lists; the beginning of Input, "" if the input is large
	Output        json.RawMessage
	Error         *runtimes.ProgramError
	ExitCode      *int
	Stdout        string // the last 64 KiB
	Stderr        string
	Truncated     bool // Stdout or Stderr is incomplete
	Validation    Validation
	TokensUsed    int64
	Metrics       Metrics
	InputsHash    string
	OutputsHash   string
	Isolation     string // full, none, or reduced with the missing parts in parentheses
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
	Rule   string `json:"rule" doc:"Rule of the router that chose the runtime; explicit if the program sets its runtime."`
	Reason string `json:"reason" doc:"The reason as a sentence."`
}

// Claim is the actor for whom a client says that it acts. The server does not check the claim, and the claim grants no
// rights.
type Claim struct {
	ID   string
	Type string
}

// Validation holds the results of checking the input and the output. A result is passed, failed or skipped. A check is
// skipped if there is no schema or no output.
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
