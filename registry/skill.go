package registry

import (
	"encoding/json"
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

// SkillOrigin is the way a skill was installed.
type SkillOrigin string

// These are the origins of skills.
const (
	BuiltinSkill    SkillOrigin = "builtin"    // shipped with the server
	FolderSkill     SkillOrigin = "folder"     // in the watched directory
	ArchiveSkill    SkillOrigin = "archive"    // uploaded as an archive
	URLSkill        SkillOrigin = "url"        // fetched from a granted host
	CreatedSkill    SkillOrigin = "created"    // written by a client, often by a model
	RegisteredSkill SkillOrigin = "registered" // registered by a client
	ListedSkill     SkillOrigin = "registry"   // installed from the public registry
)

// Skill marks an agent as a skill.
type Skill struct {
	AgentID     string
	Workspace   string
	Name        string // this and the next three fields are those of the agent
	Title       string
	Description string
	Tags        []string
	Uninstalled bool              // the agent is deleted; its name and versions are kept
	Published   bool              // there is a version without pre-release
	Language    runtimes.Language // language of the draft
	Origin      SkillOrigin
	Source      string // source: an address without its query, or the name of an archive
	Handler     string // as in skill.yaml
	Drafted     bool   // the agent's draft waits for promotion
	// Claims holds the client's statements about the code it sent, such as a decision or a score. It is stored for
	// information only and never trusted.
	Claims      json.RawMessage
	InstalledAt time.Time
	Installer   Actor
}
