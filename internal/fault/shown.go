package fault

import (
	"strings"
	"unicode"
)

// Shown makes untrusted text safe for a message, a terminal and a header. It escapes non-printable characters and
// shortens the text to most characters.
func Shown(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\ufffd'
	}, text)
}
