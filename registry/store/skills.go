package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// PutSkill stores the skill data of an agent. It replaces existing skill data. Error: InvalidInput for text that cannot
// be stored.
func (s *Store) PutSkill(ctx context.Context, skill registry.Skill) error {
	return wrap("keep skill", putSkill(ctx, s.write, skill))
}

// CreateSkill stores a new agent and its skill data in one transaction. With two transactions, a crash could leave an
// agent without skill data that has the skill's name. Its errors are those of CreateAgent and PutSkill.
func (s *Store) CreateSkill(ctx context.Context, a registry.Agent, skill registry.Skill) error {
	return s.createAgent(ctx, a, func(ctx context.Context, tx bun.Tx) error { return putSkill(ctx, tx, skill) })
}

func putSkill(ctx context.Context, db bun.IDB, skill registry.Skill) error {
	for field, text := range map[string]string{"/source": skill.Source, "/handler": skill.Handler, "/control_decision": string(skill.Claims)} {
		if err := registry.CheckText(field, text); err != nil {
			return err
		}
	}
	row := skillRow{
		AgentID: skill.AgentID, WorkspaceID: skill.Workspace, Origin: string(skill.Origin), Source: skill.Source, Handler: skill.Handler,
		Drafted: skill.Drafted, Claims: string(skill.Claims), InstalledAt: instant(skill.InstalledAt),
		ByID: skill.Installer.ID, ByType: string(skill.Installer.Type), ByName: skill.Installer.Name,
	}
	q := db.NewInsert().Model(&row).On("CONFLICT (agent_id) DO UPDATE")
	for _, column := range []string{"origin", "source", "handler", "drafted", "claims", "installed_at", "installed_by_id", "installed_by_type", "installed_by_name"} {
		q.Set("? = excluded.?", bun.Ident(column), bun.Ident(column))
	}
	_, err := q.Exec(ctx)
	return err
}

// Skills returns the skills of a workspace, sorted by name. It includes uninstalled skills.
func (s *Store) Skills(ctx context.Context, workspace string) ([]registry.Skill, error) {
	var rows []namedSkillRow
	if err := s.skills(&rows, workspace).OrderExpr("a.name").Scan(ctx); err != nil {
		return nil, wrap("list skills", err)
	}
	skills := make([]registry.Skill, 0, len(rows))
	for _, row := range rows {
		skill, err := row.skill()
		if err != nil {
			return nil, wrap("list skills", err)
		}
		skills = append(skills, skill)
	}
	return skills, nil
}

// Skill returns a skill, even if it is uninstalled. The argument is its ID, current name or former name. Error:
// NotFound.
func (s *Store) Skill(ctx context.Context, workspace, nameOrID string) (registry.Skill, error) {
	if impossible(nameOrID) {
		return registry.Skill{}, noSkill(nameOrID)
	}
	var rows []namedSkillRow
	err := s.skills(&rows, workspace).Where("a.id IN (?, (?))", nameOrID, s.idOfName(workspace, nameOrID)).Scan(ctx)
	if err != nil {
		return registry.Skill{}, wrap("read skill", err)
	}
	if len(rows) == 0 {
		return registry.Skill{}, noSkill(nameOrID)
	}
	skill, err := rows[0].skill()
	return skill, wrap("read skill", err)
}

func noSkill(name string) error { return fault.New(fault.NotFound, "Skill not found: %s", name) }

func (s *Store) skills(rows *[]namedSkillRow, workspace string) *bun.SelectQuery {
	return s.read.NewSelect().Model(rows).ColumnExpr("s.*").
		ColumnExpr("a.name AS name, a.title AS title, a.description AS description, a.tags AS tags, a.deleted_at AS deleted_at, a.language AS language, a.latest_version AS latest_version").
		Join("JOIN agents AS a ON a.id = s.agent_id").Where("s.workspace_id = ?", workspace)
}

// LatestOfSkills returns the latest version of each skill of a workspace, without files, by the ID of the agent. It
// omits a skill whose latest version is deprecated, because a reference to latest may then select another version.
func (s *Store) LatestOfSkills(ctx context.Context, workspace string) (map[string]registry.Version, error) {
	var rows []versionRow
	err := s.read.NewSelect().Model(&rows).ExcludeColumn("files", "tests").Join("JOIN agents AS a ON a.id = v.agent_id AND a.latest_version = v.version").
		Join("JOIN skills AS s ON s.agent_id = a.id").
		Where("s.workspace_id = ?", workspace).Where("a.deleted_at IS NULL").Where("NOT v.deprecated").Scan(ctx)
	if err != nil {
		return nil, wrap("list versions of skills", err)
	}
	latest := make(map[string]registry.Version, len(rows))
	for i := range rows {
		if latest[rows[i].AgentID], err = rows[i].version(); err != nil {
			return nil, wrap("list versions of skills", err)
		}
	}
	return latest, nil
}

type skillRow struct {
	bun.BaseModel `bun:"table:skills,alias:s"`

	AgentID     string    `bun:"agent_id,pk"`
	WorkspaceID string    `bun:"workspace_id"`
	Origin      string    `bun:"origin"`
	Source      string    `bun:"source"`
	Handler     string    `bun:"handler"`
	Drafted     bool      `bun:"drafted"`
	Claims      string    `bun:"claims"`
	InstalledAt time.Time `bun:"installed_at"`
	ByID        string    `bun:"installed_by_id"`
	ByType      string    `bun:"installed_by_type"`
	ByName      string    `bun:"installed_by_name"`
}

// namedSkillRow is a skill with columns of its agent.
type namedSkillRow struct {
	skillRow `bun:",extend"`

	Name          string     `bun:"name,scanonly"`
	Title         string     `bun:"title,scanonly"`
	Description   string     `bun:"description,scanonly"`
	Tags          string     `bun:"tags,scanonly"`
	DeletedAt     *time.Time `bun:"deleted_at,scanonly"`
	LatestVersion string     `bun:"latest_version,scanonly"`
	Language      string     `bun:"language,scanonly"`
}

func (row *namedSkillRow) skill() (registry.Skill, error) {
	skill := registry.Skill{
		AgentID: row.AgentID, Workspace: row.WorkspaceID, Name: row.Name, Title: row.Title, Description: row.Description,
		Uninstalled: row.DeletedAt != nil, Published: row.LatestVersion != "", Language: runtimes.Language(row.Language),
		Origin: registry.SkillOrigin(row.Origin), Source: row.Source, Handler: row.Handler, Drafted: row.Drafted,
		Claims: json.RawMessage(row.Claims), InstalledAt: row.InstalledAt.UTC(), Installer: actor(row.WorkspaceID, row.ByID, row.ByType, row.ByName),
	}
	return skill, json.Unmarshal([]byte(row.Tags), &skill.Tags)
}
