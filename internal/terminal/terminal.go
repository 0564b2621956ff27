// Package terminal writes untrusted text to a terminal. It does not depend on runs.
package terminal

import (
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Filter writes untrusted text to a terminal. It keeps colours if they are enabled. It removes all other escape
// sequences and control characters, even if they are split between two writes. So the text cannot move the cursor, set
// a title or make the terminal answer a query.
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
	escaped       // the last character was ESC
	control       // inside a control sequence, which starts with ESC [
	textual       // inside a string sequence, which starts with ESC ] or a similar pair and ends with BEL or ST
	textEsc       // inside a string sequence, and the last character was ESC
)

// maxSequence is the maximum length of a colour sequence in characters.
const maxSequence = 64

// NewFilter returns a Filter that writes to w. If colours is false, it removes colours too.
func NewFilter(w io.Writer, colours bool) *Filter {
	return &Filter{w: w, colours: colours, newLine: true}
}

// Print filters a text and writes the result.
func (t *Filter) Print(text string) {
	var out strings.Builder
	for _, r := range text {
		t.next(&out, r)
	}
	_, _ = io.WriteString(t.w, out.String()) // a write fails only if stderr is closed, and then no error can be reported
}

// End finishes the current line and resets colours.
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
	_, _ = io.WriteString(t.w, text) // a write fails only if stderr is closed, and then no error can be reported
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
	if t.returned && r != '\n' { // a line that this text would overwrite stays visible as a separate line
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
	case r == '\u200d' || r == '\ufe0f': // these characters join and style emoji
		t.put(out, r)
	case r >= ' ' && (r < 0x7f || r > 0x9f):
		out.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'")) // writes marks of direction and similar characters as escapes
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
		if r < ' ' || r > '/' { // intermediate bytes precede the final byte of the sequence
			t.at = ground
		}
	}
}

// gather collects a control sequence, and writes it if it sets a colour.
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

// EscapeJSON replaces characters of a JSON text that are unsafe for a terminal by \u escapes. In JSON such characters
// occur only inside strings.
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
