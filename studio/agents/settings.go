package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// WriteSettings writes an input as agent.yaml, without its files and tests. ReadFolder reads the same input back.
func WriteSettings(in Input) ([]byte, error) {
	in.Files, in.Code, in.Tests = nil, nil, nil
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(in); err != nil {
		return nil, fmt.Errorf("write %s: %w", registry.SettingsFile, err)
	}
	settings, err := toYAML(registry.SettingsFile, text.Bytes())
	return append([]byte(announcement), settings...), err
}

// WithServer returns agent.yaml with the address of a server in the second line, after the line that names the schema.
func WithServer(settings []byte, server string) ([]byte, error) {
	if server == "" {
		return settings, nil
	}
	line, err := yaml.Marshal(map[string]string{"server": server})
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", registry.SettingsFile, err)
	}
	rest := bytes.TrimPrefix(settings, []byte(announcement))
	return slices.Concat([]byte(announcement), line, rest), nil
}

// ServerOf returns the address of the server that the agent.yaml of a folder names, or "" if it names none. It reads no
// other field, so that pull can replace an otherwise invalid file.
func ServerOf(folder fs.FS) (string, error) {
	text, err := fs.ReadFile(folder, registry.SettingsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read agent: %w", err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil || len(document.Content) != 1 {
		return "", nil //nolint:nilerr // An invalid file counts as naming no server.
	}
	members := document.Content[0]
	if members.Kind != yaml.MappingNode {
		return "", nil
	}
	for i := 0; i+1 < len(members.Content); i += 2 {
		if name, value := members.Content[i], members.Content[i+1]; name.Value == "server" && value.Kind == yaml.ScalarNode && value.Tag == "!!str" {
			return value.Value, nil
		}
	}
	return "", nil
}

// toYAML converts JSON to YAML. name is the file for error messages.
func toYAML(name string, text []byte) ([]byte, error) {
	var document yaml.Node // JSON is valid YAML, and a YAML node preserves the order of its members.
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	plain(&document)
	var out bytes.Buffer
	writer := yaml.NewEncoder(&out)
	writer.SetIndent(2)
	if err := writer.Encode(&document); err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return out.Bytes(), nil
}

// plain removes the brackets and quotes of JSON where YAML does not need them.
func plain(n *yaml.Node) {
	if len(n.Content) > 0 || n.Kind == yaml.ScalarNode {
		n.Style = 0
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" && strings.Contains(n.Value, "\n") {
		n.Style = yaml.LiteralStyle
	}
	for _, child := range n.Content {
		plain(child)
	}
}

// FolderOf returns an agent as a folder: agent.yaml, tests.yaml and its files. It fails if ReadFolder would skip or
// misinterpret a file.
func FolderOf(in Input) (map[string]registry.File, error) {
	settings, err := WriteSettings(in)
	if err != nil {
		return nil, err
	}
	folder := map[string]registry.File{registry.SettingsFile: settings}
	if in.Tests != nil && len(*in.Tests) > 0 {
		if folder[registry.TestsFile], err = writeTests(*in.Tests); err != nil {
			return nil, err
		}
	}
	if in.Files == nil {
		return folder, nil
	}
	for _, wrong := range registry.CheckPaths(*in.Files) {
		return nil, fault.Invalid("/files/"+wrong.Path, "%s", wrong.Problem)
	}
	maps.Copy(folder, *in.Files)
	return folder, nil
}
