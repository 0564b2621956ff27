package terminal_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/atelier-run/atelier/internal/terminal"
)

// FuzzFilter checks that only text and colours remain of any output, however it is split into pieces.
func FuzzFilter(f *testing.F) {
	for _, seed := range []string{"\x1b[31mred\x1b[0m", "\x1b]0;t\a", "\x1bP1$r\x1b\\", "a\rb", "\x1b[?1049h", "\u009b2J\u202e", "\x1b\x1b[1m", "\x1b[1\x1b[2J"} {
		f.Add(seed, 3, true)
		f.Add(seed, 1, false)
	}
	colour := regexp.MustCompile("\x1b\\[[0-9;:]*m")
	f.Fuzz(func(t *testing.T, text string, cut int, colours bool) {
		cut = max(0, min(cut, len(text)))
		got := filtered(colours, text[:cut], text[cut:])
		rest := colour.ReplaceAllString(got, "")
		if !colours && rest != got {
			t.Errorf("colours where there are to be none: %q", got)
		}
		if at := strings.IndexFunc(rest, func(r rune) bool {
			return !unicode.IsPrint(r) && r != '\n' && r != '\t' && r != '\u200d' && r != '\ufe0f'
		}); at >= 0 {
			t.Errorf("%q is left of %q", rest[at:], text)
		}
		if quoted, err := json.Marshal(text); err == nil {
			var same string
			if err := json.Unmarshal([]byte(terminal.EscapeJSON(string(quoted))), &same); err != nil || same != strings.ToValidUTF8(text, "\ufffd") && !strings.Contains(same, "\ufffd") {
				t.Errorf("%q became %q, %v", text, same, err)
			}
		}
	})
}
