package skills

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
)

// faults collects all problems of a folder, so that a person can fix them together.
type faults struct{ details []fault.Detail }

func (f *faults) addf(file string, line int, format string, args ...any) {
	f.details = append(f.details, fault.Detail{File: file, Line: line, Message: fmt.Sprintf(format, args...)})
}

func (f *faults) add(d fault.Detail) { f.details = append(f.details, d) }

func (f *faults) err() error {
	if len(f.details) == 0 {
		return nil
	}
	return invalid(f.details...)
}

func invalid(details ...fault.Detail) error {
	return &fault.Error{Code: fault.InvalidInput, Message: "The skill is not valid.", Details: details}
}

// about converts an error detail to a sentence about a file. In the sentence, a field name replaces the pointer.
func about(d fault.Detail) string {
	switch {
	case d.Pointer == "":
		return d.Message
	case d.Pointer == "/version" && d.Code == "pattern":
		return "version must be three numbers, for example 1.0.0"
	case d.Pointer == "/handler" && d.Code == "pattern":
		return "handler must be FILE.FUNCTION without the suffix, for example handler.greet"
	}
	return strings.ReplaceAll(strings.TrimPrefix(d.Pointer, "/"), "/", ".") + " " + d.Message
}

// notJSON reports the position at which schema.json is not valid JSON.
func notJSON(text []byte, err error) fault.Detail {
	d := fault.Detail{File: SchemaFile, Line: 1, Message: "is not valid JSON."}
	var syntax *jcs.Error
	if errors.As(err, &syntax) {
		before := text[:min(syntax.Offset, len(text))]
		d.Line = bytes.Count(before, []byte{'\n'}) + 1
		d.Column = len(before) - bytes.LastIndexByte(before, '\n')
		d.Message = strings.TrimSpace(syntax.Pointer + " " + syntax.Message)
	}
	return d
}

// linesOf returns, by pointer, the line on which each value of a JSON document begins. The document must be valid.
func linesOf(text []byte) map[string]int {
	l := &liner{text: text, decoder: json.NewDecoder(bytes.NewReader(text)), lines: map[string]int{}, line: 1}
	l.decoder.UseNumber()
	l.value("")
	return l.lines
}

type liner struct {
	text    []byte
	decoder *json.Decoder
	lines   map[string]int
	at      int // position in the text up to which the line breaks were counted
	line    int
}

func (l *liner) token() json.Token {
	token, err := l.decoder.Token()
	if err != nil {
		return nil
	}
	end := min(int(l.decoder.InputOffset()), len(l.text))
	l.line += bytes.Count(l.text[l.at:end], []byte{'\n'})
	l.at = end
	return token
}

func (l *liner) value(pointer string) {
	opening := l.token()
	l.lines[pointer] = l.line
	switch opening {
	case json.Delim('{'):
		for l.decoder.More() {
			key, ok := l.token().(string)
			if !ok {
				return
			}
			l.value(pointer + "/" + jcs.EscapePointer(key))
		}
		l.token()
	case json.Delim('['):
		for i := 0; l.decoder.More(); i++ {
			l.value(pointer + "/" + strconv.Itoa(i))
		}
		l.token()
	}
}

// lineOf returns the line of the value at a pointer. If that value has no line, it returns the line of the closest
// enclosing value that has one.
func (s Skill) lineOf(lines map[string]int, pointer string) int {
	for {
		if line, ok := lines[pointer]; ok {
			return max(line, 1)
		}
		at := strings.LastIndexByte(pointer, '/')
		if at < 0 {
			return 1
		}
		pointer = pointer[:at]
	}
}

// Locate adds file and line to the details of an error about the skill's spec, and removes their pointers. These
// pointers name fields of the API, which the author of a skill does not see.
func (s Skill) Locate(err error) error {
	var refusal *fault.Error
	if !errors.As(err, &refusal) || len(refusal.Details) == 0 {
		return err
	}
	moved := *refusal
	moved.Details = make([]fault.Detail, len(refusal.Details))
	for i, d := range refusal.Details {
		moved.Details[i] = s.locate(d)
	}
	return &moved
}

func (s Skill) locate(d fault.Detail) fault.Detail {
	switch {
	case IsEntry(d.File):
		line := s.lineOf(s.settings, "/handler")
		return fault.Detail{File: SettingsFile, Line: line, Code: d.Code, Message: fmt.Sprintf("has the handler %s, which cannot be called: %s", s.Settings.Handler, d.Message)}
	case d.File != "":
		return d
	}
	for field, member := range map[string]string{"/inputSchema": "/input", "/outputSchema": "/output"} {
		if rest, ok := strings.CutPrefix(d.Pointer, field); ok {
			return fault.Detail{File: SchemaFile, Line: s.lineOf(s.schemas, member+rest), Code: d.Code, Message: member[1:] + " " + strings.TrimSpace(rest+" "+d.Message)}
		}
	}
	if rest, ok := strings.CutPrefix(d.Pointer, "/files/"); ok {
		return fault.Detail{File: strings.NewReplacer("~1", "/", "~0", "~").Replace(rest), Code: d.Code, Message: d.Message}
	}
	pointer := snake(strings.Replace(d.Pointer, "/packages", "/dependencies", 1))
	return fault.Detail{File: SettingsFile, Line: s.lineOf(s.settings, pointer), Code: d.Code, Message: about(fault.Detail{Pointer: pointer, Message: d.Message})}
}

// snake converts a pointer with names of the API to the names in skill.yaml: timeoutMs becomes timeout_ms.
func snake(pointer string) string {
	var out strings.Builder
	for _, c := range pointer {
		if unicode.IsUpper(c) {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(c))
	}
	return out.String()
}

func shown(name string) string { return fault.Shown(name, 80) }

// Line returns the line of the member of skill.yaml at a pointer.
func (s Skill) Line(pointer string) int { return s.lineOf(s.settings, pointer) }
