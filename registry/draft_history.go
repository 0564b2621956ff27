package registry

import (
	"time"

	"github.com/atelier-run/atelier/internal/fault"
)

// These constants limit the history of a draft: the number of saves without a label, the number of saves with a label,
// and the time during which saves of one browser session share an entry. That time starts with the first of these
// saves.
const (
	KeptSaves     = 50
	LabelledSaves = 50
	SharedFor     = time.Minute
)

const maxLabel = 200

// DraftSave is one entry in the history of a draft.
type DraftSave struct {
	Revision int64     `json:"revision"`
	SavedAt  time.Time `json:"savedAt"`
	SavedBy  Editor    `json:"savedBy"`
	Label    string    `json:"label,omitempty"`
	Files    []string  `json:"files" doc:"The files that differ from the previous entry; all files for the oldest entry."`
	Settings bool      `json:"settings" doc:"true if schemas, limits or other settings differ from the previous entry."`
}

// DraftSavePage is one page of a history, newest first. NextCursor is "" on the last page.
type DraftSavePage struct {
	Items      []DraftSave
	NextCursor string
}

// CheckLabel rejects a label that is too long or is not valid text.
func CheckLabel(label string) error {
	if len(label) > maxLabel {
		return fault.Invalid("/label", "must have at most %d bytes.", maxLabel)
	}
	return CheckText("/label", label)
}
