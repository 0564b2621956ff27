// Package archive writes agents with all their versions into one file and reads such files as untrusted input.
// docs/archive.md describes the layout. The package does not use the store: the caller decides what to do with the
// contents.
//
// An archive is a gzipped tar of regular files in a fixed order. It can be read in one pass with one version in memory,
// and equal content gives equal bytes.
package archive

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/atelier-run/atelier/registry"
)

// Format identifies the layout in the first file.
const Format = "atelier/archive/1"

// Limits of an archive. They apply to the unpacked content.
const (
	MaxAgents   = 20_000
	MaxVersions = 10_000 // per agent
	MaxEntries  = 2_000_000
	MaxDocument = 8 << 20  // bytes of one JSON file
	MaxFiles    = 500      // per draft or version
	MaxBytes    = 32 << 20 // total size of these files; a module may be this large
	MaxTotal    = 2 << 30  // total size of the unpacked archive
)

const (
	rootFile    = "atelier.json"
	agentFile   = "agent.json"
	versionFile = "version.json"
	maxPath     = 3*registry.MaxPath + 64
)

// Contents is the first file. It lists the agents, so that a truncated archive is detected.
type Contents struct {
	Format string   `json:"format"`
	Agents []string `json:"agents"`
}

// Agent is an agent without its versions. The files of its draft follow as separate entries.
type Agent struct {
	ID          string           `json:"id"`
	Name        string           `json:"name"`
	FormerNames []string         `json:"formerNames"` // with _ instead of -, as in registry.NameKey
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Tags        []string         `json:"tags"`
	Metadata    json.RawMessage  `json:"metadata"`
	Listed      bool             `json:"listed,omitempty"` // as stated by the archive; the importer decides whether to list the agent
	Origin      *registry.Origin `json:"origin,omitempty"`
	CreatedAt   time.Time        `json:"createdAt"`
	Creator     Actor            `json:"createdBy"`
	Draft       registry.Spec    `json:"draft"`
	Tests       []registry.Test  `json:"tests,omitempty"` // of the draft
	Versions    []string         `json:"versions"`
}

// Actor is the person or token that an archive names as the author of a change. It is stored for information and grants
// no rights.
type Actor struct {
	ID   string             `json:"id"`
	Type registry.ActorType `json:"type"`
	Name string             `json:"name"`
}

// plausible reports whether an actor could have been written by a server. Other values might be rejected by a database.
func (a Actor) plausible() bool {
	const most = 200
	text := a.ID + string(a.Type) + a.Name
	return len(text) <= 3*most && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// plausibleOrigin reports whether an origin is nil or valid. A server writes no other origins.
func plausibleOrigin(o *registry.Origin) bool {
	return o == nil || uuid.Validate(o.AgentID) == nil && registry.CheckName(o.Name) == nil && registry.CheckSemver(o.Version) == nil &&
		registry.KindOf(o.Digest) == registry.ByDigest && registry.CheckVersionRange(o.Digest) == nil
}

// version is the JSON document of a version. Its files follow as separate entries.
type version struct {
	registry.Version
	Publisher Actor `json:"publisher"`
}

// versionPath returns the folder of a version.
func versionPath(agent, version string) string {
	return "agents/" + agent + "/versions/" + version + "/"
}

func agentPath(agent string) string { return "agents/" + agent + "/" }
