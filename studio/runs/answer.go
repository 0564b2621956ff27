package runs

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// Answer is the form of a run in every API and in the result event.
type Answer struct {
	RunID         string                 `json:"runId"`
	DraftRevision int64                  `json:"draftRevision,omitempty" doc:"Revision of the draft that ran. Absent for a version and for inline code."`
	Status        registry.Status        `json:"status"`
	Success       bool                   `json:"success"`
	Withheld      bool                   `json:"withheld,omitempty" doc:"true if the program has the flag pii_risk. Then the record contains digests of input and output (in provenance), but no values, output streams or messages. Only the caller receives them."`
	Output        json.RawMessage        `json:"output"`
	Error         *runtimes.ProgramError `json:"error,omitempty"`
	Stdout        string                 `json:"stdout"`
	Stderr        string                 `json:"stderr"`
	Truncated     bool                   `json:"truncated"`
	ExitCode      *int                   `json:"exitCode,omitempty"`
	Language      runtimes.Language      `json:"language"`
	Trigger       registry.Trigger       `json:"trigger"`
	ParentRunID   *string                `json:"parentRunId"`
	WorkflowRunID *string                `json:"workflowRunId"`
	NodeID        *string                `json:"nodeId"`
	TokensUsed    int64                  `json:"tokensUsed"`
	Validation    registry.Validation    `json:"validation"`
	Metadata      Metadata               `json:"metadata"`
	Metrics       registry.Metrics       `json:"metrics"`
	Route         *registry.Route        `json:"route,omitempty" doc:"Reason for the choice of the runtime."`
	Provenance    Provenance             `json:"provenance"`
}

// Metadata repeats fields of the run, because existing clients read them here. ExecutionTime is in milliseconds.
type Metadata struct {
	AgentID       string  `json:"agentId,omitempty"`
	Version       string  `json:"version,omitempty"`
	ExecutionTime float64 `json:"executionTime"`
}

// Provenance identifies the exact code that ran.
type Provenance struct {
	ExecutionID     string             `json:"executionId"`
	Agent           string             `json:"agent,omitempty"`
	Version         string             `json:"version,omitempty"`
	Digest          string             `json:"digest,omitempty"`
	CodeDigest      string             `json:"codeDigest"`
	InputsHash      string             `json:"inputsHash"`
	OutputsHash     string             `json:"outputsHash,omitempty"`
	ActorID         string             `json:"actorId"`
	ActorType       registry.ActorType `json:"actorType"`
	RequestID       string             `json:"requestId,omitempty" doc:"ID that the client chose for the request."`
	ClaimedID       string             `json:"claimedActorId,omitempty" doc:"Actor that the client claims to act for. The server does not check it."`
	ClaimedType     string             `json:"claimedActorType,omitempty"`
	Runtime         runtimes.Name      `json:"runtime"`
	Isolation       string             `json:"isolation"`
	ToolIDs         []string           `json:"toolIds"`
	Timestamp       time.Time          `json:"timestamp"`
	ExecutionTimeMs float64            `json:"executionTimeMs"`
	Success         bool               `json:"success"`
}

// AnswerOf converts a stored run to the answer of the API.
func AnswerOf(run registry.Run) Answer {
	success := run.Status == registry.Succeeded
	output := run.Output
	if len(output) == 0 {
		output = json.RawMessage("null")
	}
	return Answer{
		RunID: run.ID, DraftRevision: run.DraftRevision, Status: run.Status, Success: success, Withheld: run.Withheld, Output: output, Error: run.Error, Stdout: run.Stdout, Stderr: run.Stderr,
		Truncated: run.Truncated, ExitCode: run.ExitCode, Language: run.Language, Trigger: run.Trigger, ParentRunID: optional(run.ParentRunID),
		WorkflowRunID: optional(run.WorkflowRunID), NodeID: optional(run.NodeID), TokensUsed: run.TokensUsed, Validation: run.Validation,
		Metadata: Metadata{AgentID: run.AgentID, Version: run.Version, ExecutionTime: run.Metrics.TotalMs}, Metrics: run.Metrics,
		Route: routeOf(run),
		Provenance: Provenance{
			ExecutionID: run.ID, Agent: run.Agent, Version: run.Version, Digest: run.Digest, CodeDigest: run.CodeDigest, InputsHash: run.InputsHash,
			OutputsHash: run.OutputsHash, ActorID: run.Actor.ID, ActorType: run.Actor.Type,
			RequestID: run.RequestID, ClaimedID: run.Claimed.ID, ClaimedType: run.Claimed.Type, Runtime: run.Runtime, Isolation: run.Isolation,
			ToolIDs: []string{}, Timestamp: run.CreatedAt, ExecutionTimeMs: run.Metrics.TotalMs, Success: success,
		},
	}
}

// encode returns the JSON of an event. It does not escape <, > and & in a program's output, like the responses of every
// API.
func encode(data any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(data)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func routeOf(run registry.Run) *registry.Route {
	if run.Route.Rule == "" {
		return nil
	}
	return &run.Route
}
