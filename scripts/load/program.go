package load

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Program is an agent with its inputs and expected answers.
type Program struct {
	Name, Language, Entrypoint, Code string
	Runtime                          string         // "" means that the server chooses the runtime
	Takes, Gives                     map[string]any // input schema and output schema
	Packages                         []string
	Limits                           map[string]int
	Input                            func(n int) []byte
	Want                             func(n int) string // expected output; only checked if Status is succeeded
	Status                           string             // expected status; "" means succeeded
}

// Check compares a run with the expected answer of the program.
func (p Program) Check(run Run, n int) error {
	status := p.Status
	if status == "" {
		status = "succeeded"
	}
	if run.Status != status {
		why := ""
		if run.Error != nil {
			why = ": " + run.Error.Type + ": " + run.Error.Message
		}
		return fmt.Errorf("%s: run %s is %s, not %s%s", p.Name, run.RunID, run.Status, status, why)
	}
	if p.Want == nil {
		return nil
	}
	var got bytes.Buffer
	if err := json.Compact(&got, run.Output); err != nil || got.String() != p.Want(n) {
		return fmt.Errorf("%s: run %s answered %s for %s, not %s", p.Name, run.RunID, run.Output, p.Input(n), p.Want(n))
	}
	return nil
}

// numbers returns the schema of an object whose members are integers.
func numbers(names ...string) map[string]any {
	properties := map[string]any{}
	for _, name := range names {
		properties[name] = map[string]any{"type": "integer"}
	}
	return map[string]any{"type": "object", "required": names, "properties": properties}
}

// Hello returns programs that add two numbers, one per language.
func Hello() []Program {
	programs := []Program{
		{Name: "hello-js", Language: "javascript", Entrypoint: "main.js",
			Code: "export default function main({ a, b }) {\n  return { sum: a + b };\n}\n"},
		{Name: "hello-py", Language: "python", Entrypoint: "main.py",
			Code: "def main(input, ctx):\n    return {\"sum\": input[\"a\"] + input[\"b\"]}\n"},
		{Name: "hello-sh", Language: "bash", Entrypoint: "main.sh",
			Code: `[[ $INPUT =~ \"a\":\ *([0-9]+).*\"b\":\ *([0-9]+) ]]` + "\n" + `echo "{\"sum\":$((BASH_REMATCH[1] + BASH_REMATCH[2]))}" >"$OUTPUT"` + "\n"},
	}
	for i := range programs {
		p := &programs[i]
		p.Takes, p.Gives = numbers("a", "b"), numbers("sum")
		p.Input = func(n int) []byte { return fmt.Appendf(nil, `{"a":%d,"b":%d}`, n, n%97) }
		p.Want = func(n int) string { return fmt.Sprintf(`{"sum":%d}`, n+n%97) }
	}
	return programs
}

const (
	rounds  = 1_000_000
	modulus = 1_000_003
)

// Loop returns a JavaScript program that repeats an arithmetic operation a million times.
func Loop() Program {
	known := make([]string, 16)
	for i := range known {
		s := 0
		for k := range rounds {
			s = (s + k*(i+1)) % modulus
		}
		known[i] = fmt.Sprintf(`{"s":%d}`, s)
	}
	return Program{
		Name: "loop-js", Language: "javascript", Entrypoint: "main.js", Takes: numbers("n", "a"), Gives: numbers("s"),
		Code: `export default function main(input) {
  let s = 0;
  for (let i = 0; i < input.n; i++) s = (s + i * input.a) % 1000003;
  return { s };
}
`,
		Input: func(n int) []byte { return fmt.Appendf(nil, `{"n":%d,"a":%d}`, rounds, 1+n%len(known)) },
		Want:  func(n int) string { return known[n%len(known)] },
	}
}
