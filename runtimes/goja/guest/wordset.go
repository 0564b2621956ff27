package guest

import (
	"slices"
	"strings"
)

// wordSet is the set of globals and patched methods whose names occur in a program. Only the members of the set are
// installed in the VM, which saves time for small programs.
type wordSet map[string]bool

// everything is in the set of a program that may use globals whose names it does not contain, for example through eval.
const everything = "*"

func (w wordSet) has(names ...string) bool {
	if w[everything] {
		return true
	}
	for _, name := range names {
		if w[name] {
			return true
		}
	}
	return false
}

// wholeConsole is in the set of a program that does not only call methods of the console by name, as in console.log.
const wholeConsole = "console…"

// bigLiteral is in the set of a program with a BigInt literal.
const bigLiteral = "1n"

// scan returns the set of a source. It searches the text for known words without parsing the text. It also finds words
// that occur only in strings or comments. This has no effect on the program and costs a few microseconds.
func scan(source string) wordSet {
	known := map[string]bool{"eval": true, "Function": true, "globalThis": true}
	for _, name := range consoleMethods() {
		known[name] = true
	}
	for _, name := range knownWords() {
		known[name] = true
	}
	found := wordSet{}
	for i := 0; i < len(source); {
		if !isWord(source[i]) {
			i++
			continue
		}
		start := i
		for i < len(source) && isWord(source[i]) {
			i++
		}
		word := source[start:i]
		if known[word] {
			found[word] = true
		}
		if word[0] <= '9' && strings.HasSuffix(word, "n") {
			found[bigLiteral] = true
		}
		if word == "console" && (i >= len(source) || source[i] != '.') {
			found[wholeConsole] = true
		}
	}
	if found["eval"] || found["Function"] || found["globalThis"] {
		found[everything] = true
	}
	return found
}

func knownWords() []string {
	all := []string{
		"JSON", "toString", "isWellFormed", "toWellFormed",
	}
	for _, global := range globals() {
		all = append(all, global.name)
	}
	for _, words := range corrections() {
		all = append(all, words...)
	}
	return append(all, symbols()...)
}

// globals returns the makers of the globals in the set.
func (w wordSet) globals() []maker {
	var wanted []maker
	for _, global := range globals() {
		if w.has(global.name) {
			wanted = append(wanted, global)
		}
	}
	return wanted
}

// corrections returns the functions of patch.js that a program with these words needs.
func (w wordSet) corrections() []string {
	var wanted []string
	for name, words := range corrections() {
		if w.has(words...) {
			wanted = append(wanted, name)
		}
	}
	slices.Sort(wanted)
	return wanted
}
