package registry

import (
	"errors"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
)

// Draft is the editable state of an agent. Each save increases Revision by one, and must name the revision that the
// caller has edited.
type Draft struct {
	Revision int64     `json:"revision"`
	SavedAt  time.Time `json:"savedAt"`
	SavedBy  Editor    `json:"savedBy"`
	Spec

	// SchemaSources says how the schemas were made. It is nil if a person wrote both. It is not part of the program or of
	// its digests.
	SchemaSources *SchemaSources `json:"schemaSources,omitempty"`

	// Tests are not part of the program. Publishing copies them into the version.
	Tests []Test `json:"tests,omitempty"`

	// Session is the browser session that saves the draft, "" for other clients. The store saves it with the history and
	// never reads it back into a draft.
	Session string `json:"-"`
}

// Editor identifies the person who saved a draft. It contains only data that every member of the workspace may see.
type Editor struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// EditorOf returns the part of an actor that every member of the workspace may see.
func EditorOf(a Actor) Editor { return Editor{ID: a.ID, Name: a.Name} }

// FirstDraft returns the draft of a new agent.
func FirstDraft(spec Spec, by Actor, at time.Time) Draft {
	return Draft{Revision: 1, SavedAt: at, SavedBy: EditorOf(by), Spec: spec}
}

// Seen is the revision of a draft that a caller has read. Every operation on a draft requires a Seen. The zero value
// means that the caller did not set it, and every operation rejects the zero value.
type Seen struct {
	decided  bool
	revision int64 // 0 means any revision
}

// AnyRevision allows an operation on any revision of the draft.
func AnyRevision() Seen { return Seen{decided: true} }

// SeenRevision allows an operation only on the given revision; 0 means any revision.
func SeenRevision(revision int64) Seen { return Seen{true, revision} }

// Revision returns the revision that a save of the draft must find: the revision that the caller has seen, or the
// current revision if the caller accepts any. For the zero Seen it returns 0, which is the revision of no draft.
func (s Seen) Revision(current Draft) int64 {
	if s.decided && !s.Named() {
		return current.Revision
	}
	return s.revision
}

// Named reports whether the caller has set a specific revision.
func (s Seen) Named() bool { return s.revision != 0 }

// DraftAt returns the draft if its revision is the revision that the caller has seen. Every operation on a draft
// (running, publishing, comparing, copying) calls DraftAt. Error: StaleDraft.
func (a Agent) DraftAt(seen Seen) (Draft, error) {
	if !seen.decided {
		return Draft{}, errors.New("the caller did not send the revision of the draft that it has read")
	}
	if seen.Named() && seen.revision != a.Draft.Revision {
		return Draft{}, StaleDraft(a.Draft, seen.revision)
	}
	return a.Draft, nil
}

// NoDraftNamed returns the error for a request that sets a revision but uses no draft. Without this error, the revision
// would be ignored.
func NoDraftNamed(why string) error {
	return fault.Invalid("/revision", "can be used only with a draft, and this request has none: %s.", why)
}

// StaleDraft returns the error for a request about a revision that is no longer current. The error contains the current
// revision, the person who saved it, and the time.
func StaleDraft(current Draft, seen int64) error {
	refused := fault.New(fault.StaleDraft, "Another client has saved the draft: it is now at revision %d, but this request is based on revision %d. Read the draft again.", current.Revision, seen)
	refused.Extra = map[string]any{"currentRevision": current.Revision, "savedAt": current.SavedAt, "savedBy": current.SavedBy}
	return refused
}
