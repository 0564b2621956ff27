package projects

import (
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// maxMerged is the maximum size in bytes of a text that is compared line by line.
const maxMerged = 1 << 20

// side is one state of a file: either its content, or the fact that the file does not exist.
type side struct {
	exists bool
	digest string
	text   []byte
}

func (s side) same(other side) bool { return s.exists == other.exists && s.digest == other.digest }

// comparable reports whether the text can be compared line by line.
func (s side) comparable() bool { return len(s.text) <= maxMerged && utf8.Valid(s.text) }

// outcome is the result of a three-way merge.
type outcome string

const (
	cleanOutcome    outcome = "clean"    // the project's file is unchanged since the run read it
	sameOutcome     outcome = "same"     // the project's file already has the proposed content
	mergedOutcome   outcome = "merged"   // the run and the project changed different lines
	conflictOutcome outcome = "conflict" // the run and the project changed the same lines, or one deleted a file that the other changed
)

// merge merges the change that a run proposes with the changes of the project since the run read the file.
func merge(base, project, overlay side) (side, outcome) {
	switch {
	case project.same(base):
		return overlay, cleanOutcome
	case project.same(overlay):
		return project, sameOutcome
	case !base.exists || !project.exists || !overlay.exists, !base.comparable() || !project.comparable() || !overlay.comparable():
		return side{}, conflictOutcome
	}
	text := string(base.text)
	ours, theirs := udiff.Lines(text, string(project.text)), udiff.Lines(text, string(overlay.text))
	if touch(ours, theirs) {
		return side{}, conflictOutcome
	}
	edits, ok := udiff.Merge(ours, theirs)
	if !ok {
		return side{}, conflictOutcome
	}
	merged, err := udiff.Apply(text, edits)
	if err != nil {
		return side{}, conflictOutcome
	}
	return side{exists: true, text: []byte(merged)}, mergedOutcome
}

// touch reports whether two sorted lists of edits contain different edits that overlap or are adjacent. This check is
// needed because udiff.Merge would accept two insertions at the same position, although their order is unknown.
func touch(x, y []udiff.Edit) bool {
	for i, j := 0, 0; i < len(x) && j < len(y); {
		a, b := x[i], y[j]
		switch {
		case a == b:
			i, j = i+1, j+1
		case a.End < b.Start:
			i++
		case b.End < a.Start:
			j++
		default:
			return true
		}
	}
	return false
}

// unified returns the difference between two states of a file as a unified diff, or "" if the difference cannot be
// shown as text.
func unified(path string, before, after side) string {
	if !before.comparable() || !after.comparable() {
		return ""
	}
	from, to := "a/"+path, "b/"+path
	if !before.exists {
		from = "/dev/null"
	}
	if !after.exists {
		to = "/dev/null"
	}
	return udiff.Unified(from, to, string(before.text), string(after.text))
}
