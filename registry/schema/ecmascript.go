package schema

import "strings"

// toRE2 writes an ECMAScript pattern for RE2 where both take it and mean different things: \s and \S know Unicode's
// spaces in ECMAScript, and a dot stops at every line end. What has no such form, \S in a class, is not rewritten, and
// ok is false.
func toRE2(text string) (rewritten string, ok bool) {
	const spaces = `\t\n\x{0b}\f\r\p{Z}\x{feff}`
	var b strings.Builder
	inClass := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text):
			i++
			switch {
			case text[i] == 's' && inClass:
				b.WriteString(spaces)
			case text[i] == 's':
				b.WriteString("[" + spaces + "]")
			case text[i] == 'S' && inClass:
				return text, false
			case text[i] == 'S':
				b.WriteString("[^" + spaces + "]")
			default:
				b.WriteByte(c)
				b.WriteByte(text[i])
			}
			continue
		case c == '[' && !inClass:
			inClass = true
		case c == ']' && inClass:
			inClass = false
		case c == '.' && !inClass:
			b.WriteString(`[^\n\r\x{2028}\x{2029}]`)
			continue
		}
		b.WriteByte(c)
	}
	return b.String(), true
}
