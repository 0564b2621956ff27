package projects

import (
	"bytes"
	"context"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

const (
	maxPattern      = 512
	maxInstructions = 2_000 // of a compiled expression: the time to match a line is proportional to them
	maxMatches      = 5_000
	maxLine         = 500 // bytes of a line in a result
	searchBatch     = 256 // files that are read at once
)

// Match is a line that a search found.
type Match struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// glob compiles a pattern with *, **, ? and [...]. A * does not match a slash; ** does. The time to match is linear.
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

// expression compiles a regular expression of RE2, whose time to match is linear.
func expression(pattern string) (*regexp.Regexp, string) {
	if len(pattern) == 0 || len(pattern) > maxPattern || !utf8.ValidString(pattern) {
		return nil, "must have 1 to 512 bytes of UTF-8."
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, "is not a regular expression of RE2: " + err.Error() + "."
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(program.Inst) > maxInstructions {
		return nil, "is too large: use smaller repetitions."
	}
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return nil, "is not a regular expression of RE2."
	}
	return compiled, ""
}

// search lists the lines of files that match. It ends early when there are too many, or ctx ends.
func (o *Session) search(ctx context.Context, paths []string, pattern *regexp.Regexp) (found []Match, tooMany bool, err error) {
	found = []Match{}
	for start := 0; start < len(paths); start += searchBatch {
		batch := paths[start:min(start+searchBatch, len(paths))]
		var digests []string
		for _, path := range batch {
			if _, edited := o.edits[path]; !edited {
				digests = append(digests, o.base[path].Digest)
			}
		}
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
		if pattern.Match(line) {
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
