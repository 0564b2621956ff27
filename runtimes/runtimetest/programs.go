// Package runtimetest is the test suite for all runtimes. It runs the same small programs in each language. Hostile programs
// are in runtimes/hostile.
package runtimetest

import (
	"encoding/json"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
)

// Programs holds the test programs in one language. Each program is the text of the entry file. If a program is
// missing, its test fails. The test is skipped if it needs a feature that the runtime does not declare.
type Programs struct {
	Language   runtimes.Language
	Runtime    runtimes.Name
	Entrypoint string

	Hello       string            // input {"name":"Ada"} → prints the line "hello Ada", returns {"greeting":"Hello, Ada"}
	Echo        string            // returns its input unchanged
	Order       string            // stdout "one"; log info "two" with fields {"n":2}; stdout "three"; progress 1 of 2 "half"; stdout "four"
	Stderr      string            // stdout line "fine", stderr line "oops"
	Env         string            // returns an object with all visible environment values
	Unicode     string            // prints the line "grüß 世界 🎉", returns {"text":"grüß 世界 🎉"}
	Invalid     string            // returns a value that is not JSON; its path is InvalidPath if the language can report it
	InvalidPath string            // path of the value in Invalid, such as "output.items[1]"
	Fail        string            // fails with an error whose message contains "boom", at FailLine
	FailLine    int               //
	Syntax      string            // syntax error at SyntaxLine
	SyntaxLine  int               //
	Forever     string            // prints the line "started" and never ends
	Flood       string            // prints lines endlessly
	BigResult   string            // returns a string of 2,000,000 characters
	State       string            // returns whether a mark of an earlier run is visible, and leaves a mark
	Lib         map[string]string // further files for Multi
	Multi       string            // an entry file that uses the files of Lib and returns {"answer":42}
	Denied      string            // calls the host function "nope" and does not catch its error
}

// Job returns a job with one of the programs and the default limits.
func (p Programs) Job(source string, edit ...func(*runtimes.Job)) runtimes.Job {
	job := runtimes.Job{
		RunID: "run", Workspace: "workspace", Language: p.Language, Runtime: p.Runtime,
		Files: map[string][]byte{p.Entrypoint: []byte(source)}, Entrypoint: p.Entrypoint,
		CodeDigest: "sha256:" + source, // not a real digest, but equal for equal code
		Input:      json.RawMessage(`{"name":"Ada"}`), Limits: runtimes.DefaultLimits(),
	}
	for _, change := range edit {
		change(&job)
	}
	return job
}

// Run runs a job to its end. It fails the test if the runtime returns an error.
func Run(t *testing.T, rt runtimes.Runtime, job runtimes.Job) (runtimes.Outcome, *Host) {
	t.Helper()
	host := NewHost()
	outcome, err := rt.Run(t.Context(), job, host)
	if err != nil {
		t.Fatalf("the server failed: %v", err)
	}
	return outcome, host
}
