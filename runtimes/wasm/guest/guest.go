// Package guest is the half of the wasm engine that lives in the jail. It compiles a module, runs it as a WASI command with
// the input on its stdin, and talks with the server in frames. A module sees its arguments, its environment, a clock,
// random numbers and the three standard streams: no files, no network, no other module.
package guest

import (
	"encoding/json"

	"github.com/atelier-run/atelier/runtimes"
)

// RoleName is the name of the role that Serve plays.
const RoleName = "wasm"

// Job is the payload of the Job frame.
type Job struct {
	Module      []byte            `json:"module,omitempty"` // none in a brief job
	Brief       bool              `json:"brief,omitempty"`  // the worker should have compiled the module before
	Name        string            `json:"name"`             // of the module's file, its first argument
	Digest      string            `json:"digest,omitempty"` // of files and entrypoint
	Input       json.RawMessage   `json:"input,omitempty"`
	Environment map[string]string `json:"environment,omitempty"`
	Limits      runtimes.Limits   `json:"limits"`
}

// Program names the module of a job by the digest that the server computed, "" without one.
func (j Job) Program() string { return j.Digest }
