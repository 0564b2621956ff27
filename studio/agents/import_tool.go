package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/manifest"
	"github.com/atelier-run/atelier/runtimes"
)

// ToolImport describes a tool of another system from which to create an agent.
type ToolImport struct {
	Tool     json.RawMessage
	Name     string            // name of the agent; "" means the name of the tool
	Language runtimes.Language // language of the stub; "" means TypeScript
}

// ImportTool creates an agent with the name, the description and the schemas of a tool. Its program is a stub. The
// notes list differences from the definition. Errors: InvalidInput with a pointer into the definition; NameTaken.
func (s *Service) ImportTool(ctx context.Context, actor registry.Actor, req ToolImport) (agent registry.Agent, notes []string, err error) {
	tool, err := manifest.ReadTool(req.Tool, "/tool")
	if err != nil {
		return agent, nil, err
	}
	language := cmp.Or(req.Language, runtimes.TypeScript)
	code, known := stub(language, tool.Name)
	if !known {
		return agent, nil, fault.Invalid("/language", "must be typescript, javascript, python or bash.")
	}
	name := cmp.Or(req.Name, manifest.AgentName(tool.Name))
	if name == "" {
		return agent, nil, fault.Invalid(tool.NameAt, "must contain a letter from a to z, unless you send a name for the agent.")
	}
	if name != tool.Name {
		notes = append(notes, fmt.Sprintf("The agent is named %s. The tool was named %s.", name, tool.Name))
	}
	in := Input{
		Name: &name, Title: &tool.Title, Description: &tool.Description, Language: &language, Code: &code, InputSchema: tool.Input, OutputSchema: tool.Output,
	}
	if len(tool.Output) == 0 {
		notes = append(notes, "The tool has no output schema.")
	}
	if len(tool.SafetyFlags) > 0 {
		in.SafetyFlags = &tool.SafetyFlags
		notes = append(notes, "The safety flags come from the annotations: "+strings.Join(tool.SafetyFlags, ", ")+".")
	}
	agent, err = s.Create(ctx, actor, in)
	return agent, notes, located(err, tool, req.Name != "")
}

// located changes the pointers in an error. They refer to fields of an agent before, and to the definition of the tool
// afterwards.
func located(err error, tool manifest.Foreign, named bool) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.InvalidInput {
		return err
	}
	places := map[string]string{"inputSchema": tool.InputAt, "outputSchema": tool.OutputAt, "description": tool.DescriptionAt, "title": "/tool/title"}
	if !named {
		places["name"] = tool.NameAt
	}
	moved := *f
	moved.Details = nil
	for _, detail := range f.Details {
		field, rest, deeper := strings.Cut(strings.TrimPrefix(detail.Pointer, "/"), "/")
		if place, known := places[field]; known {
			detail.Pointer = place
			if deeper {
				detail.Pointer += "/" + rest
			}
		}
		moved.Details = append(moved.Details, detail)
	}
	return &moved
}

// stub returns a program with the right signature for the language. The program always fails, because the tool is not
// implemented. known is false if there is no stub for the language.
func stub(language runtimes.Language, tool string) (code string, known bool) {
	quoted, _ := json.Marshal(tool + " is not implemented yet.") // The error is impossible: every string has a JSON form.
	switch language {
	case runtimes.TypeScript:
		return "export default async function main(input: Input, ctx: Ctx): Promise<Output> {\n  throw new Error(" + string(quoted) + ");\n}\n", true
	case runtimes.JavaScript:
		return "/**\n * @param {Input} input\n * @param {Ctx} ctx\n * @returns {Promise<Output>}\n */\nexport default async function main(input, ctx) {\n  throw new Error(" + string(quoted) + ");\n}\n", true
	case runtimes.Python:
		return "def main(input, ctx):\n    raise NotImplementedError(" + string(quoted) + ")\n", true
	case runtimes.Bash:
		return "#!/usr/bin/env bash\nset -euo pipefail\n\n# The input is on stdin, in $INPUT_FILE and in $INPUT; the output goes to the file $OUTPUT.\necho 'This tool is not implemented yet.' >&2\nexit 1\n", true
	default:
		return "", false
	}
}
