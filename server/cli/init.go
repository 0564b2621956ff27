package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/agents"
)

type initCommand struct {
	Dir      string `arg:"" help:"New or empty folder." type:"path"`
	Language string `help:"Language of the program: ${enum}." enum:"typescript,javascript,python,bash" default:"python"`
	Name     string `help:"Name of the agent (default: the name of the folder)." placeholder:"NAME"`
	Server   string `help:"Server that the folder belongs to, stored in agent.yaml." placeholder:"URL"`
	printed
}

// Help returns the text above the flags.
func (*initCommand) Help() string {
	return "Run the folder with `atelier run DIR --input @DIR/input.json`, and save it on a server with `atelier push DIR`. Existing files are never overwritten. " +
		"Editors with a YAML language server check agent.yaml with " + agents.SchemaFile + "."
}

// examples contains one program per language. Each answers {"name": "Ada"} with {"greeting": "Hello, Ada"}.
var examples = map[string]struct{ file, text string }{
	"typescript": {"main.ts", "interface Input {\n  name: string\n}\n\nexport default function main(input: Input) {\n  return { greeting: `Hello, ${input.name}` }\n}\n"},
	"javascript": {"main.js", "export default function main(input) {\n  return { greeting: `Hello, ${input.name}` }\n}\n"},
	"python":     {"main.py", "def main(name: str) -> dict:\n    return {\"greeting\": f\"Hello, {name}\"}\n"},
	"bash":       {"main.sh", "jq '{greeting: (\"Hello, \" + .name)}' > \"$OUTPUT\"\n"},
}

func (c *initCommand) run(_ context.Context, p Process) error {
	name := or(c.Name, filepath.Base(c.Dir))
	if err := registry.CheckName(name); err != nil {
		return misusedf("%s cannot be the name of an agent: %s; set --name", name, sentence(err))
	}
	if c.Server != "" {
		if _, err := addressOf(c.Server); err != nil {
			return misusedf("--server: %w", err)
		}
	}
	files, err := c.files(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	there, err := os.ReadDir(c.Dir)
	if err != nil {
		return err
	}
	if len(there) > 0 {
		return fault.New(fault.Conflict, "%s is not empty; choose a new or empty folder", c.Dir)
	}
	for path, text := range files {
		if err := writeNew(filepath.Join(c.Dir, path), text); err != nil {
			return err
		}
	}
	made := struct {
		Name   string   `json:"name"`
		Folder string   `json:"folder"`
		Files  []string `json:"files"`
	}{name, c.Dir, slices.Sorted(maps.Keys(files))}
	return c.result(p, made, func() error { return p.say("created the agent %s in %s", name, c.Dir) })
}

// files returns the files that the new folder gets.
func (c *initCommand) files(name string) (map[string]registry.File, error) {
	example := examples[c.Language]
	in := agents.Input{}
	text := fmt.Sprintf(`{"name":%q,"description":"Greets a person.","language":%q,"runtime":"auto","entrypoint":%q,`+
		`"inputSchema":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}},`+
		`"outputSchema":{"type":"object","required":["greeting"],"properties":{"greeting":{"type":"string"}}}}`, name, c.Language, example.file)
	if err := read([]byte(text), &in); err != nil {
		return nil, err
	}
	settings, err := agents.WriteSettings(in)
	if err != nil {
		return nil, err
	}
	if settings, err = agents.WithServer(settings, c.Server); err != nil {
		return nil, err
	}
	schema, err := agents.SettingsSchema()
	if err != nil {
		return nil, err
	}
	return map[string]registry.File{agents.SchemaFile: schema, registry.SettingsFile: settings, example.file: registry.File(example.text), registry.ExampleFile: registry.File("{\"name\": \"Ada\"}\n")}, nil
}

// writeNew creates a file. If the file exists, it returns an error.
func writeNew(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}
