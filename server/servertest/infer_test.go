package servertest_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes/packages/packagestest"
	"github.com/atelier-run/atelier/runtimes/types/typestest"
	"github.com/atelier-run/atelier/server/servertest"
)

type inferred struct {
	InputSchema, OutputSchema json.RawMessage
	Source, CodeDigest        string
	SchemaSources             struct{ Input, Output registry.SchemaSource }
	Notes                     []struct {
		File    string
		Line    int
		Message string
	}
}

const typedPython = "from dataclasses import dataclass\n\n@dataclass\nclass Order:\n    id: int\n\ndef main(order: Order, note: str = '') -> list[int]:\n    return [order.id]\n"

// TestInfer infers schemas over HTTP. If schemas cannot be inferred, the error must name file and line.
func TestInfer(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	var got inferred
	s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/infer", map[string]any{"language": "python", "code": typedPython}).Into(t, &got)
	if !strings.Contains(string(got.InputSchema), `"required":["order"]`) || string(got.OutputSchema) != `{"type":"array","items":{"type":"integer"}}` || got.Source != "python" || !strings.HasPrefix(got.CodeDigest, "sha256:") {
		t.Errorf("%+v", got)
	}
	s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/infer", map[string]any{"samples": []any{
		map[string]any{"input": map[string]any{"a": 1, "at": "2026-01-02"}, "output": []any{1, nil}}, map[string]any{"input": map[string]any{"a": 1.5}},
	}}).Into(t, &got)
	if string(got.InputSchema) != `{"properties":{"a":{"type":"number"},"at":{"format":"date","type":"string"}},"required":["a"],"type":"object"}` || got.Source != "sample" || len(got.Notes) != 1 {
		t.Errorf("%s, %+v", got.InputSchema, got)
	}
	for name, tt := range map[string]struct {
		body map[string]any
		want string
	}{
		"an import that fails": {map[string]any{"language": "python", "code": "import json\nimport nothing_here\n"}, `"file":"main.py","line":2`},
		"an invalid bound":     {map[string]any{"language": "python", "code": "from typing import Annotated\ndef main(a: Annotated[int, {'minimum': 'x'}]): pass"}, `"pointer":"/inputSchema/properties/a/minimum","file":"main.py","line":2`},
		"bash":                 {map[string]any{"language": "bash", "code": "echo"}, `"pointer":"/language"`},
		"nothing":              {map[string]any{"language": "python"}, `"pointer":"/files"`},
		"samples and code":     {map[string]any{"language": "python", "code": "x", "samples": []any{map[string]any{}}}, `"pointer":"/samples"`},
		"a sample of no input": {map[string]any{"samples": []any{map[string]any{"input": 1}}}, `"pointer":"/samples/0/input"`},
	} {
		t.Run(name, func(t *testing.T) {
			if refused := s.Want(t, http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/infer", tt.body); !strings.Contains(string(refused.Body), tt.want) {
				t.Errorf("%s, want %s", refused.Body, tt.want)
			}
		})
	}
}

const typedTypeScript = "interface Order { id: number }\nexport default (input: Order): string[] => [String(input.id)];\n"

// TestInferTypeScript infers the schemas of a TypeScript program, on a server with and without the compiler.
func TestInferTypeScript(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"typescript": typestest.Compiler(t)}))
	var got inferred
	s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/infer", map[string]any{"language": "typescript", "code": typedTypeScript}).Into(t, &got)
	if string(got.InputSchema) != `{"properties":{"id":{"type":"number"}},"required":["id"],"type":"object"}` || string(got.OutputSchema) != `{"items":{"type":"string"},"type":"array"}` || got.Source != "typescript" {
		t.Errorf("%+v", got)
	}
	refused := s.Want(t, http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/infer", map[string]any{"language": "typescript", "code": "const a = 1;\nexport default ({"})
	if !strings.Contains(string(refused.Body), `"file":"main.ts","line":2`) {
		t.Errorf("%s", refused.Body)
	}
	without := servertest.New(t, servertest.Flags(t, map[string]string{"typescript": "/nowhere/tsc"}))
	if refused := without.Want(t, http.StatusServiceUnavailable, http.MethodPost, "/api/v1/infer", map[string]any{"language": "typescript", "code": typedTypeScript}); !strings.Contains(string(refused.Body), "npm install -g typescript@7") {
		t.Errorf("%s", refused.Body)
	}
}

// TestInfer_PackageTypes infers schemas from types that a program imports from an npm package. Without the package,
// such a type accepts any value, and a note must explain this.
func TestInfer_PackageTypes(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t)
	index.AddNPM(t, packagestest.Tarball{Name: "shop", Version: "1.0.0", Dependencies: map[string]string{"units": "1"}, Manifest: map[string]any{"main": "index.js", "types": "index.d.ts"}, Files: map[string]string{
		"index.js": "exports.total = () => 1\n", "index.d.ts": "import { Amount } from \"units\";\nexport interface Order { id: number; note?: string; amount: Amount }\nexport declare function total(order: Order): number;\n",
	}})
	index.AddNPM(t, packagestest.Tarball{Name: "units", Version: "1.0.0", Manifest: map[string]any{"exports": map[string]any{".": map[string]any{"types": "./types.d.mts", "default": "./units.mjs"}}}, Files: map[string]string{
		"units.mjs": "export {}\n", "types.d.mts": "export type Amount = { value: number; currency: \"NOK\" | \"EUR\" };\n",
	}})
	s := servertest.New(t, servertest.Flags(t, map[string]string{"typescript": typestest.Compiler(t), "npm-registry": index.NPM(), "packages-dir": packagestest.Dir(t)}))
	const code = "import type { Order } from \"shop\";\nimport { total } from \"shop\";\nexport default (input: Order) => ({ total: total(input) });\n"
	ask := func(packages ...string) (got inferred) {
		t.Helper()
		s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/infer", map[string]any{"language": "typescript", "code": code, "packages": packages}).Into(t, &got)
		return got
	}
	got := ask("shop@1")
	equal(t, got.InputSchema, `{"properties":{"amount":{"properties":{"currency":{"enum":["EUR","NOK"],"type":"string"},"value":{"type":"number"}},"required":["value","currency"],"type":"object"},"id":{"type":"number"},"note":{"type":"string"}},"required":["id","amount"],"type":"object"}`)
	if !strings.Contains(string(got.OutputSchema), `"total":{"type":"number"}`) || len(got.Notes) != 0 {
		t.Errorf("%s %+v", got.OutputSchema, got.Notes)
	}
	got = ask("shop@7")
	if last := got.Notes[len(got.Notes)-1].Message; !strings.Contains(last, "types of the packages are missing") || !strings.Contains(last, "shop") {
		t.Errorf("%+v", got.Notes)
	}
}

// TestInferredSchemasOfADraft checks the source of a draft's schemas. It is "inferred" after creation, stays while
// other clients save the code, and is removed when a person writes a schema.
func TestInferredSchemasOfADraft(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	type answer struct {
		Draft struct {
			Revision      int64
			InputSchema   json.RawMessage
			SchemaSources *struct {
				Input, Output *struct{ Source, CodeDigest string }
			}
		}
	}
	var agent answer
	s.Want(t, http.StatusCreated, http.MethodPost, "/api/v1/code-agents", map[string]any{"name": "typed", "language": "python", "code": typedPython}).Into(t, &agent)
	if sources := agent.Draft.SchemaSources; sources == nil || sources.Input == nil || sources.Input.Source != "python" || sources.Output == nil {
		t.Fatalf("%+v", agent.Draft)
	}
	first := agent.Draft.SchemaSources.Input.CodeDigest
	save := func(status int, etag string, body map[string]any) servertest.Answer {
		return s.Want(t, status, http.MethodPut, "/api/v1/code-agents/typed", body, servertest.Headers{"If-Match": etag})
	}
	save(http.StatusOK, `"1"`, map[string]any{"code": "def main(n: int): pass"}).Into(t, &agent)
	if agent.Draft.SchemaSources.Input.CodeDigest != first {
		t.Errorf("%+v", agent.Draft.SchemaSources.Input)
	}
	var found inferred
	s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/infer", map[string]any{"language": "python", "code": "def main(n: int): pass"}).Into(t, &found)
	source := map[string]any{"source": found.Source, "codeDigest": found.CodeDigest}
	agent = answer{}
	save(http.StatusOK, `"2"`, map[string]any{"inputSchema": found.InputSchema, "outputSchema": found.OutputSchema, "schemaSources": map[string]any{"input": source, "output": source}}).Into(t, &agent)
	if agent.Draft.SchemaSources.Input.CodeDigest == first || !strings.Contains(string(agent.Draft.InputSchema), `"n"`) {
		t.Errorf("%+v", agent.Draft)
	}
	agent = answer{}
	save(http.StatusOK, `"3"`, map[string]any{"inputSchema": map[string]any{"type": "object", "title": "mine"}}).Into(t, &agent)
	if sources := agent.Draft.SchemaSources; sources == nil || sources.Input != nil || sources.Output == nil {
		t.Errorf("%+v", sources)
	}
	if refused := save(http.StatusUnprocessableEntity, `"4"`, map[string]any{"schemaSources": map[string]any{"input": map[string]any{"source": "python"}}}); !strings.Contains(string(refused.Body), "/schemaSources/input/codeDigest") {
		t.Errorf("%s", refused.Body)
	}
	s.Want(t, http.StatusCreated, http.MethodPost, "/api/v1/code-agents", map[string]any{"name": "broken", "language": "python", "code": "import nothing_here"})
	var report struct {
		Valid    bool
		Inferred *inferred
		Warnings []struct{ File, Message string }
	}
	s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/validate", map[string]any{"language": "python", "code": typedPython, "infer": true}).Into(t, &report)
	if report.Inferred == nil || report.Inferred.Source != "python" {
		t.Errorf("%+v", report)
	}
	report.Inferred = nil
	s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/validate", map[string]any{"language": "python", "code": "import nothing_here\ndef main(): pass", "infer": true}).Into(t, &report)
	if report.Inferred != nil || !report.Valid || len(report.Warnings) != 1 || report.Warnings[0].File != "main.py" {
		t.Errorf("%+v", report)
	}
}

// TestInferCommand checks that the command prints the schemas of a file. If a program cannot be loaded, the command
// must fail and name the line.
func TestInferCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"main.py": "def main(n: int, raw: bytes = b''): pass\n", "broken.py": "\nimport nothing_here\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said := servertest.Command(t, "", "infer", filepath.Join(dir, "main.py"))
	var got inferred
	if err := json.Unmarshal([]byte(said.Stdout), &got); err != nil || said.Code != 0 || got.Source != "python" || !strings.Contains(said.Stderr, "main.py:1: bytes has no JSON form") {
		t.Errorf("exit %d, stdout %q, stderr %q", said.Code, said.Stdout, said.Stderr)
	}
	said = servertest.Command(t, "", "infer", filepath.Join(dir, "broken.py"))
	if said.Code != 1 || said.Stdout != "" || !strings.Contains(said.Stderr, "broken.py:2: ModuleNotFoundError") {
		t.Errorf("exit %d, stdout %q, stderr %q", said.Code, said.Stdout, said.Stderr)
	}
}

// TestInferWithPackages checks that types from a package are read, and that a package that cannot be installed is refused.
func TestInferWithPackages(t *testing.T) {
	t.Parallel()
	orders := packagestest.Wheel{Name: "orders", Version: "1.0.0", Files: map[string]string{
		"orders.py": "from dataclasses import dataclass\n\n@dataclass\nclass Order:\n    id: int\n",
	}}
	index := packagestest.NewIndex(t, orders)
	s := servertest.New(t, withPackages(t, index, packagestest.Dir(t)))
	const code = "from orders import Order\n\ndef main(order: Order) -> Order:\n    return order\n"
	var got inferred
	s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/infer", map[string]any{"language": "python", "code": code, "packages": []string{"orders==1.0.0"}}).Into(t, &got)
	const want = `{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}`
	if string(got.OutputSchema) != want || !strings.Contains(string(got.InputSchema), `"required":["order"]`) {
		t.Errorf("%s, %s", got.InputSchema, got.OutputSchema)
	}
	var report struct {
		Valid    bool
		Inferred *inferred
		Errors   []struct{ Pointer string }
		Warnings []struct{ Pointer, Message string }
	}
	s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/validate", map[string]any{"language": "python", "code": code, "packages": []string{"orders==1.0.0"}, "infer": true}).Into(t, &report)
	if !report.Valid || report.Inferred == nil || string(report.Inferred.OutputSchema) != want {
		t.Errorf("validate: %+v", report)
	}
	s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/validate", map[string]any{"language": "python", "code": code, "packages": []string{"nothing-here"}, "infer": true}).Into(t, &report)
	if len(report.Warnings) == 0 || report.Warnings[0].Pointer != "/packages/0" {
		t.Errorf("validate with a package that does not exist: %+v", report)
	}
	s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/validate", map[string]any{"language": "python", "code": code, "packages": []string{"git+https://example.com/x"}, "infer": true}).Into(t, &report)
	if report.Valid || len(report.Errors) == 0 || report.Errors[0].Pointer != "/packages/0" {
		t.Errorf("validate with an address: %+v", report)
	}
	for name, body := range map[string]map[string]any{
		"a name that does not exist": {"language": "python", "code": code, "packages": []string{"nothing-here"}},
		"an address":                 {"language": "python", "code": code, "packages": []string{"git+https://example.com/x"}},
		"packages of samples":        {"packages": []string{"orders"}, "samples": []any{map[string]any{"input": map[string]any{}}}},
	} {
		refused := s.Want(t, http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/infer", body)
		if !strings.Contains(string(refused.Body), `"pointer":"/packages/0"`) && !strings.Contains(string(refused.Body), `"pointer":"/samples"`) {
			t.Errorf("%s: %s", name, refused.Body)
		}
	}
}

// TestInferQuota expects that a workspace without quota installs no packages.
func TestInferQuota(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t, packagestest.Wheel{Name: "orders", Version: "1.0.0", Files: map[string]string{"orders.py": "Order = int\n"}})
	s := servertest.New(t, withPackages(t, index, packagestest.Dir(t)))
	s.Want(t, http.StatusOK, http.MethodPut, "/api/v1/quotas/default", map[string]int64{"runsPerDay": 1})
	s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/infer", map[string]any{"language": "python", "code": "def main(): pass"})
	s.Want(t, http.StatusTooManyRequests, http.MethodPost, "/api/v1/infer", map[string]any{"language": "python", "code": "from orders import Order\ndef main(): pass", "packages": []string{"orders==1.0.0"}})
	if n := index.Downloads.Load(); n != 0 {
		t.Errorf("%d archives were downloaded", n)
	}
}

func TestInferFromRuns(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "doubles", "language": "javascript", "code": "export default (input) => { if (input.fail) throw new Error('x'); return {twice: input.n * 2}; }"})
	s.Create(t, map[string]any{"name": "private", "language": "javascript", "code": "export default (input) => input", "safetyFlags": []string{"pii_risk"}})
	const path = "/api/v1/code-agents/doubles/schemas-from-runs"
	if problem := s.Want(t, 422, "GET", path, nil).Problem(t); problem.Errors[0].Pointer != "/runs" {
		t.Errorf("without runs: %+v", problem)
	}
	for _, input := range []map[string]any{{"n": 1}, {"n": 2.5, "note": "x"}, {"n": 3, "fail": true}} {
		s.Want(t, 200, "POST", "/api/v1/code-agents/doubles/execute", map[string]any{"version": "draft", "input": input})
	}
	var found registry.InferredSchemas
	s.Want(t, 200, "GET", path+"?runs=20&version=draft", nil).Into(t, &found)
	equal(t, found.InputSchema, `{"type":"object","properties":{"fail":{"type":"boolean"},"n":{"type":"number"},"note":{"type":"string"}},"required":["n"]}`)
	equal(t, found.OutputSchema, `{"type":"object","properties":{"twice":{"type":"integer"}},"required":["twice"]}`)
	if found.Source != registry.FromSample || len(found.Notes) != 1 || !strings.Contains(found.Notes[0].Message, "a guess from 3 samples") {
		t.Errorf("%+v", found)
	}
	s.Want(t, 422, "GET", path+"?version=1.0.0", nil)
	s.Want(t, 422, "GET", path+"?runs=101", nil)
	s.Want(t, 404, "GET", "/api/v1/code-agents/none/schemas-from-runs", nil)

	s.Want(t, 200, "POST", "/api/v1/code-agents/private/execute", map[string]any{"version": "draft", "input": map[string]any{"name": "Ada"}})
	s.Want(t, 422, "GET", "/api/v1/code-agents/private/schemas-from-runs", nil)

	said := servertest.Command(t, "", "infer", "doubles", "--from-runs", "1", "--server", s.URL, "--token", s.Token)
	if said.Code != 0 || !strings.Contains(said.Stdout, `"fail"`) || !strings.Contains(said.Stderr, "a guess from 1 sample") {
		t.Errorf("exit %d, %s, %s", said.Code, said.Stdout, said.Stderr)
	}
}

func equal(t *testing.T, got json.RawMessage, want string) {
	t.Helper()
	one, err := jcs.Digest(got)
	other, wrong := jcs.Digest([]byte(want))
	if err != nil || wrong != nil || one != other {
		t.Errorf("got %s, want %s", got, want)
	}
}
