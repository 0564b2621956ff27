package jcs

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"
)

// scanner checks a document in one pass. It is recursive, so depth limits the nesting. If write is set, it also appends
// the canonical form to out. If build is set, it returns the decoded value; otherwise it returns nil.
type scanner struct {
	in    []byte
	pos   int
	depth int // nesting that is still allowed
	limit int // nesting that was allowed at the start
	most  int // maximum digits of a number; 0 means no limit
	build bool
	write bool
	out   []byte

	count  func(values int) error
	values int // number of values and names that were read

	members []member // members of all open objects; those of the innermost object are last
	key     []byte   // buffer for keys, and for strings with escapes
}

// member is one member of an open object. from and to are the positions in out at which its canonical text starts and
// ends.
type member struct {
	key      string
	value    any
	from, to int
}

// countEvery is the number of values between two calls of count.
const countEvery = 1024

func (s *scanner) document() (any, *Error) {
	s.limit = s.depth
	s.space()
	value, err := s.value()
	if err != nil {
		return nil, err
	}
	s.space()
	if s.pos < len(s.in) {
		return nil, s.fail(Syntax, "has extra content after the JSON value")
	}
	return value, s.report()
}

// counted counts a value or a name. After every countEvery values it calls count, which may stop the scan.
func (s *scanner) counted() *Error {
	if s.values++; s.values%countEvery != 0 {
		return nil
	}
	return s.report()
}

func (s *scanner) report() *Error {
	if s.count == nil {
		return nil
	}
	if err := s.count(s.values); err != nil {
		return &Error{Reason: Stopped, Offset: s.pos, Message: "has too many values", Err: err}
	}
	return nil
}

func (s *scanner) fail(reason Reason, message string) *Error {
	return &Error{Reason: reason, Offset: s.pos, Message: message}
}

func (s *scanner) syntax() *Error {
	if s.pos >= len(s.in) {
		return s.fail(Syntax, "is incomplete")
	}
	return s.fail(Syntax, "is not valid JSON at byte "+strconv.Itoa(s.pos))
}

func (s *scanner) space() {
	for s.pos < len(s.in) {
		switch s.in[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

func (s *scanner) peek() byte {
	if s.pos < len(s.in) {
		return s.in[s.pos]
	}
	return 0
}

// accept reports whether c is the next character. If it is, accept skips c and the white space after it.
func (s *scanner) accept(c byte) bool {
	if s.peek() != c || s.pos >= len(s.in) {
		return false
	}
	s.pos++
	s.space()
	return true
}

func (s *scanner) emit(c byte) {
	if s.write {
		s.out = append(s.out, c)
	}
}

func (s *scanner) value() (any, *Error) {
	if err := s.counted(); err != nil {
		return nil, err
	}
	switch c := s.peek(); {
	case c == '{':
		return s.nested(s.object)
	case c == '[':
		return s.nested(s.array)
	case c == '"':
		return s.string()
	case c == '-' || (c >= '0' && c <= '9'):
		start := s.pos
		if err := s.number(); err != nil || !s.build {
			return nil, err
		}
		return json.Number(s.in[start:s.pos]), nil
	case c == 't':
		return true, s.literal("true")
	case c == 'f':
		return false, s.literal("false")
	case c == 'n':
		return nil, s.literal("null")
	}
	return nil, s.syntax()
}

func (s *scanner) string() (any, *Error) {
	text, err := s.text()
	if err != nil {
		return nil, err
	}
	if s.write {
		s.out = appendString(s.out, text)
	}
	if !s.build {
		return nil, nil
	}
	return string(text), nil
}

func (s *scanner) literal(word string) *Error {
	for i := range len(word) {
		if s.peek() != word[i] {
			return s.syntax()
		}
		s.pos++
	}
	if s.write {
		s.out = append(s.out, word...)
	}
	return nil
}

func (s *scanner) nested(read func() (any, *Error)) (any, *Error) {
	if s.depth == 0 {
		return nil, s.fail(TooDeep, "is nested deeper than "+strconv.Itoa(s.limit)+" levels")
	}
	s.depth--
	value, err := read()
	s.depth++
	return value, err
}

func (s *scanner) array() (any, *Error) {
	s.accept('[')
	s.emit('[')
	items := []any{}
	if s.accept(']') {
		s.emit(']')
		return s.list(items), nil
	}
	for i := 0; ; i++ {
		item, err := s.value()
		if err != nil {
			return nil, err.under(strconv.Itoa(i))
		}
		if s.build {
			items = append(items, item)
		}
		s.space()
		if s.peek() == ']' {
			s.pos++
			s.emit(']')
			return s.list(items), nil
		}
		if !s.accept(',') {
			return nil, s.syntax()
		}
		s.emit(',')
	}
}

// list returns items as a value. If no values are built, it returns nil and so avoids an allocation.
func (s *scanner) list(items []any) any {
	if !s.build {
		return nil
	}
	return items
}

func (s *scanner) object() (any, *Error) {
	s.accept('{')
	s.emit('{')
	first := len(s.members)
	start := len(s.out)
	if !s.accept('}') {
		if err := s.readMembers(); err != nil {
			return nil, err
		}
	}
	members := s.members[first:]
	err := s.closeObject(members, start)
	var object map[string]any
	if s.build {
		object = make(map[string]any, len(members))
		for _, m := range members {
			object[m.key] = m.value
		}
		clear(members) // lets the garbage collector free the values
	}
	s.members = s.members[:first]
	s.emit('}')
	return object, err
}

// readMembers reads the members of an object and the closing brace.
func (s *scanner) readMembers() *Error {
	for {
		if s.peek() != '"' {
			return s.syntax()
		}
		text, err := s.text()
		if err != nil {
			return err
		}
		if err := s.counted(); err != nil {
			return err
		}
		m := member{key: string(text), from: len(s.out)}
		if s.write {
			s.out = append(appendString(s.out, text), ':')
		}
		s.space()
		if !s.accept(':') {
			return s.syntax()
		}
		if m.value, err = s.value(); err != nil {
			return err.under(m.key)
		}
		m.to = len(s.out)
		s.members = append(s.members, m)
		s.space()
		if s.peek() == '}' {
			s.pos++
			return nil
		}
		if !s.accept(',') {
			return s.syntax()
		}
	}
}

// closeObject rejects duplicate keys and sorts the members. The members are in out from position start, in the order of
// the source. closeObject writes them again in canonical order, with commas.
func (s *scanner) closeObject(members []member, start int) *Error {
	if !slices.IsSortedFunc(members, compareMembers) {
		slices.SortFunc(members, compareMembers)
	}
	for i := 1; i < len(members); i++ {
		if members[i].key == members[i-1].key {
			return s.fail(DuplicateKey, "is a duplicate name in its object").under(members[i].key)
		}
	}
	if !s.write || len(members) < 2 {
		return nil
	}
	source := slices.Clone(s.out[start:])
	s.out = s.out[:start]
	for i, m := range members {
		if i > 0 {
			s.out = append(s.out, ',')
		}
		s.out = append(s.out, source[m.from-start:m.to-start]...)
	}
	return nil
}

func compareMembers(a, b member) int { return compareUTF16(a.key, b.key) }

// compareUTF16 compares strings by UTF-16 code units, as RFC 8785 requires. The order of bytes is the same, with one
// exception: a character above U+FFFF, whose first unit is a surrogate, comes before the characters from U+E000 to
// U+FFFF.
func compareUTF16(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] == b[i] {
			continue
		}
		if a[i] < 0xee || b[i] < 0xee {
			return cmp.Compare(a[i], b[i]) // one character is below U+E000, so the orders of bytes and units agree
		}
		return cmp.Compare(rank(a[i]), rank(b[i]))
	}
	return cmp.Compare(len(a), len(b))
}

// rank moves the first bytes of four-byte sequences (F0 to F4) before the first bytes of the characters from U+E000 to
// U+FFFF (EE and EF).
func rank(c byte) int {
	if c >= 0xf0 {
		return int(c) - 0xf0
	}
	return int(c)
}

// text reads a string and returns its decoded value. The value is valid until the next call of text.
func (s *scanner) text() ([]byte, *Error) {
	s.pos++
	start := s.pos
	for s.pos < len(s.in) {
		switch c := s.in[s.pos]; {
		case c == '"':
			text := s.in[start:s.pos]
			s.pos++
			return text, nil
		case c == '\\':
			return s.escaped(start)
		case c < 0x20:
			return nil, s.syntax()
		case c < utf8.RuneSelf:
			s.pos++
		default:
			if err := s.multibyte(); err != nil {
				return nil, err
			}
		}
	}
	return nil, s.syntax()
}

func (s *scanner) multibyte() *Error {
	r, size := utf8.DecodeRune(s.in[s.pos:])
	if r == utf8.RuneError && size < 2 {
		return s.fail(BadEncoding, "is not valid UTF-8")
	}
	s.pos += size
	return nil
}

// escaped reads the rest of a string that began at start, from the first backslash on.
func (s *scanner) escaped(start int) ([]byte, *Error) {
	s.key = append(s.key[:0], s.in[start:s.pos]...)
	for s.pos < len(s.in) {
		from := s.pos
		switch c := s.in[s.pos]; {
		case c == '"':
			s.pos++
			return s.key, nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return nil, err
			}
			continue
		case c < 0x20:
			return nil, s.syntax()
		case c < utf8.RuneSelf:
			s.pos++
		default:
			if err := s.multibyte(); err != nil {
				return nil, err
			}
		}
		s.key = append(s.key, s.in[from:s.pos]...)
	}
	return nil, s.syntax()
}

func (s *scanner) escape() *Error {
	s.pos++
	c := s.peek()
	if plain, ok := unescaped(c); ok && s.pos < len(s.in) {
		s.pos++
		s.key = append(s.key, plain)
		return nil
	}
	if c != 'u' {
		return s.syntax()
	}
	s.pos++
	r, err := s.hex4()
	if err != nil {
		return err
	}
	if r >= 0xdc00 && r < 0xe000 {
		return s.fail(BadEncoding, "has an incomplete surrogate pair")
	}
	if r >= 0xd800 && r < 0xdc00 {
		if r, err = s.lowSurrogate(r); err != nil {
			return err
		}
	}
	s.key = utf8.AppendRune(s.key, r)
	return nil
}

func unescaped(c byte) (byte, bool) {
	switch c {
	case '"', '\\', '/':
		return c, true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	}
	return 0, false
}

func (s *scanner) lowSurrogate(high rune) (rune, *Error) {
	if s.pos+1 >= len(s.in) || s.in[s.pos] != '\\' || s.in[s.pos+1] != 'u' {
		return 0, s.fail(BadEncoding, "has an incomplete surrogate pair")
	}
	s.pos += 2
	low, err := s.hex4()
	if err != nil {
		return 0, err
	}
	if low < 0xdc00 || low >= 0xe000 {
		return 0, s.fail(BadEncoding, "has an incomplete surrogate pair")
	}
	return 0x10000 + (high-0xd800)<<10 + (low - 0xdc00), nil
}

func (s *scanner) hex4() (rune, *Error) {
	var r rune
	for range 4 {
		c := s.peek()
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, s.syntax()
		}
		s.pos++
	}
	return r, nil
}

// appendString writes a string with the fewest escapes that JSON allows.
func appendString(out, text []byte) []byte {
	const digits = "0123456789abcdef"
	out = append(out, '"')
	from := 0
	for i, c := range text {
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		out = append(out, text[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\b':
			out = append(out, '\\', 'b')
		case '\f':
			out = append(out, '\\', 'f')
		case '\n':
			out = append(out, '\\', 'n')
		case '\r':
			out = append(out, '\\', 'r')
		case '\t':
			out = append(out, '\\', 't')
		default:
			out = append(out, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
	}
	out = append(out, text[from:]...)
	return append(out, '"')
}
