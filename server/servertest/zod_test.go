package servertest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/packages/packagestest"
	"github.com/atelier-run/atelier/runtimes/types/typestest"
	"github.com/atelier-run/atelier/server/servertest"
)

// zodServer returns a server whose npm registry has Zod and zod-to-json-schema.
func zodServer(t *testing.T) *servertest.Server {
	t.Helper()
	index := packagestest.NewIndex(t)
	for _, name := range []string{"zod", "zod-to-json-schema"} {
		index.AddNPM(t, packagestest.Installed(t, name))
	}
	return servertest.New(t, servertest.Flags(t, map[string]string{"typescript": typestest.Compiler(t), "npm-registry": index.NPM(), "packages-dir": packagestest.Dir(t)}))
}

const zod4 = `import { z } from "zod";

export const input = z.object({
  city: z.string().min(2).transform((name) => name.toUpperCase()),
  days: z.number().int().min(1).max(7).default(3).refine((n) => n % 2 === 1, "must be odd"),
});

export const output = z.object({ text: z.string(), printed: z.string() });

const printed = JSON.stringify([z.toJSONSchema(input, { io: "input" }), z.toJSONSchema(output, { io: "output" })]);
export default (given: any) => ({ text: given.city + given.days, printed });
`

const zod3 = `import { z } from "zod/v3";
import { zodToJsonSchema } from "zod-to-json-schema";

export const input = z.object({
  city: z.string().min(2).transform((name) => name.toUpperCase()),
  days: z.number().int().min(1).max(7).default(3).refine((n) => n % 2 === 1, "must be odd"),
});

export const output = z.object({ text: z.string(), printed: z.string() });

const printed = JSON.stringify([zodToJsonSchema(input), zodToJsonSchema(output)]);
export default (given: any) => ({ text: given.city + given.days, printed });
`

// TestZod infers schemas that Zod itself prints, in both engines and with both major versions of Zod. Refinements must
// be checked in the run, and main must receive transformed values.
func TestZod(t *testing.T) {
	t.Parallel()
	s := zodServer(t)
	for _, engine := range []string{"goja", "node"} {
		for name, tt := range map[string]struct {
			code     string
			packages []string
		}{"4": {zod4, []string{"zod@^4"}}, "3": {zod3, []string{"zod@^4", "zod-to-json-schema@^3"}}} {
			t.Run(engine+" "+name, func(t *testing.T) {
				t.Parallel()
				agent := "zod-" + engine + "-" + name
				s.Create(t, map[string]any{"name": agent, "language": "typescript", "code": tt.code, "packages": tt.packages, "runtime": engine})
				var got inferred
				s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/infer", map[string]any{"language": "typescript", "code": tt.code, "packages": tt.packages, "runtime": engine}).Into(t, &got)
				if got.Source != "zod" || got.SchemaSources.Output.Source != "zod" || !strings.HasPrefix(got.CodeDigest, "sha256:") {
					t.Errorf("%+v", got)
				}
				var said []string
				for _, note := range got.Notes {
					said = append(said, fmt.Sprintf("%s:%d: %s", note.File, note.Line, note.Message))
				}
				slices.Sort(said)
				line := map[string]string{"3": "4", "4": "3"}[name]
				want := []string{
					"main.ts:" + line + ": input: city: has a transform: main receives the value that it returns.",
					"main.ts:" + line + ": input: days: has a refinement, which JSON Schema cannot say. It is checked in the run.",
				}
				if !slices.Equal(said, want) {
					t.Errorf("%q, want %q", said, want)
				}
				s.Want(t, http.StatusOK, http.MethodPut, "/api/v1/code-agents/"+agent, map[string]any{
					"inputSchema": got.InputSchema, "outputSchema": got.OutputSchema, "schemaSources": map[string]any{"input": got.SchemaSources.Input, "output": got.SchemaSources.Output},
				}, servertest.Headers{"If-Match": `"1"`})
				run := s.Execute(t, agent, "draft", map[string]any{"city": "Oslo"})
				var output struct{ Text, Printed string }
				if err := json.Unmarshal(run.Output, &output); err != nil || output.Text != "OSLO3" {
					t.Fatalf("%s, %+v", run.Output, run.Error)
				}
				ours, err := jcs.JSON([]byte("[" + string(got.InputSchema) + "," + string(got.OutputSchema) + "]"))
				if err != nil {
					t.Fatal(err)
				}
				if theirs, err := jcs.JSON([]byte(output.Printed)); err != nil || string(ours) != string(theirs) {
					t.Errorf("%s, but Zod prints %s, %v", ours, theirs, err)
				}
				run = s.Execute(t, agent, "draft", map[string]any{"city": "Oslo", "days": 4})
				if e := run.Error; e == nil || run.Status != "failed" || e.Type != runtimes.InvalidInput || len(e.Errors) != 1 || e.Errors[0] != (runtimes.FieldError{Pointer: "/input/days", Message: "must be odd"}) {
					t.Errorf("%+v, %+v", run, e)
				}
			})
		}
	}
}

// TestZodRefused checks that errors in exported schemas are reported with file and line, and that the other schemas are
// still inferred.
func TestZodRefused(t *testing.T) {
	t.Parallel()
	s := zodServer(t)
	tests := map[string]struct {
		code, source, want, note string
		packages                 []string
	}{
		"Zod 3 without its converter":   {code: "import { z } from \"zod/v3\";\n\nexport const input = z.object({});\nexport default () => 1;\n", packages: []string{"zod"}, want: `"file":"main.ts","line":3`},
		"an error at import":            {code: "import { z } from \"zod\";\nexport const input = z.object({});\nthrow new Error(\"not here\");\nexport default () => 1;\n", packages: []string{"zod"}, want: `"file":"main.ts","line":3`},
		"the network at import":         {code: "import { z } from \"zod\";\nawait fetch(\"http://127.0.0.1:9\");\nexport const input = z.object({});\nexport default () => 1;\n", packages: []string{"zod"}, want: `"file":"main.ts"`},
		"no packages":                   {code: "import { z } from \"zod\";\nexport const input = z.object({});\nexport default () => 1;\n", want: "is not installed"},
		"an input that is no object":    {code: "import { z } from \"zod\";\nexport const input = z.string();\nexport default () => 1;\n", packages: []string{"zod"}, want: `"pointer":"/inputSchema","file":"main.ts","line":2`},
		"an output with a transform":    {code: "import { z } from \"zod\";\nexport const output = z.object({ n: z.string().transform(Number) });\nexport default () => ({ n: \"1\" });\n", packages: []string{"zod"}, source: "zod", note: "output: n: has a transform. Any value is accepted."},
		"a library without JSON Schema": {code: "const own = { version: 1, vendor: \"mine\", validate: async (value: unknown) => ({ value }) };\nexport const input = { \"~standard\": own } as const;\nexport default (given: { n: number }) => given.n;\n", source: "typescript", note: "has no JSON Schema form"},
		"another library":               {code: "const own = { version: 1, vendor: \"mine\", validate: (value: unknown) => ({ value }), jsonSchema: { input: () => ({ type: \"object\", title: \"Mine\" }) } };\nexport const input = { \"~standard\": own } as const;\nexport default (given: { n: number }) => given.n;\n", source: "standard_schema"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := map[string]any{"language": "typescript", "code": tt.code}
			if tt.packages != nil {
				body["packages"] = tt.packages
			}
			if tt.want != "" {
				if refused := s.Want(t, http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/infer", body); !strings.Contains(string(refused.Body), tt.want) {
					t.Errorf("%s, want %s", refused.Body, tt.want)
				}
				return
			}
			var got inferred
			s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/infer", body).Into(t, &got)
			if string(got.SchemaSources.Input.Source) != tt.source && string(got.SchemaSources.Output.Source) != tt.source || tt.note != "" && !strings.Contains(fmt.Sprint(got.Notes), tt.note) {
				t.Errorf("%+v, want %s and %q", got, tt.source, tt.note)
			}
		})
	}
}
