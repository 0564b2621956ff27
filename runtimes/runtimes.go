// Package runtimes is the vocabulary of execution: what is run (Job), what it emits (Event), what it may ask for (Host),
// how it ended (Outcome) and within which Limits. It knows no language, no jail and no storage.
package runtimes

import (
	"context"
	"encoding/json"
	"time"
)

// Language is what a program is written in.
type Language string

// The languages that a program can be written in.
const (
	JavaScript Language = "javascript"
	TypeScript Language = "typescript"
	Python     Language = "python"
	Bash       Language = "bash"
	WASM       Language = "wasm" // a module, whatever it was written in
)

// Name names a runtime: what executes. It is fixed in a version when it is published.
type Name string

// The runtimes of this house. Auto is a request, never an answer: publishing turns it into one of the others.
const (
	Auto         Name = "auto"
	Goja         Name = "goja"
	NodeEngine   Name = "node"
	PythonEngine Name = "python"
	BashEngine   Name = "bash"
	WASMEngine   Name = "wasm"
	Script       Name = "script"
)

// Runtime executes one language. It returns an error only when the house failed; a program that fails is an Outcome.
type Runtime interface {
	Run(ctx context.Context, job Job, host Host) (Outcome, error)
}

// Host is what a program may ask of us while it runs: it emits events and calls host functions that its version was
// granted. Both may be called from any goroutine of the runtime; a run calls them in the order things happened.
// Call answers with JSON, or with a *CallError that the program sees as an exception.
type Host interface {
	Emit(Event)
	Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error)
}

// CallError is a host function's refusal, told to the program. Of a denial, Rule names what denied it, Remedy says what
// would help, and Grant is what would allow it.
type CallError struct {
	Code    string `json:"code"` // denied, invalid_arguments, failed
	Message string `json:"message"`
	Rule    string `json:"rule,omitempty"`
	Remedy  string `json:"remedy,omitempty"`
	Grant   *Grant `json:"grant,omitempty"`
}

func (e *CallError) Error() string { return e.Message }

// Isolation says how strictly runs are kept apart from earlier runs of the same workspace.
type Isolation string

// Pooled is the default: a fresh interpreter or VM per run. Strict adds a fresh process that nothing ran in before.
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
	Input        json.RawMessage
	Environment  map[string]string
	Capabilities Capabilities
	Limits       Limits
	Isolation    Isolation
	Rules        *Rules        // nil for none
	Bound        []BoundSecret // what requests carry that the program never sees
	Models       bool          // the operator's directory of models is in sight, read-only
}

// BoundSecret is a header that the requests of a run carry to one host, put there outside of the jail.
type BoundSecret struct {
	Name   string // of the secret
	Host   string // host:port
	Header string
	Value  string // of the header
	Secret string // in it
}

// Restricted is the rule pack for Python: imports from a list only, and no way to make code from text.
const Restricted = "restricted"

// Rules restrict what a program may use of its language. They are checked before it runs and kept while it runs, as a
// convention: what holds a program is its jail.
type Rules struct {
	Pack    string   `json:"pack"`              // Restricted
	Imports []string `json:"imports,omitempty"` // modules that may be imported; empty means those of the pack
}

// Capabilities is what a version may do beyond computing.
type Capabilities struct {
	Hosts         []string `json:"hosts"`         // host:port, a wildcard only leftmost
	HostFunctions []string `json:"hostFunctions"` // names; log and progress are always granted
	Subprocess    bool     `json:"subprocess"`
}

// Limits bounds one run. Times are milliseconds, sizes bytes. Timeout counts from the moment the program starts.
type Limits struct {
	TimeoutMs      int64 `json:"timeoutMs"`
	CPUMs          int64 `json:"cpuMs"`
	MemoryBytes    int64 `json:"memoryBytes"`
	Processes      int64 `json:"processes"`
	OutputBytes    int64 `json:"outputBytes"` // stdout and stderr together; also the result's JSON
	DiskBytes      int64 `json:"diskBytes"`
	RecursionDepth int64 `json:"recursionDepth"`
}

// DefaultLimits apply where a version or an inline run names none, unless the configuration of a server says otherwise.
func DefaultLimits() Limits {
	return Limits{TimeoutMs: 30_000, CPUMs: 30_000, MemoryBytes: 256 << 20, Processes: 64, OutputBytes: 1 << 20, DiskBytes: 64 << 20, RecursionDepth: 1000}
}

// DefaultCeilings are the highest limits a server grants unless its configuration says otherwise.
func DefaultCeilings() Limits {
	return Limits{TimeoutMs: 600_000, CPUMs: 600_000, MemoryBytes: 2 << 30, Processes: 512, OutputBytes: 16 << 20, DiskBytes: 1 << 30, RecursionDepth: 10_000}
}

// LeastLimits are the lowest limits that mean anything: below them a program could not even start.
func LeastLimits() Limits {
	return Limits{TimeoutMs: 1, CPUMs: 1, MemoryBytes: 16 << 20, Processes: 1, OutputBytes: 1, DiskBytes: 1 << 20, RecursionDepth: 10}
}

// Timeout is the wall-clock limit as a duration.
func (l Limits) Timeout() time.Duration { return time.Duration(l.TimeoutMs) * time.Millisecond }

// CPU is the CPU-time limit as a duration.
func (l Limits) CPU() time.Duration { return time.Duration(l.CPUMs) * time.Millisecond }
