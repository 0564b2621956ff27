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
	const rule = "must start with a lower-case letter and have at most 63 of a-z, 0-9, - and _."
	switch {
	case !nameForm.MatchString(name):
		return fault.Invalid("/name", rule)
	case name == "registry" || name == "new":
		return fault.Invalid("/name", "must not be %q, which is reserved. Choose another name.", name)
	case uuid.Validate(name) == nil:
		return fault.Invalid("/name", "must not look like an ID. Choose another name.")
	}
	return nil
}

// NameKey returns the form of an agent's name that must be unique in a workspace. The names "my-agent" and "my_agent"
// have the same form, so they conflict.
func NameKey(name string) string { return strings.ReplaceAll(name, "-", "_") }

// These names are files in an agent's folder on disk that do not belong to the program.
const (
	SettingsFile = "agent.yaml"
	ExampleFile  = "input.json"
	TestsFile    = "tests.yaml"
)

// checkPath returns the problem with a file's path, or "" if the path is valid. A valid path is relative,
// slash-separated, clean and printable UTF-8. checkPath rejects characters that change the text direction or have no
// width, because they can make one path look like another. It also rejects names that start with a dot, such as .git.
// Tools create such files in folders, but they are not part of a program.
func checkPath(p string) string {
	switch {
	case p == "" || len(p) > MaxPath:
		return "must have a path of 1 to 255 bytes."
	case !utf8.ValidString(p) || strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsPrint(r) || r == '\\' || r == ':' }):
		return "must have a path of printable UTF-8 without backslashes and colons."
	case path.IsAbs(p) || path.Clean(p) != p || p == "." || p == ".." || strings.HasPrefix(p, "../"):
		return "must have a relative path without . and .. parts, empty parts or a slash at the end."
	case dotPath(p):
		return "must not have a name that starts with a dot, because push and pull skip such files; rename it."
	case foldPath(p) == SettingsFile || foldPath(p) == ExampleFile || foldPath(p) == TestsFile:
		return "must not be " + strings.ToLower(p) + ", which is reserved in the folder of an agent; rename it."
	}
	return ""
}

// dotPath reports whether a part of a path starts with a dot. The functions that read folders skip such files.
func dotPath(p string) bool { return strings.HasPrefix(p, ".") || strings.Contains(p, "/.") }
