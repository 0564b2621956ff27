// Package attacks is the catalogue of programs that test the isolation, one folder per language. The doctor runs them on
// the operator's machine, and the package hostile runs them in tests.
package attacks

import (
	"embed"

	"github.com/atelier-run/atelier/runtimes"
)

// Node stands for JavaScript in Node. It has programs of its own, because its isolation differs from goja's.
const Node runtimes.Language = "node"

//go:embed programs
var programs embed.FS

// Source returns a program by name, or "" if the catalogue does not have it in that language.
func Source(language runtimes.Language, name string) string {
	text, err := programs.ReadFile("programs/" + string(language) + "/" + name + "." + Suffix(language))
	if err != nil {
		return ""
	}
	return string(text)
}

// Suffix returns the suffix of the files of a language, without the dot.
func Suffix(language runtimes.Language) string {
	switch language {
	case runtimes.Python:
		return "py"
	case runtimes.Bash:
		return "sh"
	case runtimes.JavaScript, Node:
		return "js"
	default:
		return "ts"
	}
}
