// Package runtimes defines the types of execution: the program (Job), its events (Event), its requests (Host), its
// result (Outcome) and its Limits. It knows no language, no jail and no storage.
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

// Name names a runtime, which executes programs. Publishing a version fixes its runtime.
type Name string

// Runtimes of this server. Auto appears only in requests: publishing replaces it by one of the others.
const (
	Auto         Name = "auto"
	Goja         Name = "goja"
	NodeEngine   Name = "node"
	PythonEngine Name = "python"
	MontyEngine  Name = "monty"
	BashEngine   Name = "bash"
	WASMEngine   Name = "wasm"
	RemoteEngine Name = "remote"   // a service that the program names
	E2BEngine    Name = "e2b"      // a sandbox of E2B
	Bacalhau     Name = "bacalhau" // a job of a Bacalhau network
	WasmEdge     Name = "wasmedge" // the command-line runner of WasmEdge
	Script       Name = "script"
)

// Remote reports whether a runtime executes programs at another service, which may cost money.
func (n Name) Remote() bool {
	switch n {
	case "", Auto, Goja, NodeEngine, PythonEngine, MontyEngine, BashEngine, WASMEngine, WasmEdge, Script:
		return false
	}
	return true
}

// Runtime executes one language. It returns an error only if the server failed; a program that fails is an Outcome.
type Runtime interface {
	Run(ctx context.Context, job Job, host Host) (Outcome, error)
}

// Host handles a running program's events and its calls of granted host functions. Both methods may be called from any
// goroutine of the runtime. A run calls them in the order of the events. Call returns JSON, or a *CallError that the
// program sees as an exception.
type Host interface {
	Emit(Event)
	Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error)
}

// JobStore is a host that stores the handle of the job of a program at another service. After a restart of the server the engine gets the
// handle again, as Job.Attach.
type JobStore interface {
	StoreJob(ctx context.Context, handle string)
}

// WaitsCode is the error code of a host call that must wait for the end of a run. The message is the ID of that run. The
// guest of Monty then stores the program and calls AwaitFunction. Other guests never get this error.
const WaitsCode = "waits"

// AwaitFunction is the host function with which a guest waits for the end of a run that its program has called. Its
// arguments have the run's ID and the state of the program. After a restart of the server the engine gets them as
// Job.Attach.
const AwaitFunction = "awaitRun"

// ErrDetached is the cause of the end of a run's context if the program's job at another service goes on.
var ErrDetached = errors.New("the server is shutting down, and the job goes on")

// CallError is the error of a host function, as the program sees it. For a denial, Rule names the rule, Remedy a change
// that would help, and Grant a grant that would allow the call.
type CallError struct {
	Code    string `json:"code"` // denied, invalid_arguments, tool_failed, failed
	Message string `json:"message"`
	Rule    string `json:"rule,omitempty"`
	Remedy  string `json:"remedy,omitempty"`
	Grant   *Grant `json:"grant,omitempty"`
	// Tool describes the run of a called tool that did not succeed. Rule is then set too.
	Tool *ToolFailure `json:"tool,omitempty"`
}

// ToolFailure is the end of a called tool. Type is the type of the program's error, or the code of the server's refusal.
// RunID is "" if there was no run.
type ToolFailure struct {
	Reference string `json:"reference"` // the version that ran, name@1.2.0
	Type      string `json:"type"`
	Message   string `json:"message"`
	RunID     string `json:"runId,omitempty"`
}

func (e *CallError) Error() string { return e.Message }

// Isolation sets how strictly runs are separated from earlier runs of the same workspace.
type Isolation string

// Pooled is the default: a fresh interpreter or VM per run. Strict adds a fresh process that was never used before.
const (
	Pooled Isolation = ""
	Strict Isolation = "strict"
)

// Job is one program with its input, ready to run: resolved, validated and admitted.
type Job struct {
	RunID        string
	Workspace    string // worker processes are never shared between workspaces
	Language     Language
	Runtime      Name
	Files        map[string][]byte // slash-separated relative path → content; Entrypoint is one of them
	Entrypoint   string
	CodeDigest   string // "sha256:…" of files and entrypoint; may key caches
	KeepsNoCode  bool   // Python keeps no code that this job compiled, because the process reads untrusted source
	Input        json.RawMessage
	Environment  map[string]string
	Capabilities Capabilities
	Limits       Limits
	Isolation    Isolation
	Rules        *Rules        // nil for none
	Bound        []BoundSecret // secret headers of requests, which the program never sees
	Packages     *Installed    // packages that the program may import; nil for none
	GPU          bool          // the program needs a GPU; only for runtimes with the feature gpu
	Models       bool          // the operator's directory of models is visible, read-only
	Attach       string        // handle of a job at another service that already executes the program, or state of a Monty program that waited; "" for none
}

// BoundSecret is a header that is added to the run's requests to one host, outside of the jail.
type BoundSecret struct {
	Name   string // name of the secret
	Host   string // host:port
	Header string
	Value  string // value of the header
	Secret string // the secret within Value
}

// Capabilities are the permissions of a version beyond computing.
type Capabilities struct {
	Hosts         []string `json:"hosts"`         // host:port, a wildcard only leftmost
	HostFunctions []string `json:"hostFunctions"` // names; log and progress are always granted
	Subprocess    bool     `json:"subprocess"`
	// Tools are references to the agents that the program may call, such as summarise@^1, at most one for each agent.
	Tools []string `json:"tools,omitempty"`
	// Files is the project that the program may read and propose changes to; nil for none.
	Files *Files `json:"files,omitempty"`
	// Pinned has the version of each tool that a published version calls. Publishing sets it; a draft has none.
	Pinned []ToolPin `json:"pinned,omitempty"`
}

// Files is the permission to read the files of a project. With Write, the program may also propose changes, which a
// person accepts or rejects.
type Files struct {
	Project string `json:"project"` // AnyProject for the one that a task names
	Write   bool   `json:"write,omitempty"`
}

// AnyProject stands for the project that a task names.
const AnyProject = "*"

// ToolPin is the version that a reference to a tool named when a version was published.
type ToolPin struct {
	Reference string `json:"reference"` // as in Tools
	Version   string `json:"version"`   // semver
	Digest    string `json:"digest"`
}

// Limits bounds one run.
type Limits = limits.Limits

// DefaultLimits returns the limits of a version or inline run that sets none, unless the server's configuration
// differs.
func DefaultLimits() Limits { return limits.Defaults() }

// DefaultCeilings returns the highest limits that a server grants, unless its configuration differs.
func DefaultCeilings() Limits { return limits.Ceilings() }

// LeastLimits returns the lowest useful limits: below them a program could not even start.
func LeastLimits() Limits { return limits.Least() }
