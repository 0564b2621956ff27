package registry

import (
	"errors"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
)

// Draft is the editable state of an agent. Revision grows by one with each save, and each save must name the revision
// it is based on.
type Draft struct {
	Revision int64     `json:"revision"`
	SavedAt  time.Time `json:"savedAt"`
	SavedBy  Editor    `json:"savedBy"`
	Spec

	// SchemaSources says where the schemas came from, nil if a person wrote both. It is not part of the program or of
	// its digests.
	SchemaSources *SchemaSources `json:"schemaSources,omitempty"`

	// Tests are not part of the program. Publishing copies them into the version.
	Tests []Test `json:"tests,omitempty"`

	// Session is the browser session that saves, "" for other clients. It is stored with the save and never read back.
	Session string `json:"-"`
}

// Editor identifies the person who saved a draft, as every member of the workspace may see it.
type Editor struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// EditorOf returns the part of an actor that members of the workspace may see.
func EditorOf(a Actor) Editor { return Editor{ID: a.ID, Name: a.Name} }

// FirstDraft returns the draft of a new agent.
func FirstDraft(spec Spec, by Actor, at time.Time) Draft {
	return Draft{Revision: 1, SavedAt: at, SavedBy: EditorOf(by), Spec: spec}
}

// Seen is the revision of a draft that a caller has read. It is the precondition of every use of a draft. The zero
// value means that the caller set no precondition. Every use of a draft rejects it.
type Seen struct {
	decided  bool
	revision int64 // 0 means any
}

// AnyRevision lets a caller use any revision of the draft.
func AnyRevision() Seen { return Seen{decided: true} }

// SeenRevision lets a caller use this revision only; 0 means any.
func SeenRevision(revision int64) Seen { return Seen{true, revision} }

// Revision returns the revision that a save of the draft expects: the one that the caller has seen, or the draft's own
// if the caller accepts any. It is 0, which no draft has, for the zero Seen.
func (s Seen) Revision(current Draft) int64 {
	if s.decided && !s.Named() {
		return current.Revision
	}
	return s.revision
}

// Named reports whether the caller names a revision.
func (s Seen) Named() bool { return s.revision != 0 }

// DraftAt returns the draft if its revision is the one that the caller has seen. Every use of a draft calls it:
// running, publishing, comparing, copying. Error: StaleDraft.
func (a Agent) DraftAt(seen Seen) (Draft, error) {
	if !seen.decided {
		return Draft{}, errors.New("the caller did not say which revision of the draft it has read")
	}
	if seen.Named() && seen.revision != a.Draft.Revision {
		return Draft{}, StaleDraft(a.Draft, seen.revision)
	}
	return a.Draft, nil
}

// NoDraftNamed returns the error for a revision in a request that uses no draft. Nothing would check such a revision.
func NoDraftNamed(why string) error {
	return fault.Invalid("/revision", "applies to a draft, and this request uses none: %s.", why)
}

// StaleDraft rejects a request for a revision that is no longer current. The error names who saved the current
// revision, and when.
func StaleDraft(current Draft, seen int64) error {
	refused := fault.New(fault.StaleDraft, "The draft was saved elsewhere: it is at revision %d, and this request is about revision %d. Read the draft again.", current.Revision, seen)
	refused.Extra = map[string]any{"currentRevision": current.Revision, "savedAt": current.SavedAt, "savedBy": current.SavedBy}
	return refused
}
