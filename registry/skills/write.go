package skills

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/atelier-run/atelier/registry"
)

// writeSettings returns the text of skill.yaml. Its members are in the order of the fields of Settings. It omits empty
// members.
func writeSettings(s Settings) ([]byte, error) {
	if err := checkTexts(s); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		return nil, fmt.Errorf("write %s: %w", SettingsFile, err)
	}
	var document yaml.Node // JSON is valid YAML, and a YAML node keeps the order of its members
	if err := yaml.Unmarshal(text.Bytes(), &document); err != nil {
		return nil, fmt.Errorf("write %s: %w", SettingsFile, err)
	}
	root := document.Content[0]
	var kept []*yaml.Node
	for i := 0; i+1 < len(root.Content); i += 2 {
		if value := root.Content[i+1]; value.Kind == yaml.ScalarNode || len(value.Content) > 0 {
			kept = append(kept, root.Content[i], value)
		}
	}
	root.Content = kept
	plain(&document)
	var out bytes.Buffer
	writer := yaml.NewEncoder(&out)
	writer.SetIndent(2)
	if err := writer.Encode(&document); err != nil {
		return nil, fmt.Errorf("write %s: %w", SettingsFile, err)
	}
	return out.Bytes(), nil
}

// checkTexts rejects texts with characters that YAML cannot represent.
func checkTexts(s Settings) error {
	for _, t := range []struct{ field, text string }{
		{"/description", s.Description}, {"/title", s.Title}, {"/changelog", s.Changelog}, {"/override", s.Override}, {"/tags", strings.Join(s.Tags, " ")},
	} {
		if err := registry.CheckText(t.field, t.text); err != nil {
			return err
		}
	}
	for name, value := range s.Environment {
		if err := registry.CheckText("/environment/"+name, value); err != nil {
			return err
		}
	}
	return nil
}

// plain changes the style of nodes that were read from JSON. Without this change, the YAML would contain unnecessary
// brackets and quotes.
func plain(n *yaml.Node) {
	n.Style = 0
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" && strings.Contains(n.Value, "\n") {
		n.Style = yaml.LiteralStyle
	}
	for _, child := range n.Content {
		plain(child)
	}
}

func writeSchemas(input, output []byte) ([]byte, error) {
	both := struct {
		Input  json.RawMessage `json:"input"`
		Output json.RawMessage `json:"output"`
	}{input, output}
	var compact, out bytes.Buffer
	encoder := json.NewEncoder(&compact)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(both); err != nil {
		return nil, fmt.Errorf("write %s: %w", SchemaFile, err)
	}
	err := json.Indent(&out, compact.Bytes(), "", "  ")
	return out.Bytes(), err
}
