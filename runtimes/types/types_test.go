package types_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/types"
	"github.com/atelier-run/atelier/runtimes/types/typestest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

var update = flag.Bool("update", false, "write the golden files")

func newEngine(t *testing.T) *types.Engine {
	t.Helper()
	exe := sandboxtest.Exe(t)
	engine := types.New(types.Options{Jailer: worker.FromSandbox(sandboxtest.New(t, exe)), Compiler: typestest.Compiler(t), Exe: exe})
	t.Cleanup(engine.Close)
	return engine
}

func jobOf(files map[string]string, entry string) runtimes.Job {
	job := runtimes.Job{RunID: "types", Workspace: "w", Language: runtimes.TypeScript, Entrypoint: entry, Files: map[string][]byte{}, Limits: runtimes.DefaultLimits()}
	job.Limits.TimeoutMs, job.Limits.CPUMs = 60_000, 60_000 // the largest type takes five seconds on an idle machine
	for name, text := range files {
		job.Files[name] = []byte(text)
	}
	return job
}

// TestTypes infers the schemas of each program in testdata and compares them with the JSON file of the same name. The
// comments at the end of a program are inputs that its input schema must accept or reject. A test of the Studio checks
// the same inputs with another validator.
func TestTypes(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	programs, err := filepath.Glob("testdata/*.[jt]s")
	if err != nil || len(programs) < 30 {
		t.Fatalf("%d programs, %v", len(programs), err)
	}
	for _, path := range programs {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(path)
			outcome, err := engine.Run(t.Context(), jobOf(map[string]string{name: string(source)}, name), runtimetest.NewHost())
			if err != nil || outcome.Error != nil {
				t.Fatalf("%v, %+v", err, outcome.Error)
			}
			var text bytes.Buffer
			if err := json.Indent(&text, outcome.Output, "", "  "); err != nil {
				t.Fatal(err)
			}
			text.WriteByte('\n')
			golden := path[:len(path)-3] + ".json"
			if *update {
				if err := os.WriteFile(golden, text.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), text.String()); diff != "" {
				t.Error(diff)
			}
			tryInstances(t, string(source), outcome.Output)
		})
	}
}

func tryInstances(t *testing.T, source string, inferred []byte) {
	t.Helper()
	var found struct{ InputSchema, OutputSchema json.RawMessage }
	if err := json.Unmarshal(inferred, &found); err != nil {
		t.Fatal(err)
	}
	in, err := schema.Compile(found.InputSchema)
	if err == nil {
		err = in.CheckInput()
	}
	if err != nil {
		t.Fatalf("%v: %s", err, inferred)
	}
	if _, err := schema.Compile(found.OutputSchema); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for line := range strings.Lines(source) {
		kind, input, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "// "), " ")
		if !strings.HasPrefix(line, "// ") || kind != "valid" && kind != "invalid" {
			continue
		}
		tried++
		if faults := in.Validate(json.RawMessage(input)); (len(faults) == 0) != (kind == "valid") {
			t.Errorf("%s %s: %+v", kind, input, faults)
		}
	}
	if tried == 0 {
		t.Error("no instances")
	}
}

// TestImportedTypes checks that types in other files of the program are described.
func TestImportedTypes(t *testing.T) {
	t.Parallel()
	outcome, err := newEngine(t).Run(t.Context(), jobOf(map[string]string{
		"src/main.ts":  "import type { Order } from '../lib/order';\nimport rates from '../data/rates.json';\nexport default (input: Order): typeof rates => rates;\n",
		"lib/order.ts": "export interface Order {\n  id: number;\n  odd: bigint;\n}\n", "data/rates.json": `{"NOK": 1.5}`,
	}, "src/main.ts"), runtimetest.NewHost())
	if err != nil || outcome.Error != nil {
		t.Fatalf("%v, %+v", err, outcome.Error)
	}
	for _, want := range []string{`"required":["id","odd"]`, `"NOK":{"type":"number"}`, `"file":"lib/order.ts","line":3`} {
		if !strings.Contains(string(outcome.Output), want) {
			t.Errorf("%s, want %s", outcome.Output, want)
		}
	}
}

// TestUnresolvedTypes_InAnyFile_Noted checks that there is a note with file and line for each type that cannot be
// found.
func TestUnresolvedTypes_InAnyFile_Noted(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	for name, tt := range map[string]struct {
		files map[string]string
		entry string
		want  string
	}{
		"another file": {map[string]string{
			"main.ts": "import type { Order } from './lib/order';\nexport default (input: Order) => 1;\n", "lib/order.ts": "export interface Order {\n  id: number;\n  odd: Missing;\n}\n",
		}, "main.ts", `{"file":"lib/order.ts","line":3,"message":"Cannot find name 'Missing'."}`},
		"a module of another file": {map[string]string{
			"main.ts": "import type { Order } from './order';\nexport default (input: Order) => 1;\n", "order.ts": "import type { Odd } from './odd';\nexport interface Order { odd: Odd }\n",
		}, "main.ts", `{"file":"order.ts","line":1,"message":"Cannot find module './odd'`},
		"JavaScript": {map[string]string{
			"main.js": "/**\n * @typedef {object} Order\n * @property {Missing} odd\n */\n\n/** @param {Order} input */\nexport default (input) => 1;\n",
		}, "main.js", `"message":"odd: the type cannot be found, so any value is accepted."`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outcome, err := engine.Run(t.Context(), jobOf(tt.files, tt.entry), runtimetest.NewHost())
			if err != nil || outcome.Error != nil {
				t.Fatalf("%v, %+v", err, outcome.Error)
			}
			if !strings.Contains(string(outcome.Output), tt.want) || !strings.Contains(string(outcome.Output), `"odd":{}`) {
				t.Errorf("%s, want %s", outcome.Output, tt.want)
			}
		})
	}
}

// TestTypesRefused checks that a program whose types cannot be described gives an error with file and line.
func TestTypesRefused(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	var wide strings.Builder
	for level := range 6 {
		fmt.Fprintf(&wide, "interface L%d {\n", level)
		for field := range 10 {
			of := "number"
			if level < 5 {
				of = fmt.Sprintf("L%d", level+1)
			}
			fmt.Fprintf(&wide, "  f%d_%d: %s;\n", level, field, of)
		}
		wide.WriteString("}\n")
	}
	tests := map[string]struct {
		source, file, message, code string
		line                        int
	}{
		"a syntax error":         {source: "const a = 1;\nexport default function main( {\n", message: "expected", code: "syntax_error", line: 3},
		"in another file":        {source: "import { Order } from './order';\nexport default (input: Order) => 1;\n", file: "order.ts", message: "expected", code: "syntax_error", line: 2},
		"no main":                {source: "export const other = 1;\n", message: "no main function", code: "no_main", line: 1},
		"main is not a function": {source: "export default 1;\n", message: "no main function", code: "no_main", line: 1},
		"more than 10,000 nodes": {source: wide.String() + "export default (input: L0) => 1;\n", message: "10000 nodes", code: "too_large", line: 70},
		"an endless type":        {source: "interface G<T> {\n  deep: G<G<T>>;\n}\nexport default (input: G<string>) => 1;\n", message: "levels deep", code: "too_large", line: 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outcome, err := engine.Run(t.Context(), jobOf(map[string]string{"main.ts": tt.source, "order.ts": "export interface Order {\n  id: ;\n}\n"}, "main.ts"), runtimetest.NewHost())
			if err != nil || outcome.Error != nil {
				t.Fatalf("%v, %+v", err, outcome.Error)
			}
			var answer struct {
				Failed struct {
					File, Message, Code string
					Line                int
				}
			}
			if err := json.Unmarshal(outcome.Output, &answer); err != nil {
				t.Fatal(err)
			}
			file := tt.file
			if file == "" {
				file = "main.ts"
			}
			if f := answer.Failed; f.File != file || f.Code != tt.code || f.Line != tt.line || !strings.Contains(f.Message, tt.message) {
				t.Errorf("%s, want %s %q at %s:%d", outcome.Output, tt.code, tt.message, file, tt.line)
			}
		})
	}
}
