// Package inspect parses, lints and checks programs without running them. A parser of untrusted source is as dangerous
// as an engine, so all parsing happens in sandboxed workers.
package inspect

import (
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

// Request is a program to inspect.
type Request struct {
	Language runtimes.Language
	// Only for JavaScript: if it is goja, features that goja lacks are errors or warnings; otherwise they are in Gaps.
	Runtime    runtimes.Name
	Files      map[string][]byte
	Entrypoint string
	Rules      *runtimes.Rules // rules for Python programs; nil if there are none
	// Sources are the files of npm packages. If Sources is empty and Unpacked is true, imports of packages are not
	// checked.
	Sources  map[string]string
	Unpacked bool
}

// Report holds the findings about a program, with file, line and column. A program with errors cannot run.
type Report struct {
	Errors   []fault.Detail
	Gaps     []fault.Detail // for JavaScript and engines other than goja: features that goja lacks
	Warnings []fault.Detail
	// For Python: names bound at the entrypoint's top level; * means that other names may be bound too.
	Names  []string
	Module *runtimes.Module // set for a valid WebAssembly module
}
