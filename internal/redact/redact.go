// Package redact replaces secret values in the output of programs. It finds values in plain form and in the usual
// encodings. It handles texts, bytes, JSON documents, and streams that arrive in pieces.
package redact

import "strings"

// Stars is the text that replaces a secret value.
const Stars = "***"

const (
	// Shortest is the minimum length in bytes of a value that is redacted. Shorter values could occur by chance in
	// ordinary words and numbers.
	Shortest = 8
	// window is the length in bytes of the beginning of a value that is searched for. After that, the match continues as
	// long as the text equals the value. A short window limits the text that a stream must hold back. It also limits the
	// cost of searching for a value that repeats one letter.
	window = 64
	// Each line of a value, for example of a PEM file, is also searched for separately. shortestLine is the minimum length
	// of such a line in bytes, and mostLines is the maximum number of lines.
	shortestLine = 16
	mostLines    = 100
)

// Redactor searches texts for given values. It is immutable. A nil Redactor finds nothing.
type Redactor struct {
	texts  []*encoding // encodings in which text without escapes stays unchanged
	hex    *encoding
	base64 *encoding
	begins [256]bool // bytes with which a value can begin in any encoding
}

// New returns a Redactor for values. It returns nil if all values are shorter than Shortest.
func New(values []string) *Redactor {
	texts, base64 := &node{}, &node{}
	raw := false // true if a value looks like escaped text
	for _, value := range values {
		for _, one := range []string{value, strings.TrimSpace(value)} {
			if len(one) < Shortest {
				continue
			}
			raw = raw || strings.ContainsAny(one, `\%`)
			for _, cased := range []string{one, strings.ToUpper(one), strings.ToLower(one)} { // fold converts only ASCII letters, so the variants of the value in upper and lower case are added here
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

// begin sets begins, the bytes with which an encoded value can begin. The search skips all other bytes.
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

// Even redacts the values in a text by replacing each byte of a value by a star, so that the length does not change.
func (m *Redactor) Even(text string) string {
	if m == nil || text == "" {
		return text
	}
	s := Stream{redactor: m, even: true}
	redacted := s.Write(text)
	return redacted + s.End()
}

// find returns the longest values that begin at a position of the text. short is true if the text is too short for a
// certain result.
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
