// Package bundle combines the files of a JavaScript or TypeScript agent into one program. It uses esbuild with its own
// resolver for the agent's files and, for Node, for the names of Node's modules. It runs only in the sandbox, because
// it parses user code, and a process cannot stop or limit esbuild within itself. It does not depend on a JavaScript
// engine, only on the syntax that goja accepts.
package bundle

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/go-sourcemap/sourcemap"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

// MaxSource is the maximum size of a program's source text in bytes. esbuild uses about fifty times as much memory.
const MaxSource = 2 << 20

// MaxProblems is the maximum number of errors and of warnings that are listed.
const MaxProblems = 50

// Source is the input of the bundler: the agent's files and the entrypoint.
type Source struct {
	Files      map[string][]byte
	Entrypoint string
	Language   runtimes.Language // the language of files without a known extension
	// Bundle for Node: imports of Node's modules are allowed, and syntax that V8 supports is kept.
	Node     bool
	Unpacked bool // imports of packages are not checked, because the packages are not in Files
}

// Program is a bundled agent. Its code is one function expression `function (require, HookName)`, which is async for
// Node. The function executes the modules, passes a top-level `main` of the entrypoint to the hook, and returns the
// exports of the entrypoint. Position maps positions in the code to the agent's files. Map does the same for engines
// that read source maps.
type Program struct {
	Code     string
	Map      []byte   // source map whose columns count from 1 on both sides, as goja expects
	Exports  []string // names that the entrypoint exports, if it is an ES module
	CommonJS bool     // the entrypoint is a CommonJS module, whose exports are known only after it has been executed
	Warnings []fault.Detail

	consumer *sourcemap.Consumer
}

// HookName is the parameter through which a program passes the top-level main of its entrypoint.
const HookName = "__atelier_main__"

// hook is appended to the entrypoint on a separate line, so that the agent's lines keep their numbers. Without the
// hook, esbuild would drop a top-level main as unused. The hook works in ES modules, CommonJS modules and plain
// scripts.
const hook = "\n;" + HookName + `(typeof main === "undefined" ? void 0 : main);`

// Codes of problems. Engines add the codes of their unsupported features.
const (
	CodeSyntax  = "syntax_error"
	CodeWarning = "syntax_warning"
	CodeImport  = "import_refused"
	CodeEntry   = "missing_entry"
	CodeNesting = "nested_too_deeply"
	CodeSize    = "source_too_large"
	CodeConfig  = "tsconfig"
)

// Build bundles a source. For an invalid source it returns problems, with file, line and column if known, and no
// program.
func Build(src Source) (*Program, []fault.Detail) {
	files, problem := open(src)
	if problem != nil {
		return nil, []fault.Detail{*problem}
	}
	result := files.build(hook)
	if len(result.Errors) > 0 {
		// If a file ends too early, the hook can change the error message. So bundle again without the hook; the message then
		// refers to the user's own text.
		if plain := files.build(""); len(plain.Errors) > 0 {
			result = plain
		}
		return nil, problems(src, CodeSyntax, result.Errors)
	}
	program, err := link(result, src.Node)
	if err != nil {
		return nil, []fault.Detail{{File: src.Entrypoint, Code: CodeSyntax, Message: "The bundled program is not readable: " + err.Error()}}
	}
	program.Warnings = append(files.notes, problems(src, CodeWarning, result.Warnings)...)
	return program, nil
}

// Position maps a position of the program, with line and column counted from 1, to the agent's file.
func (p *Program) Position(line, column int) (file string, sourceLine, sourceColumn int, ok bool) {
	if p.consumer == nil {
		consumer, err := sourcemap.Parse("", p.Map)
		if err != nil {
			return "", 0, 0, false
		}
		p.consumer = consumer
	}
	file, _, sourceLine, sourceColumn, ok = p.consumer.Source(line, column)
	return file, sourceLine, sourceColumn, ok
}

// syntax returns the features that esbuild must keep, because goja supports them. esbuild translates all other syntax
// that is newer than ES2017: async generators, for await, decorators, accessors, using. Regular expressions with the
// flags d and v are kept as literals, so that the engine rejects them before the run, with a position.
func syntax() map[string]bool {
	taken := map[string]bool{"dynamic-import": false, "top-level-await": false}
	for _, feature := range []string{
		"class-field", "class-private-accessor", "class-private-brand-check", "class-private-field",
		"class-private-method", "class-private-static-accessor", "class-private-static-field",
		"class-private-static-method", "class-static-blocks", "class-static-field", "bigint",
		"logical-assignment", "nullish-coalescing", "object-rest-spread", "optional-catch-binding", "optional-chain",
		"regexp-dot-all-flag", "regexp-lookbehind-assertions", "regexp-match-indices", "regexp-named-capture-groups",
		"regexp-set-notation", "regexp-unicode-property-escapes",
	} {
		taken[feature] = true
	}
	return taken
}

func (f *sources) build(suffix string) api.BuildResult {
	f.suffix = suffix
	return api.Build(f.options())
}

func (f *sources) options() api.BuildOptions {
	options := api.BuildOptions{
		EntryPoints:    []string{f.Entrypoint},
		Bundle:         true,
		Write:          false,
		Outfile:        "/program.js",
		AbsWorkingDir:  "/",
		Format:         api.FormatESModule,
		Platform:       api.PlatformNeutral,
		Target:         api.ES2017,
		Supported:      syntax(),
		Sourcemap:      api.SourceMapExternal,
		SourcesContent: api.SourcesContentExclude,
		Charset:        api.CharsetASCII, // with ASCII only, columns in bytes equal columns in UTF-16 units
		LegalComments:  api.LegalCommentsNone,
		LogLevel:       api.LogLevelSilent,
		LogLimit:       MaxProblems,
		Metafile:       true,
		TsconfigRaw:    f.tsconfig,
		Plugins:        []api.Plugin{f.plugin()},
	}
	if f.Node {
		f.forNode(&options)
	}
	if f.hasPackages {
		if options.Define == nil {
			options.Define = map[string]string{}
		}
		options.Define["process.env.NODE_ENV"] = `"production"`
	}
	return options
}

// link wraps esbuild's output in a function and adjusts the source map.
//
// esbuild's output is an ES module, because its wrapper for a CommonJS module costs a third of the time of a small run.
// All imports are bundled, and all exports are in one statement at the end. link replaces that statement with a return
// statement.
func link(result api.BuildResult, async bool) (*Program, error) {
	var code, mapping []byte
	for _, file := range result.OutputFiles {
		if strings.HasSuffix(file.Path, ".map") {
			mapping = file.Contents
		} else {
			code = file.Contents
		}
	}
	mapping, err := shift(mapping)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	text.Grow(len(code) + 256)
	kind := "function"
	if async { // allows await at the top level
		kind = "async function"
	}
	fmt.Fprintf(&text, "(%s (require, %s) {%s\n", kind, HookName, directive(result.Metafile))
	body, statement, exports, commonJS := cutExports(string(code))
	text.WriteString(body)
	text.WriteString(statement)
	text.WriteString("\n})")
	return &Program{Code: text.String(), Map: mapping, Exports: exports, CommonJS: commonJS}, nil
}

// cutExports removes the export statement from the end of a bundled module. It returns a return statement for the same
// values, and the exported names.
func cutExports(code string) (body, statement string, names []string, commonJS bool) {
	code = strings.TrimRight(code, "\n")
	const whole, open, end = "\nexport default ", "export {\n", "\n};"
	if at := strings.LastIndex(code, whole); at >= 0 && !strings.Contains(code[at+1:], "\n") {
		value := strings.TrimSuffix(code[at+len(whole):], ";")
		return code[:at+1], "return { default: " + value + " };", nil, true
	}
	at := strings.LastIndex("\n"+code, "\n"+open)
	if at < 0 || !strings.HasSuffix(code, end) {
		return code, "\nreturn {};", nil, false
	}
	var out strings.Builder
	out.WriteString("return {")
	for line := range strings.SplitSeq(code[at+len(open):len(code)-len(end)], "\n") {
		name, alias, renamed := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), ","), " as ")
		if !renamed {
			alias = name
		}
		out.WriteString(alias + ": " + name + ", ")
		names = append(names, alias)
	}
	out.WriteString("};")
	return code[:at], out.String(), names, false
}

// directive returns "use strict" if the entrypoint is an ES module, because ES modules are strict but the wrapping
// function is not. Otherwise it returns "".
func directive(metafile string) string {
	var meta struct {
		Inputs map[string]struct {
			Format string `json:"format"`
		} `json:"inputs"`
		Outputs map[string]struct {
			EntryPoint string `json:"entryPoint"`
		} `json:"outputs"`
	}
	if json.Unmarshal([]byte(metafile), &meta) != nil {
		return ""
	}
	for _, output := range meta.Outputs {
		if output.EntryPoint != "" && meta.Inputs[output.EntryPoint].Format == "esm" {
			return ` "use strict";`
		}
	}
	return ""
}
