package bundle_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bundle"
)

// TestForNode checks that all imports of Node's modules become calls of require, that await works at the top level, and
// that syntax that V8 supports is unchanged.
func TestForNode(t *testing.T) {
	t.Parallel()
	source := `import fs, { readFileSync } from "node:fs"
import * as path from "path"
const late = await import("node:os")
const util = require("util")
class C { #x = 1; static async *all() { for await (const x of []) yield x } }
export default () => [fs, readFileSync, path, late, util, C, import.meta.url, 1n ** 2n, /(?<a>.)/d]`
	program, problems := bundle.Build(bundle.Source{
		Files: map[string][]byte{"main.mjs": []byte(source)}, Entrypoint: "main.mjs", Language: runtimes.JavaScript, Node: true,
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, want := range []string{
		"(async function (require, ", `__require("node:fs")`, `__require("node:path")`, `__require("node:os")`, `__require("node:util")`,
		"await ", "async *all()", "for await", "#x = 1", `"file:///work/main.mjs"`, "/(?<a>.)/d",
	} {
		if !strings.Contains(program.Code, want) {
			t.Errorf("the program has no %s:\n%s", want, program.Code)
		}
	}
	for _, unwanted := range []string{"\nimport ", "import(", "import.meta"} {
		if strings.Contains(program.Code, unwanted) {
			t.Errorf("the program has %q", unwanted)
		}
	}
}

// TestForNodeRefuses checks that imports of missing packages and files are rejected with advice.
func TestForNodeRefuses(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`import x from "lodash"`:   "packages",
		`import x from "./other"`:  `"./other" does not exist.`,
		`import x from "/etc/x"`:   "packages",
		`import x from "main.js"`:  `write "./main.js"`,
		`export * from "file:///"`: "does not exist",
	} {
		_, problems := bundle.Build(bundle.Source{Files: map[string][]byte{"main.js": []byte(source)}, Entrypoint: "main.js", Language: runtimes.JavaScript, Node: true})
		if len(problems) != 1 || problems[0].Code != bundle.CodeImport || !strings.Contains(problems[0].Message, want) {
			t.Errorf("%s: %+v, want %q", source, problems, want)
		}
	}
}
