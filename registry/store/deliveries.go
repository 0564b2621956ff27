package store

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
)

// note stores the webhook about a request for approval. It runs in the transaction that creates or ends the request.
// Requests of the kind BlockedRequest have no webhook.
func note(ctx context.Context, tx bun.Tx, a registry.Approval, notice registry.Notice) error {
	if notice == nil || a.Kind == registry.BlockedRequest {
		return nil
	}
	d := notice(a)
	d.Workspace, d.ApprovalID = a.Workspace, a.ID
	return insertDelivery(ctx, tx, d)
}

func insertDelivery(ctx context.Context, tx bun.Tx, d registry.Delivery) error {
	_, err := tx.NewInsert().Model(&deliveryRow{
		ID: d.ID, WorkspaceID: d.Workspace, ApprovalID: d.ApprovalID, Event: d.Event, State: string(registry.DeliveryPending), CreatedAt: instant(d.CreatedAt), NextAt: instantOrNil(d.NextAt), Payload: document(d.Payload),
	}).Exec(ctx)
	return err
}

// DueDeliveries returns webhooks of all workspaces that must be sent now, the oldest first. It returns at most limit
// webhooks.
func (s *Store) DueDeliveries(ctx context.Context, now time.Time, limit int) ([]registry.Delivery, error) {
	var rows []deliveryRow
	err := s.read.NewSelect().Model(&rows).Where("dl.state = 'pending'").Where("dl.next_at <= ?", instant(now)).OrderExpr("dl.next_at, dl.id").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, wrap("read due deliveries", err)
	}
	all := make([]registry.Delivery, 0, len(rows))
	for n := range rows {
		all = append(all, rows[n].delivery())
	}
	return all, nil
}

// SaveDelivery stores the result of an attempt to send a webhook.
func (s *Store) SaveDelivery(ctx context.Context, d registry.Delivery) error {
	return s.change(ctx, "save delivery", func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewUpdate().Model((*deliveryRow)(nil)).Set("state = ?", string(d.State)).Set("attempts = ?", d.Attempts).Set("last_error = ?", d.LastError).
			Set("next_at = ?", instantOrNil(d.NextAt)).Set("delivered_at = ?", instantOrNil(d.DeliveredAt)).
			Where("workspace_id = ?", d.Workspace).Where("id = ?", d.ID).Where("state = 'pending'").Exec(ctx)
		return err
	})
}

// ListDeliveries returns a page of webhooks without payload, newest first.
func (s *Store) ListDeliveries(ctx context.Context, workspace string, f registry.DeliveryFilter) (registry.DeliveryPage, error) {
	page := registry.DeliveryPage{Items: []registry.Delivery{}}
	if impossible(f.ApprovalID, string(f.State)) {
		return page, nil
	}
	var rows []deliveryRow
	query := s.read.NewSelect().Model(&rows).ExcludeColumn("payload").Where("dl.workspace_id = ?", workspace)
	if f.ApprovalID != "" {
		query = query.Where("dl.approval_id = ?", f.ApprovalID)
	}
	if f.State != "" {
		query = query.Where("dl.state = ?", string(f.State))
	}
	if f.Cursor != "" {
		var after string
		if err := readCursor("deliveries", f.Cursor, &after); err != nil {
			return page, err
		}
		query = query.Where("dl.id < ?", after)
	}
	size := pageSize(f.Limit)
	if err := query.OrderExpr("dl.id DESC").Limit(int64(size) + 1).Scan(ctx); err != nil {
		return page, wrap("list deliveries", err)
	}
	for n := range rows {
		if n == size {
			var err error
			page.NextCursor, err = cursorAt("deliveries", rows[n-1].ID)
			return page, err
		}
		page.Items = append(page.Items, rows[n].delivery())
	}
	return page, nil
}

// SweepDeliveries removes up to limit webhooks that were created before a time and are no longer pending.
func (s *Store) SweepDeliveries(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.swept(ctx, "sweep deliveries", "DELETE FROM approval_deliveries WHERE id IN (SELECT d.id FROM approval_deliveries AS d WHERE d.id < ? AND d.state <> 'pending' ORDER BY d.id LIMIT ?)",
		firstID(before), limit)
}

// SweepApprovals removes up to limit requests for approval that ended before a time. It does not remove approvals that
// are still in effect: approved publications, and approvals of more than one run.
func (s *Store) SweepApprovals(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.swept(ctx, "sweep approvals", "DELETE FROM approvals WHERE id IN (SELECT a.id FROM approvals AS a WHERE a.id < ? AND a.decided_at < ? AND a.carried_out "+
		"AND (a.status IN ('denied', 'expired', 'withdrawn') OR a.status = 'approved' AND a.kind <> 'publish' AND a.scope = 'once') ORDER BY a.id LIMIT ?)", firstID(before), instant(before), limit)
}

type deliveryRow struct {
	bun.BaseModel `bun:"table:approval_deliveries,alias:dl"`

	ID          string     `bun:"id,pk"`
	WorkspaceID string     `bun:"workspace_id"`
	ApprovalID  string     `bun:"approval_id"`
	Event       string     `bun:"event"`
	State       string     `bun:"state"`
	Attempts    int        `bun:"attempts"`
	LastError   string     `bun:"last_error"`
	CreatedAt   time.Time  `bun:"created_at"`
	NextAt      *time.Time `bun:"next_at"`
	DeliveredAt *time.Time `bun:"delivered_at"`
	Payload     string     `bun:"payload"`
}

func (row *deliveryRow) delivery() registry.Delivery {
	return registry.Delivery{
		ID: row.ID, Workspace: row.WorkspaceID, ApprovalID: row.ApprovalID, Event: row.Event, State: registry.DeliveryState(row.State), Attempts: row.Attempts, LastError: row.LastError,
		CreatedAt: row.CreatedAt.UTC(), NextAt: instantOrNil(row.NextAt), DeliveredAt: instantOrNil(row.DeliveredAt), Payload: raw(row.Payload),
	}
}
