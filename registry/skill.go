package registry

import (
	"encoding/json"
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

// SkillOrigin says how a skill came here.
type SkillOrigin string

// The origins of skills.
const (
	BuiltinSkill    SkillOrigin = "builtin"    // shipped with this program
	FolderSkill     SkillOrigin = "folder"     // of the watched directory
	ArchiveSkill    SkillOrigin = "archive"    // sent by somebody
	URLSkill        SkillOrigin = "url"        // fetched from a granted host
	CreatedSkill    SkillOrigin = "created"    // written by a client, often by a model
	RegisteredSkill SkillOrigin = "registered" // described by a client
)

// Skill says of an agent that it is a skill as well.
type Skill struct {
	AgentID     string
	Workspace   string
	Name        string // the agent's, as are the next three
	Title       string
	Description string
	Tags        []string
	Uninstalled bool              // the agent is deleted; its name and versions are kept
	Published   bool              // there is a version that is no pre-release
	Language    runtimes.Language // of the draft
	Origin      SkillOrigin
	Source      string // where from: an address without its query, the name of an archive
	Handler     string // as in skill.yaml
	Drafted     bool   // the agent's draft waits to be promoted
	// Claims is what a client said of the code when it sent it: a decision, a score. It is kept to be read, and trusted for nothing.
	Claims      json.RawMessage
	InstalledAt time.Time
	Installer   Actor
}
