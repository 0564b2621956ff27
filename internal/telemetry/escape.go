package telemetry

import (
	"strconv"
	"strings"
	"unicode"
)

// Escape returns s with every character that a terminal or a reader could be fooled with written as Go would quote it:
// control characters, line and paragraph separators, marks of writing direction. Spaces stay.
func Escape(s string) string {
	if !strings.ContainsFunc(s, unprintable) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unprintable(r) {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }
