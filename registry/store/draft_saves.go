package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/registry"
)

// DraftSaves returns a page of the history of a draft, newest first. Error: InvalidInput for a bad cursor.
func (s *Store) DraftSaves(ctx context.Context, workspace, agentID, cursor string, limit int) (registry.DraftSavePage, error) {
	size := pageSize(limit)
	var rows []draftSaveRow
	q := s.read.NewSelect().Model(&rows).Where("h.workspace_id = ?", workspace).Where("h.agent_id = ?", agentID).
		OrderExpr("h.revision DESC").Limit(int64(size) + 1) // one more save, because each entry is compared with the previous save
	if cursor != "" {
		var before int64
		if err := readCursor("history "+agentID, cursor, &before); err != nil {
			return registry.DraftSavePage{}, err
		}
		q.Where("h.revision < ?", before)
	}
	if err := q.Scan(ctx); err != nil {
		return registry.DraftSavePage{}, wrap("list saves of a draft", err)
	}
	page := registry.DraftSavePage{Items: []registry.DraftSave{}}
	for i := range rows[:min(size, len(rows))] {
		before := &draftSaveRow{Files: "{}", Spec: rows[i].Spec}
		if i+1 < len(rows) {
			before = &rows[i+1]
		}
		entry, err := rows[i].since(before)
		if err != nil {
			return page, wrap("list saves of a draft", err)
		}
		page.Items = append(page.Items, entry)
	}
	if len(rows) <= size {
		return page, nil
	}
	var err error
	page.NextCursor, err = cursorAt("history "+agentID, rows[size-1].Revision)
	return page, wrap("list saves of a draft", err)
}

// DraftSave returns the draft of a history entry. Error: NotFound.
func (s *Store) DraftSave(ctx context.Context, workspace, agentID string, revision int64) (registry.Draft, error) {
	var row draftSaveRow
	err := s.read.NewSelect().Model(&row).Where("h.workspace_id = ?", workspace).Where("h.agent_id = ?", agentID).Where("h.revision = ?", revision).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.Draft{}, noSave(revision)
	}
	if err != nil {
		return registry.Draft{}, wrap("read a saved draft", err)
	}
	draft, err := row.draft(ctx, s.read)
	return draft, wrap("read a saved draft", err)
}

// LabelDraftSave sets the label of a history entry; "" removes it. Errors: NotFound; Conflict if too many entries have
// a label.
func (s *Store) LabelDraftSave(ctx context.Context, workspace, agentID string, revision int64, label string) error {
	return s.change(ctx, "label a saved draft", func(ctx context.Context, tx bun.Tx) error {
		result, err := tx.NewUpdate().Model((*draftSaveRow)(nil)).Set("label = ?", label).
			Where("h.workspace_id = ?", workspace).Where("h.agent_id = ?", agentID).Where("h.revision = ?", revision).Exec(ctx)
		if err != nil {
			return err
		}
		if err := expectRow(result, noSave(revision)); err != nil {
			return err
		}
		labelled, err := tx.NewSelect().Model((*draftSaveRow)(nil)).Where("h.agent_id = ?", agentID).Where("h.label <> ''").Count(ctx)
		if err == nil && labelled > registry.LabelledSaves {
			err = fault.New(fault.Conflict, "At most %d saves of a draft may have a label. Remove a label first.", registry.LabelledSaves)
		}
		return err
	})
}

func noSave(revision int64) error {
	return fault.New(fault.NotFound, "The history of this draft has no revision %d.", revision)
}

// keepReplaced adds the draft that a save will replace to the history, if the history does not contain it. This happens
// if the draft was saved before the server had a history.
func keepReplaced(ctx context.Context, tx bun.Tx, workspace, agentID string, revision int64) error {
	kept, err := tx.NewSelect().Model((*draftSaveRow)(nil)).Where("h.agent_id = ?", agentID).Where("h.revision = ?", revision).Exists(ctx)
	if err != nil || kept {
		return err
	}
	var row draftRow
	err = tx.NewSelect().Model(&row).Where("d.workspace_id = ?", workspace).Where("d.agent_id = ?", agentID).Where("d.revision = ?", revision).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // the draft has another revision, so the save will be rejected
	}
	if err != nil {
		return err
	}
	return keepSave(ctx, tx, &row, "")
}

// keepSave adds a draft to its history. Saves of one browser session within SharedFor share one entry, which holds the
// newest of them. An entry with a label is never shared. keepSave removes entries without a label, except for the
// newest KeptSaves.
func keepSave(ctx context.Context, tx bun.Tx, draft *draftRow, session string) error {
	var contents map[string]registry.File
	if err := json.Unmarshal([]byte(draft.Files), &contents); err != nil {
		return err
	}
	digests := make(map[string]string, len(contents))
	byDigest := make(map[string]registry.File, len(contents))
	for path, content := range contents {
		sum := jcs.Sum(content)
		digests[path], byDigest[sum] = sum, content
	}
	files, err := encode(digests)
	if err != nil {
		return err
	}
	row := draftSaveRow{
		AgentID: draft.AgentID, Revision: draft.Revision, WorkspaceID: draft.WorkspaceID, SavedByID: draft.SavedByID, SavedByType: draft.SavedByType,
		SavedByName: draft.SavedByName, SavedAt: draft.SavedAt, BeganAt: draft.SavedAt, Session: session, Spec: draft.Spec, Files: files,
	}
	removed, err := shareEntry(ctx, tx, &row)
	if err != nil {
		return err
	}
	if err := keepContents(ctx, tx, draft, byDigest); err != nil {
		return err
	}
	if _, err := tx.NewInsert().Model(&row).Exec(ctx); err != nil {
		return err
	}
	var old []draftSaveRow
	newest := tx.NewSelect().Model((*draftSaveRow)(nil)).Column("h.revision").Where("h.agent_id = ?", row.AgentID).Where("h.label = ''").
		OrderExpr("h.revision DESC").Limit(registry.KeptSaves)
	err = tx.NewSelect().Model(&old).Column("h.agent_id", "h.revision", "h.files").Where("h.agent_id = ?", row.AgentID).Where("h.label = ''").
		Where("h.revision NOT IN (?)", newest).Scan(ctx)
	if err != nil {
		return err
	}
	return sweepSaves(ctx, tx, row.AgentID, old, removed)
}

// shareEntry removes and returns the newest entry, if the new entry replaces it.
func shareEntry(ctx context.Context, tx bun.Tx, row *draftSaveRow) ([]draftSaveRow, error) {
	if row.Session == "" {
		return nil, nil
	}
	var last []draftSaveRow
	err := tx.NewSelect().Model(&last).Where("h.agent_id = ?", row.AgentID).OrderExpr("h.revision DESC").Limit(1).Scan(ctx)
	if err != nil || len(last) == 0 || last[0].Session != row.Session || last[0].Label != "" || row.SavedAt.Sub(last[0].BeganAt) >= registry.SharedFor {
		return nil, err
	}
	row.BeganAt = last[0].BeganAt
	_, err = tx.NewDelete().Model((*draftSaveRow)(nil)).Where("agent_id = ?", row.AgentID).Where("revision = ?", last[0].Revision).Exec(ctx)
	return last, err
}

// keepContents stores the contents of the files that the history does not contain yet.
func keepContents(ctx context.Context, tx bun.Tx, draft *draftRow, byDigest map[string]registry.File) error {
	var known []string
	err := tx.NewSelect().Model((*draftContentRow)(nil)).Column("digest").Where("c.agent_id = ?", draft.AgentID).
		Where("c.digest IN (?)", bun.In(slices.Sorted(maps.Keys(byDigest)))).Scan(ctx, &known)
	if err != nil {
		return err
	}
	for _, digest := range known {
		delete(byDigest, digest)
	}
	for digest, content := range byDigest {
		row := draftContentRow{AgentID: draft.AgentID, Digest: digest, WorkspaceID: draft.WorkspaceID, Content: append([]byte{}, content...)}
		if _, err := tx.NewInsert().Model(&row).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// sweepSaves removes old entries, and the contents that only these and earlier removed entries used.
func sweepSaves(ctx context.Context, tx bun.Tx, agentID string, old, removed []draftSaveRow) error {
	unused, err := unusedContents(ctx, tx, agentID, slices.Concat(old, removed))
	if err != nil {
		return err
	}
	for i := range old {
		_, err := tx.NewDelete().Model((*draftSaveRow)(nil)).Where("agent_id = ?", agentID).Where("revision = ?", old[i].Revision).Exec(ctx)
		if err != nil {
			return err
		}
	}
	if len(unused) == 0 {
		return nil
	}
	_, err = tx.NewDelete().Model((*draftContentRow)(nil)).Where("agent_id = ?", agentID).Where("digest IN (?)", bun.In(unused)).Exec(ctx)
	return err
}

// unusedContents returns the digests of those contents of an agent that only the given entries use.
func unusedContents(ctx context.Context, tx bun.Tx, agentID string, gone []draftSaveRow) ([]string, error) {
	if len(gone) == 0 {
		return nil, nil
	}
	unused, revisions := map[string]bool{}, make([]int64, 0, len(gone))
	if err := collectDigests(gone, func(digest string) { unused[digest] = true }); err != nil {
		return nil, err
	}
	for i := range gone {
		revisions = append(revisions, gone[i].Revision)
	}
	var left []draftSaveRow
	if err := tx.NewSelect().Model(&left).Column("h.files").Where("h.agent_id = ?", agentID).Where("h.revision NOT IN (?)", bun.In(revisions)).Scan(ctx); err != nil {
		return nil, err
	}
	err := collectDigests(left, func(digest string) { delete(unused, digest) })
	return slices.Sorted(maps.Keys(unused)), err
}

func collectDigests(rows []draftSaveRow, each func(digest string)) error {
	for i := range rows {
		digests, err := rows[i].digests()
		if err != nil {
			return err
		}
		for _, digest := range digests {
			each(digest)
		}
	}
	return nil
}

type draftSaveRow struct {
	bun.BaseModel `bun:"table:draft_saves,alias:h"`

	AgentID     string    `bun:"agent_id,pk"`
	Revision    int64     `bun:"revision,pk"`
	WorkspaceID string    `bun:"workspace_id"`
	SavedByID   string    `bun:"saved_by_id"`
	SavedByType string    `bun:"saved_by_type"`
	SavedByName string    `bun:"saved_by_name"`
	SavedAt     time.Time `bun:"saved_at"`
	BeganAt     time.Time `bun:"began_at"`
	Session     string    `bun:"session"`
	Label       string    `bun:"label"`
	Spec        string    `bun:"spec"`
	Files       string    `bun:"files"` // JSON object: digest of each file by path
}

type draftContentRow struct {
	bun.BaseModel `bun:"table:draft_contents,alias:c"`

	AgentID     string `bun:"agent_id,pk"`
	Digest      string `bun:"digest,pk"`
	WorkspaceID string `bun:"workspace_id"`
	Content     []byte `bun:"content"`
}

func (row *draftSaveRow) digests() (map[string]string, error) {
	var digests map[string]string
	return digests, json.Unmarshal([]byte(row.Files), &digests)
}

// since returns a history entry, with its differences from the previous entry.
func (row *draftSaveRow) since(before *draftSaveRow) (registry.DraftSave, error) {
	is, err := row.digests()
	if err != nil {
		return registry.DraftSave{}, err
	}
	was, err := before.digests()
	if err != nil {
		return registry.DraftSave{}, err
	}
	changed := map[string]bool{}
	for path, digest := range is {
		if was[path] != digest {
			changed[path] = true
		}
	}
	for path := range was {
		if _, ok := is[path]; !ok {
			changed[path] = true
		}
	}
	return registry.DraftSave{
		Revision: row.Revision, SavedAt: row.SavedAt.UTC(), SavedBy: registry.Editor{ID: row.SavedByID, Name: row.SavedByName}, Label: row.Label,
		Files: append([]string{}, slices.Sorted(maps.Keys(changed))...), Settings: row.Spec != before.Spec,
	}, nil
}

// draft builds a draft from a history entry and the contents of its files.
func (row *draftSaveRow) draft(ctx context.Context, db bun.IDB) (registry.Draft, error) {
	draft := registry.Draft{Revision: row.Revision, SavedAt: row.SavedAt.UTC(), SavedBy: registry.Editor{ID: row.SavedByID, Name: row.SavedByName}}
	if err := decodeDraft(row.Spec, &draft); err != nil {
		return registry.Draft{}, err
	}
	digests, err := row.digests()
	if err != nil {
		return registry.Draft{}, err
	}
	var contents []draftContentRow
	if err := db.NewSelect().Model(&contents).Where("c.agent_id = ?", row.AgentID).Where("c.digest IN (?)", bun.In(slices.Sorted(maps.Values(digests)))).Scan(ctx); err != nil {
		return registry.Draft{}, err
	}
	byDigest := make(map[string]registry.File, len(contents))
	for _, content := range contents {
		byDigest[content.Digest] = content.Content
	}
	draft.Files = make(map[string]registry.File, len(digests))
	for path, digest := range digests {
		content, ok := byDigest[digest]
		if !ok { // another request removed the entry between the two reads
			return registry.Draft{}, noSave(row.Revision)
		}
		draft.Files[path] = content
	}
	return draft, nil
}
