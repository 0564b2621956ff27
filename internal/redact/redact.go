// Package redact replaces secret values in the output of programs, both in plain form and in the usual encodings. It
// handles texts, bytes, JSON documents and streams that arrive in pieces.
package redact

import "strings"

// Stars is the text that replaces a value.
const Stars = "***"

const (
	// Shortest is the minimum length in bytes of a value to redact. Shorter values could occur by chance in ordinary words
	// and numbers.
	Shortest = 8
	// window is the length in bytes of the prefix by which a value is found. From there, the match extends as long as the
	// text equals the value. A short prefix limits the text that a stream must hold back, and the cost of searching for
	// a value that repeats one letter.
	window = 64
	// The lines of a value, for example of a PEM file, are searched for separately too. shortestLine is the minimum length
	// of such a line in bytes, and mostLines the maximum number of lines.
	shortestLine = 16
	mostLines    = 100
)

// Redactor searches for given values. It is immutable; a nil Redactor finds nothing.
type Redactor struct {
	texts  []*encoding // encodings that leave text without escapes unchanged
	hex    *encoding
	base64 *encoding
	begins [256]bool // bytes with which any encoding can begin
}

// New returns a Redactor for values, or nil if all of them are too short.
func New(values []string) *Redactor {
	texts, base64 := &node{}, &node{}
	raw := false // whether a value itself looks like escaped text
	for _, value := range values {
		for _, one := range []string{value, strings.TrimSpace(value)} {
			if len(one) < Shortest {
				continue
			}
			raw = raw || strings.ContainsAny(one, `\%`)
			for _, cased := range []string{one, strings.ToUpper(one), strings.ToLower(one)} { // fold handles only ASCII, so other cases of letters are added here
				texts.add(folded(cased))
			}
			for shift := range base64Group {
				base64.add(base64Core(one, shift))
			}
		}
		lines := 0
		for line := range strings.Lines(value) {
			line = strings.TrimSpace(line)
			if lines++; lines <= mostLines && len(line) >= shortestLine {
				texts.add(folded(line))
			}
		}
	}
	if len(texts.next) == 0 {
		return nil
	}
	m := &Redactor{
		texts: []*encoding{{next: escaped(1), root: texts}, {next: escaped(nested), root: texts}, {next: percented, root: texts}},
		hex:   &encoding{next: hexed, root: texts}, base64: &encoding{next: base64ed, root: base64, exact: true},
	}
	if raw {
		m.texts = append(m.texts, &encoding{next: plain, root: texts})
	}
	m.begin()
	return m
}

// begin fills in begins: the bytes with which an encoded value can begin. The search skips all others.
func (m *Redactor) begin() {
	for i := range m.begins {
		b := byte(i)
		m.begins[b] = m.begins[b] || escapes(b) || m.base64.child(m.base64.root, b) != nil
		if m.hex.child(m.hex.root, b) == nil {
			continue
		}
		m.begins[b] = true
		for _, digit := range []byte(hexFirsts(b)) {
			m.begins[digit] = true
		}
	}
	m.begins['-'] = m.begins['-'] || m.begins['+']
	m.begins['_'] = m.begins['_'] || m.begins['/']
}

// Text redacts the values in a text.
func (m *Redactor) Text(text string) string {
	if m == nil || text == "" {
		return text
	}
	s := Stream{redactor: m}
	redacted := s.Write(text)
	return redacted + s.End()
}

// Even returns a text of the same length, with a star for each byte of a value.
func (m *Redactor) Even(text string) string {
	if m == nil || text == "" {
		return text
	}
	s := Stream{redactor: m, even: true}
	redacted := s.Write(text)
	return redacted + s.End()
}

// find returns the longest matches of values that begin at a position. short is true if the text ends before the result is
// certain, so that more text is needed.
func (m *Redactor) find(text []byte, from int) (end int, found []tail, short bool) {
	take := func(r match, of ...*encoding) {
		short = short || r.short
		if r.place == nil || r.end < end {
			return
		}
		if r.end > end {
			end, found = r.end, nil
		}
		for _, one := range of {
			for _, value := range r.place.ends {
				found = append(found, tail{encoding: one, value: value, seen: r.seen})
			}
		}
	}
	if r, same := m.texts[0].walk(text, from); same {
		take(r, m.texts...)
	} else {
		for _, one := range m.texts {
			take(one.match(text, from), one)
		}
	}
	take(m.hex.match(text, from), m.hex)
	take(m.base64.match(text, from), m.base64)
	return end, found, short
}
