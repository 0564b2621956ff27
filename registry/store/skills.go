package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
)

// PutSkill keeps what makes a skill of an agent, in place of what was kept before. Error: InvalidInput for text that
// cannot be stored.
func (s *Store) PutSkill(ctx context.Context, skill registry.Skill) error {
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
	q := s.write.NewInsert().Model(&row).On("CONFLICT (agent_id) DO UPDATE")
	for _, column := range []string{"origin", "source", "handler", "drafted", "claims", "installed_at", "installed_by_id", "installed_by_type", "installed_by_name"} {
		q.Set("? = excluded.?", bun.Ident(column), bun.Ident(column))
	}
	_, err := q.Exec(ctx)
	return wrap("keep skill", err)
}

// Skills returns the skills of a workspace by name, with those that are uninstalled.
func (s *Store) Skills(ctx context.Context, workspace string) ([]registry.Skill, error) {
	var rows []namedSkillRow
	err := s.read.NewSelect().Model(&rows).ColumnExpr("s.*").ColumnExpr("a.name AS name, a.deleted_at AS deleted_at, a.latest_version AS latest_version").
		Join("JOIN agents AS a ON a.id = s.agent_id").Where("s.workspace_id = ?", workspace).OrderExpr("a.name").Scan(ctx)
	skills := make([]registry.Skill, 0, len(rows))
	for _, row := range rows {
		skills = append(skills, registry.Skill{
			AgentID: row.AgentID, Workspace: row.WorkspaceID, Name: row.Name, Uninstalled: row.DeletedAt != nil, Published: row.LatestVersion != "",
			Origin: registry.SkillOrigin(row.Origin), Source: row.Source, Handler: row.Handler, Drafted: row.Drafted,
			Claims: json.RawMessage(row.Claims), InstalledAt: row.InstalledAt.UTC(), Installer: actor(row.WorkspaceID, row.ByID, row.ByType, row.ByName),
		})
	}
	return skills, wrap("list skills", err)
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

// namedSkillRow is a skill with what its agent knows of it.
type namedSkillRow struct {
	skillRow `bun:",extend"`

	Name          string     `bun:"name,scanonly"`
	DeletedAt     *time.Time `bun:"deleted_at,scanonly"`
	LatestVersion string     `bun:"latest_version,scanonly"`
}
