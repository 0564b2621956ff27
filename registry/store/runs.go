package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// unfinished lists the states of unfinished runs, as SQL.
const unfinished = "'queued', 'awaiting_approval', 'running'"

// BeginRun records a run that has not ended, so that the record survives a crash of the server. It does not change a
// run that this server has ended. Errors: RunInterrupted if the run belongs to another server, or if another server
// ended the run; registry.ErrKeyReserved.
func (s *Store) BeginRun(ctx context.Context, run registry.Run) error {
	w, err := s.beginning(ctx, run)
	if err != nil {
		return wrap("begin run", err)
	}
	return wrap("begin run", s.runs.commit(w))
}

// ReserveRun stores a key together with the ID of a run that is not recorded yet, so that no other request with the key
// can run. A server may repeat the call for the same run until its epoch ends; afterwards another server may have
// recorded the run as interrupted. Errors: registry.ErrKeyReserved; InvalidInput for a key that FindKey would reject.
func (s *Store) ReserveRun(_ context.Context, runID string, k registry.IdempotencyKey) error {
	if err := registry.CheckText("/Idempotency-Key", k.Key); err != nil {
		return err
	}
	k.Made = registry.Made{Kind: registry.MadeRun, ID: runID}
	reserved, err := s.reserve(k)
	if err == nil && !reserved {
		err = registry.ErrKeyReserved
	}
	return wrap("reserve run", err)
}

// BeginAsked records a run together with its request for approval and the webhook about it. So a run never waits
// without a request, and two requests with the same idempotency key create only one request for approval. Errors: those
// of BeginRun.
func (s *Store) BeginAsked(ctx context.Context, run registry.Run, a registry.Approval, notice registry.Notice) error {
	w, err := s.beginning(ctx, run)
	if err != nil {
		return wrap("begin run", err)
	}
	row, err := approvalRowOf(a)
	if err != nil {
		return wrap("save approval", err)
	}
	return s.change(ctx, "begin run", func(ctx context.Context, tx bun.Tx) error {
		once := func(key string, args ...any) (int64, error) {
			result, err := tx.Tx.ExecContext(ctx, s.texts[key], args...) // calls database/sql directly, because bun's own method would replace question marks
			if err != nil {
				return 0, err
			}
			return result.RowsAffected()
		}
		if err := (&batch{exec: once, writes: []*write{w}}).apply(); err != nil {
			return err
		}
		if _, err := tx.NewInsert().Model(row).Exec(ctx); err != nil {
			return err
		}
		return note(ctx, tx, a, notice)
	})
}

// beginning returns the write for a run that has not ended.
func (s *Store) beginning(ctx context.Context, run registry.Run) (*write, error) {
	if run.Status.Final() {
		return nil, fmt.Errorf("run %s: %s is a final status", run.ID, run.Status)
	}
	by := *s.identity.Load()
	row, bytes, err := runArgs(run, by)
	if err != nil {
		return nil, err
	}
	w := &write{workspace: run.Workspace, runID: run.ID, by: by, row: row, bytes: bytes}
	if key, ok := registry.KeyOf(ctx); ok {
		w.key = &key
	}
	if k := registry.ReservationOf(ctx); k != nil {
		reserved := *k
		reserved.Made = registry.Made{Kind: registry.MadeRun, ID: run.ID}
		w.reservation = s.reservationOf(reserved, by)
		w.bytes += len(k.Key) + len(k.BodyHash)
	}
	return w, nil
}

// FinishRun records the result of a run, its remaining events, and the usage of its agent and its workspace, in one
// transaction. If the run has already ended, FinishRun writes nothing and returns no error. So the call may be
// repeated.
func (s *Store) FinishRun(_ context.Context, run registry.Run, events []runtimes.Event) error {
	if !run.Status.Final() {
		return fmt.Errorf("finish run %s: %s is not a final status", run.ID, run.Status)
	}
	w, err := finishing(*s.identity.Load(), run, events)
	if err != nil {
		return wrap("finish run", err)
	}
	return wrap("finish run", s.runs.commit(w))
}

// finishing returns the write for the result of a run.
func finishing(by identity, run registry.Run, events []runtimes.Event) (*write, error) {
	row, bytes, err := runArgs(run, by)
	if err != nil {
		return nil, err
	}
	w := &write{workspace: run.Workspace, runID: run.ID, by: by, row: row, events: events, bytes: bytes + eventBytes(events), metered: meteredOf(run.Workspace, run.Uses())}
	if run.AgentID != "" && run.Version != registry.DraftVersion { // a run of a draft does not count as a use of the agent
		at := run.CreatedAt
		if run.FinishedAt != nil {
			at = *run.FinishedAt
		}
		w.used = use{workspace: run.Workspace, agentID: run.AgentID, count: 1, last: instant(at)}
	}
	return w, nil
}

// Run returns one run. Error: NotFound.
func (s *Store) Run(ctx context.Context, workspace, id string) (registry.Run, error) {
	if impossible(id) {
		return registry.Run{}, noRun(id)
	}
	var row runRow
	err := s.read.NewSelect().Model(&row).Where("r.workspace_id = ?", workspace).Where("r.id = ?", id).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.Run{}, noRun(id)
	}
	if err != nil {
		return registry.Run{}, wrap("read run", err)
	}
	run, err := row.run()
	return run, wrap("read run", err)
}

// RunSummary returns one run without its input, output and output streams, and the total size of these in bytes. Error:
// NotFound.
func (s *Store) RunSummary(ctx context.Context, workspace, id string) (registry.Run, int64, error) {
	if impossible(id) {
		return registry.Run{}, 0, noRun(id)
	}
	var row struct {
		runRow

		Bytes int64 `bun:"bytes"`
	}
	err := s.read.NewSelect().Model(&row.runRow).ExcludeColumn("input", "output", "stdout", "stderr").
		ColumnExpr(s.dialect.bytesOf("r.input", "r.output", "r.stdout", "r.stderr")+" AS bytes").
		Where("r.workspace_id = ?", workspace).Where("r.id = ?", id).Scan(ctx, &row)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.Run{}, 0, noRun(id)
	}
	if err != nil {
		return registry.Run{}, 0, wrap("read run", err)
	}
	run, err := row.run()
	return run, row.Bytes, wrap("read run", err)
}

// InterruptRuns marks the runs that were queued or running when their server stopped as interrupted, in all workspaces.
// It returns their number. A server calls it when it starts. A server that shares the database also calls it when
// another server has ended. Runs that wait for a person's approval continue to wait. Runs with a job at another service
// continue to run.
func (s *Store) InterruptRuns(ctx context.Context, at time.Time) (int, error) {
	reason, err := encode(runtimes.ProgramError{Type: runtimes.Interrupted, Message: "The server stopped while the program ran."})
	if err != nil {
		return 0, wrap("interrupt runs", err)
	}
	var n int
	err = s.change(ctx, "interrupt runs", func(ctx context.Context, tx bun.Tx) error {
		var workspaces []string // of each interrupted run, or "" if its program never started
		err := tx.NewUpdate().Model((*runRow)(nil)).
			Set("status = ?", string(registry.StatusInterrupted)).
			Set("error_type = ?", string(runtimes.Interrupted)).
			Set("error = ?", reason).
			Set("finished_at = ?", instant(at)).
			Set("server_id = ''").Set("epoch = 0").Set("result_seq = ?", int64(registry.LastSeq)).
			Where(interruptible).
			Returning("CASE WHEN started_at IS NOT NULL THEN workspace_id ELSE '' END").
			Scan(ctx, &workspaces)
		if err != nil {
			return err
		}
		n = len(workspaces)
		return countInterrupted(ctx, tx, workspaces, at)
	})
	return n, err
}

// interruptible is the SQL condition for unfinished runs of servers that have ended, except for runs with a job at
// another service. It begins with the condition of an index. Otherwise the query would read the whole table.
var interruptible = unattended + " AND NOT EXISTS (SELECT 1 FROM remote_jobs AS j WHERE j.run_id = r.id)"

// unattended is the SQL condition for unfinished runs of servers that have ended. It includes runs with a job at
// another service.
var unattended = "r.status IN (" + unfinished + ") AND r.status <> 'awaiting_approval' AND NOT " + atWork("r")

// runRow is the form in which bun reads a row of the table runs. runArgs returns the values for writing a row.
type runRow struct {
	bun.BaseModel `bun:"table:runs,alias:r"`

	ID               string     `bun:"id,pk"`
	WorkspaceID      string     `bun:"workspace_id"`
	AgentID          string     `bun:"agent_id"`
	AgentName        string     `bun:"agent_name"`
	Version          string     `bun:"version"`
	DraftRevision    int64      `bun:"draft_revision"`
	Digest           string     `bun:"digest"`
	CodeDigest       string     `bun:"code_digest"`
	Language         string     `bun:"language"`
	Runtime          string     `bun:"runtime"`
	TriggerType      string     `bun:"trigger_type"`
	ParentRunID      string     `bun:"parent_run_id"`
	WorkflowRunID    string     `bun:"workflow_run_id"`
	NodeID           string     `bun:"node_id"`
	ActorID          string     `bun:"actor_id"`
	ActorType        string     `bun:"actor_type"`
	ActorName        string     `bun:"actor_name"`
	RequestID        string     `bun:"request_id"`
	ClaimedID        string     `bun:"claimed_actor_id"`
	ClaimedType      string     `bun:"claimed_actor_type"`
	ServerID         string     `bun:"server_id"`
	ResultSeq        int64      `bun:"result_seq"`
	Status           string     `bun:"status"`
	ErrorType        string     `bun:"error_type"`
	ExitCode         *int       `bun:"exit_code"`
	Truncated        bool       `bun:"truncated"`
	InputValidation  string     `bun:"input_validation"`
	OutputValidation string     `bun:"output_validation"`
	TokensUsed       int64      `bun:"tokens_used"`
	QueuedMs         float64    `bun:"queued_ms"`
	StartMs          float64    `bun:"start_ms"`
	RunMs            float64    `bun:"run_ms"`
	TotalMs          float64    `bun:"total_ms"`
	CPUMs            float64    `bun:"cpu_ms"`
	RemoteMs         float64    `bun:"remote_ms"`
	GPUMs            float64    `bun:"gpu_ms"`
	RemoteCost       float64    `bun:"remote_cost"`
	EgressBytes      int64      `bun:"egress_bytes"`
	PeakMemoryBytes  int64      `bun:"peak_memory_bytes"`
	MemoryBytes      int64      `bun:"memory_bytes"`
	InputsHash       string     `bun:"inputs_hash"`
	OutputsHash      string     `bun:"outputs_hash"`
	Isolation        string     `bun:"isolation"`
	RouteRule        string     `bun:"route_rule"`
	RouteReason      string     `bun:"route_reason"`
	TraceID          string     `bun:"trace_id"`
	CreatedAt        time.Time  `bun:"created_at"`
	StartedAt        *time.Time `bun:"started_at"`
	FinishedAt       *time.Time `bun:"finished_at"`
	Error            string     `bun:"error"`
	Withheld         bool       `bun:"withheld"`
	Input            string     `bun:"input"`
	InputPreview     string     `bun:"input_preview,scanonly"`
	Output           string     `bun:"output"`
	Stdout           []byte     `bun:"stdout"`
	Stderr           []byte     `bun:"stderr"`
}

func (row *runRow) run() (registry.Run, error) {
	var failure *runtimes.ProgramError
	if row.Error != "" {
		if err := json.Unmarshal([]byte(row.Error), &failure); err != nil {
			return registry.Run{}, fmt.Errorf("parse the stored error of run %s: %w", row.ID, err)
		}
	}
	return registry.Run{
		ID: row.ID, Workspace: row.WorkspaceID,
		AgentID: row.AgentID, Agent: row.AgentName, Version: row.Version, DraftRevision: row.DraftRevision, Digest: row.Digest, CodeDigest: row.CodeDigest,
		Language: runtimes.Language(row.Language), Runtime: runtimes.Name(row.Runtime), Trigger: registry.Trigger(row.TriggerType),
		ParentRunID: row.ParentRunID, WorkflowRunID: row.WorkflowRunID, NodeID: row.NodeID,
		Actor:     actor(row.WorkspaceID, row.ActorID, row.ActorType, row.ActorName),
		RequestID: row.RequestID, Claimed: registry.Claim{ID: row.ClaimedID, Type: row.ClaimedType},
		Server: row.ServerID, Status: registry.Status(row.Status), Error: failure, ExitCode: row.ExitCode,
		Withheld: row.Withheld, Input: raw(row.Input), InputPreview: row.InputPreview, Output: raw(row.Output),
		Stdout: string(row.Stdout), Stderr: string(row.Stderr), Truncated: row.Truncated,
		Validation: registry.Validation{Input: row.InputValidation, Output: row.OutputValidation},
		TokensUsed: row.TokensUsed,
		Metrics: registry.Metrics{
			QueuedMs: row.QueuedMs, StartMs: row.StartMs, RunMs: row.RunMs, TotalMs: row.TotalMs, CPUMs: row.CPUMs,
			RemoteMs: row.RemoteMs, GPUMs: row.GPUMs, RemoteCost: row.RemoteCost, EgressBytes: row.EgressBytes, PeakMemoryBytes: row.PeakMemoryBytes,
		},
		InputsHash: row.InputsHash, OutputsHash: row.OutputsHash, Isolation: row.Isolation, Route: registry.Route{Rule: row.RouteRule, Reason: row.RouteReason}, Memory: row.MemoryBytes,
		ResultSeq: row.ResultSeq, TraceID: row.TraceID, CreatedAt: row.CreatedAt.UTC(), StartedAt: instantOrNil(row.StartedAt), FinishedAt: instantOrNil(row.FinishedAt),
	}, nil
}

// runColumns lists the columns in the order of runArgs. The first two columns are the key, and an update never changes
// them.
var runColumns = []string{
	"id", "workspace_id", "agent_id", "agent_name", "version", "draft_revision", "digest", "code_digest",
	"language", "runtime", "trigger_type", "parent_run_id", "workflow_run_id", "node_id",
	"actor_id", "actor_type", "actor_name", "request_id", "claimed_actor_id", "claimed_actor_type", "server_id", "epoch", "result_seq", "status", "error_type", "exit_code", "truncated",
	"input_validation", "output_validation", "tokens_used",
	"queued_ms", "start_ms", "run_ms", "total_ms", "cpu_ms", "remote_ms", "gpu_ms", "remote_cost", "egress_bytes", "peak_memory_bytes", "memory_bytes",
	"inputs_hash", "outputs_hash", "isolation", "route_rule", "route_reason", "trace_id", "created_at", "started_at", "finished_at",
	"error", "withheld", "input", "output", "stdout", "stderr",
}

// runArgs returns the values for writing a run, and their approximate size in bytes.
func runArgs(r registry.Run, by identity) ([]any, int, error) {
	if !slices.Contains(registry.Statuses(), r.Status) {
		return nil, 0, fmt.Errorf("%q is not the status of a run", r.Status)
	}
	var failure any
	var failureType string
	if r.Error != nil {
		text, err := encode(r.Error)
		if err != nil {
			return nil, 0, err
		}
		failure, failureType = text, string(r.Error.Type)
	}
	args := []any{
		r.ID, r.Workspace, r.AgentID, r.Agent, r.Version, r.DraftRevision, r.Digest, r.CodeDigest,
		string(r.Language), string(r.Runtime), string(r.Trigger), r.ParentRunID, r.WorkflowRunID, r.NodeID,
		r.Actor.ID, string(r.Actor.Type), r.Actor.Name, r.RequestID, r.Claimed.ID, r.Claimed.Type, by.server, by.epoch, r.ResultSeq, string(r.Status), failureType, r.ExitCode, r.Truncated,
		r.Validation.Input, r.Validation.Output, r.TokensUsed,
		r.Metrics.QueuedMs, r.Metrics.StartMs, r.Metrics.RunMs, r.Metrics.TotalMs, r.Metrics.CPUMs, r.Metrics.RemoteMs, r.Metrics.GPUMs, r.Metrics.RemoteCost, r.Metrics.EgressBytes, r.Metrics.PeakMemoryBytes, r.Memory,
		r.InputsHash, r.OutputsHash, r.Isolation, r.Route.Rule, r.Route.Reason, r.TraceID, instant(r.CreatedAt), instantOrNil(r.StartedAt), instantOrNil(r.FinishedAt),
		failure, r.Withheld, textOrNil(r.Input), textOrNil(r.Output), bytesOrNil(r.Stdout), bytesOrNil(r.Stderr),
	}
	return args, 1024 + len(r.Input) + len(r.Output) + len(r.Stdout) + len(r.Stderr), nil
}

func textOrNil(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	return document(raw)
}

func bytesOrNil(text string) any {
	if text == "" {
		return nil
	}
	return []byte(text)
}
