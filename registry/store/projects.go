package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// CreateProject stores a project with its first change. Error: NameTaken.
func (s *Store) CreateProject(ctx context.Context, p registry.Project, first registry.ProjectChange) error {
	row := projectRowOf(p)
	return s.change(ctx, "create project", func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewInsert().Model(&row).Exec(ctx)
		if duplicate(err) {
			return fault.New(fault.NameTaken, "The workspace already has a project %s. Choose another name.", p.Name)
		}
		if err != nil {
			return err
		}
		return insertChange(ctx, tx, first)
	})
}

// Projects returns the projects of a workspace, sorted by name, with the number of open overlays of each.
func (s *Store) Projects(ctx context.Context, workspace string) ([]registry.Project, error) {
	var rows []projectRow
	if err := s.read.NewSelect().Model(&rows).Where("p.workspace_id = ?", workspace).OrderExpr("p.name").Scan(ctx); err != nil {
		return nil, wrap("list projects", err)
	}
	waiting, err := s.openOverlays(ctx, workspace)
	if err != nil {
		return nil, err
	}
	all := make([]registry.Project, 0, len(rows))
	for _, row := range rows {
		p := row.project()
		p.Waiting = waiting[p.ID]
		all = append(all, p)
	}
	return all, nil
}

// Project returns a project by its name. Error: NotFound.
func (s *Store) Project(ctx context.Context, workspace, name string) (registry.Project, error) {
	var row projectRow
	if impossible(name) {
		return registry.Project{}, noProject()
	}
	err := s.read.NewSelect().Model(&row).Where("p.workspace_id = ?", workspace).Where("p.name = ?", name).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.Project{}, noProject()
	}
	return row.project(), wrap("read project", err)
}

func noProject() error { return fault.New(fault.NotFound, "Project not found.") }

// DeleteProject removes a project with its changes and overlays. The project's files stay until a cleanup removes them.
func (s *Store) DeleteProject(ctx context.Context, workspace, id string) error {
	return s.change(ctx, "delete project", func(ctx context.Context, tx bun.Tx) error {
		result, err := tx.NewDelete().Model((*projectRow)(nil)).Where("p.workspace_id = ?", workspace).Where("p.id = ?", id).Exec(ctx)
		if err != nil {
			return err
		}
		return expectRow(result, noProject())
	})
}

// ChangeProject stores a change of a project. If the change accepts an overlay, ChangeProject also stores that
// decision. p is the project after the change. Errors: Conflict if another change, or another decision about the
// overlay, was stored first.
func (s *Store) ChangeProject(ctx context.Context, p registry.Project, change registry.ProjectChange, decided *registry.Overlay) error {
	return s.change(ctx, "change project", func(ctx context.Context, tx bun.Tx) error {
		result, err := tx.NewUpdate().Model((*projectRow)(nil)).Set("tree = ?", p.Tree).Set("change_number = ?", p.Change).Set("files = ?", p.Files).
			Set("bytes = ?", p.Bytes).Set("updated_at = ?", instant(p.UpdatedAt)).
			Where("p.workspace_id = ?", p.Workspace).Where("p.id = ?", p.ID).Where("p.change_number = ?", p.Change-1).Exec(ctx)
		if err != nil {
			return err
		}
		if err := expectRow(result, fault.New(fault.Conflict, "The project was changed in the meantime. Compare the differences again, then repeat the request.")); err != nil {
			return err
		}
		if decided != nil {
			if err := s.decideOverlay(ctx, tx, *decided); err != nil {
				return err
			}
		}
		return insertChange(ctx, tx, change)
	})
}

func insertChange(ctx context.Context, tx bun.Tx, c registry.ProjectChange) error {
	paths, err := encode(changedPaths{c.Touched, c.Paths})
	if err != nil {
		return err
	}
	_, err = tx.NewInsert().Model(&changeRow{
		ProjectID: c.ProjectID, Number: c.Number, WorkspaceID: c.Workspace, Tree: c.Tree, Summary: c.Summary, OverlayID: c.OverlayID, RunID: c.RunID,
		ActorID: c.Actor.ID, ActorType: string(c.Actor.Type), ActorName: c.Actor.Name, CreatedAt: instant(c.CreatedAt), Paths: paths,
	}).Exec(ctx)
	return err
}

// ProjectChanges returns a page of a project's changes, newest first.
func (s *Store) ProjectChanges(ctx context.Context, workspace, project, cursor string, limit int) (registry.ChangePage, error) {
	page := registry.ChangePage{Items: []registry.ProjectChange{}}
	var rows []changeRow
	query := s.read.NewSelect().Model(&rows).Where("pc.project_id = ?", project).Where("pc.workspace_id = ?", workspace)
	if cursor != "" {
		var before int64
		if err := readCursor("changes", cursor, &before); err != nil {
			return page, err
		}
		query = query.Where("pc.number < ?", before)
	}
	size := pageSize(limit)
	if err := query.OrderExpr("pc.number DESC").Limit(int64(size) + 1).Scan(ctx); err != nil {
		return page, wrap("list changes", err)
	}
	for n, row := range rows {
		if n == size {
			var err error
			page.NextCursor, err = cursorAt("changes", rows[n-1].Number)
			return page, err
		}
		c, err := row.change()
		if err != nil {
			return page, wrap("list changes", err)
		}
		page.Items = append(page.Items, c)
	}
	return page, nil
}

// PutContents stores file contents of a workspace. For a content that already exists, it only updates the time.
func (s *Store) PutContents(ctx context.Context, workspace string, contents []registry.Content, now time.Time) error {
	if len(contents) == 0 {
		return nil
	}
	rows := make([]contentRow, 0, len(contents))
	for _, c := range contents {
		rows = append(rows, contentRow{WorkspaceID: workspace, Digest: c.Digest, StoredAt: instant(now), Bytes: orEmptyBytes(c.Bytes)})
	}
	return s.change(ctx, "store contents", func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewInsert().Model(&rows).On("CONFLICT (workspace_id, digest) DO UPDATE").Set("stored_at = EXCLUDED.stored_at").Exec(ctx)
		return err
	})
}

func orEmptyBytes(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Contents returns file contents of a workspace by digest. It omits contents that do not exist.
func (s *Store) Contents(ctx context.Context, workspace string, digests []string) (map[string][]byte, error) {
	var rows []contentRow
	if len(digests) == 0 {
		return map[string][]byte{}, nil
	}
	err := s.read.NewSelect().Model(&rows).Column("digest", "bytes").Where("c.workspace_id = ?", workspace).Where("c.digest IN (?)", bun.List(digests)).Scan(ctx)
	if err != nil {
		return nil, wrap("read contents", err)
	}
	found := make(map[string][]byte, len(rows))
	for _, row := range rows {
		found[row.Digest] = orEmptyBytes(row.Bytes)
	}
	return found, nil
}

type projectRow struct {
	bun.BaseModel `bun:"table:projects,alias:p"`

	ID           string    `bun:"id,pk"`
	WorkspaceID  string    `bun:"workspace_id"`
	Name         string    `bun:"name"`
	Description  string    `bun:"description"`
	Tree         string    `bun:"tree"`
	ChangeNumber int64     `bun:"change_number"`
	Files        int       `bun:"files"`
	Bytes        int64     `bun:"bytes"`
	CreatedAt    time.Time `bun:"created_at"`
	UpdatedAt    time.Time `bun:"updated_at"`
}

func projectRowOf(p registry.Project) projectRow {
	return projectRow{
		ID: p.ID, WorkspaceID: p.Workspace, Name: p.Name, Description: p.Description, Tree: p.Tree, ChangeNumber: p.Change, Files: p.Files, Bytes: p.Bytes,
		CreatedAt: instant(p.CreatedAt), UpdatedAt: instant(p.UpdatedAt),
	}
}

func (row projectRow) project() registry.Project {
	return registry.Project{
		ID: row.ID, Workspace: row.WorkspaceID, Name: row.Name, Description: row.Description, Tree: row.Tree, Change: row.ChangeNumber, Files: row.Files, Bytes: row.Bytes,
		CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(),
	}
}

type changeRow struct {
	bun.BaseModel `bun:"table:project_changes,alias:pc"`

	ProjectID   string    `bun:"project_id,pk"`
	Number      int64     `bun:"number,pk"`
	WorkspaceID string    `bun:"workspace_id"`
	Tree        string    `bun:"tree"`
	Summary     string    `bun:"summary"`
	OverlayID   string    `bun:"overlay_id"`
	RunID       string    `bun:"run_id"`
	ActorID     string    `bun:"actor_id"`
	ActorType   string    `bun:"actor_type"`
	ActorName   string    `bun:"actor_name"`
	CreatedAt   time.Time `bun:"created_at"`
	Paths       string    `bun:"paths"`
}

// changedPaths is the JSON list of the files that a change touched.
type changedPaths struct {
	Touched int                   `json:"touched"`
	Paths   []registry.PathChange `json:"paths"`
}

func (row changeRow) change() (registry.ProjectChange, error) {
	var paths changedPaths
	err := json.Unmarshal([]byte(row.Paths), &paths)
	return registry.ProjectChange{
		Workspace: row.WorkspaceID, ProjectID: row.ProjectID, Number: row.Number, Tree: row.Tree, Summary: row.Summary, OverlayID: row.OverlayID, RunID: row.RunID,
		Actor: actor(row.WorkspaceID, row.ActorID, row.ActorType, row.ActorName), CreatedAt: row.CreatedAt.UTC(), Paths: paths.Paths, Touched: paths.Touched,
	}, err
}

type contentRow struct {
	bun.BaseModel `bun:"table:contents,alias:c"`

	WorkspaceID string    `bun:"workspace_id,pk"`
	Digest      string    `bun:"digest,pk"`
	StoredAt    time.Time `bun:"stored_at"`
	Bytes       []byte    `bun:"bytes"`
}
