// Package runtimes defines the types for running programs: the program (Job), its events (Event), its calls to the server
// (Host), its result (Outcome) and its Limits. It does not depend on a language, a jail or a storage.
package runtimes

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/atelier-run/atelier/internal/limits"
)

// Language is the language of a program.
type Language string

// Languages of programs.
const (
	JavaScript Language = "javascript"
	TypeScript Language = "typescript"
	Python     Language = "python"
	Bash       Language = "bash"
	WASM       Language = "wasm" // a module compiled from any language
)

// Name is the name of a runtime. A runtime executes programs. A published version always uses the same runtime.
type Name string

// Runtimes of this server. Auto appears only in requests; publishing replaces it with one of the others.
const (
	Auto         Name = "auto"
	Goja         Name = "goja"
	NodeEngine   Name = "node"
	PythonEngine Name = "python"
	MontyEngine  Name = "monty"
	BashEngine   Name = "bash"
	WASMEngine   Name = "wasm"
	RemoteEngine Name = "remote"   // an HTTP service whose address the program contains
	E2BEngine    Name = "e2b"      // a sandbox of E2B
	Bacalhau     Name = "bacalhau" // a job of a Bacalhau network
	WasmEdge     Name = "wasmedge" // the command-line runner of WasmEdge
	Script       Name = "script"
)

// Remote reports whether a runtime executes programs at a remote service, which may cost money.
func (n Name) Remote() bool {
	switch n {
	case "", Auto, Goja, NodeEngine, PythonEngine, MontyEngine, BashEngine, WASMEngine, WasmEdge, Script:
		return false
	}
	return true
}

// Runtime executes programs of one language. It returns an error only if the server failed. If the program failed, the
// error is in the Outcome.
type Runtime interface {
	Run(ctx context.Context, job Job, host Host) (Outcome, error)
}

// Host handles a running program's events and its calls of granted host functions. A runtime may call both methods from
// any goroutine, and calls Emit in the order of the events. Call returns JSON, or a *CallError that the program receives
// as an exception.
type Host interface {
	Emit(Event)
	Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error)
}

// JobStore is a Host that also stores the handle of a program's job at a remote service. After a restart of the server,
// the engine receives the handle again in Job.Attach.
type JobStore interface {
	StoreJob(ctx context.Context, handle string)
}

// WaitsCode is the error code of a host call whose result is available only after the end of another run. The message
// of the error is the ID of that run. The Monty guest then saves the state of the program and calls AwaitFunction.
// Other guests never receive this error.
const WaitsCode = "waits"

// AwaitFunction is the host function with which a guest waits for the end of a run that its program has started by a
// call. Its arguments are the ID of that run and the state of the program. After a restart of the server, the engine
// receives the same arguments in Job.Attach.
const AwaitFunction = "awaitRun"

// ErrDetached is the cancellation cause of a run's context if the server shuts down while the program's job at a remote
// service continues.
var ErrDetached = errors.New("the server is shutting down, and the job goes on")

// CallError is the error of a host function that a program receives. For a denied call, Rule is the name of the rule
// that denied it, Remedy describes a fix, and Grant is a grant that allows the call.
type CallError struct {
	Code    string `json:"code"` // denied, invalid_arguments, tool_failed, failed
	Message string `json:"message"`
	Rule    string `json:"rule,omitempty"`
	Remedy  string `json:"remedy,omitempty"`
	Grant   *Grant `json:"grant,omitempty"`
	// Tool describes the failure of a called agent. If it is set, Rule is set too.
	Tool *ToolFailure `json:"tool,omitempty"`
}

// ToolFailure describes the failure of a called agent. Type is the error type of the agent's program, or the error code
// with which the server refused the call. RunID is "" if no run started.
type ToolFailure struct {
	Reference string `json:"reference"` // the version that ran, name@1.2.0
	Type      string `json:"type"`
	Message   string `json:"message"`
	RunID     string `json:"runId,omitempty"`
}

func (e *CallError) Error() string { return e.Message }

// Isolation selects how strictly a run is separated from earlier runs of the same workspace.
type Isolation string

// Pooled is the default: each run gets a new interpreter or VM. Its process may have executed earlier runs. Strict:
// each run also gets a new process.
const (
	Pooled Isolation = ""
	Strict Isolation = "strict"
)

// Job is one program with its input. It is ready to run: its references are resolved, its input is validated, and it is
// admitted.
type Job struct {
	RunID      string
	Workspace  string // worker processes are never shared between workspaces
	Language   Language
	Runtime    Name
	Files      map[string][]byte // key: relative path with slashes; value: content; Entrypoint is one of the paths
	Entrypoint string
	CodeDigest string // "sha256:…" over files and entrypoint; may be used as a cache key
	// Python does not cache code that this job compiles, because its process also reads untrusted source.
	KeepsNoCode  bool
	Input        json.RawMessage
	Environment  map[string]string
	Capabilities Capabilities
	Limits       Limits
	Isolation    Isolation
	Rules        *Rules        // rules for the use of the language; nil for none
	Bound        []BoundSecret // headers with secrets that are added to requests; the program never sees them
	Packages     *Installed    // packages that the program may import; nil for none
	GPU          bool          // the program needs a GPU; only for runtimes with the feature gpu
	Models       bool          // the program can read the operator's directory of models
	Attach       string        // handle of the job at a remote service that already executes the program, or saved state of a waiting Monty program; "" if the program starts now
}

// BoundSecret is a header with a secret that the egress proxy adds to the run's requests to one host. The program never
// sees the secret.
type BoundSecret struct {
	Name   string // name of the secret
	Host   string // host:port
	Header string
	Value  string // value of the header
	Secret string // the secret without the rest of Value
}

// Capabilities are the permissions of a version. A program without any capability can only compute.
type Capabilities struct {
	Hosts         []string `json:"hosts"`         // host:port; only the leftmost label may be a wildcard
	HostFunctions []string `json:"hostFunctions"` // names of host functions; log and progress are always granted
	Subprocess    bool     `json:"subprocess"`
	// Tools lists references to the agents that the program may call, such as summarise@^1, at most one for each agent.
	Tools []string `json:"tools,omitempty"`
	// Files is the project that the program may read and propose changes to; nil for none.
	Files *Files `json:"files,omitempty"`
	// Pinned lists the exact versions of the tools that a published version calls. Publishing sets this field. It is empty
	// in a draft.
	Pinned []ToolPin `json:"pinned,omitempty"`
}

// Files is the permission to read the files of a project. With Write, the program may also propose changes, which a
// person accepts or rejects.
type Files struct {
	Project string `json:"project"` // name of the project, or AnyProject for the project of the task
	Write   bool   `json:"write,omitempty"`
}

// AnyProject in Files.Project stands for the project that a task names.
const AnyProject = "*"

// ToolPin is the tool version to which a reference resolved when the calling version was published.
type ToolPin struct {
	Reference string `json:"reference"` // reference, as in Tools
	Version   string `json:"version"`   // semver
	Digest    string `json:"digest"`
}

// Limits bounds one run.
type Limits = limits.Limits

// DefaultLimits returns the built-in limits for versions and inline runs that set none. The server's configuration may
// override them.
func DefaultLimits() Limits { return limits.Defaults() }

// DefaultCeilings returns the built-in highest limits that a version may set. The server's configuration may override
// them.
func DefaultCeilings() Limits { return limits.Ceilings() }

// LeastLimits returns the lowest limits that a version may set. With lower limits, a program could not even start.
func LeastLimits() Limits { return limits.Least() }
