package registry

import (
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/atelier-run/atelier/internal/fault"
)

// MaxPath is the maximum length of a file's path in bytes.
const MaxPath = 255

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)

// CheckName checks the name of an agent. The error names the field and how to fix it.
func CheckName(name string) error {
	const rule = "A name must start with a lower-case letter and have at most 63 of a-z, 0-9, - and _."
	switch {
	case !nameForm.MatchString(name):
		return fault.Invalid("/name", rule)
	case name == "registry" || name == "new":
		return fault.Invalid("/name", "%q is reserved. Choose another name.", name)
	case uuid.Validate(name) == nil:
		return fault.Invalid("/name", "A name must not look like an ID. Choose another name.")
	}
	return nil
}

// NameKey returns the form of a name that must be unique in a workspace: "my-agent" and "my_agent" conflict.
func NameKey(name string) string { return strings.ReplaceAll(name, "-", "_") }

// CheckPath returns the problem with a file's path, "" if there is none. A path is relative, slash-separated, clean and
// printable UTF-8. Characters that change the text direction or have no width are rejected, because they would make one
// path look like another.
func CheckPath(p string) string {
	switch {
	case p == "" || len(p) > MaxPath:
		return "A path must have 1 to 255 bytes."
	case !utf8.ValidString(p) || strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsPrint(r) || r == '\\' || r == ':' }):
		return "A path must be printable UTF-8 without backslashes and colons."
	case path.IsAbs(p) || path.Clean(p) != p || p == "." || p == ".." || strings.HasPrefix(p, "../"):
		return "A path must be relative, without . and .. parts, empty parts or a slash at the end."
	}
	return ""
}
