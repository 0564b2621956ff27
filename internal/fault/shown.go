package fault

import (
	"strings"
	"unicode"
)

// Shown makes a text of a stranger fit for a message, a terminal and a header: so many characters of it, and none that does
// more than show.
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
