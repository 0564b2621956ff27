package schema

import "strings"

// toRE2 converts an ECMAScript pattern to RE2, where both languages accept the same text with different meanings. In
// ECMAScript \s and \S include Unicode spaces, a property may have a name and a value, and a dot excludes every line
// terminator. ok is false if a pattern has no equivalent, for example because of \S in a class.
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
			case (text[i] == 'p' || text[i] == 'P') && strings.Contains(text[i:], "}"):
				name, _, _ := strings.Cut(text[i+1:], "}")
				i += len(name) + 1
				_, value, two := strings.Cut(name, "=")
				if !two {
					value = strings.TrimPrefix(name, "{")
				}
				b.WriteString(`\` + text[i-len(name)-1:i-len(name)] + "{" + value + "}")
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
