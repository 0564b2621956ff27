// Package fault is the one failure language of the house: an error has a code that doors translate, a sentence for a
// person and, for invalid input, a list of what is wrong and where. It knows nothing of HTTP.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Code says what kind of failure an error is. Doors translate codes; the linter refuses a switch that forgets one.
type Code string

// The codes of the house. A client reads them in the `code` member of a problem document.
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
	StaleDraft           Code = "stale_draft"
	VersionExists        Code = "version_exists"
	NameTaken            Code = "name_taken"
	NoVersion            Code = "no_version"
	BumpTooSmall         Code = "bump_too_small"
	Conflict             Code = "conflict"
	SecretMissing        Code = "secret_missing"
	IdempotencyMismatch  Code = "idempotency_mismatch"
	QueueFull            Code = "queue_full"
	QuotaExceeded        Code = "quota_exceeded" // until a time
	StorageFull          Code = "storage_full"
	TooManyRequests      Code = "too_many_requests"
	SandboxUnavailable   Code = "sandbox_unavailable"
	RuntimeUnavailable   Code = "runtime_unavailable"
	ProviderUnavailable  Code = "provider_unavailable"
	StorageUnavailable   Code = "storage_unavailable" // nothing can be recorded now
	RunInterrupted       Code = "run_interrupted"     // by another server, while this one carried it out
	ShuttingDown         Code = "shutting_down"
	Cancelled            Code = "cancelled"
)

// Detail names one thing that is wrong. Pointer is an RFC 6901 JSON pointer into what the caller sent; File, Line and
// Column (both from 1) point into a source file instead. Values that the caller sent are never echoed.
type Detail struct {
	Pointer string `json:"pointer,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
}

// Error is a failure with a code. Message is a sentence that may be shown to the caller; Err is for the log only.
type Error struct {
	Code       Code
	Message    string
	Details    []Detail
	Extra      map[string]any // further members of the problem document, such as currentRevision
	RetryAfter time.Duration  // for QueueFull, QuotaExceeded and TooManyRequests: when to try again
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

// New returns an error with a code and a sentence for the caller.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid returns an InvalidInput error about one field, named by its JSON pointer.
func Invalid(pointer, format string, args ...any) *Error {
	d := Detail{Pointer: pointer, Message: fmt.Sprintf(format, args...)}
	return &Error{Code: InvalidInput, Message: "The input is not valid.", Details: []Detail{d}}
}

// CodeOf returns the code of the outermost *Error in err's chain, Internal for any other error, "" for nil.
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

// Is reports whether err carries the code.
func Is(err error, code Code) bool { return CodeOf(err) == code }
