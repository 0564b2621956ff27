package projects

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

const (
	maxPattern      = 512
	maxInstructions = 2_000 // maximum size of a compiled expression; limits the time to match a line, which is proportional to this size
	maxMatches      = 5_000
	maxLine         = 500      // maximum size in bytes of a line in a result
	searchBatch     = 256      // maximum number of files that are read together; their total size is at most batchBytes
	longLine        = 16 << 10 // number of bytes that are matched before ctx is checked
)

// Match is a line that a search has found.
type Match struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// glob compiles a file pattern with *, **, ? and [...]. A * matches any text without a slash, and ** matches any text.
// Matching takes linear time.
func glob(pattern string) (*regexp.Regexp, string) {
	if len(pattern) == 0 || len(pattern) > maxPattern || !utf8.ValidString(pattern) {
		return nil, "must have 1 to 512 bytes of UTF-8."
	}
	var form strings.Builder
	form.WriteString(`\A`)
	for rest := strings.TrimPrefix(pattern, "./"); rest != ""; {
		switch {
		case strings.HasPrefix(rest, "**/"):
			form.WriteString(`(?:[^/]+/)*`)
			rest = rest[3:]
		case strings.HasPrefix(rest, "**"):
			form.WriteString(`.*`)
			rest = rest[2:]
		case rest[0] == '*':
			form.WriteString(`[^/]*`)
			rest = rest[1:]
		case rest[0] == '?':
			form.WriteString(`[^/]`)
			rest = rest[1:]
		case rest[0] == '[' && strings.IndexByte(rest, ']') > 1:
			end := strings.IndexByte(rest, ']')
			class := rest[1:end]
			negated := ""
			if class[0] == '!' || class[0] == '^' {
				negated, class = "^/", class[1:]
			}
			form.WriteString("[" + negated + strings.NewReplacer(`\`, `\\`, "[", `\[`, "^", `\^`).Replace(class) + "]")
			rest = rest[end+1:]
		default:
			_, width := utf8.DecodeRuneInString(rest)
			form.WriteString(regexp.QuoteMeta(rest[:width]))
			rest = rest[width:]
		}
	}
	form.WriteString(`\z`)
	compiled, err := regexp.Compile("(?s)" + form.String())
	if err != nil {
		return nil, "is not a valid pattern."
	}
	return compiled, ""
}

// expression compiles a regular expression in RE2 syntax. Such expressions match in linear time.
func expression(pattern string) (*regexp.Regexp, string) {
	if len(pattern) == 0 || len(pattern) > maxPattern || !utf8.ValidString(pattern) {
		return nil, "must have 1 to 512 bytes of UTF-8."
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, "is not a valid RE2 regular expression: " + err.Error() + "."
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(program.Inst) > maxInstructions {
		return nil, "is too large: use smaller repetitions."
	}
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return nil, "is not a valid RE2 regular expression."
	}
	return compiled, ""
}

// search lists the lines of files that match the expression. It stops when it has found the maximum number of lines, or
// when ctx ends.
func (o *Session) search(ctx context.Context, paths []string, pattern *regexp.Regexp) (found []Match, tooMany bool, err error) {
	found = []Match{}
	for len(paths) > 0 {
		batch, digests := o.batch(paths)
		paths = paths[len(batch):]
		read, err := o.service.contents(ctx, o.project.Workspace, digests)
		if err != nil {
			return nil, false, err
		}
		for _, path := range batch {
			text := read[o.base[path].Digest]
			if e, edited := o.edits[path]; edited {
				if text, err = o.spooledText(e); err != nil {
					return nil, false, err
				}
			}
			if !utf8.Valid(text) {
				continue
			}
			if found, err = lines(ctx, found, path, text, pattern); err != nil {
				return nil, false, err
			}
			if len(found) > maxMatches {
				return nil, true, nil
			}
		}
	}
	return found, false, nil
}

// batch returns the first files of a list, as many as may be in memory together. It also returns the digests of those
// files that the program has not changed.
func (o *Session) batch(paths []string) (batch, digests []string) {
	bytes := int64(0)
	for n, path := range paths[:min(searchBatch, len(paths))] {
		if _, edited := o.edits[path]; edited {
			continue
		}
		file := o.base[path]
		if bytes += file.Size; bytes > batchBytes && n > 0 {
			return paths[:n], digests
		}
		digests = append(digests, file.Digest)
	}
	return paths[:min(searchBatch, len(paths))], digests
}

// matches reports whether a line matches the expression. If ctx ends while a long line is matched, the result is
// meaningless.
func matches(ctx context.Context, pattern *regexp.Regexp, line []byte) bool {
	if len(line) <= longLine {
		return pattern.Match(line)
	}
	return pattern.MatchReader(&runes{ctx: ctx, rest: line})
}

// runes reads the characters of a line until ctx ends. Then it returns an error, which the regular expression treats as
// the end of the text.
type runes struct {
	ctx  context.Context
	rest []byte
	read int
}

// ReadRune implements io.RuneReader.
func (r *runes) ReadRune() (rune, int, error) {
	if r.read++; r.read%longLine == 0 && r.ctx.Err() != nil {
		return 0, 0, r.ctx.Err()
	}
	if len(r.rest) == 0 {
		return 0, 0, io.EOF
	}
	char, width := utf8.DecodeRune(r.rest)
	r.rest = r.rest[width:]
	return char, width, nil
}

// lines appends the matching lines of one file.
func lines(ctx context.Context, found []Match, path string, text []byte, pattern *regexp.Regexp) ([]Match, error) {
	since := 0
	for number := 1; len(text) > 0 && len(found) <= maxMatches; number++ {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		if since += len(line); since > 64<<10 {
			since = 0
			if err := ctx.Err(); err != nil {
				return found, err
			}
		}
		if matches(ctx, pattern, line) {
			shown := bytes.TrimSuffix(line, []byte("\r"))
			if len(shown) > maxLine {
				shown = shown[:maxLine]
			}
			found = append(found, Match{path, number, strings.ToValidUTF8(string(shown), "")})
		}
		text = rest
	}
	return found, ctx.Err()
}
