// Package mask takes secret values out of what programs write: as they are, and as the usual encodings spell them. It knows
// how to look and not where: texts, bytes, JSON documents and streams that arrive in pieces.
package mask

import (
	"strings"
	"unicode/utf8"
)

// Stars is what stands in place of a value.
const Stars = "***"

const (
	// Shortest is the length in bytes below which a value is not looked for: it would be found in ordinary words and numbers.
	Shortest = 8
	// window is how much of a value decides that it was found. So a stream holds back a bounded piece, and a value that is
	// made of one letter costs no more than any other. What follows is taken for as long as it is the value.
	window = 64
	// shortestLine and mostLines say which lines of a value are looked for by themselves, as those of a PEM file.
	shortestLine = 16
	mostLines    = 100
)

// Mask looks for some values. It does not change, and nil finds nothing.
type Mask struct {
	forms [256][]*form // by the first byte that each can begin with
}

// New returns a mask of values, nil if none of them is long enough to be looked for.
func New(values []string) *Mask {
	m, seen := &Mask{}, map[string]bool{}
	for _, value := range values {
		for _, one := range []string{value, strings.TrimSpace(value)} {
			m.add(one, seen, formsOf)
			m.add(strings.ToUpper(one), seen, linesOf) // the case of letters outside of ASCII is not looked past
			m.add(strings.ToLower(one), seen, linesOf)
		}
		lines := 0
		for line := range strings.Lines(value) {
			line = strings.TrimSpace(line)
			if lines++; lines <= mostLines && len(line) >= shortestLine {
				m.add(line, seen, linesOf)
			}
		}
	}
	if len(seen) == 0 {
		return nil
	}
	return m
}

func (m *Mask) add(value string, seen map[string]bool, formsOf func(string) []*form) {
	folded := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return rune(lower(byte(r)))
		}
		return r
	}, value)
	if len(value) < Shortest || seen[folded] {
		return
	}
	seen[folded] = true
	for _, f := range formsOf(value) {
		for _, first := range f.firsts() {
			m.forms[first] = append(m.forms[first], f)
		}
	}
}

// Text returns a text without the values.
func (m *Mask) Text(text string) string {
	if m == nil || text == "" {
		return text
	}
	s := Stream{mask: m}
	masked := s.Write(text)
	return masked + s.End()
}

// Even returns a text of the same length, with a star for each byte of a value.
func (m *Mask) Even(text string) string {
	if m == nil || text == "" {
		return text
	}
	s := Stream{mask: m, even: true}
	masked := s.Write(text)
	return masked + s.End()
}

// find looks for a value that begins at a place. Where the text ends before it is known whether there is one, short is true.
func (m *Mask) find(text []byte, from int) (end int, found *form, at int, short bool) {
	for _, f := range m.forms[text[from]] {
		stop, seen, state := f.match(text, from)
		switch {
		case state == missing:
			short = true
		case state == read && (found == nil || stop > end):
			end, found, at = stop, f, seen
		}
	}
	return end, found, at, short
}
