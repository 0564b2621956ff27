package guest

// wordSet are the identifiers of a program that mean a global, or a method which the guest mends. Only what a program
// names is put into its VM, so that a small program pays for none of it.
type wordSet map[string]bool

// everything is in the words of a program that can reach names without spelling them.
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

// wholeConsole is in the words of a program that uses the console other than by naming its methods.
const wholeConsole = "console…"

// scan collects the known words of a source. It looks at text, not at syntax: a word in a string costs a few
// microseconds and nothing else.
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
		"JSON", "RegExp", "toString", "toLocaleString", "toLocaleDateString", "toLocaleTimeString",
		"localeCompare", "isWellFormed", "toWellFormed",
	}
	for _, global := range globals() {
		all = append(all, global.name)
	}
	return append(all, symbols()...)
}

// globals are the makers of the globals that the words name.
func (w wordSet) globals() []maker {
	var wanted []maker
	for _, global := range globals() {
		if w.has(global.name) {
			wanted = append(wanted, global)
		}
	}
	return wanted
}
