package telemetry

import (
	"strconv"
	"strings"
	"unicode"
)

// Escape replaces characters in s that could mislead a terminal or a reader by escapes in Go syntax: control
// characters, line and paragraph separators, and marks of writing direction. It does not change spaces.
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
