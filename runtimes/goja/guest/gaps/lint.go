package gaps

import (
	"slices"

	"github.com/dop251/goja/ast"

	"github.com/atelier-run/atelier/internal/fault"
)

// absent are globals that programs for Node or browsers use and goja does not have, each with what to use instead.
func absent() map[string]string {
	return map[string]string{
		"Intl":                 "write the format in the program, or use toLocaleString with the locale en-US",
		"FinalizationRegistry": "release what you hold when you are done with it",
		"SharedArrayBuffer":    "use an ArrayBuffer",
		"Atomics":              "a program has one thread and needs none",
		"WebAssembly":          "write it in JavaScript",
		"process":              "use ctx.env for environment values and ctx.log for messages",
		"XMLHttpRequest":       "use fetch",
		"WebSocket":            "use fetch; a program has no sockets",
		"Worker":               "a program has one thread",
		"__dirname":            "a program has no file system; import its files",
		"__filename":           "a program has no file system; import its files",
	}
}

// Lint names the gaps of goja that a program steps into, in the order of the program. What it names fails loudly when
// it is reached, so these are warnings: the program may never get there, or ask with typeof before.
func Lint(tree *ast.Program) []fault.Detail {
	missing := absent()
	declared, asked := map[string]bool{}, map[string]bool{}
	var found []fault.Detail
	var uses []*ast.Identifier
	names := map[*ast.Identifier]bool{} // property and label names, which refer to nothing
	Walk(tree, func(node any) {
		switch n := node.(type) {
		case *ast.DotExpression:
			names[&n.Identifier] = true
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
			found = append(found, call(tree, n)...)
		case *ast.NewExpression:
			if id, ok := n.Callee.(*ast.Identifier); ok && id.Name == "RegExp" {
				found = append(found, pattern(tree, n.ArgumentList)...)
			}
		case *ast.Identifier:
			if _, ok := missing[n.Name.String()]; ok && !names[n] {
				uses = append(uses, n)
			}
		}
	})
	for _, id := range uses {
		name := id.Name.String()
		if !declared[name] && !asked[name] {
			found = append(found, at(tree, id.Idx, CodeUnavailable, "%s is not available in the goja runtime: %s.", name, missing[name]))
		}
	}
	slices.SortStableFunc(found, func(a, b fault.Detail) int {
		if a.File != b.File {
			return 0
		}
		return a.Line - b.Line
	})
	return found[:min(len(found), maxProblems)]
}

// call looks at calls of methods whose locale and options goja does not know.
func call(tree *ast.Program, n *ast.CallExpression) []fault.Detail {
	dot, ok := n.Callee.(*ast.DotExpression)
	if !ok {
		if id, ok := n.Callee.(*ast.Identifier); ok && id.Name == "RegExp" {
			return pattern(tree, n.ArgumentList)
		}
		return nil
	}
	position := 0
	switch dot.Identifier.Name {
	case "toLocaleString", "toLocaleDateString", "toLocaleTimeString":
	case "localeCompare":
		position = 1
	case "toLocaleUpperCase", "toLocaleLowerCase":
	default:
		return nil
	}
	if len(n.ArgumentList) <= position {
		return nil
	}
	literal, ok := n.ArgumentList[position].(*ast.StringLiteral)
	if !ok || KnownLocale(literal.Value.String()) || dot.Identifier.Name == "localeCompare" && KnownCollation(literal.Value.String()) {
		return nil
	}
	return []fault.Detail{at(tree, literal.Idx, CodeLocale, "%s has no locale %q in the goja runtime: use \"en-US\", or write the format in the program.", dot.Identifier.Name, literal.Value.String())}
}

// pattern looks at the arguments of a RegExp that are written out.
func pattern(tree *ast.Program, arguments []ast.Expression) []fault.Detail {
	if len(arguments) < 2 {
		return nil
	}
	flags, ok := arguments[1].(*ast.StringLiteral)
	if !ok {
		return nil
	}
	for _, flag := range flags.Value.String() {
		if flag == 'd' || flag == 'v' {
			return []fault.Detail{at(tree, flags.Idx, CodeRegExpFlag, "%s", FlagAdvice(flags.Value.String()))}
		}
	}
	return nil
}

// KnownLocale says whether numbers and dates can be written for a locale.
func KnownLocale(tag string) bool { return tag == "en-US" || tag == "en" }
