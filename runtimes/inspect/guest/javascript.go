package guest

import (
	"slices"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bundle"
	"github.com/atelier-run/atelier/runtimes/goja/guest/gaps"
)

// javascript checks whether the engine of a program can parse it. For engines other than goja, it lists the features
// that goja lacks separately.
func javascript(job Job) Report {
	source := bundle.Source{Files: job.Files, Entrypoint: job.Entrypoint, Language: job.Language, Unpacked: job.Unpacked}
	inGoja, missing := forGoja(source)
	if job.Runtime == runtimes.Goja {
		inGoja.Warnings, inGoja.Gaps = append(append(inGoja.Warnings, inGoja.Gaps...), missing...), nil
		return inGoja
	}
	source.Node = true
	program, problems := bundle.Build(source)
	if len(problems) > 0 {
		return Report{Errors: problems, Gaps: without(inGoja.Errors, problems)}
	}
	report := Report{Warnings: append(program.Warnings, missing...)}
	for _, problem := range append(inGoja.Errors, inGoja.Gaps...) {
		if problem.Code == bundle.CodeEntry {
			report.Errors = append(report.Errors, problem)
		} else {
			report.Gaps = append(report.Gaps, problem)
		}
	}
	return report
}

// without returns those details whose position does not occur in others.
func without(details, others []fault.Detail) []fault.Detail {
	return slices.DeleteFunc(slices.Clone(details), func(d fault.Detail) bool {
		return slices.ContainsFunc(others, func(o fault.Detail) bool {
			return o.File == d.File && o.Line == d.Line && o.Column == d.Column
		})
	})
}

// forGoja bundles and compiles a source as for a run in goja. The report lists features that only goja lacks. missing
// lists features that no engine has.
func forGoja(source bundle.Source) (report Report, missing []fault.Detail) {
	program, problems := bundle.Build(source)
	if len(problems) > 0 {
		return Report{Errors: problems}, nil
	}
	report.Warnings = program.Warnings
	text := program.Code + "\n//# sourceMappingURL=bundle.map"
	tree, err := goja.Parse("(program)", text, parser.WithSourceMapLoader(func(string) ([]byte, error) { return program.Map, nil }))
	if err != nil {
		report.Errors = gaps.Refusals(err, program.Position)
		return report, nil
	}
	report.Gaps, missing = gaps.Lint(tree)
	if !program.CommonJS && !slices.Contains(program.Exports, "default") && !slices.Contains(program.Exports, "main") && !hasMain(tree) {
		report.Errors = append(report.Errors, fault.Detail{
			File: source.Entrypoint, Line: 1, Column: 1, Code: bundle.CodeEntry,
			Message: "The program has no entry point: export a default function, export a function main, or declare function main(input, ctx).",
		})
	}
	if problems := gaps.Properties(tree); len(problems) > 0 {
		report.Errors = append(report.Errors, problems...)
		return report, missing
	}
	if _, err := goja.CompileAST(tree, false); err != nil {
		report.Errors = append(report.Errors, gaps.Refusals(err, program.Position)...)
	}
	return report, missing
}

// hasMain reports whether a bundled program declares the main that it passes to the hook. The declaration must be in
// the same block as the call of the hook. esbuild renames other declarations, so the name in the call cannot refer to
// them.
func hasMain(tree *ast.Program) bool {
	found := false
	gaps.Walk(tree, func(node any) {
		var body []ast.Statement
		switch n := node.(type) {
		case *ast.FunctionLiteral:
			if n.Body != nil {
				body = n.Body.List
			}
		case *ast.ArrowFunctionLiteral:
			if block, ok := n.Body.(*ast.BlockStatement); ok {
				body = block.List
			}
		}
		if name := handedOver(body); name != "" && declares(body, name) {
			found = true
		}
	})
	return found
}

// handedOver returns the name that a statement of the form `hook(typeof main === "undefined" ? void 0 : main)` passes
// to the hook. It returns "" for other statements.
func handedOver(body []ast.Statement) string {
	for _, statement := range body {
		expression, ok := statement.(*ast.ExpressionStatement)
		if !ok {
			continue
		}
		call, ok := expression.Expression.(*ast.CallExpression)
		if !ok || len(call.ArgumentList) != 1 {
			continue
		}
		callee, ok := call.Callee.(*ast.Identifier)
		if !ok || callee.Name != bundle.HookName {
			continue
		}
		if choice, ok := call.ArgumentList[0].(*ast.ConditionalExpression); ok {
			if name, ok := choice.Alternate.(*ast.Identifier); ok {
				return name.Name.String()
			}
		}
	}
	return ""
}

func declares(body []ast.Statement, name string) bool {
	bound := func(list []*ast.Binding) bool {
		return slices.ContainsFunc(list, func(b *ast.Binding) bool {
			id, ok := b.Target.(*ast.Identifier)
			return ok && id.Name.String() == name
		})
	}
	return slices.ContainsFunc(body, func(statement ast.Statement) bool {
		switch s := statement.(type) {
		case *ast.FunctionDeclaration:
			return s.Function.Name != nil && s.Function.Name.Name.String() == name
		case *ast.ClassDeclaration:
			return s.Class.Name != nil && s.Class.Name.Name.String() == name
		case *ast.VariableStatement:
			return bound(s.List)
		case *ast.LexicalDeclaration:
			return bound(s.List)
		}
		return false
	})
}
