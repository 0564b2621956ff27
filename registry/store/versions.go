package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// largestInline is the size above which a version's files are stored as a blob, because large rows make table scans
// slow.
const largestInline = 100_000

// InsertVersion stores a published version. After that, only the version's deprecation can change. Errors: NotFound for
// the agent; VersionExists; InvalidInput for text that cannot be stored.
func (s *Store) InsertVersion(ctx context.Context, workspace string, v registry.Version) error {
	return s.insertVersion(ctx, workspace, v, false)
}

// ImportVersion is like InsertVersion. It also accepts an agent that is still hidden.
func (s *Store) ImportVersion(ctx context.Context, workspace string, v registry.Version) error {
	return s.insertVersion(ctx, workspace, v, true)
}

func (s *Store) insertVersion(ctx context.Context, workspace string, v registry.Version, evenDeleted bool) error {
	row, err := s.versionRowOf(ctx, workspace, v)
	if err != nil {
		return wrap("publish version", err)
	}
	return s.change(ctx, "publish version", func(ctx context.Context, tx bun.Tx) error {
		latest, err := s.lockLatest(ctx, tx, workspace, v.AgentID, evenDeleted)
		if err != nil {
			return err
		}
		if err := onlyBuild(ctx, tx, v); err != nil {
			return err
		}
		if _, err := tx.NewInsert().Model(row).Exec(ctx); err != nil {
			if duplicate(err) {
				return fault.New(fault.VersionExists, "%s already exists, and versions never change. Publish with a different number.", v.Reference())
			}
			return err
		}
		_, err = tx.NewUpdate().Model((*agentRow)(nil)).Set("version_count = version_count + 1").
			Where("a.workspace_id = ?", workspace).Where("a.id = ?", v.AgentID).Exec(ctx)
		if err != nil {
			return err
		}
		if err := s.markKey(ctx, tx, registry.Made{Kind: registry.MadeVersion, ID: v.AgentID + "/" + v.Version}); err != nil {
			return err
		}
		return setLatest(ctx, tx, workspace, v.AgentID, append(latest, v))
	})
}

// onlyBuild rejects a version that differs from another version only in build metadata. In semantic versioning both
// versions have the same precedence, so a range could not choose between them.
func onlyBuild(ctx context.Context, tx bun.Tx, v registry.Version) error {
	number, _, _ := strings.Cut(v.Version, "+")
	var other []string
	err := tx.NewSelect().Model((*versionRow)(nil)).Column("version").Where("v.agent_id = ?", v.AgentID).Where("v.version <> ?", v.Version).
		Where("v.version >= ? AND v.version < ?", number, number+","). // build metadata begins with "+", and "," is the next character in ASCII
		Limit(1).Scan(ctx, &other)
	if err != nil || len(other) == 0 {
		return err
	}
	return fault.New(fault.VersionExists, "Version %s already exists and differs from %s only in build metadata, so both have the same precedence. Publish with a different number.", other[0], v.Version)
}

// setLatest writes the latest version of an agent, which is the version that a reference to latest selects.
func setLatest(ctx context.Context, tx bun.Tx, workspace, agentID string, among []registry.Version) error {
	at := registry.Pick(registry.Latest, among)
	if at < 0 {
		return nil
	}
	_, err := tx.NewUpdate().Model((*agentRow)(nil)).Set("latest_version = ?", among[at].Version).Set("latest_deprecated = ?", among[at].Deprecated).
		Where("a.workspace_id = ?", workspace).Where("a.id = ?", agentID).Exec(ctx)
	if err != nil {
		return err
	}
	return refreshListing(ctx, tx, agentID)
}

// lockLatest returns an agent's latest version, or none. It locks the agent until the transaction ends, so that no
// other transaction can publish, deprecate, pin or delete it. Error: NotFound.
func (s *Store) lockLatest(ctx context.Context, tx bun.Tx, workspace, agentID string, evenDeleted bool) ([]registry.Version, error) {
	var row agentRow
	q := tx.NewSelect().Model(&row).Column("latest_version", "latest_deprecated").Where("a.workspace_id = ?", workspace).Where("a.id = ?", agentID)
	if !evenDeleted {
		q.Where("a.deleted_at IS NULL")
	}
	if s.dialect == postgresDialect {
		q.For("UPDATE")
	}
	err := q.Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, noAgent(agentID)
	}
	if err != nil || row.LatestVersion == "" {
		return nil, err
	}
	return []registry.Version{{Version: row.LatestVersion, Deprecated: row.LatestDeprecated}}, nil
}

// Version returns one version by its number. Error: NotFound.
func (s *Store) Version(ctx context.Context, workspace, agentID, version string) (registry.Version, error) {
	return s.version(ctx, workspace, agentID, "v.version = ?", version)
}

func (s *Store) version(ctx context.Context, workspace, agentID, condition, value string) (registry.Version, error) {
	if impossible(agentID, value) {
		return registry.Version{}, noVersion(value)
	}
	var row versionRow
	err := s.read.NewSelect().Model(&row).Join("JOIN agents AS a ON a.id = v.agent_id").
		Where("v.workspace_id = ?", workspace).Where("v.agent_id = ?", agentID).Where("a.deleted_at IS NULL").
		Where(condition, value).OrderExpr("v.published_at").Limit(1).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.Version{}, noVersion(value)
	}
	if err != nil {
		return registry.Version{}, wrap("read version", err)
	}
	v, err := row.version()
	if err != nil {
		return v, wrap("read version", err)
	}
	v.Files, err = s.files(ctx, row)
	return v, wrap("read files of "+v.Reference(), err)
}

func (s *Store) files(ctx context.Context, row versionRow) (map[string]registry.File, error) {
	text := []byte(row.Files)
	if row.FilesDigest != "" {
		var err error
		if text, err = s.blobs.Get(ctx, blobName(row.AgentID, row.Version), row.FilesDigest); err != nil {
			var known *fault.Error
			if errors.As(err, &known) && known.Code != fault.NotFound {
				return nil, err // this error names the object that was changed or cannot be read
			}
			// A missing blob is an internal error, because the requested version exists.
			return nil, &fault.Error{Code: fault.Internal, Message: "The files of the version cannot be read. Ask the operator of the server to restore them from a backup.", Err: err}
		}
	}
	var files map[string]registry.File
	return files, json.Unmarshal(text, &files)
}

// Versions returns the versions of an agent without files, newest number first.
func (s *Store) Versions(ctx context.Context, workspace, agentID string) ([]registry.Version, error) {
	var rows []versionRow
	err := s.read.NewSelect().Model(&rows).ExcludeColumn("files", "tests").Join("JOIN agents AS a ON a.id = v.agent_id").
		Where("v.workspace_id = ?", workspace).Where("v.agent_id = ?", agentID).Where("a.deleted_at IS NULL").
		OrderExpr("v.published_at DESC, v.id DESC").Scan(ctx)
	if err != nil {
		return nil, wrap("list versions", err)
	}
	versions := make([]registry.Version, 0, len(rows))
	for i := range rows {
		v, err := rows[i].version()
		if err != nil {
			return nil, wrap("list versions", err)
		}
		versions = append(versions, v)
	}
	slices.SortStableFunc(versions, func(a, b registry.Version) int { return compare(b.Version, a.Version) })
	return versions, nil
}

// Numbers returns the versions of an agent in no particular order. It reads only the number, the digests and the
// deprecation of each version.
func (s *Store) Numbers(ctx context.Context, workspace, agentID string) ([]registry.Version, error) {
	var rows []versionRow
	err := s.read.NewSelect().Model(&rows).Column("v.agent_id", "v.agent_name", "v.version", "v.digest", "v.content_digest", "v.deprecated").
		Join("JOIN agents AS a ON a.id = v.agent_id").Where("a.workspace_id = ?", workspace).Where("v.agent_id = ?", agentID).Where("a.deleted_at IS NULL").Scan(ctx)
	if err != nil {
		return nil, wrap("list numbers of versions", err)
	}
	versions := make([]registry.Version, 0, len(rows))
	for _, row := range rows {
		versions = append(versions, registry.Version{
			AgentID: row.AgentID, Agent: row.AgentName, Version: row.Version, Digest: row.Digest, ContentDigest: row.ContentDigest, Deprecated: row.Deprecated,
		})
	}
	return versions, nil
}

// compare compares versions by precedence. Versions that differ only in build metadata are equal, so a stable sort
// keeps them in their order.
func compare(a, b string) int {
	x, errX := semver.StrictNewVersion(a)
	y, errY := semver.StrictNewVersion(b)
	if errX != nil || errY != nil {
		return 0
	}
	return x.Compare(y)
}

// SetDeprecated deprecates a version, or ends its deprecation. Error: NotFound.
func (s *Store) SetDeprecated(ctx context.Context, workspace, agentID, version string, deprecated bool, reason, successor string) error {
	if err := errors.Join(registry.CheckText("/reason", reason), registry.CheckText("/successor", successor)); err != nil {
		return err
	}
	if impossible(version) {
		return noVersion(version)
	}
	return s.change(ctx, "deprecate version", func(ctx context.Context, tx bun.Tx) error {
		if _, err := s.lockLatest(ctx, tx, workspace, agentID, false); err != nil {
			return err
		}
		result, err := tx.NewUpdate().Model((*versionRow)(nil)).
			Set("deprecated = ?", deprecated).Set("deprecated_reason = ?", reason).Set("deprecated_successor = ?", successor).
			Where("v.workspace_id = ?", workspace).Where("v.agent_id = ?", agentID).Where("v.version = ?", version).Exec(ctx)
		if err != nil {
			return err
		}
		if err := expectRow(result, noVersion(version)); err != nil {
			return err
		}
		var rows []versionRow
		if err := tx.NewSelect().Model(&rows).Column("version", "deprecated").Where("v.agent_id = ?", agentID).Scan(ctx); err != nil {
			return err
		}
		all := make([]registry.Version, 0, len(rows))
		for _, row := range rows {
			all = append(all, registry.Version{Version: row.Version, Deprecated: row.Deprecated})
		}
		return setLatest(ctx, tx, workspace, agentID, all)
	})
}

// changelogEntries is the maximum number of changelog entries that are returned with an agent. The list of versions
// contains all entries.
const changelogEntries = 100

// changelog returns the newest entries of an agent's changelog, newest first.
func changelog(ctx context.Context, db bun.IDB, workspace, agentID string) ([]registry.ChangelogEntry, error) {
	var rows []versionRow
	err := db.NewSelect().Model(&rows).Column("version", "changelog", "published_at").
		Where("v.workspace_id || '' = ?", workspace).Where("v.agent_id = ?", agentID). // the condition is written so that only the index with the order of the result matches
		OrderExpr("v.published_at DESC, v.id DESC").Limit(changelogEntries).Scan(ctx)
	if err != nil {
		return nil, err
	}
	entries := make([]registry.ChangelogEntry, 0, len(rows))
	for _, row := range rows {
		entries = append(entries, registry.ChangelogEntry{Version: row.Version, Changes: row.Changelog, Date: row.PublishedAt.UTC()})
	}
	return entries, nil
}

type versionRow struct {
	bun.BaseModel `bun:"table:versions,alias:v"`

	ID               string    `bun:"id,pk"`
	WorkspaceID      string    `bun:"workspace_id"`
	AgentID          string    `bun:"agent_id"`
	AgentName        string    `bun:"agent_name"`
	Version          string    `bun:"version"`
	Digest           string    `bun:"digest"`
	ContentDigest    string    `bun:"content_digest"`
	CodeDigest       string    `bun:"code_digest"`
	Authored         string    `bun:"authored"`
	Title            string    `bun:"title"`
	Description      string    `bun:"description"`
	Language         string    `bun:"language"`
	Runtime          string    `bun:"runtime"`
	PublishedByID    string    `bun:"published_by_id"`
	PublishedByType  string    `bun:"published_by_type"`
	PublishedByName  string    `bun:"published_by_name"`
	PublishedAt      time.Time `bun:"published_at"`
	Deprecated       bool      `bun:"deprecated"`
	DeprecatedReason string    `bun:"deprecated_reason"`
	Successor        string    `bun:"deprecated_successor"`
	Changelog        string    `bun:"changelog"`
	Override         string    `bun:"override,nullzero"`
	RuntimeChoice    string    `bun:"runtime_choice,nullzero"`
	RuntimeAuto      bool      `bun:"runtime_auto"`
	Verdict          string    `bun:"verdict,nullzero"`
	FilesDigest      string    `bun:"files_digest,nullzero"`
	Spec             string    `bun:"spec"`
	Files            string    `bun:"files,nullzero"`
	Tests            string    `bun:"tests,nullzero"`
	Regressions      string    `bun:"regressions,nullzero"`
}

// versionRowOf converts a version to a row. It stores large files as a blob first, so that the blob is durable before
// the row.
func (s *Store) versionRowOf(ctx context.Context, workspace string, v registry.Version) (*versionRow, error) {
	for field, text := range map[string]string{"/title": v.Title, "/description": v.Description, "/changelog": v.Changelog, "/version": v.Version, "/comment": commentOf(v), "/regressions": acceptedOf(v), "/reason": v.Reason, "/successor": v.Successor} {
		if err := registry.CheckText(field, text); err != nil {
			return nil, err
		}
	}
	spec, err := encodeSpec(v.Spec)
	if err != nil {
		return nil, err
	}
	files, err := encode(v.Files)
	if err != nil {
		return nil, err
	}
	var digest string
	if len(files) > largestInline {
		if digest, err = s.blobs.Put(ctx, blobName(v.AgentID, v.Version), []byte(files)); err != nil {
			return nil, fmt.Errorf("store files: %w", err)
		}
		files = ""
	}
	var override, choice, verdict, tests, regressions string
	for _, part := range []struct {
		column *string
		value  any
		is     bool
	}{{&override, v.Override, v.Override != nil}, {&choice, v.RuntimeChoice, v.RuntimeChoice != nil}, {&verdict, v.Verdict, v.Verdict != nil}, {&tests, v.Tests, len(v.Tests) > 0}, {&regressions, v.Regressions, v.Regressions != nil}} {
		if !part.is {
			continue
		}
		if *part.column, err = encode(part.value); err != nil {
			return nil, err
		}
	}
	publisher := identified(v.Publisher, v.PublishedBy)
	return &versionRow{
		ID: v.ID, WorkspaceID: workspace, AgentID: v.AgentID, AgentName: v.Agent, Version: v.Version,
		Digest: v.Digest, ContentDigest: v.ContentDigest, CodeDigest: v.CodeDigest, Authored: authored(v.Spec),
		Title: v.Title, Description: v.Description, Language: string(v.Language), Runtime: string(v.Runtime),
		PublishedByID: publisher.ID, PublishedByType: string(publisher.Type), PublishedByName: publisher.Name,
		PublishedAt: instant(v.PublishedAt), Deprecated: v.Deprecated, DeprecatedReason: v.Reason, Successor: v.Successor, Changelog: v.Changelog,
		Override: override, RuntimeChoice: choice, RuntimeAuto: v.RuntimeAuto, Verdict: verdict, FilesDigest: digest, Spec: spec, Files: files, Tests: tests, Regressions: regressions,
	}, nil
}

func acceptedOf(v registry.Version) string {
	if v.Regressions == nil {
		return ""
	}
	return v.Regressions.Comment
}

func commentOf(v registry.Version) string {
	if v.Override == nil {
		return ""
	}
	return v.Override.Comment
}

// version converts a row to a version without files.
func (row *versionRow) version() (registry.Version, error) {
	spec, err := decodeSpec(row.Spec)
	v := registry.Version{
		ID: row.ID, AgentID: row.AgentID, Agent: row.AgentName, Title: row.Title, Description: row.Description,
		Version: row.Version, Digest: row.Digest, ContentDigest: row.ContentDigest, CodeDigest: row.CodeDigest,
		Changelog: row.Changelog, PublishedAt: row.PublishedAt.UTC(), PublishedBy: row.PublishedByID,
		Publisher:  actor(row.WorkspaceID, row.PublishedByID, row.PublishedByType, row.PublishedByName),
		Deprecated: row.Deprecated, Reason: row.DeprecatedReason, Successor: row.Successor, RuntimeAuto: row.RuntimeAuto, Spec: spec,
	}
	for _, part := range []struct {
		column string
		into   any
	}{{row.Override, &v.Override}, {row.RuntimeChoice, &v.RuntimeChoice}, {row.Verdict, &v.Verdict}, {row.Tests, &v.Tests}, {row.Regressions, &v.Regressions}} {
		if part.column != "" {
			err = errors.Join(err, json.Unmarshal([]byte(part.column), part.into))
		}
	}
	return v, err
}
