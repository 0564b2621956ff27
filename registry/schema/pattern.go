package schema

import (
	"regexp"
	"regexp/syntax"
	"time"

	"github.com/dlclark/regexp2/v2"
)

const (
	maxPattern        = 2_000                  // maximum length of a pattern in bytes
	maxProgram        = 10_000                 // maximum number of instructions of a compiled RE2 pattern
	matchTimeout      = 250 * time.Millisecond // wall-clock time for one match; long enough for a busy machine
	slowPatternBudget = time.Second            // total time per document for patterns that may backtrack
)

// pattern is a compiled regular expression. RE2 accepts nearly all patterns in use and never backtracks. A pattern with
// look-around or back references, which RE2 lacks, runs in a backtracking engine with a timeout.
type pattern struct {
	text string
	re2  *regexp.Regexp
	size int // number of instructions of re2
	ecma *regexp2.Regexp
}

var (
	errLongPattern  error = patternError("must have at most 2000 bytes; split it, or check the value in the program")
	errUnevaluated  error = patternError("has a part that this server cannot evaluate; rewrite it, or check the value in the program")
	errLargePattern error = patternError("has repetitions that are too large; use smaller counts, or minLength and maxLength")
)

func newPattern(text string) (*pattern, error) {
	if len(text) > maxPattern {
		return nil, errLongPattern
	}
	if err := checkECMA(text); err != nil {
		return nil, err
	}
	p := &pattern{text: text}
	rewritten, ok := toRE2(text)
	tree, err := syntax.Parse(rewritten, syntax.Perl)
	if err != nil || !ok {
		p.ecma, err = newECMA(text)
		return p, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil || len(program.Inst) > maxProgram {
		return nil, errLargePattern
	}
	p.size = len(program.Inst)
	p.re2, err = regexp.Compile(rewritten)
	return p, err
}

// newECMA compiles a pattern for the backtracking engine. The engine is third-party code and the text is untrusted, so
// a panic of the engine counts as a compile error.
func newECMA(text string) (re *regexp2.Regexp, err error) {
	defer func() {
		if recover() != nil {
			re, err = nil, errUnevaluated
		}
	}()
	re, err = regexp2.Compile(text, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return nil, errUnevaluated
	}
	re.MatchTimeout = matchTimeout
	return re, nil
}

// String implements jsonschema.Regexp.
func (p *pattern) String() string { return p.text }

// MatchString implements jsonschema.Regexp. The library uses it for the patterns in meta-schemas.
func (p *pattern) MatchString(s string) bool {
	if p.re2 != nil {
		return p.re2.MatchString(s)
	}
	fits, err := p.ecma.MatchString(s)
	return err == nil && fits
}
