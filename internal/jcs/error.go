package jcs

import "strings"

// Reason says what is wrong with a document.
type Reason string

// The reasons for which a document is refused.
const (
	Syntax       Reason = "syntax"
	TooLarge     Reason = "too_large"
	TooDeep      Reason = "too_deep"
	DuplicateKey Reason = "duplicate_key"
	BadEncoding  Reason = "bad_encoding"
	BadNumber    Reason = "bad_number"
)

// Error says why a document is not accepted and where: Pointer is the JSON pointer of the value that was being read,
// Offset the byte from 0. Message is a sentence without its subject, which is the value at Pointer, and never quotes values.
type Error struct {
	Reason  Reason
	Pointer string
	Offset  int
	Message string
}

func (e *Error) Error() string {
	if e.Pointer == "" {
		return "the document " + e.Message
	}
	return e.Pointer + " " + e.Message
}

// maxPointer bounds the pointer of an error in bytes: keys are as long as a hostile client likes.
const maxPointer = 1 << 10

// under puts the error beneath a key or an index; it is called on the way up.
func (e *Error) under(token string) *Error {
	if len(e.Pointer)+len(token) > maxPointer {
		token = "…"
	}
	e.Pointer = "/" + EscapePointer(token) + e.Pointer
	return e
}

// EscapePointer writes one reference token of a JSON pointer (RFC 6901).
func EscapePointer(token string) string {
	if !strings.ContainsAny(token, "~/") {
		return token
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}
