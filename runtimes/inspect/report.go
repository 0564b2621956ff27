// Package inspect parses, lints and checks programs without running them. Parsers are as dangerous as engines, so all
// parsing happens in sandboxed workers.
package inspect

import (
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

// Request is a program to inspect.
type Request struct {
	Language   runtimes.Language
	Runtime    runtimes.Name // only for JavaScript: gaps of goja are errors or warnings if it is goja, and in Gaps otherwise
	Files      map[string][]byte
	Entrypoint string
	Rules      *runtimes.Rules // Python only; nil if there are none
	// Sources are the files of npm packages. If Sources is empty and Unpacked is set, imports of packages are not
	// checked.
	Sources  map[string]string
	Unpacked bool
}

// Report holds the findings about a program, with file, line and column. A program with errors cannot run.
type Report struct {
	Errors   []fault.Detail
	Gaps     []fault.Detail // JavaScript for engines other than goja: features that goja lacks
	Warnings []fault.Detail
	Names    []string         // Python: names bound at the entrypoint's top level, * if there may be any
	Module   *runtimes.Module // set for a valid WebAssembly module
}
