package bundle_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bundle"
)

func source(entrypoint string, files map[string]string) bundle.Source {
	src := bundle.Source{Files: map[string][]byte{}, Entrypoint: entrypoint, Language: runtimes.TypeScript}
	for name, text := range files {
		src.Files[name] = []byte(text)
	}
	return src
}

func TestBuild(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		src  bundle.Source
		want []string // expected parts of the program
		not  []string
	}{
		"an ES module is strict and exports": {
			src:  source("main.ts", map[string]string{"main.ts": "export default (n: number) => n"}),
			want: []string{`"use strict";`, "return {default: main_default, };"},
			not:  []string{": number"},
		},
		"a script stays sloppy and keeps its unused main": {
			src:  source("main.js", map[string]string{"main.js": "function main(input) { return input }"}),
			want: []string{"function main(input)", "__atelier_main__(typeof main"},
			not:  []string{"use strict"},
		},
		"imports with, without and with the other extension, folders and JSON": {
			src: source("main.ts", map[string]string{
				"main.ts":         `import { a } from "./lib/a"; import b from "./lib/b.js"; import c from "./lib"; import d from "./data.json"; export default () => [a, b, c, d]`,
				"lib/a.ts":        `export const a = "from a"`,
				"lib/b.ts":        `import { up } from "../up.mjs"; export default "from b" + up`,
				"lib/index.ts":    `export default "from index"`,
				"up.mjs":          `export const up = "from up"`,
				"data.json":       `{"k": "from json"}`,
				"README.md":       "(((((",
				"unused/bad.ts":   "this is not ( code",
				"unused/data.bin": "\x00\x01",
			}),
			want: []string{"from a", "from b", "from index", "from json", "from up"},
			not:  []string{"not ( code"},
		},
		"CommonJS": {
			src:  source("main.cjs", map[string]string{"main.cjs": `const a = require("./a"); module.exports = () => a`, "a.js": `exports.x = "from a"`}),
			want: []string{"from a", "__commonJS"},
		},
		"only syntax that goja lacks is lowered": {
			src: source("main.ts", map[string]string{"main.ts": `
				export default async function (xs: AsyncIterable<number>) { for await (const x of xs) use(x?.y ?? { ...x }) }
				async function* use(x: unknown) { yield x }
				class C { #p = 1; static { C.s = 2 } static s: number; accessor z = 3; q() { return this.#p } }; new C()`}),
			want: []string{"?.y ??", "...x", "#p = 1", "__forAwait", "__asyncGenerator"},
			not:  []string{"for await", "async function*", "accessor z"},
		},
		"standard decorators without a tsconfig": {
			src:  source("main.ts", map[string]string{"main.ts": "@d class A {}\nfunction d(t: unknown, c: ClassDecoratorContext) { return c.name }\nexport default () => A"}),
			want: []string{"__decoratorStart"},
		},
		"legacy decorators when the tsconfig asks, comments and commas allowed": {
			src: source("main.ts", map[string]string{
				"main.ts":       "@d class A {}\nfunction d(t: unknown) {}\nexport default () => A",
				"tsconfig.json": "{ // legacy\n \"extends\": \"/etc/passwd\", \"compilerOptions\": { /* here */ \"experimentalDecorators\": true, }, }",
			}),
			want: []string{"__decorateClass"},
			not:  []string{"__decoratorStart"},
		},
		"a last line without newline, with a comment": {
			src:  source("main.js", map[string]string{"main.js": "function main() { return 1 } // the end"}),
			want: []string{"__atelier_main__(typeof main"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, problems := bundle.Build(tt.src)
			if len(problems) > 0 {
				t.Fatalf("problems: %v", problems)
			}
			for _, want := range tt.want {
				if !strings.Contains(program.Code, want) {
					t.Errorf("the program lacks %q:\n%s", want, program.Code)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(program.Code, not) {
					t.Errorf("the program has %q:\n%s", not, program.Code)
				}
			}
		})
	}
}

func TestBuildRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		src  bundle.Source
		want fault.Detail // Message is a substring
	}{
		"syntax": {
			source("main.ts", map[string]string{"main.ts": "export default () => {\n  const é = 1; let = = 2\n}"}),
			fault.Detail{File: "main.ts", Line: 2, Column: 22, Code: "syntax_error", Message: "Unexpected"},
		},
		"an unexpected end of file": {
			source("main.ts", map[string]string{"main.ts": "export default () => {\n  f("}),
			fault.Detail{File: "main.ts", Line: 2, Column: 5, Code: "syntax_error", Message: "Unexpected end of file"},
		},
		"syntax in another file": {
			source("main.ts", map[string]string{"main.ts": `import "./b"`, "b.ts": "\n\nx x"}),
			fault.Detail{File: "b.ts", Line: 3, Column: 3, Code: "syntax_error", Message: `Expected ";" but found "x"`},
		},
		"a file of the host": {
			source("main.ts", map[string]string{"main.ts": "\nimport x from \"/etc/hostname\"; x()"}),
			fault.Detail{File: "main.ts", Line: 2, Column: 15, Code: "import_refused", Message: `"/etc/hostname" does not exist`},
		},
		"an import outside the root": {
			source("lib/main.ts", map[string]string{"lib/main.ts": `import x from "../../etc/hostname"; x()`}),
			fault.Detail{File: "lib/main.ts", Line: 1, Column: 15, Code: "import_refused", Message: "does not exist"},
		},
		"a module of Node": {
			source("main.js", map[string]string{"main.js": `const fs = require("node:fs")`}),
			fault.Detail{File: "main.js", Line: 1, Column: 20, Code: "import_refused", Message: "is not available in the goja runtime: set the runtime to node"},
		},
		"a package": {
			source("main.js", map[string]string{"main.js": `import _ from "lodash"`}),
			fault.Detail{File: "main.js", Line: 1, Column: 15, Code: "import_refused", Message: "is not installed: add it to the packages"},
		},
		"a relative import without ./": {
			source("main.js", map[string]string{"main.js": `import _ from "util/x"`, "util/x.js": ""}),
			fault.Detail{File: "main.js", Line: 1, Column: 15, Code: "import_refused", Message: `write "./util/x" for util/x.js`},
		},
		"a file that is not source": {
			source("main.js", map[string]string{"main.js": `import _ from "./a.csv"`, "a.csv": ""}),
			fault.Detail{File: "main.js", Line: 1, Column: 15, Code: "import_refused", Message: "only JavaScript, TypeScript and JSON"},
		},
		"an export that does not exist": {
			source("main.ts", map[string]string{"main.ts": "import { nope } from './b'; export default nope", "b.ts": "export const b = 1"}),
			fault.Detail{File: "main.ts", Line: 1, Column: 10, Code: "syntax_error", Message: "nope"},
		},
		"await at the top": {
			source("main.ts", map[string]string{"main.ts": "const x = await f()\nexport default () => x"}),
			fault.Detail{File: "main.ts", Line: 1, Column: 11, Code: "syntax_error", Message: "Top-level await"},
		},
		"bad JSON": {
			source("main.ts", map[string]string{"main.ts": "import x from './x.json'\nexport default () => x", "x.json": "{\n1}"}),
			fault.Detail{File: "x.json", Line: 2, Column: 1, Code: "syntax_error", Message: "Expected string"},
		},
		"nests": {
			source("main.ts", map[string]string{"main.ts": "x = 1\ny = " + strings.Repeat("[", 200_000)}),
			fault.Detail{File: "main.ts", Line: 2, Column: 2005, Code: "nested_too_deeply", Message: "nested more than 2000 levels deep"},
		},
		"no entrypoint": {
			source("main.ts", map[string]string{"other.ts": ""}),
			fault.Detail{Code: "missing_entry", Message: `"main.ts" does not exist`},
		},
		"too much": {
			source("main.ts", map[string]string{"main.ts": strings.Repeat("x;\n", bundle.MaxSource/3+1)}),
			fault.Detail{File: "main.ts", Code: "source_too_large", Message: "larger than"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := bundle.Build(tt.src)
			if len(problems) == 0 {
				t.Fatal("no problem was found")
			}
			got := problems[0]
			if !strings.Contains(got.Message, tt.want.Message) {
				t.Errorf("message %q lacks %q", got.Message, tt.want.Message)
			}
			got.Message = tt.want.Message
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestBuild_Zod_NotCompiledForOneRun checks that Zod is set to check values without compiling functions, in both of its
// module formats and in any node_modules folder. Files of the agent with the same names stay unchanged.
func TestBuild_Zod_NotCompiledForOneRun(t *testing.T) {
	t.Parallel()
	src := source("main.js", map[string]string{
		"main.js":                                           `import "own"; import "zod"; import "zod/v4/core/core.cjs"; import "./zod/v4/core/core.js"; export default () => 1`,
		"zod/v4/core/core.js":                               "globalThis.mine = { globalConfig: 1 }; const globalConfig = {}; use(globalConfig)",
		"node_modules/own/package.json":                     `{"main":"index.js"}`,
		"node_modules/own/index.js":                         `import "zod"`,
		"node_modules/own/node_modules/zod/package.json":    `{"main":"v4/core/core.js"}`,
		"node_modules/own/node_modules/zod/v4/core/core.js": "(a = globalThis).__zod_globalConfig ?? (a.__zod_globalConfig = {});",
		"node_modules/zod/package.json":                     `{"main":"v4/core/core.js"}`,
		"node_modules/zod/v4/core/core.js":                  "export const globalConfig = {}; use(globalConfig)",
		"node_modules/zod/v4/core/core.cjs":                 "exports.globalConfig = {};",
	})
	for node, want := range map[bool]int{false: 3, true: 0} {
		src.Node = node
		program, problems := bundle.Build(src)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if got := strings.Count(program.Code, "jitless: true"); got != want {
			t.Errorf("node %t: %d of %d: %s", node, got, want, program.Code)
		}
	}
}

func TestStringsAndCommentsAreNoNests(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("([{", 2000)
	text := "const a = '" + many + "'; /* " + many + "\n*/ const b = `" + many + "`; // " + many + "\nconst c = /\"/; export default () => a + b"
	if _, problems := bundle.Build(source("main.ts", map[string]string{"main.ts": text})); len(problems) > 0 {
		t.Fatal(problems)
	}
}

func TestPosition(t *testing.T) {
	t.Parallel()
	program, problems := bundle.Build(source("main.ts", map[string]string{
		"main.ts":    "import { fail } from './lib/é b'\n\nexport default () => fail('ü')\n",
		"lib/é b.ts": "type T = string\n/* three\nlines */ export function fail(m: T) {\n  const ünder = m; throw new Error(m)\n}\n",
	}))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for i, line := range strings.Split(program.Code, "\n") {
		at := strings.Index(line, "new Error")
		if at < 0 {
			continue
		}
		file, sourceLine, column, ok := program.Position(i+1, at+1)
		if !ok || file != "lib/é b.ts" || sourceLine != 4 || column != 26 {
			t.Fatalf("Position(%d, %d) = %s:%d:%d %v", i+1, at+1, file, sourceLine, column, ok)
		}
		return
	}
	t.Fatalf("no throw in %s", program.Code)
}

func FuzzBuild(f *testing.F) {
	f.Add("export default () => 1")
	f.Add("const x = `${`${1}`}`; /[/`]/; function main() {}")
	f.Add("import './x'")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return // deep nesting would crash the fuzz process; another test tries it in the sandbox
		}
		program, problems := bundle.Build(source("main.ts", map[string]string{"main.ts": text}))
		if program == nil && len(problems) == 0 {
			t.Fatal("neither a program nor a problem")
		}
		for _, problem := range problems {
			if problem.Line > strings.Count(text, "\n")+1 {
				t.Fatalf("the position of %+v is outside the file", problem)
			}
		}
	})
}

// TestBuild_ManyPackages_ReadConcurrently bundles files that import many packages. esbuild resolves their imports
// concurrently.
func TestBuild_ManyPackages_ReadConcurrently(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{"main.js": nil}
	for i := range 64 {
		name := fmt.Sprintf("p%d", i)
		files["main.js"] = fmt.Appendf(files["main.js"], "import './%s.js'\n", name)
		files[name+".js"] = fmt.Appendf(nil, "import '%s'", name)
		files["node_modules/"+name+"/package.json"] = []byte(`{"main":"index.js"}`)
		files["node_modules/"+name+"/index.js"] = fmt.Appendf(nil, "use(%d)", i)
	}
	for range 20 {
		if _, problems := bundle.Build(bundle.Source{Language: runtimes.JavaScript, Files: files, Entrypoint: "main.js"}); len(problems) > 0 {
			t.Fatal(problems)
		}
	}
}
