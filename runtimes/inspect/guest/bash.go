package guest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf16"

	"mvdan.cc/sh/v3/syntax"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes/bundle"
)

// Codes of this package's diagnostics.
const (
	CodeSyntax     = "syntax_error"
	CodeLineEnding = "line_endings"
)

// bash parses every script of an agent and reports syntax errors.
func bash(job Job) Report {
	if _, ok := job.Files[job.Entrypoint]; !ok {
		return Report{Errors: []fault.Detail{{Code: bundle.CodeEntry, Message: fmt.Sprintf("The entrypoint %q does not exist.", job.Entrypoint)}}}
	}
	var report Report
	for _, name := range slices.Sorted(maps.Keys(job.Files)) {
		if name != job.Entrypoint && path.Ext(name) != ".sh" && path.Ext(name) != ".bash" {
			continue
		}
		text := job.Files[name]
		if problem := parse(name, text); problem != nil {
			report.Errors = append(report.Errors, *problem)
		}
		if at := bytes.Index(text, []byte("\r\n")); at >= 0 {
			report.Warnings = append(report.Warnings, fault.Detail{
				File: name, Line: bytes.Count(text[:at], []byte("\n")) + 1, Column: 1, Code: CodeLineEnding,
				Message: "The lines end in \\r\\n, and Bash treats \\r as part of the last word. Save the file with \\n.",
			})
		}
	}
	return report
}

// maxNesting is the maximum nesting of brackets in a script. It is checked before the parser runs, because the parser
// is recursive. It is high, because the count includes brackets in quotes.
const maxNesting = 5000

func parse(name string, text []byte) *fault.Detail {
	_, problem := read(name, text)
	return problem
}

// formatted formats the entrypoint. It does not change comments and here-documents.
func formatted(job Job) Report {
	script, problem := read(job.Entrypoint, job.Files[job.Entrypoint], syntax.KeepComments(true))
	if problem != nil {
		return Report{Errors: []fault.Detail{*problem}}
	}
	if len(script.Stmts) == 0 && len(script.Last) == 0 {
		return Report{} // without this check, the printer would write an empty line for an empty script
	}
	var text strings.Builder
	if err := syntax.NewPrinter(syntax.Indent(job.Indent), syntax.SwitchCaseIndent(true)).Print(&text, script); err != nil {
		return Report{Errors: []fault.Detail{{File: job.Entrypoint, Code: CodeSyntax, Message: sentence(err.Error())}}}
	}
	return Report{Text: text.String()}
}

// read parses a script and returns its tree, or the syntax error.
func read(name string, text []byte, options ...syntax.ParserOption) (*syntax.File, *fault.Detail) {
	depth, line, start := 0, 1, 0
	for i, c := range text {
		switch c {
		case '\n':
			line, start = line+1, i+1
		case '(', '{', '[':
			if depth++; depth > maxNesting {
				return nil, &fault.Detail{File: name, Line: line, Column: i - start + 1, Code: bundle.CodeNesting, Message: fmt.Sprintf("Brackets are nested more than %d levels deep.", maxNesting)}
			}
		case ')', '}', ']':
			depth = max(0, depth-1)
		}
	}
	script, err := syntax.NewParser(append(options, syntax.Variant(syntax.LangBash))...).Parse(bytes.NewReader(text), name)
	if err == nil {
		return script, nil
	}
	detail := fault.Detail{File: name, Code: CodeSyntax, Message: sentence(err.Error())}
	var bad syntax.ParseError
	var other syntax.LangError
	switch {
	case errors.As(err, &bad):
		detail.Message = sentence(bad.Text)
		detail.Line, detail.Column = position(text, bad.Pos)
	case errors.As(err, &other):
		detail.Message = sentence(fmt.Sprintf("%s is not a feature of bash", other.Feature))
		detail.Line, detail.Column = position(text, other.Pos)
	}
	return nil, &detail
}

// position returns line and column of a position. The column counts UTF-16 units, as in editors.
func position(text []byte, at syntax.Pos) (line, column int) {
	offset := min(int(at.Offset()), len(text))
	start := bytes.LastIndexByte(text[:offset], '\n') + 1
	return int(at.Line()), len(utf16.Encode([]rune(string(text[start:offset])))) + 1
}

func sentence(text string) string {
	if text == "" {
		return "The script has a syntax error."
	}
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}
