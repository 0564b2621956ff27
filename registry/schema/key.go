package schema

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// keyOf converts a value to text. Two values have the same text if and only if they are equal: 1, 1.0 and 10e-1 are
// equal, and the order of properties does not matter. The checks of enum, const and uniqueItems compare these texts.
func keyOf(v any) string {
	var b strings.Builder
	writeKey(&b, v)
	return b.String()
}

func writeKey(b *strings.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteByte('n')
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case json.Number:
		d, _ := parseDecimal(string(v))
		b.WriteString(d.key())
	case string:
		writeText(b, v)
	case []any:
		b.WriteByte('[')
		for _, item := range v {
			writeKey(b, item)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for _, name := range sortedKeys(v) {
			writeText(b, name)
			writeKey(b, v[name])
			b.WriteByte(',')
		}
		b.WriteByte('}')
	}
}

// writeText writes the length of a string and then the string, so that the text of a string never equals the text of
// another value.
func writeText(b *strings.Builder, s string) {
	b.WriteByte('"')
	b.WriteString(strconv.Itoa(len(s)))
	b.WriteByte(':')
	b.WriteString(s)
}

func sortPatterns(patterns []patternNode) {
	slices.SortFunc(patterns, func(a, b patternNode) int { return strings.Compare(a.pattern.text, b.pattern.text) })
}

func index(token string) (int, bool) {
	i, err := strconv.Atoi(token)
	return i, err == nil && i >= 0
}
