// Package guest is the half of the goja engine that lives in the jail. It bundles an agent, runs it in a fresh VM, and
// talks with the server in frames. Everything of the program's contract that is JavaScript is here: entry, ctx, input
// and output, globals, console, timers, errors. It knows no jail, and trusts the kernel to be the wall around it.
package guest

import (
	"encoding/json"

	"github.com/atelier-run/atelier/runtimes"
)

// RoleName is the name of the role that Serve plays.
const RoleName = "goja"

// Job is the payload of the Job frame.
type Job struct {
	Files       map[string]string `json:"files,omitempty"` // none if the worker should have compiled them before
	Entrypoint  string            `json:"entrypoint"`
	Language    runtimes.Language `json:"language"`
	Digest      string            `json:"digest,omitempty"` // of files and entrypoint
	Input       json.RawMessage   `json:"input,omitempty"`
	Environment map[string]string `json:"environment,omitempty"`
	Limits      runtimes.Limits   `json:"limits"`
}

// Program names the program of a job by the digest that the server computed, "" without one.
func (j Job) Program() string {
	if j.Digest == "" {
		return ""
	}
	return j.Digest + " " + string(j.Language) + " " + j.Entrypoint
}
