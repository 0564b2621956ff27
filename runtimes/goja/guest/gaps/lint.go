package gaps

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"github.com/atelier-run/atelier/internal/fault"
)

// global describes a global that exists in Node or browsers, but not in goja.
type global struct {
	instead string
	node    bool // the global exists in Node
}

func absent() map[string]global {
	const whole, stream = "pass the whole text or bytes", "work on the whole text or bytes"
	return map[string]global{
		"Intl":                {"format the value in the program, or use toLocaleString with the locale en-US", true},
		"SharedArrayBuffer":   {"use an ArrayBuffer", true},
		"Atomics":             {"a program has one thread", true},
		"WebAssembly":         {"write it in JavaScript", true},
		"process":             {"use ctx.env for environment values and ctx.log for messages", true},
		"global":              {"use globalThis", true},
		"Request":             {"pass the URL and options to fetch", true},
		"Blob":                {whole, true},
		"File":                {whole, true},
		"FormData":            {"use URLSearchParams, or write the body", true},
		"ReadableStream":      {stream, true},
		"WritableStream":      {stream, true},
		"TransformStream":     {stream, true},
		"TextDecoderStream":   {"use a TextDecoder", true},
		"TextEncoderStream":   {"use a TextEncoder", true},
		"CompressionStream":   {stream, true},
		"DecompressionStream": {stream, true},
		"MessageChannel":      {"a program has one thread; use a promise", true},
		"BroadcastChannel":    {"a program has one thread; use a promise", true},
		"CustomEvent":         {"use an Event with your own property", true},
		"XMLHttpRequest":      {"use fetch", false},
		"WebSocket":           {"use fetch; a program has no sockets", false},
		"Worker":              {"a program has one thread", false},
		"__dirname":           {"a program has no file system; import its files", false},
		"__filename":          {"a program has no file system; import its files", false},
	}
}

// Lint returns the unsupported features that a program uses, in the order of the program. gaps are features that only
// goja lacks; missing are features that no engine supports. They are warnings and not errors: the program may never
// reach the code, or may check with typeof first.
func Lint(tree *ast.Program) (gaps, missing []fault.Detail) {
	known := absent()
	declared, asked := map[string]bool{}, map[string]bool{}
	var uses []*ast.Identifier
	names := map[*ast.Identifier]bool{} // names of properties and labels, which do not refer to globals
	Walk(tree, func(node any) {
		switch n := node.(type) {
		case *ast.DotExpression:
			names[&n.Identifier] = true
			if id, ok := n.Left.(*ast.Identifier); ok && id.Name == "crypto" && n.Identifier.Name == "subtle" {
				uses = append(uses, &n.Identifier)
			}
		case *ast.UnaryExpression:
			if id, ok := n.Operand.(*ast.Identifier); ok && n.Operator.String() == "typeof" {
				asked[id.Name.String()] = true
			}
		case *ast.Binding:
			if id, ok := n.Target.(*ast.Identifier); ok {
				declared[id.Name.String()] = true
			}
		case *ast.FunctionLiteral:
			if n.Name != nil {
				declared[n.Name.Name.String()] = true
			}
		case *ast.ClassLiteral:
			if n.Name != nil {
				declared[n.Name.Name.String()] = true
			}
		case *ast.CallExpression:
			gaps = append(gaps, call(tree, n)...)
		case *ast.NewExpression:
			if id, ok := n.Callee.(*ast.Identifier); ok && id.Name == "RegExp" {
				gaps = append(gaps, pattern(tree, n.ArgumentList)...)
			}
		case *ast.Identifier:
			if _, ok := known[n.Name.String()]; ok && !names[n] {
				uses = append(uses, n)
			}
		}
	})
	for _, id := range uses {
		name := id.Name.String()
		switch what, ok := known[name]; {
		case name == "subtle" && !declared["crypto"]:
			gaps = append(gaps, at(tree, id.Idx, CodeUnavailable, "crypto.subtle is not available in the goja runtime: implement it in the program."))
		case !ok || declared[name] || asked[name]:
		case what.node:
			gaps = append(gaps, at(tree, id.Idx, CodeUnavailable, "%s is not available in the goja runtime: %s.", name, what.instead))
		default:
			missing = append(missing, at(tree, id.Idx, CodeUnavailable, "%s is not available: %s.", name, what.instead))
		}
	}
	return ordered(gaps), ordered(missing)
}

// ordered sorts the entries by file and line, and limits the length of the list.
func ordered(found []fault.Detail) []fault.Detail {
	slices.SortStableFunc(found, func(a, b fault.Detail) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line)
	})
	return found[:min(len(found), maxProblems)]
}

// call checks calls of methods whose locale and options goja ignores.
func call(tree *ast.Program, n *ast.CallExpression) []fault.Detail {
	dot, ok := n.Callee.(*ast.DotExpression)
	if !ok {
		if id, ok := n.Callee.(*ast.Identifier); ok && id.Name == "RegExp" {
			return pattern(tree, n.ArgumentList)
		}
		return nil
	}
	arguments := n.ArgumentList
	var known []string // names of the supported options
	switch dot.Identifier.Name {
	case "toLocaleString":
		known = []string{"minimumFractionDigits", "maximumFractionDigits"}
	case "toLocaleDateString", "toLocaleTimeString", "toLocaleUpperCase", "toLocaleLowerCase":
	case "localeCompare":
		known = []string{"sensitivity", "numeric"}
		arguments = arguments[min(1, len(arguments)):]
	default:
		return nil
	}
	var found []fault.Detail
	gap := func(of ast.Expression, format string, args ...any) {
		found = append(found, at(tree, of.Idx0(), CodeLocale, string(dot.Identifier.Name)+" with "+format, args...))
	}
	if len(arguments) > 0 && !isUndefined(arguments[0]) {
		if literal, ok := arguments[0].(*ast.StringLiteral); !ok {
			gap(arguments[0], "a locale that is not a literal needs the node runtime: goja supports only \"en-US\".")
		} else if tag := literal.Value.String(); tag != "en-US" && tag != "en" {
			gap(literal, "the locale %q needs the node runtime: goja supports only \"en-US\".", tag)
		}
	}
	if len(arguments) > 1 && !isUndefined(arguments[1]) {
		if key := unknownOption(arguments[1], known); key != "" {
			gap(arguments[1], "%s needs the node runtime: format the value in the program instead.", key)
		}
	}
	return found
}

// unknownOption returns the name of an option that is not in known, or "" if there is none.
func unknownOption(options ast.Expression, known []string) string {
	const other = "options that are not a literal"
	object, ok := options.(*ast.ObjectLiteral)
	if !ok {
		return other
	}
	for _, property := range object.Value {
		name := ""
		switch p := property.(type) {
		case *ast.PropertyShort:
			name = p.Name.Name.String()
		case *ast.PropertyKeyed:
			if key, ok := p.Key.(*ast.StringLiteral); ok && !p.Computed {
				name = key.Value.String()
			}
		}
		switch {
		case name == "":
			return other
		case !slices.Contains(known, name):
			return "the option " + name
		}
	}
	return ""
}

// isUndefined reports whether an expression is undefined. The bundler writes undefined as void 0.
func isUndefined(expression ast.Expression) bool {
	switch e := expression.(type) {
	case *ast.Identifier:
		return e.Name == "undefined"
	case *ast.UnaryExpression:
		_, literal := e.Operand.(*ast.NumberLiteral)
		return e.Operator == token.VOID && literal
	}
	return false
}

// pattern checks the literal arguments of a RegExp.
func pattern(tree *ast.Program, arguments []ast.Expression) []fault.Detail {
	if len(arguments) < 2 {
		return nil
	}
	flags, ok := arguments[1].(*ast.StringLiteral)
	if !ok {
		return nil
	}
	text := ""
	if source, ok := arguments[0].(*ast.StringLiteral); ok {
		text = source.Value.String()
	}
	advice := RegExpAdvice(text, flags.Value.String())
	switch {
	case advice == "":
		return nil
	case hasProperty(text):
		return []fault.Detail{at(tree, flags.Idx, CodeProperty, "%s", advice)}
	}
	return []fault.Detail{at(tree, flags.Idx, CodeRegExpFlag, "%s", advice)}
}
