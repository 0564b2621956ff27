package guest

import (
	"regexp"
	"strings"
)

// parameter is one parameter of main.
type parameter struct {
	name       string
	positional bool // a positional-only parameter, which callers cannot pass by name
	rest       bool // *args
	others     bool // **kwargs
	optional   bool
}

// entry matches the definition of main or run at the top level of a program. Monty has no introspection of functions, so
// their parameters are parsed from the source.
var entry = regexp.MustCompile(`(?m)^(async[ \t]+)?def[ \t]+(main|run)[ \t]*\(`)

// function is the definition of main or run.
type function struct {
	name       string
	async      bool
	line       int
	parameters []parameter
}

// find returns the last definition of main, or the last one of run if there is no main.
func find(source string) (function, bool) {
	plain := blank(source)
	var found function
	ok := false
	for _, at := range entry.FindAllStringSubmatchIndex(plain, -1) {
		name := plain[at[4]:at[5]]
		if ok && found.name == "main" && name == "run" {
			continue
		}
		found, ok = function{name: name, async: at[2] >= 0, line: strings.Count(plain[:at[0]], "\n") + 1, parameters: parameters(plain[at[1]:])}, true
	}
	return found, ok
}

// blank replaces the contents of strings and comments with spaces. Offsets and line numbers do not change.
func blank(source string) string {
	out := []byte(source)
	erase := func(from, to int) {
		for i := from; i < min(to, len(out)); i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	for i := 0; i < len(source); {
		switch c := source[i]; c {
		case '#':
			end := len(source)
			if n := strings.IndexByte(source[i:], '\n'); n >= 0 {
				end = i + n
			}
			erase(i, end)
			i = end
		case '"', '\'':
			end := quoted(source, i)
			erase(i+1, end-1)
			i = end
		default:
			i++
		}
	}
	return string(out)
}

// quoted returns the offset after the string literal that begins at i.
func quoted(source string, i int) int {
	mark := source[i : i+1]
	if strings.HasPrefix(source[i:], strings.Repeat(mark, 3)) {
		mark = strings.Repeat(mark, 3)
	}
	for j := i + len(mark); j < len(source); {
		switch {
		case source[j] == '\\':
			j += 2
		case strings.HasPrefix(source[j:], mark):
			return j + len(mark)
		case source[j] == '\n' && len(mark) == 1:
			return j // the literal is not terminated
		default:
			j++
		}
	}
	return len(source)
}

// parameters parses a list of parameters up to its closing parenthesis.
func parameters(text string) []parameter {
	var all []parameter
	depth, start := 0, 0
	add := func(end int) {
		part := strings.TrimSpace(text[start:end])
		switch {
		case part == "/":
			for i := range all {
				all[i].positional = true
			}
		case part == "" || part == "*":
		case strings.HasPrefix(part, "**"):
			all = append(all, parameter{others: true})
		case strings.HasPrefix(part, "*"):
			all = append(all, parameter{rest: true})
		default:
			name := strings.TrimSpace(part[:strings.IndexAny(part+":", ":= \t\n")])
			all = append(all, parameter{name: name, optional: hasDefault(part)})
		}
		start = end + 1
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				add(i)
				return all
			}
			depth--
		case ',':
			if depth == 0 {
				add(i)
			}
		}
	}
	return all
}

// hasDefault reports whether a parameter has a default value. It ignores = in brackets, because an annotation may contain ==.
func hasDefault(part string) bool {
	depth := 0
	for i := range len(part) {
		switch part[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '=':
			if depth == 0 {
				return true
			}
		}
	}
	return false
}
