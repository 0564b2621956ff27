// Package attacks contains programs that try to break out of the isolation, with one folder per language. The command
// doctor runs them on the operator's machine, and package hostile runs them in tests.
package attacks

import (
	"embed"

	"github.com/atelier-run/atelier/runtimes"
)

// Node is the folder of the programs for JavaScript in Node. They differ from the programs for goja, because the
// isolation differs.
const Node runtimes.Language = "node"

//go:embed programs
var programs embed.FS

// Source returns a program by its name and language, or "" if there is no such program.
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
