// Package guest is the part of inspection that runs inside the sandbox. It parses JavaScript, TypeScript, Bash and
// WebAssembly, and runs none of it. In the server, a parser with unlimited recursion could end the process with a stack
// overflow. Here it ends only a worker.
package guest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
)

// RoleName is the name of the role that Serve implements.
const RoleName = "inspect"

// Job is the payload of the Job frame.
type Job struct {
	Language   runtimes.Language `json:"language"`
	Runtime    runtimes.Name     `json:"runtime"`
	Files      map[string][]byte `json:"files"`
	Entrypoint string            `json:"entrypoint"`
	Facts      bool              `json:"facts,omitempty"`    // list facts instead of checking the program
	Unpacked   bool              `json:"unpacked,omitempty"` // imports of packages are not checked
	Indent     uint              `json:"indent,omitempty"`   // if above 0, format the entrypoint with this number of spaces per level instead of checking it
}

// Report is the output of a job.
type Report struct {
	Errors []fault.Detail `json:"errors,omitempty"`
	// For JavaScript and engines other than goja: features that goja lacks.
	Gaps     []fault.Detail `json:"gaps,omitempty"`
	Warnings []fault.Detail `json:"warnings,omitempty"`
	// For Python: names bound at the top level of each entrypoint; * means that other names may be bound too.
	Names  map[string][]string `json:"names,omitempty"`
	Module *runtimes.Module    `json:"module,omitempty"`
	Text   string              `json:"text,omitempty"` // formatted text
	Facts  []runtimes.Fact     `json:"facts,omitempty"`
	Cut    int                 `json:"cut,omitempty"` // number of facts that are left out
}

// maxStack is the maximum size of a stack in bytes. A parser with unlimited recursion reaches it early, and crashes
// with a message that the server recognizes.
const maxStack = 64 << 20

// Serve runs jobs from conn, one at a time, until conn ends.
func Serve(conn net.Conn) error {
	debug.SetMaxStack(maxStack)
	in := frames.NewReader(bufio.NewReader(conn), map[frames.Kind]int{frames.Job: frames.MaxFrame, frames.Interrupt: 4 << 10})
	out := frames.NewWriter(conn)
	for {
		kind, payload, err := in.Read()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
			return nil
		}
		if err != nil {
			return err
		}
		if kind != frames.Job {
			continue // ignores an interrupt that arrived late, because parsers cannot be interrupted
		}
		var job Job
		if err := json.Unmarshal(payload, &job); err != nil {
			return fmt.Errorf("job: %w", err)
		}
		if err := out.Write(frames.Started, nil); err != nil {
			return err
		}
		output, err := json.Marshal(inspect(job))
		if err != nil {
			return err
		}
		if err := out.WriteJSON(frames.Done, frames.Result{Output: output}); err != nil {
			return err
		}
	}
}

func inspect(job Job) Report {
	if job.Indent > 0 && job.Language == runtimes.Bash {
		return formatted(job)
	}
	if job.Facts {
		return facts(job)
	}
	switch job.Language {
	case runtimes.JavaScript, runtimes.TypeScript:
		return javascript(job)
	case runtimes.Bash:
		return bash(job)
	case runtimes.WASM:
		return wasm(job)
	}
	return Report{Errors: []fault.Detail{{Message: fmt.Sprintf("Programs in %q cannot be inspected.", job.Language)}}}
}
