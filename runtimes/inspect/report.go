// Package inspect parses, lints and checks programs without running them. Parsers are as dangerous as engines, so it all
// happens in jailed workers.
package inspect

import (
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

// Request is a program to look at.
type Request struct {
	Language   runtimes.Language
	Runtime    runtimes.Name // of JavaScript: what goja lacks is an error or a warning for goja, and told as Gaps for others
	Files      map[string][]byte
	Entrypoint string
	Rules      *runtimes.Rules // nil for none; of Python
}

// Report is what was found, by file, line and column. With errors the program cannot run.
type Report struct {
	Errors   []fault.Detail
	Gaps     []fault.Detail // of JavaScript, unless it is for goja: what goja lacks
	Warnings []fault.Detail
	Names    []string         // of Python: what the entrypoint's top level binds, * where it may be anything
	Module   *runtimes.Module // of a WebAssembly module that is valid
}
