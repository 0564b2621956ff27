package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// CreateAgent stores a new agent with its draft. If the agent has a time of deletion, it stays hidden until
// RevealAgents is called. Errors: NameTaken; InvalidInput for text that cannot be stored.
func (s *Store) CreateAgent(ctx context.Context, a registry.Agent) error {
	return s.createAgent(ctx, a, func(context.Context, bun.Tx) error { return nil })
}

// createAgent stores an agent and then calls the function also in the same transaction.
func (s *Store) createAgent(ctx context.Context, a registry.Agent, also func(context.Context, bun.Tx) error) error {
	agent, err := agentRowOf(a)
	if err != nil {
		return wrap("create agent", err)
	}
	draft, err := draftRowOf(a)
	if err != nil {
		return wrap("create agent", err)
	}
	return s.change(ctx, "create agent", func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.NewInsert().Model(agent).Exec(ctx); err != nil {
			return err
		}
		if err := claimName(ctx, tx, a.Workspace, a.ID, a.Name); err != nil {
			return err
		}
		if _, err := tx.NewInsert().Model(draft).Exec(ctx); err != nil {
			return err
		}
		if err := keepSave(ctx, tx, draft, a.Draft.Session); err != nil {
			return err
		}
		if err := s.markKey(ctx, tx, registry.Made{Kind: registry.MadeAgent, ID: a.ID}); err != nil {
			return err
		}
		return also(ctx, tx)
	})
}

// Agent returns an agent with its draft and changelog. The argument may be a current or former name. Error: NotFound,
// also for a deleted agent.
func (s *Store) Agent(ctx context.Context, workspace, nameOrID string) (registry.Agent, error) {
	if impossible(nameOrID) {
		return registry.Agent{}, noAgent(nameOrID)
	}
	a, err := s.agent(ctx, s.read, workspace, nameOrID)
	return a, wrap("read agent", err)
}

func (s *Store) agent(ctx context.Context, db bun.IDB, workspace, nameOrID string) (registry.Agent, error) {
	var row fullAgentRow
	err := db.NewSelect().Model(&row).
		ColumnExpr("a.*").ColumnExpr("d.revision, d.saved_at, d.saved_by_id, d.saved_by_name, d.spec, d.files").ColumnExpr(usageColumn).
		Join("JOIN drafts AS d ON d.agent_id = a.id").Join("LEFT JOIN agent_usage AS u ON u.agent_id = a.id").
		Where("a.workspace_id = ?", workspace).Where("a.deleted_at IS NULL").
		Where("a.id IN (?, (?))", nameOrID, s.idOfName(workspace, nameOrID)).
		Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.Agent{}, noAgent(nameOrID)
	}
	if err != nil {
		return registry.Agent{}, err
	}
	a, err := row.agent()
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal([]byte(row.Files), &a.Draft.Files); err != nil {
		return a, err
	}
	a.Changelog, err = changelog(ctx, db, workspace, row.ID)
	return a, err
}

// PatchAgent writes name, title, description, tags and metadata. An agent with versions keeps its former names, so that
// existing references still work. read is the UpdatedAt of the agent that the caller has read; the zero time disables
// this check. Errors: Conflict if the agent has changed since then; NotFound; NameTaken; InvalidInput for text that
// cannot be stored.
func (s *Store) PatchAgent(ctx context.Context, a registry.Agent, read time.Time) error {
	row, err := agentRowOf(a)
	if err != nil {
		return wrap("change agent", err)
	}
	return s.change(ctx, "change agent", func(ctx context.Context, tx bun.Tx) error {
		if !read.IsZero() {
			if err := unchanged(ctx, tx, row, read); err != nil {
				return err
			}
		}
		if err := describe(ctx, tx, row, "name"); err != nil {
			return err
		}
		if err := refreshListing(ctx, tx, a.ID); err != nil {
			return err
		}
		if err := dropUnusedNames(ctx, tx, a.Workspace, a.ID, a.Name); err != nil {
			return err
		}
		return claimName(ctx, tx, a.Workspace, a.ID, a.Name)
	})
}

// unchanged locks an agent, and returns Conflict if the agent has changed since it was read. It locks the agent by
// writing its row, because that works in both databases.
func unchanged(ctx context.Context, tx bun.Tx, row *agentRow, read time.Time) error {
	result, err := tx.NewUpdate().Model((*agentRow)(nil)).Set("updated_at = ?", row.UpdatedAt).
		Where("a.workspace_id = ?", row.WorkspaceID).Where("a.id = ?", row.ID).Where("a.deleted_at IS NULL").Where("a.updated_at = ?", instant(read)).
		Exec(ctx)
	if err != nil {
		return err
	}
	return expectRow(result, fault.New(fault.Conflict, "%s was changed in the meantime. Read it again, and repeat the change.", row.Name))
}

// describe writes the editable columns of an agent, and additional columns that the caller names. Error: NotFound.
func describe(ctx context.Context, tx bun.Tx, row *agentRow, others ...string) error {
	result, err := tx.NewUpdate().Model(row).
		Column("title", "description", "tags", "metadata", "search_text", "updated_at", "updated_by_id", "updated_by_type", "updated_by_name").
		Column(others...).
		Where("a.workspace_id = ?", row.WorkspaceID).Where("a.id = ?", row.ID).Where("a.deleted_at IS NULL").
		Exec(ctx)
	if err != nil {
		return err
	}
	return expectRow(result, noAgent(row.Name))
}

func expectRow(result sql.Result, otherwise error) error {
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		return otherwise
	}
	return err
}

// DeleteAgent turns an agent into a tombstone: nobody can read the agent and its versions, or reuse its names. Errors:
// NotFound; Conflict while a pin references the agent, unless force is set.
func (s *Store) DeleteAgent(ctx context.Context, workspace, id string, force bool, at time.Time, why registry.Deletion) error {
	deletion, err := encode(why)
	if err != nil {
		return wrap("delete agent", err)
	}
	return s.change(ctx, "delete agent", func(ctx context.Context, tx bun.Tx) error {
		if _, err := s.lockLatest(ctx, tx, workspace, id, false); err != nil {
			return err
		}
		if !force {
			pins, err := tx.NewSelect().Model((*pinRow)(nil)).Where("p.workspace_id = ?", workspace).Where("p.agent_id = ?", id).Count(ctx)
			if err != nil {
				return err
			}
			if pins > 0 {
				return fault.New(fault.Conflict, "Versions of the agent are pinned. Ask the owners to remove their pins first, or delete the agent with force.")
			}
		}
		_, err := tx.NewUpdate().Model((*agentRow)(nil)).Set("deleted_at = ?", instant(at)).Set("deletion = ?", deletion).
			Where("a.workspace_id = ?", workspace).Where("a.id = ?", id).Exec(ctx)
		return err
	})
}

// RestoreAgent removes a tombstone: the agent is available again, under its names. Error: NotFound, also for an agent
// that is not deleted.
func (s *Store) RestoreAgent(ctx context.Context, workspace, nameOrID string) error {
	if impossible(nameOrID) {
		return noAgent(nameOrID)
	}
	result, err := s.write.NewUpdate().Model((*agentRow)(nil)).Set("deleted_at = NULL").Set("deletion = ''").Set("listed = ?", false).
		Where("a.workspace_id = ?", workspace).Where("a.id IN (?, (?))", nameOrID, s.idOfName(workspace, nameOrID)).Where("a.deleted_at IS NOT NULL").Exec(ctx)
	if err != nil {
		return wrap("restore agent", err)
	}
	return wrap("restore agent", expectRow(result, noAgent(nameOrID)))
}

type agentRow struct {
	bun.BaseModel `bun:"table:agents,alias:a"`

	ID               string     `bun:"id,pk"`
	WorkspaceID      string     `bun:"workspace_id"`
	Name             string     `bun:"name"`
	Title            string     `bun:"title"`
	Description      string     `bun:"description"`
	Tags             string     `bun:"tags"`
	Metadata         string     `bun:"metadata,nullzero"`
	SearchText       string     `bun:"search_text"`
	Language         string     `bun:"language"` // language of the draft
	Listed           bool       `bun:"listed"`
	LatestVersion    string     `bun:"latest_version"`
	LatestDeprecated bool       `bun:"latest_deprecated"`
	VersionCount     int64      `bun:"version_count"`
	CreatedByID      string     `bun:"created_by_id"`
	CreatedByType    string     `bun:"created_by_type"`
	CreatedByName    string     `bun:"created_by_name"`
	UpdatedByID      string     `bun:"updated_by_id"`
	UpdatedByType    string     `bun:"updated_by_type"`
	UpdatedByName    string     `bun:"updated_by_name"`
	CreatedAt        time.Time  `bun:"created_at"`
	UpdatedAt        time.Time  `bun:"updated_at"`
	DeletedAt        *time.Time `bun:"deleted_at"`
	Deletion         string     `bun:"deletion"`
	Origin           string     `bun:"origin"`

	// ListingLanguage and ListingText describe the latest version while the agent is listed in the public registry.
	// refreshListing writes them.
	ListingLanguage string `bun:"listing_language"`
	ListingText     string `bun:"listing_text"`
}

// searched returns the text in which a list searches for the words of a query.
func searched(name, title, description string, tags []string) string {
	return strings.ToLower(strings.Join(append([]string{name, title, description}, tags...), "\n"))
}

// fullAgentRow is an agent with columns from other tables.
type fullAgentRow struct {
	agentRow `bun:",extend"`

	UsageCount int64      `bun:"usage_count,scanonly"`
	LastUsedAt *time.Time `bun:"last_used_at,scanonly"`
	Revision   int64      `bun:"revision,scanonly"`

	// The following columns are read for lists only.
	Unpublished bool       `bun:"unpublished,scanonly"`
	SucceededAt *time.Time `bun:"succeeded_at,scanonly"`
	FailedAt    *time.Time `bun:"failed_at,scanonly"`
	TimedOutAt  *time.Time `bun:"timed_out_at,scanonly"`

	// The following columns come from the draft. They are not read for lists.
	SavedAt     time.Time `bun:"saved_at,scanonly"`
	SavedByID   string    `bun:"saved_by_id,scanonly"`
	SavedByName string    `bun:"saved_by_name,scanonly"`
	Spec        string    `bun:"spec,scanonly"`
	Files       string    `bun:"files,scanonly"`
}

const usageColumn = "COALESCE(u.run_count, 0) AS usage_count, u.last_used_at"

// agentRowOf converts an agent to a row. It rejects text that cannot be stored.
func agentRowOf(a registry.Agent) (*agentRow, error) {
	fields := map[string]string{"/name": a.Name, "/title": a.Title, "/description": a.Description, "/tags": strings.Join(a.Tags, " ")}
	for field, text := range fields {
		if err := registry.CheckText(field, text); err != nil {
			return nil, err
		}
	}
	tags, err := encode(append([]string{}, a.Tags...))
	if err != nil {
		return nil, err
	}
	var origin string
	if a.Origin != nil {
		if origin, err = encode(a.Origin); err != nil {
			return nil, err
		}
	}
	var deletion string
	if a.DeletedAt != nil {
		if deletion, err = encode(a.Deletion); err != nil {
			return nil, err
		}
	}
	creator := identified(a.Creator, a.CreatedBy)
	editor := identified(a.Editor, creator.ID)
	return &agentRow{
		ID: a.ID, WorkspaceID: a.Workspace, Name: a.Name, Title: a.Title, Description: a.Description,
		Tags: tags, Metadata: document(a.Metadata),
		SearchText: searched(a.Name, a.Title, a.Description, a.Tags), Language: string(a.Draft.Language),
		Listed: a.Listed, LatestVersion: a.LatestVersion, LatestDeprecated: a.LatestDeprecated, Origin: origin,
		CreatedByID: creator.ID, CreatedByType: string(creator.Type), CreatedByName: creator.Name,
		UpdatedByID: editor.ID, UpdatedByType: string(editor.Type), UpdatedByName: editor.Name,
		CreatedAt: instant(a.CreatedAt), UpdatedAt: instant(a.UpdatedAt), DeletedAt: instantOrNil(a.DeletedAt), Deletion: deletion,
	}, nil
}

// lastRun returns the newest of the run times that a list has read, or nil if there is none.
func (row *fullAgentRow) lastRun() *registry.LastRun {
	var last *registry.LastRun
	take := func(status registry.Status, at *time.Time) {
		if at != nil && (last == nil || at.After(last.At)) {
			last = &registry.LastRun{Status: status, At: at.UTC()}
		}
	}
	take(registry.Succeeded, row.SucceededAt)
	take(registry.Failed, row.FailedAt)
	take(registry.TimedOut, row.TimedOutAt)
	return last
}

func (row *fullAgentRow) agent() (registry.Agent, error) {
	draft := registry.Draft{Revision: row.Revision, SavedAt: row.SavedAt.UTC(), SavedBy: registry.Editor{ID: row.SavedByID, Name: row.SavedByName}, Spec: registry.Spec{Language: runtimes.Language(row.Language)}}
	if row.Spec != "" {
		if err := decodeDraft(row.Spec, &draft); err != nil {
			return registry.Agent{}, err
		}
	}
	a := registry.Agent{
		ID: row.ID, Workspace: row.WorkspaceID, Name: row.Name, Title: row.Title, Description: row.Description,
		Metadata: raw(row.Metadata), Listed: row.Listed, VersionCount: row.VersionCount, LatestVersion: row.LatestVersion, LatestDeprecated: row.LatestDeprecated, UsageCount: row.UsageCount, LastUsedAt: instantOrNil(row.LastUsedAt),
		Draft:     draft,
		CreatedAt: row.CreatedAt.UTC(), CreatedBy: row.CreatedByID,
		Creator:   actor(row.WorkspaceID, row.CreatedByID, row.CreatedByType, row.CreatedByName),
		UpdatedAt: row.UpdatedAt.UTC(),
		Editor:    actor(row.WorkspaceID, row.UpdatedByID, row.UpdatedByType, row.UpdatedByName),
		DeletedAt: instantOrNil(row.DeletedAt), Unpublished: row.Unpublished, LastRun: row.lastRun(),
	}
	if row.Deletion != "" {
		if err := json.Unmarshal([]byte(row.Deletion), &a.Deletion); err != nil {
			return a, err
		}
	}
	if row.Origin != "" {
		if err := json.Unmarshal([]byte(row.Origin), &a.Origin); err != nil {
			return a, err
		}
	}
	return a, json.Unmarshal([]byte(row.Tags), &a.Tags)
}
