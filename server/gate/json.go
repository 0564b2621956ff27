package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/atelier-run/atelier/internal/fault"
)

// checkJSON refuses what is not one JSON document in UTF-8 with at most depth levels. It says where, never what.
func checkJSON(text []byte, depth int) error {
	if !utf8.Valid(text) {
		return fault.New(fault.BadRequest, "The body is not valid UTF-8.")
	}
	if at := deeper(text, depth); at >= 0 {
		line, column := position(text, at)
		return &fault.Error{Code: fault.BadRequest, Message: "The body is nested too deeply.",
			Details: []fault.Detail{{Line: line, Column: column, Message: "more than 256 levels"}}}
	}
	if json.Valid(text) {
		return nil
	}
	line, column := position(text, syntaxErrorAt(text))
	return &fault.Error{Code: fault.BadRequest, Message: "The body is not valid JSON.",
		Details: []fault.Detail{{Line: line, Column: column, Message: "is not JSON from here on"}}}
}

// deeper returns where text first opens more than depth levels, -1 for nowhere. It needs no valid JSON.
func deeper(text []byte, depth int) int {
	level, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if level++; level > depth {
				return i
			}
		case c == ']' || c == '}':
			level--
		}
	}
	return -1
}

func syntaxErrorAt(text []byte) int {
	var any json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal(text, &any); errors.As(err, &syntax) {
		return int(max(syntax.Offset-1, 0))
	}
	return len(text)
}

// position turns an offset into a line and a column, both from 1, the column in characters.
func position(text []byte, at int) (line, column int) {
	before := text[:min(at, len(text))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, utf8.RuneCount(before[start:]) + 1
}
