package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry"
)

// baseFile is the file in a folder that records the draft as it was last pulled or pushed. Its name starts with a dot,
// so that it does not become a file of the agent.
const baseFile = ".atelier.json"

// base is the draft as it was last pulled into a folder or pushed from the folder.
type base struct {
	Agent    string                   `json:"agent"` // ID
	Revision int64                    `json:"revision"`
	Files    map[string]registry.File `json:"files"` // all files of the folder, including agent.yaml
}

// readBase returns the base of a folder. If the folder has no base, or a base of another agent, it returns false.
func readBase(folder fs.FS, agent string) (base, bool, error) {
	text, err := fs.ReadFile(folder, baseFile)
	if errors.Is(err, fs.ErrNotExist) {
		return base{}, false, nil
	}
	if err != nil {
		return base{}, false, err
	}
	var b base
	if err := json.Unmarshal(text, &b); err != nil {
		return base{}, false, fmt.Errorf("read %s: %w; remove the file to push without it", baseFile, err)
	}
	return b, b.Agent == agent, nil
}

// write records the base in a folder.
func (b base) write(root *os.Root) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return replace(root, baseFile, append(text, '\n'))
}

// replace writes a new file and renames it to name. A symbolic link with this name is replaced and not followed.
func replace(root *os.Root, name string, text []byte) error {
	temporary := name + ".new"
	if err := root.WriteFile(temporary, text, 0o600); err != nil {
		return err
	}
	if err := root.Rename(temporary, name); err != nil {
		return errors.Join(err, root.Remove(temporary))
	}
	return nil
}

// showThreeWay prints the changes of the folder and of the draft since their common base. For each file it prints which
// side changed the file, and whether the changes can be merged.
func showThreeWay(out io.Writer, from, yours, theirs map[string]registry.File) {
	paths := slices.AppendSeq(changed(from, yours), slices.Values(changed(from, theirs)))
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		one := func(files map[string]registry.File) map[string]registry.File {
			if content, ok := files[path]; ok {
				return map[string]registry.File{path: content}
			}
			return nil
		}
		you, they := len(changed(one(from), one(yours))) > 0, len(changed(one(from), one(theirs))) > 0
		who := "by both"
		switch {
		case you && they && len(changed(one(yours), one(theirs))) == 0:
			who = "by both, with the same result"
		case you && they && merges(from[path], yours[path], theirs[path]):
			who = "by both, in different places"
		case !they:
			who = "by you"
		case !you:
			who = "by others"
		}
		_, _ = fmt.Fprintf(out, "== %s: changed %s\n", telemetry.Escape(path), who)
		if they {
			_, _ = fmt.Fprintln(out, "-- theirs")
			showChanges(out, one(from), one(theirs))
		}
		if you {
			_, _ = fmt.Fprintln(out, "-- yours")
			showChanges(out, one(from), one(yours))
		}
	}
}

// merges reports whether the changes of both sides to a text are in different places, so that they can be merged.
func merges(from, yours, theirs registry.File) bool {
	if !utf8.Valid(from) || !utf8.Valid(yours) || !utf8.Valid(theirs) {
		return false
	}
	_, ok := udiff.Merge(udiff.Lines(string(from), string(yours)), udiff.Lines(string(from), string(theirs)))
	return ok
}

// sameFiles reports whether two folders have the same files.
func sameFiles(a, b map[string]registry.File) bool { return maps.EqualFunc(a, b, slices.Equal) }
