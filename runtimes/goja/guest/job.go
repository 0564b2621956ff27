// Package guest is the part of the goja engine that runs inside the sandbox. It bundles an agent, runs it in a new VM
// and exchanges frames with the server. It implements the JavaScript part of the program's contract: entry, ctx, input
// and output, globals, console, timers and errors. It does no sandboxing itself and relies on the kernel for isolation.
package guest

import (
	"encoding/json"

	"github.com/atelier-run/atelier/runtimes"
)

// RoleName is the name of the role that Serve implements.
const RoleName = "goja"

// Job is the payload of the Job frame.
type Job struct {
	// The agent's files; empty if the server expects that the worker already has the compiled program.
	Files       map[string]string `json:"files,omitempty"`
	Entrypoint  string            `json:"entrypoint"`
	Language    runtimes.Language `json:"language"`
	Digest      string            `json:"digest,omitempty"` // digest of files and entrypoint
	Input       json.RawMessage   `json:"input,omitempty"`
	Environment map[string]string `json:"environment,omitempty"`
	Limits      runtimes.Limits   `json:"limits"`
	Restricted  bool              `json:"restricted,omitempty"` // the rule pack "restricted" applies
}

// Program returns the digest that the server computed for the program of a job, or "" if there is none.
func (j Job) Program() string {
	if j.Digest == "" {
		return ""
	}
	return j.Digest + " " + string(j.Language) + " " + j.Entrypoint
}
