package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/digest"
)

// SaveDraft writes an agent's draft, title, description, tags and metadata, if the draft still has the expected
// revision. It returns the agent with the next revision. Errors: NotFound; StaleDraft; InvalidInput for text that
// cannot be stored.
func (s *Store) SaveDraft(ctx context.Context, a registry.Agent, expected int64) (registry.Agent, error) {
	agent, err := agentRowOf(a)
	if err != nil {
		return registry.Agent{}, wrap("save draft", err)
	}
	draft, err := draftRowOf(a)
	if err != nil {
		return registry.Agent{}, wrap("save draft", err)
	}
	draft.Revision = expected + 1
	var saved registry.Agent
	err = s.change(ctx, "save draft", func(ctx context.Context, tx bun.Tx) error {
		if err := describe(ctx, tx, agent, "language"); err != nil {
			return err
		}
		if err := refreshListing(ctx, tx, a.ID); err != nil {
			return err
		}
		if err := keepReplaced(ctx, tx, a.Workspace, a.ID, expected); err != nil {
			return err
		}
		if err := replaceDraft(ctx, tx, draft, expected); err != nil {
			return err
		}
		if err := keepSave(ctx, tx, draft, a.Draft.Session); err != nil {
			return err
		}
		saved, err = s.agent(ctx, tx, a.Workspace, a.ID)
		return err
	})
	return saved, err
}

func replaceDraft(ctx context.Context, tx bun.Tx, draft *draftRow, expected int64) error {
	result, err := tx.NewUpdate().Model(draft).ExcludeColumn("agent_id", "workspace_id").
		Where("d.workspace_id = ?", draft.WorkspaceID).Where("d.agent_id = ?", draft.AgentID).Where("d.revision = ?", expected).
		Exec(ctx)
	if err != nil {
		return err
	}
	stale := errors.New("stale")
	if err := expectRow(result, stale); !errors.Is(err, stale) {
		return err
	}
	var current draftRow
	err = tx.NewSelect().Model(&current).Column("revision", "saved_at", "saved_by_id", "saved_by_name").
		Where("d.workspace_id = ?", draft.WorkspaceID).Where("d.agent_id = ?", draft.AgentID).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return noAgent(draft.AgentID)
	}
	if err != nil {
		return err
	}
	return registry.StaleDraft(registry.Draft{
		Revision: current.Revision, SavedAt: current.SavedAt.UTC(), SavedBy: registry.Editor{ID: current.SavedByID, Name: current.SavedByName},
	}, expected)
}

type draftRow struct {
	bun.BaseModel `bun:"table:drafts,alias:d"`

	AgentID     string    `bun:"agent_id,pk"`
	WorkspaceID string    `bun:"workspace_id"`
	Revision    int64     `bun:"revision"`
	Language    string    `bun:"language"`
	Runtime     string    `bun:"runtime"`
	SavedByID   string    `bun:"saved_by_id"`
	SavedByType string    `bun:"saved_by_type"`
	SavedByName string    `bun:"saved_by_name"`
	SavedAt     time.Time `bun:"saved_at"`
	Authored    string    `bun:"authored"`
	Spec        string    `bun:"spec"`
	Files       string    `bun:"files"`
}

func draftRowOf(a registry.Agent) (*draftRow, error) {
	spec, err := encodeDraft(a.Draft)
	if err != nil {
		return nil, err
	}
	files, err := encode(a.Draft.Files)
	if err != nil {
		return nil, err
	}
	editor := identified(a.Editor, identified(a.Creator, a.CreatedBy).ID)
	return &draftRow{
		AgentID: a.ID, WorkspaceID: a.Workspace, Revision: a.Draft.Revision,
		Language: string(a.Draft.Language), Runtime: string(a.Draft.Runtime),
		SavedByID: editor.ID, SavedByType: string(editor.Type), SavedByName: editor.Name, SavedAt: instant(a.UpdatedAt), Authored: authored(a.Draft.Spec),
		Spec: spec, Files: files,
	}, nil
}

// authored returns the digest of a spec, for comparing a draft with a version. It returns "" if the digest cannot be
// computed, for example because a schema is unfinished. Such a draft cannot be published.
func authored(spec registry.Spec) string {
	sum, err := digest.Authored(spec)
	if err != nil {
		return ""
	}
	return sum
}
