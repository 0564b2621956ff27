package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/specs"
)

// SpecOf returns the spec of the program in an input. It does not add defaults for missing fields.
func SpecOf(in Input) registry.Spec { return overlay(registry.Spec{}, in) }

// Folder is an agent on disk: its settings, its files and an example input. The example is {} if the folder has none.
type Folder struct {
	Server  string // address of the server that agent.yaml names, "" if it names none
	Agent   Input
	Example json.RawMessage
}

// ReadFolder reads an agent from agent.yaml and the optional tests.yaml and input.json. All other files become files of
// the program. Names that start with a dot are skipped.
func ReadFolder(folder fs.FS) (Folder, error) {
	settings, err := fs.ReadFile(folder, registry.SettingsFile)
	if err != nil {
		return Folder{}, fmt.Errorf("read agent: %w", err)
	}
	parsed, err := parseSettings(settings)
	if err != nil {
		return Folder{}, err
	}
	in := parsed.Input
	files, err := readFiles(folder)
	if err != nil {
		return Folder{}, err
	}
	tests, err := readTests(folder)
	if err != nil {
		return Folder{}, err
	}
	in.Files, in.Tests = &files, &tests
	example, err := fs.ReadFile(folder, registry.ExampleFile)
	if err != nil {
		example = []byte("{}")
	}
	if !json.Valid(example) {
		return Folder{}, fault.Invalid("/input", "%s is not valid JSON.", registry.ExampleFile)
	}
	return Folder{Server: parsed.Server, Agent: in, Example: bytes.TrimSpace(example)}, nil
}

func readFiles(folder fs.FS) (map[string]registry.File, error) {
	files, total := map[string]registry.File{}, 0
	err := fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != "." && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular() || path == registry.SettingsFile || path == registry.ExampleFile || path == registry.TestsFile:
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if total += int(info.Size()); total > specs.MaxModuleBytes || len(files) >= specs.MaxFiles {
			return fault.Invalid("/files", "must be at most %d files with a total size of %s.", specs.MaxFiles, bytesize.Text(specs.MaxModuleBytes))
		}
		data, err := fs.ReadFile(folder, path)
		files[path] = data
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read agent: %w", err)
	}
	return files, nil
}

// parseSettings reads agent.yaml, whose field names are those of the HTTP API. It preserves the order of schema
// properties, because forms show their fields in this order.
func parseSettings(data []byte) (Settings, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return Settings{}, fault.Invalid("", "%s: %s", registry.SettingsFile, err)
	}
	var asJSON bytes.Buffer
	if len(document.Content) != 1 {
		return Settings{}, fault.Invalid("", "%s is empty.", registry.SettingsFile)
	}
	if err := writeJSON(&asJSON, document.Content[0], 0); err != nil {
		return Settings{}, fault.Invalid("", "%s: %s", registry.SettingsFile, err)
	}
	decoder := json.NewDecoder(&asJSON)
	decoder.DisallowUnknownFields()
	var in Settings
	if err := decoder.Decode(&in); err != nil {
		return Settings{}, fault.Invalid("", "%s: %s", registry.SettingsFile, err)
	}
	if in.Tests != nil {
		return Settings{}, fault.Invalid("/tests", "must not be in %s; write the tests of a folder to %s.", registry.SettingsFile, registry.TestsFile)
	}
	return in, nil
}

// maxYAMLDepth is the maximum nesting depth of agent.yaml. Aliases are rejected too, because with aliases a small file
// could expand to a large document.
const maxYAMLDepth = 64

func writeJSON(out *bytes.Buffer, n *yaml.Node, depth int) error {
	if depth > maxYAMLDepth {
		return fmt.Errorf("line %d: nested too deeply", n.Line)
	}
	switch n.Kind {
	case yaml.MappingNode:
		seen := map[string]bool{}
		return writeList(out, '{', '}', len(n.Content)/2, func(i int) error {
			name := n.Content[2*i]
			if seen[name.Value] {
				return fmt.Errorf("line %d: duplicate name %q", name.Line, name.Value)
			}
			seen[name.Value] = true
			key, err := json.Marshal(name.Value)
			if err != nil {
				return err
			}
			out.Write(key)
			out.WriteByte(':')
			return writeJSON(out, n.Content[2*i+1], depth+1)
		})
	case yaml.SequenceNode:
		return writeList(out, '[', ']', len(n.Content), func(i int) error { return writeJSON(out, n.Content[i], depth+1) })
	case yaml.ScalarNode:
		if (n.Tag == "!!int" || n.Tag == "!!float") && json.Valid([]byte(n.Value)) {
			out.WriteString(n.Value) // Write the number as the file has it, so that no digit is lost.
			return nil
		}
		var value any = n.Value // A date stays text, because JSON has no type for dates.
		if n.Tag != "!!timestamp" {
			if err := n.Decode(&value); err != nil {
				return err
			}
		}
		text, err := json.Marshal(value)
		out.Write(text)
		return err
	case yaml.DocumentNode, yaml.AliasNode:
	}
	return fmt.Errorf("line %d: anchors and aliases are not allowed", n.Line)
}

func writeList(out *bytes.Buffer, open, end byte, n int, item func(int) error) error {
	out.WriteByte(open)
	for i := range n {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := item(i); err != nil {
			return err
		}
	}
	out.WriteByte(end)
	return nil
}
