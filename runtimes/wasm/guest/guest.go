// Package guest is the part of the wasm engine that runs inside the sandbox. It compiles a module, runs it as a WASI
// command with the input on its stdin, and exchanges frames with the server. A module has access to its arguments, its
// environment, a clock, random numbers and the three standard streams. It has no access to files, the network or other
// modules.
package guest

import (
	"encoding/json"

	"github.com/atelier-run/atelier/runtimes"
)

// RoleName is the name of the role that Serve implements.
const RoleName = "wasm"

// Job is the payload of the Job frame.
type Job struct {
	Module      []byte            `json:"module,omitempty"` // empty in a brief job
	Brief       bool              `json:"brief,omitempty"`  // the job has no module, because the worker may have it in its cache
	Name        string            `json:"name"`             // name of the module's file, its first argument
	Digest      string            `json:"digest,omitempty"` // digest of files and entrypoint
	Input       json.RawMessage   `json:"input,omitempty"`
	Environment map[string]string `json:"environment,omitempty"`
	Limits      runtimes.Limits   `json:"limits"`
}

// Program returns the digest of the job's program, the key of the cache of compiled modules, or "" if there is none.
func (j Job) Program() string { return j.Digest }
