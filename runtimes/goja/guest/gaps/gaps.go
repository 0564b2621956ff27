// Package gaps reports JavaScript features that goja lacks and that can be found in the source, with file and line. It
// works on goja's syntax tree of a bundled program and runs only in the sandbox.
package gaps

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"

	"github.com/atelier-run/atelier/internal/fault"
)

// These are the codes of diagnostics.
const (
	CodeSyntax      = "syntax_error"
	CodeRegExpFlag  = "regexp_flag"
	CodeProperty    = "regexp_property"
	CodeLocale      = "locale"
	CodeUnavailable = "unavailable_global"
)

// maxProblems is the maximum length of each list that this package returns.
const maxProblems = 50

// Refusals returns the reasons why goja rejected a program, with positions in the agent's files. The function position maps
// a position in the bundled program to the agent's files. Only errors of goja's parser need it, because goja's compiler
// already maps positions.
func Refusals(err error, position func(line, column int) (string, int, int, bool)) []fault.Detail {
	var list parser.ErrorList
	if errors.As(err, &list) {
		var all []fault.Detail
		for _, e := range list[:min(len(list), maxProblems)] {
			detail := fault.Detail{Code: CodeSyntax, Message: sentence(e.Message)}
			if name, line, column, ok := position(e.Position.Line, e.Position.Column); ok {
				detail.File, detail.Line, detail.Column = name, line, column
			}
			all = append(all, detail)
		}
		return all
	}
	var compiler *goja.CompilerSyntaxError
	if errors.As(err, &compiler) {
		detail := fault.Detail{Code: CodeSyntax, Message: sentence(compiler.Message)}
		if rest, ok := strings.CutPrefix(compiler.Message, "Invalid flags supplied to RegExp constructor "); ok {
			detail.Code, detail.Message = CodeRegExpFlag, RegExpAdvice("", strings.Trim(rest, "'"))
		}
		if compiler.File != nil {
			at := compiler.File.Position(compiler.Offset)
			detail.File, detail.Line, detail.Column = at.Filename, at.Line, at.Column
		}
		return []fault.Detail{detail}
	}
	return []fault.Detail{{Code: CodeSyntax, Message: sentence(err.Error())}}
}

// RegExpAdvice returns the reason why goja cannot run a regular expression, or "" if it can.
func RegExpAdvice(pattern, flags string) string {
	switch {
	case strings.Contains(flags, "d"):
		return "The regular expression flag d needs the node runtime: use match.index and the lengths of the groups instead of indices."
	case strings.Contains(flags, "v"):
		return "The regular expression flag v needs the node runtime: use the flag u, and write set operations as a lookahead."
	case strings.Contains(flags, "u") && hasProperty(pattern):
		return "The escape \\p{…} in a regular expression needs the node runtime: in goja, write the characters as a class, such as [a-zà-ÿ]."
	case strings.Trim(flags, "gimsuy") != "":
		return fmt.Sprintf("The regular expression flags %q are not valid.", flags)
	}
	return ""
}

// hasProperty reports whether a pattern contains the escape \p or \P. If the backslash itself is escaped, the letter
// after it is not part of an escape.
func hasProperty(pattern string) bool {
	for i := 0; i+1 < len(pattern); i++ {
		if pattern[i] == '\\' {
			i++
			if pattern[i] == 'p' || pattern[i] == 'P' {
				return true
			}
		}
	}
	return false
}

func sentence(text string) string {
	text = strings.TrimPrefix(text, "SyntaxError: ")
	if text != "" {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// Properties returns an error for each regular expression with property escapes. goja compiles such an expression, but
// the expression never matches.
func Properties(tree *ast.Program) (problems []fault.Detail) {
	Walk(tree, func(node any) {
		literal, ok := node.(*ast.RegExpLiteral)
		if ok && strings.Contains(literal.Flags, "u") && hasProperty(literal.Pattern) && len(problems) < maxProblems {
			problems = append(problems, at(tree, literal.Idx, CodeProperty, "%s", RegExpAdvice(literal.Pattern, literal.Flags)))
		}
	})
	return problems
}

func at(tree *ast.Program, index file.Idx, code, format string, args ...any) fault.Detail {
	position := tree.File.Position(int(index) - tree.File.Base())
	return fault.Detail{File: position.Filename, Line: position.Line, Column: position.Column, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Walk visits every node of a tree once. It uses reflection, because goja's trees have no visitor. The fields of a node
// are nodes, slices of nodes and plain values. The lists of declarations refer to some nodes a second time.
func Walk(tree *ast.Program, visit func(node any)) { WalkFrom(reflect.ValueOf(tree.Body), visit) }

// WalkFrom visits every node below a part of a tree once.
func WalkFrom(part reflect.Value, visit func(node any)) {
	seen := map[uintptr]struct{}{}
	pending := []reflect.Value{part}
	for len(pending) > 0 {
		v := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		switch v.Kind() {
		case reflect.Interface:
			pending = append(pending, v.Elem())
		case reflect.Pointer:
			if v.IsNil() || v.Type().Elem().Kind() != reflect.Struct {
				continue
			}
			if _, again := seen[v.Pointer()]; again {
				continue
			}
			seen[v.Pointer()] = struct{}{}
			visit(v.Interface())
			pending = append(pending, v.Elem())
		case reflect.Slice:
			for i := v.Len() - 1; i >= 0; i-- {
				pending = append(pending, v.Index(i))
			}
		case reflect.Struct:
			for i := v.NumField() - 1; i >= 0; i-- {
				if v.Type().Field(i).IsExported() {
					pending = append(pending, v.Field(i))
				}
			}
		default: // a plain value
		}
	}
}
