package terminal_test

import (
	"bytes"
	"testing"

	"github.com/atelier-run/atelier/internal/terminal"
)

// filtered returns the filtered text of chunks.
func filtered(colours bool, chunks ...string) string {
	var out bytes.Buffer
	f := terminal.NewFilter(&out, colours)
	for _, chunk := range chunks {
		f.Print(chunk)
	}
	f.End()
	return out.String()
}

func TestWhatAProgramPrintsCannotDriveTheTerminal(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		chunks          []string
		terminal, plain string
	}{
		"text":                 {[]string{"day 1\tclear 6 °C 🌦️\n"}, "day 1\tclear 6 °C 🌦️\n", "day 1\tclear 6 °C 🌦️\n"},
		"colour":               {[]string{"\x1b[1;31mred\x1b[0m\n"}, "\x1b[1;31mred\x1b[0m\n\x1b[0m", "red\n"},
		"colour in two chunks": {[]string{"\x1b[3", "1mred\n"}, "\x1b[31mred\n\x1b[0m", "red\n"},
		"clear the screen":     {[]string{"a\x1b[2J\x1b[Hb\n"}, "ab\n", "ab\n"},
		"window title":         {[]string{"a\x1b]0;owned\ab\n"}, "ab\n", "ab\n"},
		"title, other end":     {[]string{"a\x1b]0;owned\x1b\\b\n"}, "ab\n", "ab\n"},
		"device query":         {[]string{"a\x1b[6n\x1b[cb\n"}, "ab\n", "ab\n"},
		"device string":        {[]string{"a\x1bP1$r\x1b\\b\n"}, "ab\n", "ab\n"},
		"character set":        {[]string{"a\x1b(0b\n"}, "ab\n", "ab\n"},
		"colour, not quite":    {[]string{"a\x1b[?31mb\n"}, "ab\n", "ab\n"},
		"C1 control":           {[]string{"a\u009b2Jb\u0085c\n"}, "abc\n", "abc\n"},
		"write over a line":    {[]string{"deleting 1\rkeeping 1 \n"}, "deleting 1\nkeeping 1 \n", "deleting 1\nkeeping 1 \n"},
		"line end of DOS":      {[]string{"a\r", "\nb\n"}, "a\nb\n", "a\nb\n"},
		"backspace and bell":   {[]string{"a\b\ab\x00\x7f\n"}, "ab\n", "ab\n"},
		"direction":            {[]string{"a\u202eb\n"}, "a\\u202eb\n", "a\\u202eb\n"},
		"open line":            {[]string{"a"}, "a\n", "a\n"},
		"open sequence":        {[]string{"a\x1b[31"}, "a\n", "a\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for colours, want := range map[bool]string{true: tt.terminal, false: tt.plain} {
				if got := filtered(colours, tt.chunks...); got != want {
					t.Errorf("colours %v: got %q, want %q", colours, got, want)
				}
			}
		})
	}
}

func TestOutputOnATerminalIsTheSameJSON(t *testing.T) {
	t.Parallel()
	const text = "{\"a\":\"\u009b2J\u202e\U000e0001 ü\"}"
	if got := terminal.EscapeJSON(text); got != `{"a":"\u009b2J\u202e\udb40\udc01 ü"}` {
		t.Errorf("got %s", got)
	}
}
