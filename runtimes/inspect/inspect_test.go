package inspect_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// TestModuleWithManyFaults checks that the first 20 faults of a module are listed and the others counted.
func TestModuleWithManyFaults(t *testing.T) {
	t.Parallel()
	const count = 20_000
	body := binary.AppendUvarint(nil, count)
	for range count {
		body = append(body, 1, 'e', 1, 'g', 3, 0x7f, 0) // a global
	}
	module := append(binary.AppendUvarint([]byte{0, 'a', 's', 'm', 1, 0, 0, 0, 2}, uint64(len(body))), body...)
	report, err := newInspector(t).Check(t.Context(), inspect.Request{Language: runtimes.WASM, Files: map[string][]byte{"m.wasm": module}, Entrypoint: "m.wasm"})
	if err != nil || len(report.Errors) != 21 || report.Errors[20].Message != "The module cannot run: there are 19981 more reasons." || report.Module == nil {
		t.Errorf("%d errors, %+v, %v", len(report.Errors), report.Errors[len(report.Errors)-1:], err)
	}
}

func newInspector(t *testing.T) *inspect.Inspector {
	t.Helper()
	box := sandboxtest.New(t, sandboxtest.Exe(t))
	inspector := inspect.New(inspect.Options{Jailer: worker.FromSandbox(box), Python: "/usr/bin/python3", Bash: "/usr/bin/bash"})
	t.Cleanup(inspector.Close)
	return inspector
}

func TestCheck(t *testing.T) {
	t.Parallel()
	type files map[string]string
	const js, ts, py, sh = runtimes.JavaScript, runtimes.TypeScript, runtimes.Python, runtimes.Bash
	tests := map[string]struct {
		language runtimes.Language
		files    files // the entrypoint is the first of main.js, main.ts, main.py, main.sh
		errors   []fault.Detail
		warnings []fault.Detail // Message is a substring
	}{
		"a module":         {js, files{"main.js": "export default () => 1"}, nil, nil},
		"a script":         {js, files{"main.js": "const x = 1\nasync function main(input, ctx) { return x }"}, nil, nil},
		"a const":          {js, files{"main.js": "const main = () => 1"}, nil, nil},
		"an imported main": {js, files{"main.js": "import { main } from './b'", "b.js": "export function main() {}"}, nil, nil},
		"CommonJS":         {js, files{"main.js": "module.exports = { run: require('./b').main }", "b.js": "exports.main = () => 1"}, nil, nil},
		"CommonJS script":  {js, files{"main.js": "const b = require('./b')\nfunction main() { return b }", "b.js": "exports.main = () => 1"}, nil, nil},
		"TypeScript":       {ts, files{"main.ts": "type A = number; export default async (a: A): Promise<A> => a satisfies A"}, nil, nil},
		"no entry": {js, files{"main.js": "const helper = 1", "other.js": "export function main() {}"},
			[]fault.Detail{{File: "main.js", Line: 1, Column: 1, Code: "missing_entry", Message: "has no entry"}}, nil},
		"a main that is not the entrypoint's": {js, files{"main.js": "import './b'", "b.js": "function main() {}\nconsole.log(main)"},
			[]fault.Detail{{File: "main.js", Line: 1, Column: 1, Code: "missing_entry", Message: "has no entry"}}, nil},
		"a main within": {js, files{"main.js": "{ const main = () => 1; main() }\nconst f = () => { const main = 1; return main }\nf()"},
			[]fault.Detail{{File: "main.js", Line: 1, Column: 1, Code: "missing_entry", Message: "has no entry"}}, nil},
		"syntax": {ts, files{"main.ts": "export default () => {\n  const x: = 1\n}"},
			[]fault.Detail{{File: "main.ts", Line: 2, Column: 12, Code: "syntax_error", Message: "Unexpected"}}, nil},
		"several errors": {ts, files{"main.ts": "import a from 'fs'\nimport b from './b'\nexport default () => [a, b]"},
			[]fault.Detail{
				{File: "main.ts", Line: 1, Column: 15, Code: "import_refused", Message: "is not available in the goja runtime"},
				{File: "main.ts", Line: 2, Column: 15, Code: "import_refused", Message: "does not exist"},
			}, nil},
		"flag d": {js, files{"main.js": "export default () =>\n  /a/d"}, []fault.Detail{{File: "main.js", Line: 2, Column: 3, Code: "regexp_flag", Message: "flag d"}}, nil},
		"flag v": {js, files{"main.js": "export default () =>\n  /[a--b]/v"}, []fault.Detail{{File: "main.js", Line: 2, Column: 3, Code: "regexp_flag", Message: "flag v"}}, nil},
		"a property": {js, files{"main.js": "export default () =>\n  /\\p{L}/u"},
			[]fault.Detail{{File: "main.js", Line: 2, Column: 3, Code: "regexp_property", Message: "needs the node runtime"}}, nil},
		"no property": {js, files{"main.js": "export default () => [/\\p{L}/, /\\\\p{1}/u]"}, nil, nil},
		"gaps": {js, files{"main.js": "export default (i) => {\n  new Intl.NumberFormat('de')\n  i.toLocaleString('de-DE')\n  new Date().toLocaleDateString('en-US')\n  'a'.localeCompare('b', 'sv')\n  new RegExp('a', 'dg')\n  return process.env\n}"},
			nil, []fault.Detail{
				{File: "main.js", Line: 2, Column: 7, Code: "unavailable_global", Message: "Intl is not available"},
				{File: "main.js", Line: 3, Column: 20, Code: "locale", Message: `"de-DE"`},
				{File: "main.js", Line: 5, Column: 26, Code: "locale", Message: `"sv"`},
				{File: "main.js", Line: 6, Column: 19, Code: "regexp_flag", Message: "flag d"},
				{File: "main.js", Line: 7, Column: 10, Code: "unavailable_global", Message: "ctx.env"},
			}},
		"gaps that are tested for first": {js, files{"main.js": "export default () => typeof fetch === 'function' ? fetch('x') : { process: 1 }.process"}, nil, nil},
		"warnings":                       {js, files{"main.js": "export default (a) => a === -0"}, nil, []fault.Detail{{File: "main.js", Line: 1, Column: 29, Code: "syntax_warning", Message: "-0"}}},
		"nests":                          {js, files{"main.js": strings.Repeat("[", 200_000)}, []fault.Detail{{File: "main.js", Line: 1, Column: 2001, Code: "nested_too_deeply", Message: "nested"}}, nil},
		"nesting of operators":           {js, files{"main.js": "export default () => " + strings.Repeat("!", 1_000_000) + "1"}, []fault.Detail{{File: "main.js", Code: "syntax_error", Message: "nested too deeply"}}, nil},

		"bash":             {sh, files{"main.sh": "set -euo pipefail\nwhile read -r x; do echo \"${x^^}\"; done <<<\"$INPUT\"\n", "lib/a.sh": "f() { :; }"}, nil, nil},
		"bash, syntax":     {sh, files{"main.sh": "echo 'ü'; if true; then\n  echo x\nfi fi"}, []fault.Detail{{File: "main.sh", Line: 3, Column: 4, Code: "syntax_error", Message: "Statements must be separated"}}, nil},
		"bash, other file": {sh, files{"main.sh": "source lib/a.sh", "lib/a.sh": "f() { echo 'x\n"}, []fault.Detail{{File: "lib/a.sh", Line: 1, Column: 12, Code: "syntax_error", Message: "closing quote"}}, nil},
		"bash, nests":      {sh, files{"main.sh": strings.Repeat("(", 200_000)}, []fault.Detail{{File: "main.sh", Line: 1, Column: 5001, Code: "nested_too_deeply", Message: "nested"}}, nil},
		"bash, Windows":    {sh, files{"main.sh": "echo 1\r\necho 2\r\n"}, nil, []fault.Detail{{File: "main.sh", Line: 1, Column: 1, Code: "line_endings", Message: `\r\n`}}},

		"python":               {py, files{"main.py": "from .lib import f\nasync def main(input, ctx):\n    return f(input)\n", "lib.py": "def f(x): return x\n"}, nil, nil},
		"python, a skill":      {py, files{"main.py": "def run(action, args): pass"}, nil, nil},
		"python, conditional":  {py, files{"main.py": "try:\n    from x import main\nexcept ImportError:\n    pass"}, nil, nil},
		"python, syntax":       {py, files{"main.py": "def main():\n    return 'ü' 'ö' ö ö"}, []fault.Detail{{File: "main.py", Line: 2, Column: 22, Code: "syntax_error", Message: "SyntaxError: invalid syntax"}}, nil},
		"python, compiler":     {py, files{"main.py": "def main():\n    pass\nreturn 1"}, []fault.Detail{{File: "main.py", Line: 3, Column: 1, Code: "syntax_error", Message: "'return' outside function"}}, nil},
		"python, indentation":  {py, files{"main.py": "def main():\nreturn 1"}, []fault.Detail{{File: "main.py", Line: 2, Column: 1, Code: "syntax_error", Message: "IndentationError"}}, nil},
		"python, other file":   {py, files{"main.py": "def main(): pass", "lib/x.py": "def ("}, []fault.Detail{{File: "lib/x.py", Line: 1, Column: 5, Code: "syntax_error", Message: "SyntaxError"}}, nil},
		"python, no entry":     {py, files{"main.py": "def mian(): pass"}, []fault.Detail{{File: "main.py", Line: 1, Column: 1, Code: "missing_entry", Message: "define main"}}, nil},
		"python, warning":      {py, files{"main.py": "def main(x):\n    return x is 'a'"}, nil, []fault.Detail{{File: "main.py", Line: 2, Column: 1, Code: "syntax_warning", Message: "\"is\" with"}}},
		"python, nests":        {py, files{"main.py": "x = " + strings.Repeat("(", 100_000)}, []fault.Detail{{File: "main.py", Line: 1, Column: 205, Code: "syntax_error", Message: "too many nested parentheses"}}, nil},
		"python, not UTF-8":    {py, files{"main.py": "x = 1\ny = '\xff'"}, []fault.Detail{{File: "main.py", Line: 2, Column: 1, Code: "syntax_error", Message: "not UTF-8"}}, nil},
		"python, runs nothing": {py, files{"main.py": "while True: pass\ndef main(): pass"}, nil, nil},
	}
	inspector := newInspector(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := inspect.Request{Language: tt.language, Runtime: runtimes.Goja, Files: map[string][]byte{}}
			for file, text := range tt.files {
				req.Files[file] = []byte(text)
				if strings.HasPrefix(file, "main.") {
					req.Entrypoint = file
				}
			}
			report, err := inspector.Check(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, "errors", tt.errors, report.Errors)
			compare(t, "warnings", tt.warnings, report.Warnings)
		})
	}
}

// TestGaps checks that features that goja lacks are not errors for programs of other engines, and are listed
// separately.
func TestGaps(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		source                 string
		errors, warnings, gaps []fault.Detail
	}{
		"none":     {source: "export default () => 1"},
		"a global": {source: "export default () =>\n  new Intl.NumberFormat('de').format(1)", gaps: []fault.Detail{{File: "main.ts", Line: 2, Column: 7, Code: "unavailable_global", Message: "Intl is not available in the goja runtime"}}},
		"several globals": {source: "export default () => [new Blob(),\n crypto.subtle, new FormData(), global]", gaps: []fault.Detail{
			{File: "main.ts", Line: 1, Column: 27, Code: "unavailable_global", Message: "Blob"}, {File: "main.ts", Line: 2, Column: 9, Code: "unavailable_global", Message: "crypto.subtle"},
			{File: "main.ts", Line: 2, Column: 21, Code: "unavailable_global", Message: "FormData"}, {File: "main.ts", Line: 2, Column: 33, Code: "unavailable_global", Message: "global"},
		}},
		"a flag":                  {source: "export default () => /[a--b]/v", gaps: []fault.Detail{{File: "main.ts", Line: 1, Column: 22, Code: "regexp_flag", Message: "flag v"}}},
		"a property":              {source: "export default () => /\\p{Script_Extensions=Greek}/u", gaps: []fault.Detail{{File: "main.ts", Line: 1, Column: 22, Code: "regexp_property", Message: "needs the node runtime"}}},
		"a locale":                {source: "export default (i: {n: number}) => i.n.toLocaleString('de-DE')", gaps: []fault.Detail{{File: "main.ts", Line: 1, Column: 55, Code: "locale", Message: "de-DE"}}},
		"options":                 {source: "export default (n: number) => n.toLocaleString('en-US', { maximumFractionDigits: 1, style: 'percent' })", gaps: []fault.Detail{{File: "main.ts", Line: 1, Column: 57, Code: "locale", Message: "the option style needs the node runtime"}}},
		"options that goja has":   {source: "export default (n: number) => n.toLocaleString('en-US', { maximumFractionDigits: 1 }) + 'a'.localeCompare('b', undefined, { numeric: true })"},
		"a locale of the input":   {source: "export default (i: {n: number, l: string}) => i.n.toLocaleString(i.l)", gaps: []fault.Detail{{File: "main.ts", Line: 1, Column: 66, Code: "locale", Message: "not a literal needs the node runtime"}}},
		"a locale without effect": {source: "export default (i: {n: number}) => i.n.toLocaleString(undefined) + i.n.toLocaleString()"},
		"a registry":              {source: "export default () => new FinalizationRegistry(() => {})"},
		"a module":                {source: "import { readFileSync } from 'node:fs'\nexport default () => readFileSync('x')", gaps: []fault.Detail{{File: "main.ts", Line: 1, Column: 30, Code: "import_refused", Message: "node:fs"}}},
		"await":                   {source: "const x = await 1\nexport default () => x", gaps: []fault.Detail{{File: "main.ts", Line: 1, Column: 11, Code: "syntax_error", Message: "Top-level await"}}},
		"a global of no engine":   {source: "export default () => new XMLHttpRequest()", warnings: []fault.Detail{{File: "main.ts", Line: 1, Column: 26, Code: "unavailable_global", Message: "XMLHttpRequest is not available: use fetch."}}},
		"declared":                {source: "class Blob {}\nexport default () => [new Blob(), typeof Intl === 'object' ? Intl : 0]"},
		"an error":                {source: "export default () => new Intl.", errors: []fault.Detail{{File: "main.ts", Line: 1, Column: 31, Code: "syntax_error", Message: "Expected identifier"}}},
		"no entry":                {source: "export const x = new Intl.Collator()", errors: []fault.Detail{{File: "main.ts", Line: 1, Column: 1, Code: "missing_entry", Message: "no entry"}}, gaps: []fault.Detail{{File: "main.ts", Line: 1, Column: 22, Code: "unavailable_global", Message: "Intl"}}},
	}
	inspector := newInspector(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, engine := range []runtimes.Name{runtimes.Auto, runtimes.NodeEngine} {
				report, err := inspector.Check(t.Context(), inspect.Request{Language: runtimes.TypeScript, Runtime: engine, Files: map[string][]byte{"main.ts": []byte(tt.source)}, Entrypoint: "main.ts"})
				if err != nil {
					t.Fatal(err)
				}
				compare(t, "errors", tt.errors, report.Errors)
				compare(t, "warnings", tt.warnings, report.Warnings)
				compare(t, "gaps", tt.gaps, report.Gaps)
			}
		})
	}
}

// compare compares two lists of details. An expected message need only be a part of the actual one.
func compare(t *testing.T, what string, want, got []fault.Detail) {
	t.Helper()
	for i := range min(len(want), len(got)) {
		if strings.Contains(got[i].Message, want[i].Message) {
			got[i].Message = want[i].Message
		}
	}
	if len(want) == 0 && len(got) == 0 {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// jailer is a jailer that counts the sandboxes it prepares.
type jailer struct {
	worker.Jailer
	jails atomic.Int64
}

func (j *jailer) Prepare(ctx context.Context, profile sandbox.Profile) (worker.Jail, error) {
	j.jails.Add(1)
	return j.Jailer.Prepare(ctx, profile)
}

// TestManyFilesAreOneQuestion checks that 200 files that our parser rejects are checked by Bash in one sandbox, and not
// one after another in 200 sandboxes.
func TestManyFilesAreOneQuestion(t *testing.T) {
	t.Parallel()
	counted := &jailer{Jailer: worker.FromSandbox(sandboxtest.New(t, sandboxtest.Exe(t)))}
	inspector := inspect.New(inspect.Options{Jailer: counted, Bash: "/usr/bin/bash"})
	t.Cleanup(inspector.Close)
	const onlyBash = "f() { echo ${1@Z}; }\n" // Bash checks the operator only when it runs
	req := inspect.Request{Language: runtimes.Bash, Files: map[string][]byte{"main.sh": []byte(onlyBash)}, Entrypoint: "main.sh"}
	for n := range 199 {
		req.Files[fmt.Sprintf("lib/-%d x.sh", n)] = []byte(onlyBash)
	}
	req.Files["wrong.sh"] = []byte("if true; then\n")
	report, err := inspector.Check(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Errors) != 1 || report.Errors[0].File != "wrong.sh" || len(report.Warnings) != 200 {
		t.Errorf("%d warnings, errors %.600v", len(report.Warnings), report.Errors)
	}
	if n := counted.jails.Load(); n > 12 { // one per parser, and the sandboxes that the pools prepare in advance
		t.Errorf("%d jails", n)
	}
}

// TestRules checks that each violation of the rules is reported with its position and rule.
func TestRules(t *testing.T) {
	t.Parallel()
	inspector := newInspector(t)
	req := inspect.Request{
		Language: runtimes.Python, Entrypoint: "main.py", Rules: &runtimes.Rules{Pack: runtimes.Restricted},
		Files: map[string][]byte{
			"main.py": []byte("import json, lib\nö = '𝒳'; import os, sys\ndef main():\n    return eval(json.__name__)\r\n"),
			"lib.py":  []byte("\n\nx = ().__class__\n"), "data.txt": []byte("import os"),
		},
	}
	report, err := inspector.Check(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "errors", []fault.Detail{
		{File: "lib.py", Line: 3, Column: 5, Code: "restricted_attribute", Message: "Use type(x)"},
		{File: "main.py", Line: 2, Column: 11, Code: "restricted_import", Message: "'os' is not among the modules"},
		{File: "main.py", Line: 2, Column: 11, Code: "restricted_import", Message: "'sys' is not among the modules"},
		{File: "main.py", Line: 4, Column: 12, Code: "restricted_builtin", Message: "Parse what you need"},
	}, report.Errors)
	req.Rules = nil
	if report, err = inspector.Check(t.Context(), req); err != nil || len(report.Errors) > 0 {
		t.Errorf("without rules: %+v, %v", report, err)
	}
}

func TestPythonThatIsNotThere(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, sandboxtest.Exe(t))
	inspector := inspect.New(inspect.Options{Jailer: worker.FromSandbox(box), Python: "/nowhere/python3"})
	t.Cleanup(inspector.Close)
	_, err := inspector.Check(t.Context(), inspect.Request{Language: runtimes.Python, Files: map[string][]byte{"main.py": nil}, Entrypoint: "main.py"})
	if !fault.Is(err, fault.RuntimeUnavailable) {
		t.Fatalf("got %v", err)
	}
}
