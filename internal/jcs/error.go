package jcs

import "strings"

// Reason is the kind of a problem in a document.
type Reason string

// These are the values of Reason.
const (
	Syntax       Reason = "syntax"
	TooLarge     Reason = "too_large"
	TooDeep      Reason = "too_deep"
	DuplicateKey Reason = "duplicate_key"
	BadEncoding  Reason = "bad_encoding"
	BadNumber    Reason = "bad_number"
	Stopped      Reason = "stopped" // Limits.Count has rejected the document
)

// Error says why a document is rejected, and at which position. Pointer is the JSON pointer of the value at this
// position. Offset is the number of bytes before the position. Message is a predicate about the value, and never
// contains values.
type Error struct {
	Reason  Reason
	Pointer string
	Offset  int
	Message string
	Err     error // error that Limits.Count has returned
}

// Unwrap returns the error that Limits.Count has returned.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) Error() string {
	if e.Pointer == "" {
		return "the document " + e.Message
	}
	return e.Pointer + " " + e.Message
}

// maxPointer is the maximum length of an error's pointer in bytes, because a hostile client can send keys of any
// length.
const maxPointer = 1 << 10

// under adds a key or an index to the front of the error's pointer. The scanner calls it at each level while it returns
// from the recursion.
func (e *Error) under(token string) *Error {
	if len(e.Pointer)+len(token) > maxPointer {
		token = "…"
	}
	e.Pointer = "/" + EscapePointer(token) + e.Pointer
	return e
}

// EscapePointer escapes one token of a JSON pointer (RFC 6901).
func EscapePointer(token string) string {
	if !strings.ContainsAny(token, "~/") {
		return token
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}
