package redact

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"
)

// state is the result of an attempt to read one encoded unit of a text.
type state int

const (
	other   state = iota // the text is not in this encoding
	read                 // the unit was read
	missing              // the text ends within the unit
)

// unit is one character or escape sequence of a text after decoding. n is the number of decoded bytes, and size is the
// length of the encoded form in the text.
type unit struct {
	bytes [utf8.UTFMax]byte
	n     int
	size  int
}

func one(b byte, size int) unit { return unit{bytes: [utf8.UTFMax]byte{b}, n: 1, size: size} }

// node is a node in a prefix tree (trie). The tree contains the windows of all values, where a window is the beginning
// of a value. A common prefix is compared only once, so searching for many values takes no longer than searching for
// one.
type node struct {
	labels []byte
	next   []*node
	ends   []string // values whose window ends at this node
}

func (n *node) child(b byte) *node {
	if len(n.labels) == 1 { // most nodes have one child
		if n.labels[0] == b {
			return n.next[0]
		}
		return nil
	}
	if i := bytes.IndexByte(n.labels, b); i >= 0 {
		return n.next[i]
	}
	return nil
}

func (n *node) add(value string) {
	if value == "" {
		return
	}
	for _, b := range []byte(value[:windowOf(value)]) {
		next := n.child(b)
		if next == nil {
			next = &node{}
			n.labels, n.next = append(n.labels, b), append(n.next, next)
		}
		n = next
	}
	if !slices.Contains(n.ends, value) {
		n.ends = append(n.ends, value)
	}
}

// windowOf returns the length in bytes of the beginning of a value that is searched for. It ends between two
// characters, unless the value is not UTF-8.
func windowOf(value string) int {
	if len(value) <= window {
		return len(value)
	}
	for size := window; size > window-utf8.UTFMax; size-- {
		if utf8.RuneStart(value[size]) {
			return size
		}
	}
	return window
}

// encoding searches for values that are written in one encoding, such as base64. next decodes the next unit of a text.
type encoding struct {
	next  func(text []byte, at, seen int) (unit, state)
	root  *node
	exact bool // the search distinguishes upper and lower case
}

// match is the result of comparing a text at one position with the windows of all values.
type match struct {
	end   int
	seen  int   // number of bytes of the value that match
	place *node // node at which the matching window ends; nil if no window matches completely
	short bool  // the text ended before the end of a longer window
}

// child returns the child node for a byte.
func (s *encoding) child(n *node, b byte) *node {
	if !s.exact {
		b = fold(b)
	}
	return n.child(b)
}

// walk is a faster version of match for text without escapes. It returns false if it finds a byte that may start an
// escape.
func (s *encoding) walk(text []byte, from int) (found match, same bool) {
	place := s.root
	for at := from; len(place.next) > 0; {
		if at == len(text) {
			found.short = true
			break
		}
		if escapes(text[at]) {
			return match{}, false
		}
		if place = s.child(place, text[at]); place == nil {
			break
		}
		if at++; len(place.ends) > 0 {
			found.end, found.seen, found.place = at, at-from, place
		}
	}
	return found, true
}

// match finds the longest window of a value that begins at a position of the text.
func (s *encoding) match(text []byte, from int) (found match) {
	place, seen := s.root, 0
	for at := from; len(place.next) > 0; {
		u, state := s.unit(text, at, seen)
		if state != read {
			found.short = state == missing
			return found
		}
		for _, b := range u.bytes[:u.n] {
			if place = s.child(place, b); place == nil {
				return found
			}
		}
		at, seen = at+u.size, seen+u.n
		if len(place.ends) > 0 {
			found.end, found.seen, found.place = at, seen, place
		}
	}
	return found
}

func (s *encoding) unit(text []byte, at, seen int) (unit, state) {
	if at >= len(text) {
		return unit{}, missing
	}
	return s.next(text, at, seen)
}

// tail is a value whose window was found in the text. The match continues as long as the text equals the rest of the
// value.
type tail struct {
	*encoding
	value string
	seen  int // number of bytes of value that match
	skip  int // number of bytes of the held-back text that are known to match
}

// follow extends the match from a position of the text, and returns the end of the match. short is true if the text
// ended before the match did.
func (t *tail) follow(text []byte, from int) (end int, short bool) {
	for t.seen < len(t.value) {
		u, state := t.unit(text, from, t.seen)
		if state != read {
			return from, state == missing
		}
		if t.seen+u.n > len(t.value) {
			return from, false
		}
		for i, b := range u.bytes[:u.n] {
			if !t.exact {
				b = fold(b)
			}
			if b != t.value[t.seen+i] {
				return from, false
			}
		}
		from, t.seen = from+u.size, t.seen+u.n
	}
	return from, false
}

// escapes reports whether a byte may start an escape sequence.
func escapes(b byte) bool { return b == '\\' || b == '%' }

// fold normalizes a byte for comparison. It converts letters to lower case, and converts + to a space, because
// URL-encoded text writes a space as +.
func fold(b byte) byte {
	if b == '+' {
		return ' '
	}
	return lower(b)
}

func folded(value string) string {
	all := []byte(value)
	for i, b := range all {
		all[i] = fold(b)
	}
	return string(all)
}

func lower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b - 'A' + 'a'
	}
	return b
}

const base64Group = 3

// base64Core returns the part of a value's base64 form that does not depend on the bytes before and after the value.
// shift is the number of bytes that precede the value in its group of three bytes.
func base64Core(value string, shift int) string {
	text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + value))
	text = strings.TrimRight(text, "=")
	if (shift+len(value))%base64Group != 0 {
		text = text[:len(text)-1]
	}
	if shift > 0 {
		text = text[shift+1:]
	}
	return text
}
