package guest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bundle"
	"github.com/atelier-run/atelier/runtimes/goja/guest/gaps"
)

const interpreter = "/usr/bin/node"

// show is a JavaScript function that converts any value to text, including values that JSON omits. For an error it returns
// only the class, because the messages of goja and Node differ.
const show = `const show = (v, seen = []) => {
  if (typeof v === "string") return JSON.stringify(v)
  if (typeof v === "bigint") return v + "n"
  if (typeof v === "function") return "function"
  if (typeof v !== "object" || v === null) return Object.is(v, -0) ? "-0" : String(v)
  if (seen.includes(v)) return "cycle"
  const inner = (x) => show(x, [...seen, v])
  const tag = Object.prototype.toString.call(v).slice(8, -1)
  if (v instanceof Error) return "error " + v.name + ("cause" in v ? inner(v.cause) : "")
  if (v instanceof Date) return "Date " + v.getTime()
  if (v instanceof RegExp) return "RegExp " + v
  if (v instanceof Map) return "Map " + inner([...v])
  if (v instanceof Set) return "Set " + inner([...v])
  if (v instanceof ArrayBuffer) return "ArrayBuffer " + inner(new Uint8Array(v))
  if (ArrayBuffer.isView(v)) return (v.constructor.name || tag) + " [" + (v instanceof DataView ? "" : Array.from(v, inner)) + "]"
  if (["Number", "String", "Boolean", "BigInt", "Symbol"].includes(tag) && typeof v.valueOf() !== "object") return tag + " " + show(v.valueOf())
  if (Array.isArray(v)) {
    const items = Array.from({ length: v.length }, (_, i) => (i in v ? inner(v[i]) : "hole"))
    return "[" + items + Object.keys(v).filter((k) => String(k >>> 0) !== k).sort().map((k) => "," + k + ":" + inner(v[k])).join("") + "]"
  }
  if (tag.endsWith("Iterator") || tag === "Generator") return tag + inner([...v])
  return (tag === "Object" ? "" : tag) + "{" + Reflect.ownKeys(v).filter((k) => Object.getOwnPropertyDescriptor(v, k).enumerable).map((k) => String(k) + ":" + inner(v[k])) + "}"
};`

// expressionProgram returns a program that evaluates expressions one after the other. Each is on its own line, from line 2
// on, so that the line of a diagnostic identifies the expression.
func expressionProgram(expressions []string) string {
	var out strings.Builder
	out.WriteString("export default async () => { const out = []\n")
	for _, expression := range expressions {
		fmt.Fprintf(&out, "try { out.push(show(await (%s))) } catch (e) { out.push(`throws ${e?.name}: ${e?.message}`) }\n", expression)
	}
	out.WriteString("return out }\n" + show)
	return out.String()
}

func expressionsOf(t *testing.T) []string {
	t.Helper()
	file, err := os.ReadFile("testdata/expressions.txt")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(string(file)), "\n"), func(line string) bool { return strings.HasPrefix(line, "#") })
}

// inNode evaluates expressions in one Node process.
func inNode(t *testing.T, expressions []string) []string {
	t.Helper()
	program := strings.Replace(expressionProgram(expressions), "export default", "const main =", 1)
	cmd := exec.Command(interpreter, "--input-type=module")
	cmd.Env = []string{"LANG=en_US.UTF-8", "TZ=" + os.Getenv("TZ")}
	if os.Getenv("TZ") == "" {
		cmd.Env = cmd.Env[:1]
	}
	cmd.Stdin = strings.NewReader(program + "\nconsole.log(JSON.stringify(await main())); process.exit()")
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("node: %v %.2000s", err, output)
	}
	var values []string
	if err := json.Unmarshal(output, &values); err != nil {
		t.Fatalf("%v %.2000s", err, output)
	}
	return values
}

// diagnosed returns the errors and warnings about a program's source, by line. A program with errors does not run in goja.
func diagnosed(t *testing.T, source string) (errs, warnings map[int]string) {
	t.Helper()
	bundled, problems := bundle.Build(bundle.Source{Files: map[string][]byte{"main.js": []byte(source)}, Entrypoint: "main.js", Language: runtimes.JavaScript})
	if len(problems) > 0 {
		return byLine(problems), nil
	}
	tree, err := goja.Parse("(program)", bundled.Code+"\n//# sourceMappingURL=bundle.map", parser.WithSourceMapLoader(func(string) ([]byte, error) { return bundled.Map, nil }))
	if err != nil {
		return byLine(gaps.Refusals(err, bundled.Position)), nil
	}
	found, _ := gaps.Lint(tree)
	if problems := gaps.Properties(tree); len(problems) > 0 {
		return byLine(problems), byLine(found)
	}
	if _, err := goja.CompileAST(tree, false); err != nil {
		return byLine(gaps.Refusals(err, bundled.Position)), byLine(found)
	}
	return nil, byLine(found)
}

func byLine(details []fault.Detail) map[int]string {
	lines := map[int]string{}
	for _, detail := range details {
		lines[detail.Line] = detail.Message
	}
	return lines
}

// TestDifferential evaluates expressions in goja and in Node. If the values differ, goja must report a diagnostic before
// the run, or an error that names the missing feature. A wrong value without any notice fails the test.
func TestDifferential(t *testing.T) {
	t.Parallel()
	expressions := expressionsOf(t)
	want := inNode(t, expressions)
	s := newServer(t)
	equal, refused, warned, told := 0, 0, 0, 0
	for start := 0; start < len(expressions); start += 40 { // the lists of diagnostics are bounded
		batch := expressions[start:min(start+40, len(expressions))]
		running := slices.Clone(batch)
		warnings := map[int]string{}
		for errs := map[int]string(nil); ; {
			errs, warnings = diagnosed(t, expressionProgram(running))
			if len(errs) == 0 {
				break
			}
			for line, message := range errs {
				if line < 2 || line-2 >= len(running) {
					t.Fatalf("line %d: %s", line, message)
				}
				t.Logf("refused: %s: %s", running[line-2], message)
				running[line-2] = `"refused"`
			}
		}
		got := s.run(js(expressionProgram(running), "null"))
		var values []string
		if got.Error != nil || json.Unmarshal(got.Output, &values) != nil {
			t.Fatalf("%s %s", got.Output, text(got.Error))
		}
		for i, value := range values {
			switch node := want[start+i]; {
			case running[i] != batch[i]:
				refused++
			case value == node || strings.HasPrefix(value, "throws") && strings.HasPrefix(node, "throws") && sameClass(value, node):
				equal++
			case warnings[i+2] != "":
				warned++
			case strings.Contains(value, "node runtime"):
				told++
			default:
				t.Errorf("%s\n goja %.300s\n node %.300s", batch[i], value, node)
			}
		}
	}
	t.Logf("%d expressions: %d equal, %d refused before the run, %d with a diagnostic that makes auto choose node, %d with an error that names the feature", len(expressions), equal, refused, warned, told)
	if len(expressions) < 500 {
		t.Errorf("%d expressions, want at least 500", len(expressions))
	}
}

func sameClass(a, b string) bool {
	first, _, _ := strings.Cut(a, ":")
	second, _, _ := strings.Cut(b, ":")
	return first == second
}
