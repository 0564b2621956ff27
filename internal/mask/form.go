package mask

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"
)

// state says what came of reading one unit of a text.
type state int

const (
	other   state = iota // it is not what this form has there
	read                 // it was read
	missing              // the text ends within it
)

// unit is a piece of a text in some spelling: the bytes it stands for, and how many it takes.
type unit struct {
	bytes [utf8.UTFMax]byte
	n     int
	size  int
}

func one(b byte, size int) unit { return unit{bytes: [utf8.UTFMax]byte{b}, n: 1, size: size} }

// form is one way to spell one value.
type form struct {
	want   []byte // what the units of the spelling stand for
	window int    // how much of it decides
	next   func(text []byte, at, seen int) (unit, state)
	starts string // bytes that the spelling may begin with, beside the first of want
	exact  bool   // the case of letters counts
}

// formsOf are the spellings of a value.
func formsOf(value string) []*form {
	forms := linesOf(value)
	forms = append(forms, newForm(value, percented, "%", false), newForm(value, hexed, hexFirsts(value[0]), false))
	if strings.Contains(value, `\`) || strings.Contains(value, "%") {
		forms = append(forms, newForm(value, plain, "", false))
	}
	for shift := range base64Group {
		forms = append(forms, newForm(base64Core(value, shift), base64ed, "", true))
	}
	return slices.DeleteFunc(forms, func(f *form) bool { return len(f.want) == 0 })
}

// linesOf are the spellings of a part of a value: as it is, in a string of JSON, and in one within another.
func linesOf(value string) []*form {
	return []*form{newForm(value, escaped(1), `\`, false), newForm(value, escaped(2), `\`, false)}
}

func newForm(want string, next func([]byte, int, int) (unit, state), starts string, exact bool) *form {
	f := &form{want: []byte(want), window: min(len(want), window), next: next, starts: starts, exact: exact}
	for f.window < len(want) && f.window > 0 && !utf8.RuneStart(want[f.window]) {
		f.window--
	}
	return f
}

// firsts are the bytes that the spelling may begin with.
func (f *form) firsts() []byte {
	all := []byte(f.starts)
	if f.starts == "" || f.starts[0] == '\\' || f.starts[0] == '%' {
		first := f.want[0]
		all = append(all, first)
		switch {
		case f.exact && first == '+':
			all = append(all, '-', '%')
		case f.exact && first == '/':
			all = append(all, '_', '%', '\\')
		case f.exact:
		case lower(first) != first:
			all = append(all, lower(first))
		case first >= 'a' && first <= 'z':
			all = append(all, first-'a'+'A')
		}
		if !f.exact && first == ' ' {
			all = append(all, '+')
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// match looks whether the value begins at a place, as far as its window.
func (f *form) match(text []byte, from int) (end, seen int, state state) {
	for seen < f.window {
		var taken int
		if from, taken, state = f.step(text, from, seen); state != read {
			return from, seen, state
		}
		seen += taken
	}
	return from, seen, read
}

// follow goes on for as long as the text is the value. short says that the text ended first.
func (f *form) follow(text []byte, from, seen int) (end, at int, short bool) {
	for seen < len(f.want) {
		next, taken, state := f.step(text, from, seen)
		if state != read {
			return from, seen, state == missing
		}
		from, seen = next, seen+taken
	}
	return from, seen, false
}

// step reads one unit and compares it.
func (f *form) step(text []byte, from, seen int) (next, taken int, found state) {
	if from >= len(text) {
		return from, 0, missing
	}
	u, found := f.next(text, from, seen)
	if found != read {
		return from, 0, found
	}
	if seen+u.n > len(f.want) {
		return from, 0, other
	}
	for i, b := range u.bytes[:u.n] {
		want := f.want[seen+i]
		if b != want && (f.exact || lower(b) != lower(want)) && (b != '+' || want != ' ') {
			return from, 0, other
		}
	}
	return from + u.size, u.n, read
}

func lower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b - 'A' + 'a'
	}
	return b
}

const base64Group = 3

// base64Core are the characters of a value's base64 that depend on nothing else, when so many bytes stand before it.
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
