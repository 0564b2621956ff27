package httpapi

import (
	"encoding/json"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/runs"
)

// RunSummary is a run in a list.
type RunSummary struct {
	RunID      string                 `json:"runId"`
	Agent      string                 `json:"agent" doc:"Name of the agent. Empty for inline code."`
	AgentID    string                 `json:"agentId,omitempty"`
	Version    string                 `json:"version"`
	Draft      int64                  `json:"draftRevision,omitempty" doc:"Revision of the draft that ran. Absent for a version and for inline code."`
	Status     registry.Status        `json:"status"`
	Language   runtimes.Language      `json:"language"`
	Trigger    registry.Trigger       `json:"trigger"`
	CreatedAt  time.Time              `json:"createdAt"`
	FinishedAt *time.Time             `json:"finishedAt,omitempty"`
	TotalMs    float64                `json:"totalMs"`
	Error      *runtimes.ProgramError `json:"error,omitempty"`
	By         Person                 `json:"by" doc:"Person or token that started the run."`
	Preview    string                 `json:"inputPreview" doc:"The first 200 characters of the input as JSON. Empty if the input is larger than 16 KiB."`
	Peak       int64                  `json:"peakMemoryBytes"`
}

// Person identifies the actor of a change. The actor is a person, a token or the server.
type Person struct {
	ID   string             `json:"id"`
	Type registry.ActorType `json:"type"`
	Name string             `json:"name"`
}

func personOf(a registry.Actor) Person { return Person{ID: a.ID, Type: a.Type, Name: a.Name} }

func runSummaryOf(r registry.Run) RunSummary {
	return RunSummary{
		RunID: r.ID, Agent: r.Agent, AgentID: r.AgentID, Version: r.Version, Draft: r.DraftRevision, Status: r.Status, Language: r.Language, Trigger: r.Trigger,
		CreatedAt: r.CreatedAt, FinishedAt: r.FinishedAt, TotalMs: r.Metrics.TotalMs, Error: r.Error,
		By: personOf(r.Actor), Preview: r.InputPreview, Peak: r.Metrics.PeakMemoryBytes,
	}
}

// Run is a run in the response of GET. It contains the result and the request.
type Run struct {
	runs.Answer
	Input      json.RawMessage `json:"input"`
	CreatedAt  time.Time       `json:"createdAt"`
	StartedAt  *time.Time      `json:"startedAt,omitempty"`
	FinishedAt *time.Time      `json:"finishedAt,omitempty"`
	TraceID    string          `json:"traceId,omitempty"`
	By         Person          `json:"by" doc:"Person or token that started the run."`
}

func runOf(r registry.Run) Run {
	return Run{Answer: runs.AnswerOf(r), Input: r.Input, CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt, TraceID: r.TraceID, By: personOf(r.Actor)}
}

// Accepted is the answer to a request with respond-async.
type Accepted struct {
	RunID         string          `json:"runId"`
	Status        registry.Status `json:"status"`
	DraftRevision int64           `json:"draftRevision,omitempty" doc:"Revision of the draft that runs. Absent for a version and for inline code."`
	ApprovalID    string          `json:"approvalId,omitempty" doc:"ID of the request that a person must approve first."`
	Reasons       []string        `json:"reasons,omitempty" doc:"Reasons why a person must approve the run."`
	Approvers     []string        `json:"approvers,omitempty" doc:"Sign-in names of people who may approve the run."`
	ExpiresAt     *time.Time      `json:"expiresAt,omitempty" doc:"Time when the request expires."`
}
