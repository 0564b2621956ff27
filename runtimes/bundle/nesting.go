package bundle

// MaxNesting is the maximum nesting depth of brackets. Every parser in the worker is recursive, so deeper source could
// overflow the stack and end the worker. Usual source, also generated source, has a much lower depth.
const MaxNesting = 2000

// tooDeep finds the position at which the depth of brackets exceeds MaxNesting. It skips strings, templates and
// comments. It does not recognize regular expressions, so it may miss brackets. If it accepts source that is too deep,
// the only effect is that the worker crashes.
func tooDeep(text []byte) (line, column int, deep bool) {
	line = 1
	depth, start := 0, 0
	var quote byte // delimiter of the current string or template
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\n' {
			line, start = line+1, i+1
			if quote != '`' {
				quote = 0
			}
			continue
		}
		if quote != 0 {
			switch {
			case c == '\\':
				if i+1 < len(text) && text[i+1] != '\n' {
					i++
				}
			case c == quote:
				quote = 0
			case quote == '`' && c == '$' && i+1 < len(text) && text[i+1] == '{':
				// The text within ${ } is code. A nested template ends this state too early, so brackets may be missed.
				quote = 0
			}
			continue
		}
		switch c {
		case '"', '\'', '`':
			quote = c
		case '/':
			if skipped, lines, last := comment(text[i:]); skipped > 0 {
				if lines > 0 {
					line, start = line+lines, i+last+1
				}
				i += skipped - 1
			}
		case '(', '[', '{':
			if depth++; depth > MaxNesting {
				return line, i - start + 1, true
			}
		case ')', ']', '}':
			depth = max(0, depth-1)
		}
	}
	return 0, 0, false
}

// comment measures a comment at the start of text: its length, its newlines and the position of the last newline.
func comment(text []byte) (length, lines, last int) {
	if len(text) < 2 {
		return 0, 0, 0
	}
	switch text[1] {
	case '/':
		for i, c := range text {
			if c == '\n' {
				return i, 0, 0
			}
		}
		return len(text), 0, 0
	case '*':
		for i := 2; i < len(text); i++ {
			if text[i] == '\n' {
				lines, last = lines+1, i
			}
			if text[i] == '/' && text[i-1] == '*' && i > 2 {
				return i + 1, lines, last
			}
		}
		return len(text), lines, last
	}
	return 0, 0, 0
}
