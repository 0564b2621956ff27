package jcs

import "strings"

// Reason is the kind of error in a document.
type Reason string

// Reasons for which a document is rejected.
const (
	Syntax       Reason = "syntax"
	TooLarge     Reason = "too_large"
	TooDeep      Reason = "too_deep"
	DuplicateKey Reason = "duplicate_key"
	BadEncoding  Reason = "bad_encoding"
	BadNumber    Reason = "bad_number"
	Stopped      Reason = "stopped" // by Limits.Count
)

// Error explains why a document is rejected and where. Pointer is the JSON pointer of the value being read, and Offset
// is its byte from 0. Message is a predicate about the value at Pointer and never quotes values.
type Error struct {
	Reason  Reason
	Pointer string
	Offset  int
	Message string
	Err     error // error of Limits.Count
}

// Unwrap returns the error of Limits.Count.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) Error() string {
	if e.Pointer == "" {
		return "the document " + e.Message
	}
	return e.Pointer + " " + e.Message
}

// maxPointer limits the pointer of an error in bytes, because a hostile client can send keys of any length.
const maxPointer = 1 << 10

// under prefixes the error's pointer with a key or an index. The scanner calls it at each level while it returns from the
// recursion.
func (e *Error) under(token string) *Error {
	if len(e.Pointer)+len(token) > maxPointer {
		token = "…"
	}
	e.Pointer = "/" + EscapePointer(token) + e.Pointer
	return e
}

// EscapePointer escapes one reference token of a JSON pointer (RFC 6901).
func EscapePointer(token string) string {
	if !strings.ContainsAny(token, "~/") {
		return token
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}
