package gate

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
)

// refused converts an error of package jcs to the error for the client. The error contains the position of a syntax
// error, or the pointer of a value that is not allowed. It never contains a part of the body.
func refused(text []byte, err error) error {
	var bad *jcs.Error
	if !errors.As(err, &bad) {
		return err
	}
	line, column := position(text, min(bad.Offset, len(text)-1))
	switch {
	case bad.Reason == jcs.Stopped:
		return bad.Err
	case bad.Reason == jcs.BadEncoding && !utf8.Valid(text):
		return fault.New(fault.BadRequest, "The body is not valid UTF-8.")
	case bad.Reason == jcs.TooDeep:
		return &fault.Error{Code: fault.BadRequest, Message: "The body is nested too deeply.",
			Details: []fault.Detail{{Line: line, Column: column, Message: "must have at most 256 levels"}}}
	case bad.Reason == jcs.Syntax:
		return &fault.Error{Code: fault.BadRequest, Message: "The body is not valid JSON.",
			Details: []fault.Detail{{Line: line, Column: column, Message: "is not valid JSON at this position"}}}
	}
	return &fault.Error{Code: fault.InvalidInput, Message: "The body is not valid.",
		Details: []fault.Detail{{Pointer: bad.Pointer, Code: string(bad.Reason), Message: bad.Message}}}
}

// position converts an offset into a line and a column. Both start at 1. The column counts characters.
func position(text []byte, at int) (line, column int) {
	before := text[:min(at, len(text))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, utf8.RuneCount(before[start:]) + 1
}
