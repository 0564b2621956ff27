// Package fault defines the error type of all packages. An error has a code that each API translates, a message for
// people and, for invalid input, a list of details. The package does not depend on HTTP.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Code is the kind of an error. Each API translates codes. A linter rejects a switch over codes that omits one.
type Code string

// These are the values of Code. Clients read them in the member `code` of a problem document.
const (
	Internal             Code = "internal"
	Unauthenticated      Code = "unauthenticated"
	Forbidden            Code = "forbidden"
	BadHost              Code = "bad_host"
	BadOrigin            Code = "bad_origin"
	NotFound             Code = "not_found"
	NoWorkspace          Code = "no_workspace"
	MethodNotAllowed     Code = "method_not_allowed"
	BadRequest           Code = "bad_request"
	InvalidInput         Code = "invalid_input"
	VersionRequired      Code = "version_required"
	UnsupportedMediaType Code = "unsupported_media_type"
	BodyTooLarge         Code = "body_too_large"
	PreconditionRequired Code = "precondition_required"
	UpgradeRequired      Code = "upgrade_required"
	StaleDraft           Code = "stale_draft"
	VersionExists        Code = "version_exists"
	NameTaken            Code = "name_taken"
	NoVersion            Code = "no_version"
	BumpTooSmall         Code = "bump_too_small"
	PolicyBlocked        Code = "policy_blocked"    // the policy gate refuses the program
	ApprovalRequired     Code = "approval_required" // a person must approve the action first
	Conflict             Code = "conflict"
	TestsFailed          Code = "tests_failed"
	SecretMissing        Code = "secret_missing"
	IdempotencyMismatch  Code = "idempotency_mismatch"
	QueueFull            Code = "queue_full"
	QuotaExceeded        Code = "quota_exceeded"  // the quota is used up until a given time
	BudgetExceeded       Code = "budget_exceeded" // the budget is used up until the end of the month, unless it is raised
	StorageFull          Code = "storage_full"
	TooManyRequests      Code = "too_many_requests"
	SandboxUnavailable   Code = "sandbox_unavailable"
	RuntimeUnavailable   Code = "runtime_unavailable"
	ProviderUnavailable  Code = "provider_unavailable"
	IndexUnavailable     Code = "index_unavailable"   // the package index is not available
	ContentChanged       Code = "content_changed"     // the bucket returned other bytes than were stored
	ModelUnavailable     Code = "model_unavailable"   // no language model is configured, or its answer is not usable
	StorageUnavailable   Code = "storage_unavailable" // the server cannot record changes now
	RunInterrupted       Code = "run_interrupted"     // another server has marked this server's run as interrupted
	ShuttingDown         Code = "shutting_down"
	Cancelled            Code = "cancelled"
)

// Detail describes one problem of a request. Pointer is an RFC 6901 JSON pointer into the request. File, Line and
// Column (both from 1) either replace the pointer and point into a source file, or say where the value of the pointer
// came from. Details never contain values of the request.
type Detail struct {
	Pointer string `json:"pointer,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
}

// Error is an error with a code. Message may be shown to the caller. Err is only for the log.
type Error struct {
	Code       Code
	Message    string
	Details    []Detail
	Extra      map[string]any // additional members of the problem document, such as currentRevision
	RetryAfter time.Duration  // time after which the client may retry, for QueueFull, QuotaExceeded and TooManyRequests
	Err        error
}

func (e *Error) Error() string {
	s := string(e.Code) + ": " + e.Message
	for _, d := range e.Details {
		s += fmt.Sprintf(" [%s%s: %s]", d.Pointer, d.File, d.Message)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// New returns an error with a code and a message for the caller.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid returns an InvalidInput error about one field. pointer is the JSON pointer of the field.
func Invalid(pointer, format string, args ...any) *Error {
	d := Detail{Pointer: pointer, Message: fmt.Sprintf(format, args...)}
	return &Error{Code: InvalidInput, Message: "The input is not valid.", Details: []Detail{d}}
}

// CodeOf returns the code of the outermost *Error in the chain of err. It returns Internal for any other error and ""
// for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Internal
}

// Is reports whether the code of err is code.
func Is(err error, code Code) bool { return CodeOf(err) == code }
