package schema

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// checkECMA returns an error if a pattern is not a regular expression of ECMA-262 with the flag u. The clients of a
// tool compile patterns in this form. RE2 and the backtracking engine accept more patterns than clients do.
func checkECMA(text string) error {
	if !utf8.ValidString(text) {
		return errBadPattern
	}
	names, groups := groupsOf(text)
	p := &ecmaParser{in: text, groups: groups, names: names}
	depth := 0
	for p.pos < len(p.in) {
		if err := p.term(&depth); err != nil {
			return err
		}
	}
	if depth != 0 {
		return errBadPattern
	}
	return nil
}

// ecmaParser reads a pattern in one pass. It uses no recursion: a group only changes the depth.
type ecmaParser struct {
	in     string
	pos    int
	groups int      // number of capturing groups in the whole pattern
	names  []string // names of all groups
	seen   []string // names of the groups that were read
	fixed  []bool   // for each open group: true if the group is an assertion, which cannot be repeated
}

// groupsOf counts the capturing groups of a pattern before it is parsed, because a reference may precede its group.
func groupsOf(text string) (names []string, count int) {
	inClass := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case inClass:
			inClass = c != ']'
		case c == '[':
			inClass = true
		case c == '(' && !strings.HasPrefix(text[i:], "(?"):
			count++
		case strings.HasPrefix(text[i:], "(?<") && !strings.HasPrefix(text[i:], "(?<=") && !strings.HasPrefix(text[i:], "(?<!"):
			count++
			if name, _, ok := strings.Cut(text[i+3:], ">"); ok {
				names = append(names, name)
			}
		}
	}
	return names, count
}

// next consumes a prefix if the rest of the pattern starts with it.
func (p *ecmaParser) next(prefix string) bool {
	if !strings.HasPrefix(p.in[p.pos:], prefix) {
		return false
	}
	p.pos += len(prefix)
	return true
}

func (p *ecmaParser) rune() rune {
	r, size := utf8.DecodeRuneInString(p.in[p.pos:])
	p.pos += size
	return r
}

// term reads one term with its quantifier, or one end of a group.
func (p *ecmaParser) term(depth *int) error {
	switch c := p.in[p.pos]; c {
	case '|', '^', '$':
		p.pos++
		return nil
	case '(':
		*depth++
		return p.open()
	case ')':
		if *depth == 0 {
			return errBadPattern
		}
		p.pos++
		*depth--
		fixed := p.fixed[len(p.fixed)-1]
		p.fixed = p.fixed[:len(p.fixed)-1]
		if fixed {
			return nil // if a quantifier follows, reading the next term returns an error
		}
	case '[':
		p.pos++
		if err := p.class(); err != nil {
			return err
		}
	case '\\':
		p.pos++
		if p.next("b") || p.next("B") {
			return nil
		}
		if err := p.escape(); err != nil {
			return err
		}
	case '*', '+', '?':
		return errNothingToRepeat
	case ']', '{', '}':
		return errLoneBracket
	default:
		p.rune()
	}
	return p.quantifier()
}

// open reads the beginning of a group, up to its first term.
func (p *ecmaParser) open() error {
	p.pos++
	fixed := false
	switch {
	case !strings.HasPrefix(p.in[p.pos:], "?"):
	case p.next("?="), p.next("?!"), p.next("?<="), p.next("?<!"):
		fixed = true
	case p.next("?:"):
	case p.next("?<"):
		name, _, ok := strings.Cut(p.in[p.pos:], ">")
		if !ok || !isGroupName(name) || slices.Contains(p.seen, name) {
			return errGroupName
		}
		p.seen = append(p.seen, name)
		p.pos += len(name) + 1
	case p.next("?P<"):
		return errNamedGroup
	default:
		return errFlags
	}
	p.fixed = append(p.fixed, fixed)
	return nil
}

func isGroupName(name string) bool {
	for i, r := range name {
		start := r == '$' || r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r)
		if !start && (i == 0 || !unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc)) {
			return false
		}
	}
	return name != ""
}

func (p *ecmaParser) quantifier() error {
	if p.next("*") || p.next("+") || p.next("?") {
		p.next("?")
		return nil
	}
	if !p.next("{") {
		return nil
	}
	body, _, ok := strings.Cut(p.in[p.pos:], "}")
	low, high, two := strings.Cut(body, ",")
	if !ok || !isNumber(low) || two && high != "" && !isNumber(high) {
		return errLoneBracket
	}
	if two && high != "" && less(high, low) {
		return errBadPattern
	}
	p.pos += len(body) + 1
	p.next("?")
	return nil
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// less reports whether the first of two decimal numbers of any length is smaller.
func less(a, b string) bool {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return len(a) < len(b) || len(a) == len(b) && a < b
}

// escape reads an escape outside of a class. The backslash was already read.
func (p *ecmaParser) escape() error {
	switch rest := p.in[p.pos:]; {
	case rest == "":
		return errBadPattern
	case rest[0] >= '1' && rest[0] <= '9':
		digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
		if n, err := strconv.Atoi(digits); err != nil || n > p.groups {
			return errReference
		}
		p.pos += len(digits)
		return nil
	case p.next("k<"):
		name, _, ok := strings.Cut(p.in[p.pos:], ">")
		if !ok || !slices.Contains(p.names, name) {
			return errReference
		}
		p.pos += len(name) + 1
		return nil
	}
	_, _, err := p.character()
	return err
}

// character reads an escape that stands for one character or for a set of characters.
func (p *ecmaParser) character() (r rune, set bool, err error) {
	if p.pos == len(p.in) {
		return 0, false, errBadPattern
	}
	start := p.pos
	switch c := p.rune(); {
	case strings.ContainsRune("dDsSwW", c):
		return 0, true, nil
	case c == 'p' || c == 'P':
		return 0, true, p.property()
	case strings.ContainsRune(`^$\.*+?()[]{}|/`, c):
		return c, false, nil
	case strings.ContainsRune("tnvfr", c):
		return map[rune]rune{'t': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r'}[c], false, nil
	case c == '0' && (p.pos == len(p.in) || p.in[p.pos] < '0' || p.in[p.pos] > '9'):
		return 0, false, nil
	case c == 'c' && p.pos < len(p.in) && unicode.IsLetter(rune(p.in[p.pos])) && p.in[p.pos] < utf8.RuneSelf:
		return p.rune() % 32, false, nil
	case c == 'x':
		r, err = p.hex(2)
	case c == 'u' && p.next("{"):
		body, _, ok := strings.Cut(p.in[p.pos:], "}")
		n, bad := strconv.ParseUint(body, 16, 32)
		if !ok || bad != nil || n > unicode.MaxRune {
			return 0, false, errBadPattern
		}
		p.pos += len(body) + 1
		return rune(n), false, nil
	case c == 'u':
		r, err = p.hex(4)
	default:
		return 0, false, badEscape(p.in[start:p.pos])
	}
	return r, false, err
}

func (p *ecmaParser) hex(digits int) (rune, error) {
	if len(p.in)-p.pos < digits {
		return 0, errBadPattern
	}
	n, err := strconv.ParseUint(p.in[p.pos:p.pos+digits], 16, 32)
	if err != nil {
		return 0, errBadPattern
	}
	p.pos += digits
	return rune(n), nil
}

// property reads the braces of a Unicode property: {name} or {name=value}.
func (p *ecmaParser) property() error {
	if !p.next("{") {
		return errProperty
	}
	body, _, ok := strings.Cut(p.in[p.pos:], "}")
	if !ok || !isProperty(body) {
		return errProperty
	}
	p.pos += len(body) + 1
	return nil
}

// isProperty reports whether RE2 supports a Unicode property: a category, or a script by its long name.
func isProperty(body string) bool {
	name, value, two := strings.Cut(body, "=")
	if !two {
		return isCategory(name)
	}
	switch name {
	case "General_Category", "gc":
		return isCategory(value)
	case "Script", "sc":
		_, known := unicode.Scripts[value]
		return known
	}
	return false
}

func isCategory(name string) bool {
	if _, ok := unicode.CategoryAliases[name]; ok {
		return true
	}
	_, ok := unicode.Categories[name]
	return ok
}

// class reads a class. The opening bracket was already read.
func (p *ecmaParser) class() error {
	p.next("^")
	for {
		if p.pos == len(p.in) {
			return errBadPattern
		}
		if p.next("]") {
			return nil
		}
		if strings.HasPrefix(p.in[p.pos:], "[:") && strings.Contains(p.in[p.pos:], ":]") {
			return errPOSIX
		}
		low, set, err := p.member()
		if err != nil {
			return err
		}
		if !strings.HasPrefix(p.in[p.pos:], "-") || strings.HasPrefix(p.in[p.pos:], "-]") {
			continue
		}
		p.pos++
		if p.pos == len(p.in) {
			return errBadPattern
		}
		high, alsoSet, err := p.member()
		if err != nil {
			return err
		}
		if set || alsoSet {
			return errRange
		}
		if high < low {
			return errBadPattern
		}
	}
}

func (p *ecmaParser) member() (r rune, set bool, err error) {
	if !p.next(`\`) {
		return p.rune(), false, nil
	}
	switch {
	case p.next("b"):
		return '\b', false, nil
	case p.next("-"):
		return '-', false, nil
	}
	return p.character()
}

// patternError is the reason why a pattern is rejected.
type patternError string

func (e patternError) Error() string { return string(e) }

const notECMA = "is not a regular expression of ECMA-262, which clients of the agent use; "

var (
	errBadPattern      error = patternError(notECMA + "check brackets, groups and escapes")
	errLoneBracket     error = patternError(notECMA + `write \[ \] \{ \} for these characters themselves`)
	errNothingToRepeat error = patternError(notECMA + `*, + and ? must follow the part that they repeat; write \*, \+ and \? for the characters themselves`)
	errFlags           error = patternError(notECMA + "remove flags such as (?i), and write both cases, for example [Aa]")
	errNamedGroup      error = patternError(notECMA + "write (?<name>…) instead of (?P<name>…)")
	errGroupName       error = patternError(notECMA + "give each group a unique name of letters, digits and _")
	errReference       error = patternError(notECMA + "a reference names a group that does not exist")
	errPOSIX           error = patternError(notECMA + `use \p{L}, \d or a range such as a-z instead of [:alpha:]`)
	errRange           error = patternError(notECMA + `a class such as \w cannot be an end of a range; write \- for the character`)
	errProperty        error = patternError(notECMA + `write a Unicode property as \p{L}, \p{Lu} or \p{Script=Greek}`)
)

// badEscape returns the error for an escape that does not exist in ECMA-262.
func badEscape(escaped string) error {
	if escaped == "A" {
		return patternError(notECMA + `write ^ instead of \A`)
	}
	if strings.EqualFold(escaped, "z") {
		return patternError(notECMA + `write $ instead of \` + escaped)
	}
	return patternError(notECMA + `\` + escaped + " is not an escape; remove the backslash")
}
