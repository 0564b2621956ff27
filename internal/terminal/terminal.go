// Package terminal writes text of unknown origin where a person reads it. It knows nothing of runs.
package terminal

import (
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Filter writes text of unknown origin. Colours pass to a terminal; every other escape sequence and control character is
// taken out, whole, wherever the text was cut: none may move the cursor, set a title or answer a query.
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
	textual       // within ESC ] … and its kin, up to BEL or ST
	textEsc       // after ESC within a text
)

// maxSequence is the longest colour that is believed.
const maxSequence = 64

// NewFilter returns a filter; without colours they are taken out too.
func NewFilter(w io.Writer, colours bool) *Filter {
	return &Filter{w: w, colours: colours, newLine: true}
}

// Print writes what is left of text.
func (t *Filter) Print(text string) {
	var out strings.Builder
	for _, r := range text {
		t.next(&out, r)
	}
	_, _ = io.WriteString(t.w, out.String()) // stderr is gone: there is nobody to tell
}

// End finishes a line and takes colours back.
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
	_, _ = io.WriteString(t.w, text) // stderr is gone: there is nobody to tell
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
	if t.returned && r != '\n' { // a line that was to be written over is a line of its own
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
		out.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'")) // marks of direction and the like are shown
		t.newLine = false
	}
}

func (t *Filter) put(out *strings.Builder, r rune) {
	out.WriteRune(r)
	t.newLine = r == '\n'
}

// begin looks at what follows ESC.
func (t *Filter) begin(r rune) {
	switch r {
	case '[':
		t.at = control
		t.sequence.Reset()
	case ']', 'P', '^', '_', 'X':
		t.at = textual
	case '\x1b':
	default:
		if r < ' ' || r > '/' { // intermediates come before the last character
			t.at = ground
		}
	}
}

// gather collects a control sequence and lets it through if it is a colour.
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

// EscapeJSON writes what a terminal should not see as \u escapes. Such characters stand only within strings.
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
