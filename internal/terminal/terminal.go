// Package terminal writes untrusted text to a terminal. It does not depend on runs.
package terminal

import (
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Filter writes untrusted text to a terminal. It keeps colours if they are enabled. It removes all other escape sequences
// and control characters, even if they are split between two writes. So text cannot move the cursor, set a title or make
// the terminal answer a query.
type Filter struct {
	w        io.Writer
	colours  bool
	at       state
	sequence strings.Builder
	coloured bool
	newLine  bool
	returned bool
}

type state int

const (
	ground  state = iota
	escaped       // after ESC
	control       // within ESC [ …, a control sequence
	textual       // within ESC ] … or a similar string sequence, up to BEL or ST
	textEsc       // after ESC within such a sequence
)

// maxSequence is the maximum length of a colour sequence.
const maxSequence = 64

// NewFilter returns a filter; without colours it removes colours too.
func NewFilter(w io.Writer, colours bool) *Filter {
	return &Filter{w: w, colours: colours, newLine: true}
}

// Print writes the filtered text.
func (t *Filter) Print(text string) {
	var out strings.Builder
	for _, r := range text {
		t.next(&out, r)
	}
	_, _ = io.WriteString(t.w, out.String()) // stderr is closed: the error cannot be reported
}

// End finishes the line and resets colours.
func (t *Filter) End() {
	t.at = ground
	text := ""
	if t.coloured {
		text = "\x1b[0m"
	}
	if !t.newLine {
		text += "\n"
	}
	t.coloured, t.newLine = false, true
	_, _ = io.WriteString(t.w, text) // stderr is closed: the error cannot be reported
}

func (t *Filter) next(out *strings.Builder, r rune) {
	switch t.at {
	case ground:
		t.plain(out, r)
	case escaped:
		t.begin(r)
	case control:
		t.gather(out, r)
	case textual:
		switch r {
		case '\a', '\u009c':
			t.at = ground
		case '\x1b':
			t.at = textEsc
		}
	case textEsc:
		t.at = textual
		if r == '\\' {
			t.at = ground
		}
	}
}

func (t *Filter) plain(out *strings.Builder, r rune) {
	if t.returned && r != '\n' { // a line that would be overwritten becomes a separate line
		t.put(out, '\n')
	}
	t.returned = false
	switch {
	case r == '\x1b':
		t.at = escaped
	case r == '\u009b':
		t.at = control
		t.sequence.Reset()
	case r == '\u0090' || r == '\u009d' || r == '\u009e' || r == '\u009f' || r == '\u0098':
		t.at = textual
	case r == '\r':
		t.returned = true
	case r == '\n' || r == '\t':
		t.put(out, r)
	case unicode.IsPrint(r):
		t.put(out, r)
	case r == '\u200d' || r == '\ufe0f': // join and style emoji
		t.put(out, r)
	case r >= ' ' && (r < 0x7f || r > 0x9f):
		out.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'")) // marks of direction and similar characters are shown as escapes
		t.newLine = false
	}
}

func (t *Filter) put(out *strings.Builder, r rune) {
	out.WriteRune(r)
	t.newLine = r == '\n'
}

// begin handles the character after ESC.
func (t *Filter) begin(r rune) {
	switch r {
	case '[':
		t.at = control
		t.sequence.Reset()
	case ']', 'P', '^', '_', 'X':
		t.at = textual
	case '\x1b':
	default:
		if r < ' ' || r > '/' { // intermediate bytes come before the final byte
			t.at = ground
		}
	}
}

// gather collects a control sequence and keeps it if it is a colour.
func (t *Filter) gather(out *strings.Builder, r rune) {
	switch {
	case r == '\x1b':
		t.at = escaped
	case r >= '@' && r <= '~':
		t.at = ground
		if parameters := t.sequence.String(); r == 'm' && t.colours && strings.Trim(parameters, "0123456789;:") == "" {
			out.WriteString("\x1b[" + parameters + "m")
			t.coloured = true
		}
	case t.sequence.Len() > maxSequence || r > '~':
		t.at = ground
	default:
		t.sequence.WriteRune(r)
	}
}

// EscapeJSON writes characters that are unsafe for a terminal as \u escapes. Such characters occur only within strings.
func EscapeJSON(text string) string {
	var out strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' || r == '\u200d' || r == '\ufe0f' {
			out.WriteRune(r)
			continue
		}
		const hex = "0123456789abcdef"
		for _, unit := range utf16.AppendRune(nil, r) {
			out.WriteString(`\u`)
			for shift := 12; shift >= 0; shift -= 4 {
				out.WriteByte(hex[unit>>shift&0xf])
			}
		}
	}
	return out.String()
}
