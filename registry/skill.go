package registry

import (
	"encoding/json"
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

// SkillOrigin says how a skill was installed.
type SkillOrigin string

// These are the values of SkillOrigin.
const (
	BuiltinSkill    SkillOrigin = "builtin"    // shipped with the server
	FolderSkill     SkillOrigin = "folder"     // found in the watched directory
	ArchiveSkill    SkillOrigin = "archive"    // uploaded as an archive
	URLSkill        SkillOrigin = "url"        // fetched from a granted host
	CreatedSkill    SkillOrigin = "created"    // code that a client sent, often written by a model
	RegisteredSkill SkillOrigin = "registered" // registered by a client
	ListedSkill     SkillOrigin = "registry"   // installed from the public registry
)

// Skill holds the data of an agent that is also a skill.
type Skill struct {
	AgentID     string
	Workspace   string
	Name        string // this field and the next three are the agent's
	Title       string
	Description string
	Tags        []string
	Uninstalled bool              // the agent is deleted; its name and versions are kept
	Published   bool              // at least one version without pre-release exists
	Language    runtimes.Language // language of the draft
	Origin      SkillOrigin
	Source      string // address without its query, or the name of an archive
	Handler     string // handler as in skill.yaml
	Drafted     bool   // the draft is not published yet and waits for promotion
	// Claims holds the client's statements about the code that it sent, such as a decision or a score. The server stores
	// them for information only and never trusts them.
	Claims      json.RawMessage
	InstalledAt time.Time
	Installer   Actor
}
