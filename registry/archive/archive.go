// Package archive writes agents with all their versions into one file, and reads such files as what a stranger sent. The
// layout is in docs/archive.md. It knows no store: who reads decides what to do with what was found.
//
// A file is a gzipped tar of regular files in one fixed order, so that it is read in one pass with one version in memory, and
// so that two files of the same content are the same bytes.
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

// Format is what the first file says of the layout.
const Format = "atelier/archive/1"

// Bounds of an archive. They hold for what is unpacked, however small the file is.
const (
	MaxAgents   = 20_000
	MaxVersions = 10_000 // of one agent
	MaxEntries  = 2_000_000
	MaxDocument = 8 << 20  // bytes of one JSON file
	MaxFiles    = 500      // of a draft or a version
	MaxBytes    = 32 << 20 // of its files together: a module may be as large
	MaxTotal    = 2 << 30  // bytes of everything
)

const (
	rootFile    = "atelier.json"
	agentFile   = "agent.json"
	versionFile = "version.json"
	maxPath     = 3*registry.MaxPath + 64
)

// Contents is the first file: what the archive holds, so that one that was cut off is known.
type Contents struct {
	Format string   `json:"format"`
	Agents []string `json:"agents"`
}

// Agent is an agent without its versions. Its draft's files lie beside it.
type Agent struct {
	ID          string           `json:"id"`
	Name        string           `json:"name"`
	FormerNames []string         `json:"formerNames"` // with _ for -, which are one name
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Tags        []string         `json:"tags"`
	Metadata    json.RawMessage  `json:"metadata"`
	Listed      bool             `json:"listed,omitempty"` // a statement of the archive: whoever reads it decides
	Origin      *registry.Origin `json:"origin,omitempty"`
	CreatedAt   time.Time        `json:"createdAt"`
	Creator     Actor            `json:"createdBy"`
	Draft       registry.Spec    `json:"draft"`
	Versions    []string         `json:"versions"`
}

// Actor is who did something, as a statement of the archive: it grants nothing.
type Actor struct {
	ID   string             `json:"id"`
	Type registry.ActorType `json:"type"`
	Name string             `json:"name"`
}

// plausible keeps out what no house of ours writes and a database may not take.
func (a Actor) plausible() bool {
	const most = 200
	text := a.ID + string(a.Type) + a.Name
	return len(text) <= 3*most && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// plausibleOrigin keeps out what no house of ours writes.
func plausibleOrigin(o *registry.Origin) bool {
	return o == nil || uuid.Validate(o.AgentID) == nil && registry.CheckName(o.Name) == nil && registry.CheckSemver(o.Version) == nil &&
		registry.KindOf(o.Digest) == registry.ByDigest && registry.CheckVersionRange(o.Digest) == nil
}

// version is the document of a version, whose files lie beside it.
type version struct {
	registry.Version
	Publisher Actor `json:"publisher"`
}

// versionPath is the folder of a version.
func versionPath(agent, version string) string {
	return "agents/" + agent + "/versions/" + version + "/"
}

func agentPath(agent string) string { return "agents/" + agent + "/" }
