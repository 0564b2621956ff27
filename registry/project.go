package registry

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Project is a tree of files. Programs read these files and propose changes to them.
type Project struct {
	ID          string    `json:"id"`
	Workspace   string    `json:"-"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Tree        string    `json:"tree" doc:"Digest of the list of files."`
	Change      int64     `json:"change" doc:"Number of the last change."`
	Files       int       `json:"files" doc:"Number of files."`
	Bytes       int64     `json:"bytes" doc:"Size of all files."`
	Waiting     int       `json:"waiting,omitempty" doc:"Number of proposed changes that wait for a decision. Only the list of projects has it."`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
}

// Tree lists the files of a project by path.
type Tree map[string]TreeFile

// TreeFile is one file of a tree.
type TreeFile struct {
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}

// ProjectChange is one change of a project's files: an import, or an overlay that a person accepted.
type ProjectChange struct {
	Workspace string       `json:"-"`
	ProjectID string       `json:"-"`
	Number    int64        `json:"number"`
	Tree      string       `json:"tree"`
	Summary   string       `json:"summary"`
	OverlayID string       `json:"overlayId,omitempty" doc:"The overlay that was accepted. Absent for an import."`
	RunID     string       `json:"runId,omitempty"`
	Actor     Actor        `json:"actor"`
	CreatedAt time.Time    `json:"createdAt"`
	Paths     []PathChange `json:"paths" doc:"The first files that the change touched."`
	Touched   int          `json:"touched" doc:"Number of files that the change touched."`
}

// PathChange is a file that a project change added, changed or deleted.
type PathChange struct {
	Path string   `json:"path"`
	Kind EditKind `json:"kind" enum:"added,changed,deleted"`
}

// EditKind says how a change affects one file.
type EditKind string

// These are the values of EditKind.
const (
	FileAdded   EditKind = "added"
	FileChanged EditKind = "changed"
	FileDeleted EditKind = "deleted"
)

// OverlayStatus is the state of an overlay, or of one file of an overlay. All states but the first are final.
type OverlayStatus string

// These are the values of OverlayStatus.
const (
	OverlayOpen     OverlayStatus = "open"
	OverlayAccepted OverlayStatus = "accepted"
	OverlayRejected OverlayStatus = "rejected"
	OverlayExpired  OverlayStatus = "expired"
)

// Overlay holds the changes that one run proposes to a project.
type Overlay struct {
	ID         string         `json:"id"`
	Workspace  string         `json:"-"`
	ProjectID  string         `json:"-"`
	RunID      string         `json:"runId"`
	RunStatus  Status         `json:"runStatus" doc:"Status with which the run ended."`
	Agent      string         `json:"agent,omitempty"`
	Version    string         `json:"version,omitempty"`
	BaseTree   string         `json:"baseTree"`
	BaseChange int64          `json:"baseChange" doc:"Number of the project's change that the run read."`
	Status     OverlayStatus  `json:"status" enum:"open,accepted,rejected,expired"`
	Revision   int64          `json:"revision"`
	Summary    string         `json:"summary" doc:"Summary that the program wrote."`
	Entries    []OverlayEntry `json:"entries"`
	CreatedAt  time.Time      `json:"createdAt"`
	ExpiresAt  time.Time      `json:"expiresAt"`
	DecidedAt  *time.Time     `json:"decidedAt,omitempty"`
	Decider    *Actor         `json:"decider,omitempty"`
}

// OverlayEntry is the proposed change of one file.
type OverlayEntry struct {
	Path   string        `json:"path"`
	Kind   EditKind      `json:"kind" enum:"added,changed,deleted"`
	Digest string        `json:"digest,omitempty" doc:"Digest of the new content. Absent for a deleted file."`
	Size   int64         `json:"size"`
	Status OverlayStatus `json:"status" enum:"open,accepted,rejected"`
}

// ChangePage and OverlayPage are pages of lists, newest first.
type (
	// ChangePage is a page of changes of a project.
	ChangePage struct {
		Items      []ProjectChange
		NextCursor string
	}
	// OverlayPage is a page of overlays of a project.
	OverlayPage struct {
		Items      []Overlay
		NextCursor string
	}
)

// Content is a byte string with its digest.
type Content struct {
	Digest string
	Bytes  []byte
}

// maxPart is the maximum length in bytes of one part of a path. Every file system accepts parts of this length.
const maxPart = 255

// CleanPath returns the normal form of a path in a project: ./a//b becomes a/b. If the path is invalid, CleanPath
// returns the reason. It rejects files below a folder .git, because git would execute some of them on the machine of a
// person who checks the project out.
func CleanPath(path string) (clean, problem string) {
	switch {
	case path == "":
		return "", "must not be empty."
	case len(path) > 1024:
		return "", "must have at most 1024 bytes."
	case !utf8.ValidString(path):
		return "", "must be UTF-8."
	case strings.HasPrefix(path, "/"):
		return "", "must be relative to the project, without a slash at the start."
	case strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) || r == '\\' || r == ':' }):
		return "", "must have printable characters only, without backslashes and colons."
	}
	var parts []string
	for part := range strings.SplitSeq(norm.NFC.String(path), "/") {
		switch {
		case part == "" || part == ".":
			continue
		case strings.Trim(part, ". ") == "": // this also rejects the forms that Windows treats as ..
			return "", "must not contain .. or a part that consists of dots and spaces."
		case len(part) > maxPart:
			return "", fmt.Sprintf("must have parts of at most %d bytes.", maxPart)
		case foldPath(strings.TrimRight(part, ". ")) == ".git":
			return "", "must not be in a .git folder."
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "", "must be the path of a file."
	}
	return strings.Join(parts, "/"), ""
}
