package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// InsertApproval stores a pending request for approval, with its webhook, and returns the request. A version has at
// most one pending request for publication. For an equal request, InsertApproval returns the pending one. A request
// with other content replaces the pending one.
func (s *Store) InsertApproval(ctx context.Context, a registry.Approval, notice registry.Notice) (registry.Approval, error) {
	row, err := approvalRowOf(a)
	if err != nil {
		return a, wrap("save approval", err)
	}
	for tries := 0; ; tries++ {
		inserted := a
		err = s.write.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
			if a.Kind == registry.PublishApproval {
				same, err := s.replacePublication(ctx, tx, row, notice)
				if err != nil {
					return err
				}
				if same != nil {
					inserted = *same
					return nil
				}
			}
			if _, err := tx.NewInsert().Model(row).Exec(ctx); err != nil {
				return err
			}
			return note(ctx, tx, a, notice)
		})
		// Another transaction may have inserted a request for the same version in the meantime. The next attempt finds that
		// request.
		if !duplicate(err) || a.Kind != registry.PublishApproval || tries > 3 {
			return inserted, wrap("save approval", err)
		}
	}
}

// replacePublication returns the pending request for publication of a version if it has the same content as the new
// request. It withdraws a pending request with other content.
func (s *Store) replacePublication(ctx context.Context, tx bun.Tx, row *approvalRow, notice registry.Notice) (*registry.Approval, error) {
	var waits approvalRow
	err := tx.NewSelect().Model(&waits).Where("ap.kind = 'publish' AND ap.status = 'pending'").
		Where("ap.workspace_id = ?", row.WorkspaceID).Where("ap.agent_id = ?", row.AgentID).Where("ap.version = ?", row.Version).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // no request is pending
	}
	if err != nil {
		return nil, err
	}
	if waits.Digest == row.Digest && waits.Request == row.Request && waits.ExpiresAt.After(row.CreatedAt) {
		a, err := waits.approval()
		return &a, err
	}
	if _, err := forget(tx.NewUpdate().Model((*approvalRow)(nil))).Set("status = ?", string(registry.ApprovalWithdrawn)).Set("decided_at = ?", row.CreatedAt).
		Set("outcome = ?", "Replaced by request "+row.ID+".").Where("workspace_id = ?", row.WorkspaceID).Where("id = ?", waits.ID).Exec(ctx); err != nil {
		return nil, err
	}
	replaced, err := waits.approval()
	if err != nil {
		return nil, err
	}
	replaced.Status, replaced.DecidedAt = registry.ApprovalWithdrawn, &row.CreatedAt
	return nil, note(ctx, tx, replaced, notice)
}

// forget marks a request as carried out. It also removes the request's input and program, which are no longer needed.
func forget(update *bun.UpdateQuery) *bun.UpdateQuery {
	return update.Set("carried_out = ?", true).Set("input = NULL").Set("request = ''")
}

// DecideApproval ends a pending request and stores the webhook about the end. Errors: NotFound; Conflict, with the
// stored request, if the request is no longer pending.
func (s *Store) DecideApproval(ctx context.Context, a registry.Approval, notice registry.Notice) (registry.Approval, error) {
	err := s.change(ctx, "decide approval", func(ctx context.Context, tx bun.Tx) error {
		update := tx.NewUpdate().Model((*approvalRow)(nil)).Set("status = ?", string(a.Status)).Set("scope = ?", string(a.Scope)).
			Set("comment = ?", a.Comment).Set("decided_at = ?", instantOrNil(a.DecidedAt)).Set("outcome = ?", a.Outcome).
			Where("workspace_id = ?", a.Workspace).Where("id = ?", a.ID).Where("status = ?", string(registry.ApprovalPending))
		if a.Decider != nil {
			update = update.Set("decided_by_id = ?", a.Decider.ID).Set("decided_by_type = ?", string(a.Decider.Type)).Set("decided_by_name = ?", a.Decider.Name)
		}
		result, err := update.Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, fault.New(fault.Conflict, "The request is no longer pending."))
		}
		return note(ctx, tx, a, notice)
	})
	if err != nil && !fault.Is(err, fault.Conflict) {
		return a, err
	}
	now, readErr := s.Approval(ctx, a.Workspace, a.ID)
	if readErr != nil {
		return now, readErr
	}
	return now, err
}

// orphanAge is the age from which a request without a run counts as an orphan, if several servers use the database. It
// is much longer than a server needs to record the run, and much longer than the difference between the servers'
// clocks.
const orphanAge = 5 * time.Minute

// withdrawOrphans withdraws the pending requests, of all workspaces, whose runs were never recorded. It returns their
// number. Such a request exists if a server crashed after it had recorded the request and before it recorded the run.
// Approving it would start nothing. Requests with a decision keep it: CarriedOut ends them if they have no run.
func (s *Store) withdrawOrphans(ctx context.Context, at time.Time) (total int, err error) {
	var rows []approvalRow
	orphans := s.write.NewSelect().Model(&rows).ExcludeColumn("request", "input").Where("ap.status = 'pending'").Where("ap.run_id <> ''").
		Where("NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.id = ap.run_id)")
	if s.member != nil { // another server may still record the run
		orphans = orphans.Where("ap.created_at < ?", instant(at.Add(-orphanAge)))
	}
	if err := orphans.Scan(ctx); err != nil {
		return 0, wrap("read requests without a run", err)
	}
	for n := range rows {
		is, err := s.withdrawOrphan(ctx, &rows[n], at)
		if err != nil {
			return total, err
		}
		if is {
			total++
		}
	}
	return total, nil
}

// withdrawOrphan withdraws one request and stores the webhook about its end. It returns false if the request has
// already ended.
func (s *Store) withdrawOrphan(ctx context.Context, row *approvalRow, at time.Time) (is bool, err error) {
	row.Status, row.DecidedAt = string(registry.ApprovalWithdrawn), new(instant(at))
	err = s.change(ctx, "withdraw request without a run", func(ctx context.Context, tx bun.Tx) error {
		result, err := forget(tx.NewUpdate().Model((*approvalRow)(nil))).Set("status = ?", row.Status).Set("decided_at = ?", row.DecidedAt).
			Set("outcome = ?", "The server stopped before it recorded the run. Send the request again.").Where("id = ?", row.ID).Where("status = 'pending'").Exec(ctx)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if err != nil || n == 0 {
			return err
		}
		is = true
		a, ok := s.readable(ctx, row)
		if !ok {
			return nil
		}
		return note(ctx, tx, a, s.notice)
	})
	return is && err == nil, err
}

// CarriedOut stores the result of a decision, and removes the input and the program of the request.
func (s *Store) CarriedOut(ctx context.Context, workspace, id, outcome string) error {
	return s.change(ctx, "record approval", func(ctx context.Context, tx bun.Tx) error {
		_, err := forget(tx.NewUpdate().Model((*approvalRow)(nil))).Set("outcome = ?", outcome).
			Where("workspace_id = ?", workspace).Where("id = ?", id).Exec(ctx)
		return err
	})
}

// Approval returns one request. Error: NotFound.
func (s *Store) Approval(ctx context.Context, workspace, id string) (registry.Approval, error) {
	return s.approval(ctx, id, workspace, "ap.id = ?")
}

// ApprovalOfRun returns the request of a run. Error: NotFound.
func (s *Store) ApprovalOfRun(ctx context.Context, workspace, run string) (registry.Approval, error) {
	return s.approval(ctx, run, workspace, "ap.run_id = ?")
}

// ApprovalOfRequest returns the newest request for approval with the given request ID of the client. Error: NotFound.
func (s *Store) ApprovalOfRequest(ctx context.Context, workspace, requester, request string) (registry.Approval, error) {
	return s.approval(ctx, request, workspace, "ap.request_id = ?", "ap.requester_id", requester)
}

func (s *Store) approval(ctx context.Context, value, workspace, condition string, more ...string) (registry.Approval, error) {
	if value == "" || impossible(value) {
		return registry.Approval{}, noApproval()
	}
	var row approvalRow
	query := s.read.NewSelect().Model(&row).Where("ap.workspace_id = ?", workspace).Where(condition, value)
	if len(more) == 2 {
		query = query.Where(more[0]+" = ?", more[1])
	}
	err := query.OrderExpr("ap.created_at DESC, ap.id DESC").Limit(1).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.Approval{}, noApproval()
	}
	if err != nil {
		return registry.Approval{}, wrap("read approval", err)
	}
	a, err := row.approval()
	return a, wrap("read approval", err)
}

func noApproval() error { return fault.New(fault.NotFound, "Approval not found.") }

// Standing reports whether an approval covers all runs of a version, or all runs of a version by one caller. An
// approved publication covers all runs of the published version.
func (s *Store) Standing(ctx context.Context, workspace, agentID, digest, caller string) (bool, error) {
	covers, err := s.read.NewSelect().Model((*approvalRow)(nil)).Where("ap.workspace_id = ?", workspace).Where("ap.agent_id = ?", agentID).
		Where("ap.status = ?", string(registry.ApprovalApproved)).Where("ap.digest = ?", digest).
		WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
			return q.Where("ap.kind = ? AND ap.scope = ?", string(registry.RunApproval), string(registry.ApproveVersion)).
				WhereOr("ap.kind = ? AND ap.scope = ? AND ap.requester_id = ?", string(registry.RunApproval), string(registry.ApproveCaller), caller)
		}).Exists(ctx)
	return covers, wrap("read approvals", err)
}

// PublicationApproved reports whether a person has approved a publication of an agent with this content.
func (s *Store) PublicationApproved(ctx context.Context, workspace, agentID, contentDigest string) (bool, error) {
	covers, err := s.read.NewSelect().Model((*approvalRow)(nil)).Where("ap.workspace_id = ?", workspace).Where("ap.agent_id = ?", agentID).
		Where("ap.status = ?", string(registry.ApprovalApproved)).Where("ap.kind = ?", string(registry.PublishApproval)).Where("ap.content_digest = ?", contentDigest).Exists(ctx)
	return covers, wrap("read approvals", err)
}

// approvalKey is the sort key of a list of approvals.
type approvalKey struct {
	At time.Time `json:"t"`
	ID string    `json:"i"`
}

// ListApprovals returns a page of requests, newest first, without their input.
func (s *Store) ListApprovals(ctx context.Context, workspace string, f registry.ApprovalFilter) (registry.ApprovalPage, error) {
	page := registry.ApprovalPage{Items: []registry.Approval{}}
	if impossible(f.AgentID, string(f.Status), string(f.Kind)) {
		return page, nil
	}
	var rows []approvalRow
	query := s.read.NewSelect().Model(&rows).ExcludeColumn("request", "input").Where("ap.workspace_id = ?", workspace)
	if f.Status != "" {
		query = query.Where("ap.status = ?", string(f.Status))
	}
	if f.Kind != "" {
		query = query.Where("ap.kind = ?", string(f.Kind))
	} else {
		query = query.Where("ap.kind <> ?", string(registry.BlockedRequest))
	}
	if f.AgentID != "" {
		query = query.Where("ap.agent_id = ?", f.AgentID)
	}
	if f.Cursor != "" {
		var after approvalKey
		if err := readCursor("approvals", f.Cursor, &after); err != nil {
			return page, err
		}
		query = query.Where("(ap.created_at, ap.id) < (?, ?)", after.At, after.ID)
	}
	size := pageSize(f.Limit)
	if err := query.OrderExpr("ap.created_at DESC, ap.id DESC").Limit(int64(size) + 1).Scan(ctx); err != nil {
		return page, wrap("list approvals", err)
	}
	for n := range rows {
		if n == size {
			var err error
			page.NextCursor, err = cursorAt("approvals", approvalKey{rows[n-1].CreatedAt, rows[n-1].ID})
			return page, err
		}
		if a, ok := s.readable(ctx, &rows[n]); ok {
			page.Items = append(page.Items, a)
		}
	}
	return page, nil
}

// CountPending returns the number of pending requests of a workspace. It does not count requests of the kind
// BlockedRequest.
func (s *Store) CountPending(ctx context.Context, workspace string) (int, error) {
	n, err := s.read.NewSelect().Model((*approvalRow)(nil)).Where("ap.workspace_id = ?", workspace).Where("ap.status = ?", string(registry.ApprovalPending)).Where("ap.kind <> ?", string(registry.BlockedRequest)).Count(ctx)
	return int(n), wrap("count approvals", err)
}

// mostDue is the maximum number of requests that DueApprovals returns. It is small because each request contains its
// input.
const mostDue = 16

// DueApprovals returns the next requests, of all workspaces and in the order of their IDs, that the server must
// process. These are pending requests that have expired, and ended requests that were not carried out. last is the ID
// of the last returned request, or "" if no more requests are due. Rows that cannot be read are omitted.
func (s *Store) DueApprovals(ctx context.Context, now time.Time, after string) (due []registry.Approval, last string, err error) {
	var rows []approvalRow
	err = s.read.NewSelect().Model(&rows).Where("ap.id > ?", after).WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("ap.status = 'pending' AND ap.expires_at <= ?", instant(now)).WhereOr("ap.status <> 'pending' AND ap.carried_out = FALSE")
	}).OrderExpr("ap.id").Limit(mostDue).Scan(ctx)
	if err != nil {
		return nil, "", wrap("read due approvals", err)
	}
	for n := range rows {
		last = rows[n].ID
		if a, ok := s.readable(ctx, &rows[n]); ok {
			due = append(due, a)
		}
	}
	return due, last, nil
}

// readable converts a row to a request. If the row cannot be read, it returns false and logs the row once. So the other
// requests are still processed.
func (s *Store) readable(ctx context.Context, row *approvalRow) (registry.Approval, bool) {
	a, err := row.approval()
	if err == nil {
		return a, true
	}
	if _, known := s.unreadable.LoadOrStore(row.ID, true); !known {
		s.log.LogAttrs(ctx, slog.LevelError, "the row of a request for approval cannot be read; it is left out", slog.String("approval", row.ID), slog.Any("error", err))
	}
	return a, false
}

type approvalRow struct {
	bun.BaseModel `bun:"table:approvals,alias:ap"`

	ID            string     `bun:"id,pk"`
	WorkspaceID   string     `bun:"workspace_id"`
	Kind          string     `bun:"kind"`
	Status        string     `bun:"status"`
	AgentID       string     `bun:"agent_id"`
	AgentName     string     `bun:"agent_name"`
	Version       string     `bun:"version"`
	Digest        string     `bun:"digest"`
	ContentDigest string     `bun:"content_digest"`
	RunID         string     `bun:"run_id"`
	RequestID     string     `bun:"request_id"`
	RequesterID   string     `bun:"requester_id"`
	RequesterType string     `bun:"requester_type"`
	RequesterName string     `bun:"requester_name"`
	CreatedAt     time.Time  `bun:"created_at"`
	ExpiresAt     time.Time  `bun:"expires_at"`
	Scope         string     `bun:"scope"`
	DecidedByID   string     `bun:"decided_by_id"`
	DecidedByType string     `bun:"decided_by_type"`
	DecidedByName string     `bun:"decided_by_name"`
	DecidedAt     *time.Time `bun:"decided_at"`
	Comment       string     `bun:"comment"`
	Outcome       string     `bun:"outcome"`
	CarriedOut    bool       `bun:"carried_out"`
	Reasons       string     `bun:"reasons"`
	Verdict       string     `bun:"verdict,nullzero"`
	PolicyVersion string     `bun:"policy_version"`
	Input         string     `bun:"input,nullzero"`
	Request       string     `bun:"request"`
}

func approvalRowOf(a registry.Approval) (*approvalRow, error) {
	reasons, err := encode(a.Reasons)
	if err != nil {
		return nil, err
	}
	verdict := ""
	if a.Verdict != nil {
		if verdict, err = encode(a.Verdict); err != nil {
			return nil, err
		}
	}
	return &approvalRow{
		ID: a.ID, WorkspaceID: a.Workspace, Kind: string(a.Kind), Status: string(a.Status), AgentID: a.AgentID, AgentName: a.Agent, Version: a.Version, Digest: a.Digest,
		ContentDigest: a.ContentDigest, RunID: a.RunID, RequestID: a.RequestID, RequesterID: a.Requester.ID, RequesterType: string(a.Requester.Type), RequesterName: a.Requester.Name,
		CreatedAt: instant(a.CreatedAt), ExpiresAt: instant(a.ExpiresAt), Scope: string(a.Scope), Comment: a.Comment, Reasons: reasons, Verdict: verdict, PolicyVersion: a.PolicyVersion, Input: document(a.Input), Request: document(a.Request),
	}, nil
}

func (row *approvalRow) approval() (registry.Approval, error) {
	a := registry.Approval{
		ID: row.ID, Workspace: row.WorkspaceID, Kind: registry.ApprovalKind(row.Kind), Status: registry.ApprovalStatus(row.Status), AgentID: row.AgentID, Agent: row.AgentName,
		Version: row.Version, Digest: row.Digest, ContentDigest: row.ContentDigest, RunID: row.RunID, RequestID: row.RequestID, Requester: actor(row.WorkspaceID, row.RequesterID, row.RequesterType, row.RequesterName),
		CreatedAt: row.CreatedAt.UTC(), ExpiresAt: row.ExpiresAt.UTC(), Scope: registry.ApprovalScope(row.Scope), Comment: row.Comment, DecidedAt: instantOrNil(row.DecidedAt), Outcome: row.Outcome, PolicyVersion: row.PolicyVersion,
		Input: raw(row.Input), Request: raw(row.Request),
	}
	if row.DecidedByID != "" {
		by := actor(row.WorkspaceID, row.DecidedByID, row.DecidedByType, row.DecidedByName)
		a.Decider = &by
	}
	err := json.Unmarshal([]byte(row.Reasons), &a.Reasons)
	if row.Verdict != "" {
		err = errors.Join(err, json.Unmarshal([]byte(row.Verdict), &a.Verdict))
	}
	return a, err
}
