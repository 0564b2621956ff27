package bash

import (
	"bytes"
	_ "embed" // the prelude
	"encoding/json"
	"fmt"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
)

//go:embed elsewhere.sh
var preludeElsewhere []byte

// Elsewhere is a run of a script on another machine. It collects the output, which may contain the result, and determines
// the result of the script. Its methods must not be called concurrently.
type Elsewhere struct {
	job  runtimes.Job
	said transcript
	end  json.RawMessage
}

// NewElsewhere returns a script that has not started.
func NewElsewhere(job runtimes.Job) *Elsewhere {
	return &Elsewhere{job: job, said: transcript{limits: job.Limits, files: job.Files}}
}

// Prelude returns the file that Bash sources before the script. With it, host calls are lines in stdout that begin with
// mark.
func (e *Elsewhere) Prelude(mark string) []byte {
	return bytes.Join([][]byte{nesting(e.job), fmt.Appendf(nil, "[[ -v __atelier_tag ]] || __atelier_mark=%s\n", mark), preludeElsewhere, prelude, nil}, nil)
}

// Environment returns $INPUT and the agent's environment values. The other machine adds its own variables.
func (e *Elsewhere) Environment(input []byte) []string { return with(nil, e.job, input) }

// Print adds output of the script.
func (e *Elsewhere) Print(kind frames.Kind, text []byte) { e.said.listen(kind, text) }

// End stores the prelude's message about the end of the script.
func (e *Elsewhere) End(message json.RawMessage) { e.end = message }

// Conclude returns the result of a script with an exit code. file is the content of $OUTPUT, nil if there is none.
func (e *Elsewhere) Conclude(code int, file []byte) (json.RawMessage, *runtimes.ProgramError) {
	if code != 0 {
		return nil, e.said.failure(code, e.end)
	}
	return e.said.output(program.CheckFile(file, e.job.Limits.OutputBytes))
}
