// Package redact takes secret values out of what programs write: as they are, and as the usual encodings spell them. It knows
// how to look and not where: texts, bytes, JSON documents and streams that arrive in pieces.
package redact

import "strings"

// Stars is what stands in place of a value.
const Stars = "***"

const (
	// Shortest is the length in bytes below which a value is not looked for: it would be found in ordinary words and numbers.
	Shortest = 8
	// window is how much of a value decides that it was found. So a stream holds back a bounded piece, and a value that is
	// made of one letter costs no more than any other. What follows is taken for as long as it is a value.
	window = 64
	// shortestLine and mostLines say which lines of a value are looked for by themselves, as those of a PEM file.
	shortestLine = 16
	mostLines    = 100
)

// Redactor looks for some values. It does not change, and nil finds nothing.
type Redactor struct {
	texts  []*spelling // those that a text without escapes is the same in
	hex    *spelling
	base64 *spelling
	begins [256]bool // what any of them can begin with
}

// New returns a mask of values, nil if none of them is long enough to be looked for.
func New(values []string) *Redactor {
	texts, base64 := &node{}, &node{}
	raw := false // a value looks as if it were escaped
	for _, value := range values {
		for _, one := range []string{value, strings.TrimSpace(value)} {
			if len(one) < Shortest {
				continue
			}
			raw = raw || strings.ContainsAny(one, `\%`)
			for _, cased := range []string{one, strings.ToUpper(one), strings.ToLower(one)} { // letters outside of ASCII are not folded
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
		texts: []*spelling{{next: escaped(1), root: texts}, {next: escaped(nested), root: texts}, {next: percented, root: texts}},
		hex:   &spelling{next: hexed, root: texts}, base64: &spelling{next: base64ed, root: base64, exact: true},
	}
	if raw {
		m.texts = append(m.texts, &spelling{next: plain, root: texts})
	}
	m.begin()
	return m
}

// begin notes the bytes that a value can begin with.
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

// Text returns a text without the values.
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

// find looks for values that begin at a place, and returns those of which most is there. Where the text ends before it is
// known whether there is one, short is true.
func (m *Redactor) find(text []byte, from int) (end int, found []tail, short bool) {
	take := func(r match, of ...*spelling) {
		short = short || r.short
		if r.place == nil || r.end < end {
			return
		}
		if r.end > end {
			end, found = r.end, nil
		}
		for _, one := range of {
			for _, value := range r.place.ends {
				found = append(found, tail{spelling: one, value: value, seen: r.seen})
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
