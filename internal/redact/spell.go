package redact

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// plain reads one byte of text without an encoding.
func plain(text []byte, at, _ int) (unit, state) { return one(text[at], 1), read }

// nested is the maximum depth of JSON strings that contain JSON strings.
const nested = 2

// escaped returns a function that reads one unit of text that is escaped up to depth times. Nested string literals of
// JSON, Python and similar languages are escaped several times.
func escaped(depth int) func(text []byte, at, seen int) (unit, state) {
	if depth == 0 {
		return plain
	}
	inner := escaped(depth - 1)
	// char reads one character of the literal at the next lower depth. The character must be one byte.
	char := func(text []byte, at int) (byte, int, state) {
		if at >= len(text) {
			return 0, at, missing
		}
		u, found := inner(text, at, 0)
		if found == read && u.n != 1 {
			found = other
		}
		return u.bytes[0], at + u.size, found
	}
	digits := func(text []byte, at, count int) (value rune, end int, found state) {
		for range count {
			b, next, found := char(text, at)
			if found != read {
				return 0, at, found
			}
			digit := strings.IndexByte("0123456789abcdef", lower(b))
			if digit < 0 {
				return 0, at, other
			}
			value, at = value<<4|rune(digit), next
		}
		return value, at, read
	}
	return func(text []byte, at, seen int) (unit, state) {
		first, found := inner(text, at, seen)
		if found != read || first.n != 1 || first.bytes[0] != '\\' {
			return first, found
		}
		kind, end, found := char(text, at+first.size)
		if found != read {
			return unit{}, found
		}
		switch kind {
		case 'u':
			return unicode(text, at, end, digits, char)
		case 'x':
			value, end, found := digits(text, end, 2)
			return one(byte(value), end-at), found
		}
		if short := strings.IndexByte(`ntrbf"'/\`, kind); short >= 0 {
			return one("\n\t\r\b\f\"'/\\"[short], end-at), read
		}
		return first, read // the backslash is not part of an escape
	}
}

// unicode reads one escape \uXXXX, or two escapes that form a surrogate pair.
func unicode(text []byte, at, end int, digits func([]byte, int, int) (rune, int, state), char func([]byte, int) (byte, int, state)) (unit, state) {
	const width = 4
	value, end, found := digits(text, end, width)
	if found != read {
		return unit{}, found
	}
	if utf16.IsSurrogate(value) {
		for _, want := range []byte(`\u`) {
			b, next, found := char(text, end)
			if found != read {
				return unit{}, found
			}
			if b != want {
				return unit{}, other
			}
			end = next
		}
		low, next, found := digits(text, end, width)
		if found != read {
			return unit{}, found
		}
		value, end = utf16.DecodeRune(value, low), next
	}
	u := unit{size: end - at}
	u.n = utf8.EncodeRune(u.bytes[:], value)
	return u, read
}

// nesting is the maximum number of times that percent-encoded text may be encoded again. For example, %2541 is encoded
// twice.
const nesting = 3

// percented reads one unit of percent-encoded text, as in a URL or a form.
func percented(text []byte, at, _ int) (unit, state) {
	if text[at] == '+' { // a plus is a space in a form; the other encodings find a literal plus
		return one('+', 1), read
	}
	if text[at] != '%' {
		return one(text[at], 1), read
	}
	from := at + 1
	for range nesting {
		if !strings.HasPrefix(string(text[from:min(from+2, len(text))]), "25") {
			break
		}
		from += 2
	}
	value, found := hexByte(text, from)
	if found == other && from > at+1 {
		return one('%', from-at), read
	}
	return one(value, from+2-at), found
}

// hexFirsts returns the characters with which the hexadecimal form of a byte can begin.
func hexFirsts(first byte) string {
	digit := "0123456789abcdef"[first>>4]
	if digit >= 'a' {
		return string([]byte{digit, digit - 'a' + 'A'})
	}
	return string(digit)
}

// hexed reads one byte from two hexadecimal digits. It skips separators before the digits, because hex dumps contain
// separators.
func hexed(text []byte, at, seen int) (unit, state) {
	from := at
	if seen > 0 {
		for range 2 {
			if from < len(text) && strings.IndexByte(" :-,\n", text[from]) >= 0 {
				from++
			}
		}
		if rest := string(text[from:min(from+2, len(text))]); rest == `\x` || rest == "0x" {
			from += 2
		}
	}
	value, found := hexByte(text, from)
	return one(value, from+2-at), found
}

func hexByte(text []byte, at int) (byte, state) {
	var value byte
	for i := at; i < at+2; i++ {
		if i >= len(text) {
			return 0, missing
		}
		digit := strings.IndexByte("0123456789abcdef", lower(text[i]))
		if digit < 0 {
			return 0, other
		}
		value = value<<4 | byte(digit)
	}
	return value, read
}

// base64ed reads one character of base64, in the standard or the URL alphabet. It skips line breaks, and decodes the
// escapes of URLs and JSON strings.
func base64ed(text []byte, at, seen int) (unit, state) {
	from := at
	if seen > 0 {
		for range 2 {
			if from < len(text) && (text[from] == '\r' || text[from] == '\n') {
				from++
			}
		}
	}
	if from >= len(text) {
		return unit{}, missing
	}
	switch c := text[from]; c {
	case '-':
		return one('+', from+1-at), read
	case '_':
		return one('/', from+1-at), read
	case '\\':
		if from+1 >= len(text) {
			return unit{}, missing
		}
		return one(text[from+1], from+2-at), read
	case '%':
		value, found := hexByte(text, from+1)
		return one(value, from+len("%2B")-at), found
	default:
		return one(c, from+1-at), read
	}
}
