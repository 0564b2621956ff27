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

// Elsewhere is a script on a machine without this server. It keeps what the script prints, which may be the result, and
// explains the end of the script. Its methods must not be called concurrently.
type Elsewhere struct {
	job  runtimes.Job
	said transcript
	end  json.RawMessage
}

// NewElsewhere returns a script that has not started.
func NewElsewhere(job runtimes.Job) *Elsewhere {
	return &Elsewhere{job: job, said: transcript{limits: job.Limits, files: job.Files}}
}

// Prelude returns the file that Bash sources before the script. It marks the calls of the host in stdout.
func (e *Elsewhere) Prelude(mark string) []byte {
	return bytes.Join([][]byte{nesting(e.job), fmt.Appendf(nil, "[[ -v __atelier_tag ]] || __atelier_mark=%s\n", mark), preludeElsewhere, prelude, nil}, nil)
}

// Environment returns the environment of the script, without the names of files and the values of the machine.
func (e *Elsewhere) Environment(input []byte) []string { return with(nil, e.job, input) }

// Print takes output of the script.
func (e *Elsewhere) Print(kind frames.Kind, text []byte) { e.said.listen(kind, text) }

// End takes the prelude's message about the end of the script.
func (e *Elsewhere) End(message json.RawMessage) { e.end = message }

// Conclude returns the result of a script with an exit code. file is the content of $OUTPUT, nil if there is none.
func (e *Elsewhere) Conclude(code int, file []byte) (json.RawMessage, *runtimes.ProgramError) {
	if code != 0 {
		return nil, e.said.failure(code, e.end)
	}
	return e.said.output(program.CheckFile(file, e.job.Limits.OutputBytes))
}
