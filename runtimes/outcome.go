package runtimes

import (
	"encoding/json"
	"time"
)

// ErrorType classifies the reason why a program did not succeed.
type ErrorType string

// Error types in the HTTP contract. Interrupted means that the server stopped while the program ran.
const (
	SyntaxError    ErrorType = "syntax_error"
	RuntimeError   ErrorType = "runtime_error"
	RecursionLimit ErrorType = "recursion_limit"
	InvalidInput   ErrorType = "invalid_input" // the input does not match a schema in the program
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

// Grant is the smallest addition to a version's capabilities that would allow a denied request.
type Grant struct {
	Hosts []string `json:"hosts,omitempty"`
	Tools []string `json:"tools,omitempty"`
}

// ProgramError describes a program's failure and its position in the user's source. File is one of the job's files.
// Line and Column count from 1 and are 0 if unknown. Remedy describes how to fix the failure. For a denied request,
// Rule is the name of the rule that denied the request. Grant is set if a grant can allow the request.
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
	// Errors lists the values that do not match a schema of the program, for InvalidInput and InvalidOutput.
	Errors []FieldError `json:"errors,omitempty"`
}

// FieldError is a value in the input or output that does not match a schema of the program. Pointer is its JSON pointer,
// which begins with /input or /output.
type FieldError struct {
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

// MaxFieldErrors is the maximum number of ProgramError.Errors.
const MaxFieldErrors = 50

// Usage holds the resources that a run used. If the run has kernel counters, the values come from these.
type Usage struct {
	Start      time.Duration // time from the call of Run to the start of the program
	Run        time.Duration // time from the start of the program to its end
	CPU        time.Duration
	PeakMemory int64         // peak in bytes of the whole process tree
	Remote     time.Duration // time at a remote service, measured by this server; 0 for a local program
	GPU        time.Duration // GPU time multiplied by the number of GPUs, as a remote service reports it
	RemoteCost float64       // cost in the server's currency, as a remote service reports it; 0 if it reports none
}

// Outcome is the result of a program. If the program succeeded, Error is nil and Output is its JSON result.
type Outcome struct {
	Output   json.RawMessage
	Error    *ProgramError
	ExitCode *int // exit code, if the program is a process
	Usage    Usage
	Level    string // actual isolation of this run: full, reduced(missing mechanisms), none
	// First error of the server in a host call, for the log; the program receives only the information that the call
	// failed.
	CallErr error
}

// Succeeded reports whether the program succeeded.
func (o Outcome) Succeeded() bool { return o.Error == nil }

// Failed returns an outcome with an error.
func Failed(t ErrorType, message string) Outcome {
	return Outcome{Error: &ProgramError{Type: t, Message: message}}
}
