// Package archive writes agents with all their versions into one file and reads such files as untrusted input.
// docs/archive.md describes the layout. The package does not use the store: the caller decides what to do with the
// contents.
//
// An archive is a gzipped tar of regular files in a fixed order. A reader needs a single pass and has at most one
// version in memory. Equal content gives equal bytes.
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

// These constants limit the unpacked content of an archive.
const (
	MaxAgents   = 20_000
	MaxVersions = 10_000 // versions per agent
	MaxEntries  = 2_000_000
	MaxDocument = 8 << 20  // bytes of one JSON file
	MaxFiles    = 500      // files per draft or version
	MaxBytes    = 32 << 20 // total size of the files of a draft or version; large enough for a WebAssembly module
	MaxTotal    = 2 << 30  // total size of the unpacked archive
)

const (
	rootFile    = "atelier.json"
	agentFile   = "agent.json"
	versionFile = "version.json"
	maxPath     = 3*registry.MaxPath + 64
)

// Contents is the document in the first file of an archive. It lists the agents, so that a reader detects a truncated
// archive.
type Contents struct {
	Format string   `json:"format"`
	Agents []string `json:"agents"`
}

// Agent is the JSON document of an agent without its versions. The files of its draft follow as separate entries of the
// archive.
type Agent struct {
	ID          string           `json:"id"`
	Name        string           `json:"name"`
	FormerNames []string         `json:"formerNames"` // names with _ instead of -, as in registry.NameKey
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Tags        []string         `json:"tags"`
	Metadata    json.RawMessage  `json:"metadata"`
	Listed      bool             `json:"listed,omitempty"` // value in the archive; the importer decides whether to list the agent
	Origin      *registry.Origin `json:"origin,omitempty"`
	CreatedAt   time.Time        `json:"createdAt"`
	Creator     Actor            `json:"createdBy"`
	Draft       registry.Spec    `json:"draft"`
	Tests       []registry.Test  `json:"tests,omitempty"` // tests of the draft
	Versions    []string         `json:"versions"`
}

// Actor is the person or token that an archive names as the author of a change. The server stores the actor for
// information only. The actor gets no rights.
type Actor struct {
	ID   string             `json:"id"`
	Type registry.ActorType `json:"type"`
	Name string             `json:"name"`
}

// plausible reports whether a server could have written this actor. A database might reject other values.
func (a Actor) plausible() bool {
	const most = 200
	text := a.ID + string(a.Type) + a.Name
	return len(text) <= 3*most && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// plausibleOrigin reports whether an origin is nil or valid. Servers write only such origins.
func plausibleOrigin(o *registry.Origin) bool {
	return o == nil || uuid.Validate(o.AgentID) == nil && registry.CheckName(o.Name) == nil && registry.CheckSemver(o.Version) == nil &&
		registry.KindOf(o.Digest) == registry.ByDigest && registry.CheckVersionRange(o.Digest) == nil
}

// version is the JSON document of a version. The files of the version follow as separate entries of the archive.
type version struct {
	registry.Version
	Publisher Actor `json:"publisher"`
}

// versionPath returns the path of a version's folder in the archive.
func versionPath(agent, version string) string {
	return "agents/" + agent + "/versions/" + version + "/"
}

func agentPath(agent string) string { return "agents/" + agent + "/" }
