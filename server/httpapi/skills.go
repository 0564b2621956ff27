package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/skills"
)

// Skill is a skill, or a folder from which no skill could be loaded.
type Skill struct {
	Name          string               `json:"name"`
	AgentID       string               `json:"agentId" doc:"ID of the agent. Empty for a folder that was never installed."`
	Title         string               `json:"title"`
	Description   string               `json:"description"`
	Tags          []string             `json:"tags"`
	Origin        registry.SkillOrigin `json:"origin" enum:"builtin,folder,archive,url,created,registered,registry"`
	Source        string               `json:"source" doc:"URL that the skill was downloaded from. Empty if there is none."`
	State         string               `json:"state" enum:"active,draft,active_with_draft,broken"`
	Language      runtimes.Language    `json:"language,omitempty" doc:"Language of the version, or of the draft if there is no version."`
	Version       string               `json:"version" doc:"Latest version. Empty if nothing is published."`
	Digest        string               `json:"digest"`
	SafetyFlags   []string             `json:"safetyFlags"`
	Handler       string               `json:"handler"`
	Claims        json.RawMessage      `json:"claims,omitempty" doc:"Statements of a client about the code. They have no effect."`
	InstalledAt   *time.Time           `json:"installedAt,omitempty"`
	InstalledBy   string               `json:"installedBy"`
	FolderMissing bool                 `json:"folderMissing" doc:"true if the folder was deleted. The skill stays until it is uninstalled."`
	Problem       *skills.Trouble      `json:"problem,omitempty" doc:"Error in the folder. The version in the field version still runs."`
}

func skillOf(e skills.Entry) Skill {
	s := Skill{
		Name: e.Name, AgentID: e.AgentID, Title: e.Title, Description: e.Description, Tags: e.Tags, Origin: e.Origin, Source: e.Source, State: skills.State(e),
		Language: e.Language, SafetyFlags: []string{}, Handler: e.Handler, Claims: e.Claims, InstalledBy: e.Installer.Name, FolderMissing: e.Missing, Problem: e.Problem,
	}
	if !e.InstalledAt.IsZero() {
		s.InstalledAt = &e.InstalledAt
	}
	if v := e.Version; v != nil {
		s.Version, s.Digest, s.Language, s.SafetyFlags = v.Version, v.Digest, v.Language, v.SafetyFlags
	}
	return s
}

// SkillList lists the skills of the workspace.
type SkillList struct {
	Items      []Skill `json:"items"`
	NextCursor string  `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
	Directory  string  `json:"directory" doc:"Folder that is watched. Empty except in the workspace default."`
}

func (a *API) listSkills() {
	type out struct{ Body SkillList }
	add(a, endpoint{
		id: "listSkills", method: http.MethodGet, path: Base + "/skills", tag: "skills", summary: "List skills, and skill folders with errors",
		about: "Lists installed skills with their origin, and skill folders that could not be loaded, with the reason.",
	}, func(ctx context.Context, q *ListPaging) (*out, error) {
		entries, err := a.Skills.List(ctx, actor(ctx))
		if err != nil {
			return nil, err
		}
		page, next, err := pageOf(*q, "skills", entries, func(e skills.Entry) string { return e.Name })
		if err != nil {
			return nil, err
		}
		list := SkillList{Items: make([]Skill, 0, len(page)), NextCursor: next}
		for _, e := range page {
			list.Items = append(list.Items, skillOf(e))
		}
		if actor(ctx).Workspace == registry.DefaultWorkspace {
			list.Directory = a.Skills.Dir
		}
		return &out{Body: list}, nil
	})
}

// InstallSkillBody names the source from which a skill is installed. Exactly one of its members is set.
type InstallSkillBody struct {
	Name  string                   `json:"name,omitempty" maxLength:"63" doc:"Name of a skill that was uninstalled or is in the skills directory."`
	URL   string                   `json:"url,omitempty" maxLength:"2000" doc:"URL of a .tar.gz on a granted host."`
	Files map[string]registry.File `json:"files,omitempty" doc:"Files of a skill, by path."`
}

func (a *API) installSkill() {
	type in struct{ Body InstallSkillBody }
	type out struct{ Body Skill }
	add(a, endpoint{
		id: "installSkill", method: http.MethodPost, path: Base + "/skills", tag: "skills", summary: "Install a skill",
		about: "Send archives to POST /v1/skills/install as application/gzip.", idempotent: true,
		refusals: []fault.Code{fault.NotFound, fault.VersionExists, fault.Forbidden},
	}, func(ctx context.Context, q *in) (*out, error) {
		if (q.Body.Name != "" && q.Body.URL != "") || (len(q.Body.Files) > 0) == (q.Body.Name != "" || q.Body.URL != "") {
			return nil, fault.Invalid("", "Set exactly one of name, url and files.")
		}
		e, err := a.Skills.Install(ctx, actor(ctx), skills.Source{Name: q.Body.Name, URL: q.Body.URL, Files: q.Body.Files})
		if err != nil {
			return nil, err
		}
		return &out{Body: skillOf(e)}, nil
	})
}

// PromoteSkillBody requests that the draft of a skill becomes its next version.
type PromoteSkillBody struct {
	Revision  int64  `json:"revision,omitempty" minimum:"1" doc:"Same as If-Match."`
	Version   string `json:"version,omitempty" maxLength:"100" doc:"Version number (default: the number suggested from the changes)."`
	Changelog string `json:"changelog,omitempty"`
	Comment   string `json:"comment,omitempty" doc:"Reason for a smaller version number than suggested."`
}

func (a *API) promoteSkill() {
	type in struct {
		Name string `path:"name" maxLength:"63" doc:"Name of the skill."`
		DraftMatch
		Body PromoteSkillBody
	}
	type out struct{ Body Skill }
	add(a, endpoint{
		id: "promoteSkill", method: http.MethodPost, path: Base + "/skills/{name}/promote", tag: "skills", summary: "Publish a skill's draft",
		about:      "Publishes the draft of the skill as a version. The next call of the skill uses it.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.StaleDraft, fault.Conflict, fault.BumpTooSmall},
	}, func(ctx context.Context, q *in) (*out, error) {
		seen, err := q.seen(q.Body.Revision)
		if err != nil {
			return nil, err
		}
		promotion := skills.Promotion{Name: q.Name, Seen: seen, Version: q.Body.Version, Changelog: q.Body.Changelog, Comment: q.Body.Comment}
		if _, err := a.Skills.Promote(ctx, actor(ctx), promotion); err != nil {
			return nil, err
		}
		e, err := a.Skills.Find(ctx, actor(ctx), q.Name)
		if err != nil {
			return nil, err
		}
		return &out{Body: skillOf(e)}, nil
	})
}

func (a *API) uninstallSkill() {
	type in struct {
		Name  string `path:"name" maxLength:"63" doc:"Name of the skill."`
		Force bool   `query:"force" doc:"Uninstall even if others reference a version."`
	}
	add(a, endpoint{
		id: "uninstallSkill", method: http.MethodDelete, path: Base + "/skills/{name}", tag: "skills", summary: "Uninstall a skill",
		about:  "Its versions, runs and name are kept. Installing it by name restores it.",
		status: http.StatusNoContent, idempotent: true, refusals: []fault.Code{fault.NotFound, fault.Conflict},
	}, func(ctx context.Context, q *in) (*none, error) {
		return &none{}, a.Skills.Uninstall(ctx, actor(ctx), q.Name, q.Force)
	})
}
