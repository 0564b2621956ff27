package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
)

// checkJSON rejects text that is not one JSON document in UTF-8 with at most depth levels, and counts its values and
// names. Its errors report the position, never the content.
func checkJSON(text []byte, depth int) (values int, err error) {
	if !utf8.Valid(text) {
		return 0, fault.New(fault.BadRequest, "The body is not valid UTF-8.")
	}
	at, values := survey(text, depth)
	if at >= 0 {
		line, column := position(text, at)
		return 0, &fault.Error{Code: fault.BadRequest, Message: "The body is nested too deeply.",
			Details: []fault.Detail{{Line: line, Column: column, Message: "must have at most 256 levels"}}}
	}
	if json.Valid(text) {
		if longDigits(text, maxDigits) {
			return values, checkNumbers(text)
		}
		return values, nil
	}
	line, column := position(text, syntaxErrorAt(text))
	return 0, &fault.Error{Code: fault.BadRequest, Message: "The body is not valid JSON.",
		Details: []fault.Detail{{Line: line, Column: column, Message: "is not valid JSON from here on"}}}
}

// checkNumbers refuses numbers with more digits than programs are given: it names the place by its pointer, in a document
// that is JSON.
func checkNumbers(text []byte) error {
	var refused *jcs.Error
	if err := jcs.Check(text, jcs.Limits{Digits: maxDigits}); errors.As(err, &refused) && refused.Reason == jcs.BadNumber {
		return &fault.Error{Code: fault.InvalidInput, Message: "The body is not valid.",
			Details: []fault.Detail{{Pointer: refused.Pointer, Code: string(refused.Reason), Message: refused.Message}}}
	}
	return nil
}

// longDigits says whether text has so many digits in a row somewhere, or with a point between them.
func longDigits(text []byte, most int) bool {
	row := 0
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			if row++; row > most {
				return true
			}
		case c != '.':
			row = 0
		}
	}
	return false
}

// survey returns where text first opens more than depth levels, -1 for nowhere, and how many values and names it has. It
// needs no valid JSON, and takes no memory.
func survey(text []byte, depth int) (tooDeep, values int) {
	level, quoted, opened := 0, false, true // opened: the next token, unless it is a closing one, is a value or a name
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted && c == '\\':
			i++
			continue
		case quoted:
			quoted = c != '"'
			continue
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			continue
		case c == ']' || c == '}':
			level--
			opened = false
			continue
		}
		if opened {
			values++
		}
		opened = c == '[' || c == '{' || c == ',' || c == ':'
		quoted = c == '"'
		if c == '[' || c == '{' {
			if level++; level > depth {
				return i, values
			}
		}
	}
	return -1, values
}

func syntaxErrorAt(text []byte) int {
	var any json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal(text, &any); errors.As(err, &syntax) {
		return int(max(syntax.Offset-1, 0))
	}
	return len(text)
}

// position converts an offset into a line and a column. Both start at 1; the column counts characters.
func position(text []byte, at int) (line, column int) {
	before := text[:min(at, len(text))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, utf8.RuneCount(before[start:]) + 1
}
