package guest

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/token"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bundle"
	"github.com/atelier-run/atelier/runtimes/goja/guest/gaps"
)

// javascript lists the facts about the files of a program. It parses each file separately.
func (c *collector) javascript(job Job) []fault.Detail {
	modules, problems := bundle.Separate(bundle.Source{Files: job.Files, Entrypoint: job.Entrypoint, Language: job.Language})
	if len(problems) > 0 {
		return problems
	}
	for _, m := range modules {
		text := m.Code + "\n//# sourceMappingURL=file.map"
		tree, err := goja.Parse("(program)", text, parser.WithSourceMapLoader(func(string) ([]byte, error) { return m.Map, nil }))
		if err != nil {
			return []fault.Detail{{File: m.File, Line: 1, Column: 1, Code: bundle.CodeUndecided, Message: "The analysis cannot read this file: " + err.Error()}}
		}
		s := &script{collector: c, tree: tree, file: m.File, names: map[string]string{}, own: map[string]bool{}, declared: map[string]bool{}, called: map[ast.Expression]bool{}, assigned: map[ast.Expression]string{}, skipped: map[ast.Expression]bool{}}
		s.list()
	}
	return nil
}

// script is one file of a program during its analysis.
type script struct {
	*collector
	tree     *ast.Program
	file     string
	names    map[string]string // key: name in the file; value: full name of the module or function
	own      map[string]bool   // functions, classes and parameters that the file declares
	declared map[string]bool   // variables that the file declares
	called   map[ast.Expression]bool
	assigned map[ast.Expression]string // name to which each literal is assigned
	// Expressions that are not analysed by themselves: parts of longer names, and compared literals.
	skipped map[ast.Expression]bool
}

func (s *script) note(at file.Idx, kind runtimes.FactKind, name string, with map[string]string) {
	position := s.tree.File.Position(int(at) - s.tree.File.Base())
	f := runtimes.Fact{Kind: kind, Name: name, With: with, File: s.file, Line: max(position.Line, 1), Column: max(position.Column, 1)}
	if position.Filename != s.file { // the position is in text that the conversion added
		if strings.HasPrefix(name, "Object.") {
			return
		}
		f.Line, f.Column = 1, 1
	}
	s.add(f)
}

// jsGlobals returns the global names for which there are rules.
func jsGlobals() []string {
	return []string{"eval", "Function", "require", "process", "globalThis", "global", "window", "self", "fetch", "WebSocket", "XMLHttpRequest", "setTimeout", "setInterval", "Deno", "Bun", "WebAssembly", "Reflect"}
}

func (s *script) list() {
	s.bind()
	gaps.Walk(s.tree, func(node any) {
		switch n := node.(type) {
		case *ast.CallExpression:
			s.called[n.Callee] = true
			s.called[inner(n.Callee)] = true
		case *ast.NewExpression:
			s.called[n.Callee] = true
		case *ast.DotExpression:
			s.skipped[n.Left] = true
		case *ast.BracketExpression:
			s.skipped[n.Left] = true
		case *ast.UnaryExpression:
			if n.Operator == token.TYPEOF {
				s.skipped[n.Operand] = true
			}
		case *ast.BinaryExpression:
			if n.Comparison || n.Operator == token.EQUAL || n.Operator == token.STRICT_EQUAL || n.Operator == token.NOT_EQUAL || n.Operator == token.STRICT_NOT_EQUAL {
				s.skipped[n.Left], s.skipped[n.Right] = true, true
			}
		case *ast.Binding:
			if id, ok := n.Target.(*ast.Identifier); ok && n.Initializer != nil {
				s.assigned[n.Initializer] = id.Name.String()
			}
		case *ast.AssignExpression:
			s.assigned[n.Right] = lastName(n.Left)
		case *ast.PropertyKeyed:
			if key, ok := s.text(n.Key); ok {
				s.assigned[n.Value] = key
			}
		case *ast.FieldDefinition:
			if key, ok := s.text(n.Key); ok && n.Initializer != nil {
				s.assigned[n.Initializer] = key
			}
		}
	})
	gaps.Walk(s.tree, s.look)
}

// inner returns f for a callee of the form (0, f).
func inner(e ast.Expression) ast.Expression {
	switch n := e.(type) {
	case *ast.SequenceExpression:
		return n.Sequence[len(n.Sequence)-1]
	case *ast.OptionalChain:
		return inner(n.Expression)
	case *ast.Optional:
		return inner(n.Expression)
	}
	return e
}

func lastName(e ast.Expression) string {
	switch n := e.(type) {
	case *ast.Identifier:
		return n.Name.String()
	case *ast.DotExpression:
		return n.Identifier.Name.String()
	}
	return ""
}

// bind records the names that the file gives to modules and functions.
func (s *script) bind() {
	parameters := func(list *ast.ParameterList) {
		for _, one := range list.List {
			s.declare(one.Target)
		}
	}
	gaps.Walk(s.tree, func(node any) {
		switch n := node.(type) {
		case *ast.FunctionLiteral:
			if n.Name != nil {
				s.own[n.Name.Name.String()] = true
			}
			if n != s.wrapper() {
				parameters(n.ParameterList)
			}
		case *ast.ArrowFunctionLiteral:
			parameters(n.ParameterList)
		case *ast.ClassLiteral:
			if n.Name != nil {
				s.own[n.Name.Name.String()] = true
			}
		case *ast.Binding:
			if id, ok := n.Target.(*ast.Identifier); ok {
				s.declared[id.Name.String()] = true
			}
		case *ast.PropertyShort:
			s.declared[n.Name.Name.String()] = true
		case *ast.CatchStatement:
			if id, ok := n.Parameter.(*ast.Identifier); ok {
				s.declared[id.Name.String()] = true
			}
		}
	})
	for _, name := range []string{"module", "exports", "undefined", "arguments"} {
		s.declared[name] = true
	}
	if s.own["ctx"] {
		s.names["ctx"] = "ctx"
	}
	for _, name := range jsGlobals() {
		if !s.own[name] {
			s.names[name] = name
		}
	}
	for range 3 { // repeat for chains such as const a = eval; const b = a
		gaps.Walk(s.tree, func(node any) {
			switch n := node.(type) {
			case *ast.Binding:
				s.alias(n.Target, n.Initializer)
			case *ast.AssignExpression:
				s.alias(n.Left, n.Right)
			}
		})
	}
}

// wrapper returns the function with which the conversion wraps the file, or nil if there is none.
func (s *script) wrapper() *ast.FunctionLiteral {
	if len(s.tree.Body) == 0 {
		return nil
	}
	statement, ok := s.tree.Body[0].(*ast.ExpressionStatement)
	if !ok {
		return nil
	}
	literal, _ := statement.Expression.(*ast.FunctionLiteral)
	return literal
}

func (s *script) declare(target any) {
	switch n := target.(type) {
	case *ast.Identifier:
		s.own[n.Name.String()] = true
	case *ast.ObjectPattern:
		for _, p := range n.Properties {
			switch q := p.(type) {
			case *ast.PropertyShort:
				s.own[q.Name.Name.String()] = true
			case *ast.PropertyKeyed:
				s.declare(q.Value)
			}
		}
	case *ast.ArrayPattern:
		for _, e := range n.Elements {
			s.declare(e)
		}
	}
}

// alias records that the names in target stand for a value, if the full name of the value is known.
func (s *script) alias(target any, value ast.Expression) {
	if value == nil {
		return
	}
	full := s.qualified(value)
	if full == "" {
		return
	}
	put := func(name, full string) {
		if _, known := s.names[name]; !known {
			s.names[name] = full
		}
	}
	switch n := target.(type) {
	case *ast.Identifier:
		put(n.Name.String(), full)
	case *ast.ObjectPattern:
		for _, p := range n.Properties {
			switch q := p.(type) {
			case *ast.PropertyShort:
				put(q.Name.Name.String(), join(full, q.Name.Name.String()))
			case *ast.PropertyKeyed:
				key, ok := s.text(q.Key)
				if id, isName := q.Value.(*ast.Identifier); ok && isName {
					put(id.Name.String(), join(full, key))
				}
			}
		}
	}
}

// join returns the full name of a member. It omits the global object and the name of the default export.
func join(base, member string) string {
	switch base {
	case "globalThis", "global", "window", "self":
		return member
	}
	if member == "default" {
		return base
	}
	return base + "." + member
}

// qualified returns the full name of a function or module, such as fs.readFile, or "" if it is not known.
func (s *script) qualified(e ast.Expression) string {
	switch n := e.(type) {
	case *ast.Identifier:
		name := n.Name.String()
		if full := s.names[name]; full != "" || s.own[name] || s.declared[name] {
			return full
		}
		return name // the name is a global
	case *ast.DotExpression:
		if base := s.qualified(n.Left); base != "" {
			return join(base, n.Identifier.Name.String())
		}
		if n.Identifier.Name == "constructor" { // the constructor of any function is Function
			if inside, ok := n.Left.(*ast.DotExpression); ok && inside.Identifier.Name == "constructor" {
				return "Function"
			}
			if isFunction(n.Left) {
				return "Function"
			}
		}
	case *ast.BracketExpression:
		base := s.qualified(n.Left)
		if member, ok := s.text(n.Member); ok && base != "" {
			return join(base, member)
		}
		if member, ok := s.text(n.Member); ok && member == "constructor" {
			if inside := s.memberName(n.Left); inside == "constructor" || isFunction(n.Left) {
				return "Function"
			}
		}
	case *ast.SequenceExpression, *ast.OptionalChain, *ast.Optional:
		return s.qualified(inner(e))
	case *ast.AwaitExpression:
		return s.qualified(n.Argument)
	case *ast.CallExpression:
		return s.result(n)
	case *ast.BinaryExpression:
		if n.Operator == token.LOGICAL_OR || n.Operator == token.COALESCE {
			return s.qualified(n.Left)
		}
	}
	return ""
}

func (s *script) memberName(e ast.Expression) string {
	switch n := e.(type) {
	case *ast.DotExpression:
		return n.Identifier.Name.String()
	case *ast.BracketExpression:
		member, _ := s.text(n.Member)
		return member
	}
	return ""
}

func isFunction(e ast.Expression) bool {
	switch e.(type) {
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return true
	}
	return false
}

// result returns the full name of the value that a call returns: a module from require, or a function that a helper
// returns unchanged. It returns "" if the name is not known.
func (s *script) result(n *ast.CallExpression) string {
	callee := inner(n.Callee)
	if id, ok := callee.(*ast.Identifier); ok {
		switch name := id.Name.String(); {
		case (name == "__toESM" || name == "__importStar" || name == "__importDefault") && len(n.ArgumentList) > 0:
			return s.qualified(n.ArgumentList[0])
		case s.names[name] == "require" && len(n.ArgumentList) > 0:
			wanted, ok := s.text(n.ArgumentList[0])
			if !ok || strings.HasPrefix(wanted, ".") {
				return ""
			}
			return strings.TrimPrefix(wanted, "node:")
		}
	}
	dot, ok := callee.(*ast.DotExpression)
	if !ok {
		return ""
	}
	switch base := s.qualified(dot.Left); {
	case dot.Identifier.Name == "bind" && base != "":
		return base
	case base == "process" && (dot.Identifier.Name == "getBuiltinModule" || dot.Identifier.Name == "binding") && len(n.ArgumentList) > 0:
		wanted, _ := s.text(n.ArgumentList[0])
		return strings.TrimPrefix(wanted, "node:")
	case dot.Identifier.Name == "then":
		return ""
	}
	return ""
}

// text returns the value of a string expression if it is known without running the program.
func (s *script) text(e ast.Expression) (string, bool) {
	switch n := e.(type) {
	case *ast.StringLiteral:
		return n.Value.String(), true
	case *ast.TemplateLiteral:
		if len(n.Expressions) == 0 && len(n.Elements) == 1 {
			return n.Elements[0].Parsed.String(), true
		}
	case *ast.BinaryExpression:
		if n.Operator == token.PLUS {
			left, ok := s.text(n.Left)
			right, also := s.text(n.Right)
			return left + right, ok && also
		}
	}
	return "", false
}

// literal describes an argument by its value or by the full name of a function. If neither is known, it returns ?.
func (s *script) literal(e ast.Expression) string {
	if text, ok := s.text(e); ok {
		return short(text)
	}
	switch n := e.(type) {
	case *ast.BooleanLiteral:
		return strconv.FormatBool(n.Value)
	case *ast.NumberLiteral:
		return short(n.Literal)
	case *ast.NullLiteral:
		return "null"
	case *ast.UnaryExpression: // esbuild writes true and false as !0 and !1
		if number, ok := n.Operand.(*ast.NumberLiteral); ok && n.Operator == token.NOT {
			return strconv.FormatBool(number.Literal == "0")
		}
	case *ast.TemplateLiteral:
		return "template"
	}
	if name := s.qualified(e); name != "" {
		return short(name)
	}
	if call, ok := e.(*ast.CallExpression); ok {
		if name := s.qualified(inner(call.Callee)); name != "" {
			return short(name + "()")
		}
		if name := s.memberName(inner(call.Callee)); name != "" {
			return short("." + name + "()")
		}
	}
	return "?"
}

func short(text string) string {
	if len(text) > 200 {
		return strings.ToValidUTF8(text[:200], "")
	}
	return text
}

// given describes the arguments of a call. The key is the position of the argument. For an object literal, it describes
// the properties, with their names as keys.
func (s *script) given(arguments []ast.Expression) map[string]string {
	with := map[string]string{}
	for at, argument := range arguments[:min(len(arguments), 8)] {
		object, ok := argument.(*ast.ObjectLiteral)
		if !ok {
			with[strconv.Itoa(at)] = s.literal(argument)
			continue
		}
		with[strconv.Itoa(at)] = "{}"
		for _, p := range object.Value[:min(len(object.Value), 50)] {
			keyed, ok := p.(*ast.PropertyKeyed)
			if !ok {
				continue
			}
			if key, ok := s.text(keyed.Key); ok {
				with[short(key)] = s.literal(keyed.Value)
			}
		}
	}
	return with
}

func (s *script) look(node any) {
	switch n := node.(type) {
	case *ast.CallExpression:
		s.call(n)
	case *ast.NewExpression:
		if name := s.qualified(n.Callee); name != "" {
			with := s.given(n.ArgumentList)
			s.note(n.New, runtimes.CallFact, "new "+name, with)
			if name == "Function" || name == "vm.Script" {
				s.note(n.New, runtimes.DynamicFact, "new "+name, nil)
			}
		}
	case *ast.StringLiteral:
		s.string(n, n.Idx, n.Value.String())
	case *ast.TemplateLiteral:
		for _, part := range n.Elements {
			s.string(n, part.Idx, part.Parsed.String())
		}
	case *ast.WhileStatement:
		s.endless(n.While, n.Test, n.Body)
	case *ast.DoWhileStatement:
		s.endless(n.Do, n.Test, n.Body)
	case *ast.ForStatement:
		s.endless(n.For, n.Test, n.Body)
	case *ast.DotExpression:
		s.member(n, n.Identifier.Name.String(), n.Identifier.Idx)
	case *ast.BracketExpression:
		if name, ok := s.text(n.Member); ok {
			s.member(n, name, n.LeftBracket)
		} else if base := s.qualified(n.Left); base == "process.env" || base == "ctx.env" {
			s.note(n.LeftBracket, runtimes.EnvironmentFact, "*", nil)
		} else if slices.Contains([]string{"globalThis", "global", "process", "child_process"}, base) {
			s.note(n.LeftBracket, runtimes.DynamicFact, base+"[…]", nil)
		}
	case *ast.Identifier:
		if name := s.names[n.Name.String()]; (name == "eval" || name == "Function") && !s.called[n] && !s.skipped[n] && s.assigned[n] == "" {
			s.note(n.Idx, runtimes.ReferenceFact, name, nil)
		}
	}
}

// member adds facts about a member expression: a read of the environment, an attribute that gives access to the engine,
// or a function that is used without calling it.
func (s *script) member(n ast.Expression, name string, at file.Idx) {
	full := s.qualified(n)
	if name == "__proto__" || name == "caller" && full != "" {
		s.note(at, runtimes.AttributeFact, name, nil)
	}
	for _, base := range []string{"process.env.", "ctx.env."} {
		if variable, ok := strings.CutPrefix(full, base); ok && !strings.Contains(variable, ".") {
			s.note(at, runtimes.EnvironmentFact, variable, nil)
			if value := s.assigned[n]; value != "" {
				return
			}
		}
	}
	if (full == "process.env" || full == "ctx.env") && !s.skipped[n] {
		s.note(at, runtimes.EnvironmentFact, "*", nil)
	}
	if full != "" && !s.called[n] && !s.skipped[n] && strings.Contains(full, ".") && !strings.HasPrefix(full, "ctx.") && !strings.HasPrefix(full, "process.env") || full == "Function" && !s.called[n] {
		s.note(at, runtimes.ReferenceFact, full, nil)
	}
}

func (s *script) call(n *ast.CallExpression) {
	callee := inner(n.Callee)
	name, with := s.qualified(callee), s.given(n.ArgumentList)
	at := callee.Idx0()
	if name == "" {
		if dot, ok := callee.(*ast.DotExpression); ok && len(with) > 0 {
			s.note(dot.Identifier.Idx, runtimes.CallFact, "."+dot.Identifier.Name.String(), with)
		}
		return
	}
	if name == "require" {
		wanted, ok := "", false
		if len(n.ArgumentList) > 0 {
			wanted, ok = s.text(n.ArgumentList[0])
		}
		switch {
		case !ok:
			s.note(at, runtimes.DynamicFact, "require", nil)
		case !strings.HasPrefix(wanted, "."):
			s.note(at, runtimes.ImportFact, strings.TrimPrefix(wanted, "node:"), nil)
		}
		return
	}
	for _, suffix := range []string{".call", ".apply"} {
		name = strings.TrimSuffix(name, suffix)
	}
	if name == "process.getBuiltinModule" && len(n.ArgumentList) > 0 {
		if wanted, ok := s.text(n.ArgumentList[0]); ok {
			s.note(at, runtimes.ImportFact, strings.TrimPrefix(wanted, "node:"), nil)
		}
	}
	s.note(at, runtimes.CallFact, name, with)
	switch module, _, _ := strings.Cut(name, "."); {
	case module == "child_process" || module == "cluster" || name == "worker_threads.Worker" || strings.HasPrefix(name, "Deno.run") || strings.HasPrefix(name, "Bun.spawn"):
		s.note(at, runtimes.SubprocessFact, name, with)
	case name == "eval" || name == "Function" || module == "vm" || (name == "setTimeout" || name == "setInterval") && len(n.ArgumentList) > 0 && isText(n.ArgumentList[0]):
		s.note(at, runtimes.DynamicFact, name, nil)
	case module == "ctx" && strings.Count(name, ".") == 1:
		s.note(at, runtimes.FunctionFact, strings.TrimPrefix(name, "ctx."), nil)
	}
	s.network(n, name, with)
}

func isText(e ast.Expression) bool {
	switch n := e.(type) {
	case *ast.StringLiteral, *ast.TemplateLiteral:
		return true
	case *ast.BinaryExpression:
		return n.Operator == token.PLUS && (isText(n.Left) || isText(n.Right))
	}
	return false
}

// network adds facts about hosts for calls of network modules whose arguments are host names and not URLs.
func (s *script) network(n *ast.CallExpression, name string, with map[string]string) {
	module, _, _ := strings.Cut(name, ".")
	if !slices.Contains([]string{"http", "https", "net", "tls", "dgram", "http2", "dns"}, module) {
		return
	}
	port := with["port"]
	if port == "" || port == "?" {
		port = map[string]string{"https": "443", "tls": "443", "http2": "443"}[module]
	}
	if port == "" {
		port = "80"
	}
	for _, key := range []string{"host", "hostname"} {
		if host := with[key]; host != "" && host != "?" && strings.Contains(host, ".") && host != "0.0.0.0" {
			s.note(n.Callee.Idx0(), runtimes.HostFact, strings.ToLower(host)+":"+port, nil)
		}
	}
	if (module == "net" || module == "tls") && strings.Contains(with["1"], ".") {
		s.note(n.Callee.Idx0(), runtimes.HostFact, fmt.Sprintf("%s:%s", strings.ToLower(with["1"]), with["0"]), nil)
	}
}

func (s *script) string(n ast.Expression, at file.Idx, value string) {
	for _, host := range hosts(value) {
		s.note(at, runtimes.HostFact, host, nil)
	}
	if (value == "0.0.0.0" || value == "::") && !s.skipped[n] {
		s.note(at, runtimes.AddressFact, value, nil)
	}
	if isSecret(s.assigned[n], value) {
		name := s.assigned[n]
		if name == "" {
			name = "a string"
		}
		s.note(at, runtimes.LiteralFact, name, nil)
	}
}

// endless adds a fact about a loop without a condition that neither ends nor pauses.
func (s *script) endless(at file.Idx, test ast.Expression, body ast.Statement) {
	switch literal := s.literalOrTrue(test); literal {
	case "true", "1":
	default:
		return
	}
	if !s.leaves(reflect.ValueOf(body)) {
		s.note(at, runtimes.LoopFact, "endless", nil)
	}
}

func (s *script) literalOrTrue(test ast.Expression) string {
	if test == nil {
		return "true"
	}
	return s.literal(test)
}

// leaves reports whether the body of a loop may leave the loop or pause. It does not tell loops apart: it also returns
// true for a break of an inner loop.
func (s *script) leaves(body reflect.Value) bool {
	found := false
	gaps.WalkFrom(body, func(node any) {
		switch n := node.(type) {
		case *ast.BranchStatement:
			found = found || n.Token == token.BREAK
		case *ast.ReturnStatement, *ast.ThrowStatement, *ast.AwaitExpression, *ast.YieldExpression:
			found = true
		case *ast.CallExpression:
			switch s.qualified(inner(n.Callee)) {
			case "process.exit", "Atomics.wait":
				found = true
			}
		}
	})
	return found
}
