package runtimes

import (
	"encoding/json"
	"time"
)

// ErrorType says why a program did not succeed.
type ErrorType string

// The error types of the contract. Interrupted means that the server ended while the program ran.
const (
	SyntaxError    ErrorType = "syntax_error"
	RuntimeError   ErrorType = "runtime_error"
	RecursionLimit ErrorType = "recursion_limit"
	InvalidOutput  ErrorType = "invalid_output"
	MemoryLimit    ErrorType = "memory_limit"
	OutputLimit    ErrorType = "output_limit"
	ProcessLimit   ErrorType = "process_limit"
	DiskLimit      ErrorType = "disk_limit"
	Denied         ErrorType = "denied"
	Timeout        ErrorType = "timeout"
	Cancelled      ErrorType = "cancelled"
	Interrupted    ErrorType = "interrupted"
)

// Grant is the smallest addition to a version's capabilities that would allow what was denied.
type Grant struct {
	Hosts []string `json:"hosts"`
}

// ProgramError is how a program failed, told in terms of the user's source: File is one of the job's files, Line and
// Column count from 1 and are 0 when unknown. Remedy is the smallest change that would help. Of
// something denied, Rule names what denied it, and Grant is there where a grant can allow it.
type ProgramError struct {
	Type    ErrorType `json:"type"`
	Message string    `json:"message"`
	File    string    `json:"file,omitempty"`
	Line    int       `json:"line,omitempty"`
	Column  int       `json:"column,omitempty"`
	Stack   string    `json:"stack,omitempty"`
	Remedy  string    `json:"remedy,omitempty"`
	Rule    string    `json:"rule,omitempty"`
	Grant   *Grant    `json:"grant,omitempty"`
}

// Usage is what a run took, from kernel counters where there are any.
type Usage struct {
	Start      time.Duration // from Run being called until the program started
	Run        time.Duration // from the program's start to its end
	CPU        time.Duration
	PeakMemory int64 // bytes, of the whole process tree
}

// Outcome is how a program ended. Error is nil when it succeeded; Output is then its JSON result.
type Outcome struct {
	Output   json.RawMessage
	Error    *ProgramError
	ExitCode *int // of the process, where the program is one
	Usage    Usage
	Level    string // isolation that this run really had: full, reduced(what is missing), none
	CallErr  error  // the first error of ours in a host call, for the log: the program is told that the call failed
}

// Succeeded reports whether the program ended well.
func (o Outcome) Succeeded() bool { return o.Error == nil }

// Failed returns an outcome with an error.
func Failed(t ErrorType, message string) Outcome {
	return Outcome{Error: &ProgramError{Type: t, Message: message}}
}
