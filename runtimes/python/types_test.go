package python_test

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
	"github.com/atelier-run/atelier/runtimes/python"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

var update = flag.Bool("update", false, "write the golden files")

// typesJob returns a program of one file as a job.
func typesJob(source, input string) runtimes.Job {
	return runtimes.Job{
		RunID: "types", Workspace: "w", Language: runtimes.Python, Runtime: runtimes.PythonEngine, Files: map[string][]byte{"main.py": []byte(source)},
		Entrypoint: "main.py", Input: json.RawMessage(input), Limits: runtimes.DefaultLimits(),
	}
}

// TestTypes infers the schemas of each program in testdata/types and compares them with the file beside it. The
// comments at the end of a program are inputs that its input schema must accept or refuse. With each valid input the
// program runs with typed arguments, and its output must fit its output schema. A test of the Studio checks the same
// inputs with another validator.
func TestTypes(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	programs, err := filepath.Glob("testdata/types/*.py")
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
			inferred, golden := infer(t, engine, string(source)), strings.TrimSuffix(path, ".py")+".json"
			if *update {
				if err := os.WriteFile(golden, inferred, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(inferred)); diff != "" {
				t.Error(diff)
			}
			tryInstances(t, engine, string(source), inferred)
		})
	}
}

// infer returns the types that Infer finds for a program, as indented JSON.
func infer(t *testing.T, engine *python.Engine, source string) []byte {
	t.Helper()
	outcome, err := engine.Infer(t.Context(), typesJob(source, ""), runtimetest.NewHost())
	if err != nil || outcome.Error != nil {
		t.Fatalf("%v, %+v", err, outcome.Error)
	}
	var text bytes.Buffer
	if err := json.Indent(&text, outcome.Output, "", "  "); err != nil {
		t.Fatal(err)
	}
	return append(text.Bytes(), '\n')
}

func tryInstances(t *testing.T, engine *python.Engine, source string, inferred []byte) {
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
		t.Fatal(err)
	}
	out, err := schema.Compile(found.OutputSchema)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for line := range strings.Lines(source) {
		kind, input, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "# "), " ")
		if !strings.HasPrefix(line, "# ") || kind != "valid" && kind != "invalid" {
			continue
		}
		tried++
		if faults := in.Validate(json.RawMessage(input)); (len(faults) == 0) != (kind == "valid") {
			t.Errorf("%s %s: %+v", kind, input, faults)
		}
		if kind == "valid" {
			outcome, err := engine.Run(t.Context(), typesJob(source, input), runtimetest.NewHost())
			if err != nil || outcome.Error != nil {
				t.Errorf("run with %s: %v, %+v", input, err, outcome.Error)
			} else if faults := out.Validate(outcome.Output); len(faults) > 0 {
				t.Errorf("output %s: %+v", outcome.Output, faults)
			}
		}
	}
	if tried == 0 {
		t.Error("no instances")
	}
}

// TestTypesRefused expects an error with file and line for a program whose types cannot be described.
func TestTypesRefused(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	var wide strings.Builder
	wide.WriteString("from __future__ import annotations\nfrom typing import TypedDict\n")
	for level := range 6 {
		fmt.Fprintf(&wide, "class L%d(TypedDict):\n", level)
		for field := range 10 {
			if level == 5 {
				fmt.Fprintf(&wide, "    f%d: int\n", field)
			} else {
				fmt.Fprintf(&wide, "    f%d: L%d\n", field, level+1)
			}
		}
	}
	tests := map[string]struct {
		source, message string
		line            int
		timeoutMs       int64 // default: a minute
	}{
		"an import that fails":   {source: "import json\nimport nothing_here\ndef main(): pass", message: "nothing_here", line: 2},
		"an error at import":     {source: "x = 1\ny = x / 0\ndef main(): pass", message: "ZeroDivisionError", line: 2},
		"a syntax error":         {source: "def main(:\n", message: "SyntaxError", line: 1},
		"no main":                {source: "x = 1", message: "no main", line: 1},
		"an endless import":      {source: "while True: pass", message: "time", timeoutMs: 3000},
		"memory":                 {source: "x = 'x' * (1 << 32)\ndef main(): pass", message: "memory"},
		"an exit":                {source: "import sys\nsys.exit(3)", message: "code 3", line: 2},
		"more than 10,000 nodes": {source: wide.String() + "def main(input: L0): pass", message: "10000 nodes", line: 67},
		"the network":            {source: "import urllib.request\nurllib.request.urlopen('http://example.com')\ndef main(): pass", message: "not granted", line: 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := typesJob(tt.source, "")
			job.Limits.TimeoutMs = 60_000
			if tt.timeoutMs > 0 {
				job.Limits.TimeoutMs = tt.timeoutMs
			}
			job.Capabilities.Hosts = []string{"example.com"}
			outcome, err := engine.Infer(t.Context(), job, runtimetest.NewHost())
			if err != nil {
				t.Fatal(err)
			}
			found := outcome.Error
			if found == nil {
				var answer struct{ Failed *runtimes.ProgramError }
				if err := json.Unmarshal(outcome.Output, &answer); err != nil || answer.Failed == nil {
					t.Fatalf("%s, %v", outcome.Output, err)
				}
				found = answer.Failed
			}
			if !strings.Contains(found.Message, tt.message) || found.Line != tt.line {
				t.Errorf("%+v, want %q at line %d", found, tt.message, tt.line)
			}
		})
	}
}

// TestTypedArguments runs programs with typed parameters in every kind of process.
func TestTypedArguments(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	const order = "from dataclasses import dataclass\nimport datetime\n@dataclass\nclass Order:\n    at: datetime.date\n    count: int = 1\n"
	tests := map[string]struct {
		source, input, output, message, pointer string
		rules                                   *runtimes.Rules
		isolation                               runtimes.Isolation
	}{
		"pooled":             {source: order + "def main(order: Order): return [order.at.year, order.count]", input: `{"order":{"at":"2026-01-02"}}`, output: `[2026,1]`},
		"strict":             {source: order + "def main(order: Order): return [order.at.year, order.count]", input: `{"order":{"at":"2026-01-02"}}`, output: `[2026,1]`, isolation: runtimes.Strict},
		"restricted":         {source: order + "def main(order: Order): return [order.at.year, order.count]", input: `{"order":{"at":"2026-01-02"}}`, output: `[2026,1]`, rules: &runtimes.Rules{Pack: runtimes.Restricted}},
		"a bad date":         {source: order + "def main(order: Order): pass", input: `{"order":{"at":"soon"}}`, message: "order.at: Invalid isoformat string", pointer: "/input/order/at"},
		"a missing field":    {source: order + "def main(order: Order): pass", input: `{"order":{}}`, message: "order: must have at", pointer: "/input/order"},
		"no object":          {source: order + "def main(order: Order): pass", input: `{"order":1}`, message: "order: must be an object", pointer: "/input/order"},
		"no type of a union": {source: order + "def main(order: Order | None): pass", input: `{"order":1}`, message: "order: fits none of the types Order, NoneType", pointer: "/input/order"},
		"the whole input":    {source: order + "def main(input: dict[str, list[Order]]): pass", input: `{"a/b":[{"at":"2026-01-02"},{"at":7}]}`, message: "input.a/b[1].at", pointer: "/input/a~1b/1/at"},
		"a typed result":     {source: order + "def main() -> Order: return Order(datetime.date(2026, 1, 2))", input: `{}`, output: `{"at":"2026-01-02","count":1}`},
		"an untyped result":  {source: order + "def main(): return Order(datetime.date(2026, 1, 2))", input: `{}`, message: "Order is not JSON"},
		"ctx with a type":    {source: "from typing import Any, Protocol\nclass Context(Protocol): ...\ndef main(input: dict[str, Any], ctx: Context): return ctx.env", input: `{"ctx":1}`, output: `{}`},
		"an unresolved type": {source: "def main(a: 'Missing', b: 'set[int]'): return [a, len(b)]", input: `{"a":1,"b":[1]}`, output: `[1,1]`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := typesJob(tt.source, tt.input)
			job.Rules, job.Isolation = tt.rules, tt.isolation
			outcome, err := engine.Run(t.Context(), job, runtimetest.NewHost())
			if err != nil {
				t.Fatal(err)
			}
			if tt.message != "" {
				if outcome.Error == nil || !strings.Contains(outcome.Error.Message, tt.message) || outcome.Error.Remedy == "" {
					t.Errorf("%+v, want %q", outcome.Error, tt.message)
				} else if tt.pointer != "" && (outcome.Error.Type != runtimes.InvalidInput || len(outcome.Error.Errors) != 1 || outcome.Error.Errors[0].Pointer != tt.pointer) {
					t.Errorf("%+v, want %s", outcome.Error, tt.pointer)
				}
				return
			}
			if outcome.Error != nil || string(outcome.Output) != tt.output {
				t.Errorf("%s, %+v", outcome.Output, outcome.Error)
			}
		})
	}
}
