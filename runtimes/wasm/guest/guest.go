// Package guest is the part of the wasm engine that runs inside the sandbox. It compiles a module, runs it as a WASI
// command with the input on its stdin, and exchanges frames with the server. A module has access only to its arguments,
// its environment, a clock, random numbers and the three standard streams. It cannot access files, the network or other
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
	Module []byte `json:"module,omitempty"` // the module; empty in a brief job
	// The job omits the module, because the worker may have it in its cache.
	Brief bool `json:"brief,omitempty"`
	// Name of the module's file, which the module receives as its first argument.
	Name        string            `json:"name"`
	Digest      string            `json:"digest,omitempty"` // digest of files and entrypoint
	Input       json.RawMessage   `json:"input,omitempty"`
	Environment map[string]string `json:"environment,omitempty"`
	Limits      runtimes.Limits   `json:"limits"`
}

// Program returns the digest of the job's program, or "" if there is none. The digest is the key in the cache of
// compiled modules.
func (j Job) Program() string { return j.Digest }
