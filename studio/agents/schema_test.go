package agents_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"

	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/studio/agents"
)

// The schema of agent.yaml accepts every sample, and rejects the files that ReadFolder rejects.
func TestSettingsSchema(t *testing.T) {
	t.Parallel()
	text, err := agents.SettingsSchema()
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := schema.Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	fits := func(settings []byte) bool {
		t.Helper()
		var value any
		if err := yaml.Unmarshal(settings, &value); err != nil {
			t.Fatal(err)
		}
		document, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		details := compiled.Validate(document)
		t.Log(details)
		return len(details) == 0
	}
	samples, err := filepath.Glob("../../samples/*/agent.yaml")
	if err != nil || len(samples) < 5 {
		t.Fatalf("%d samples, %v", len(samples), err)
	}
	for _, path := range samples {
		settings, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !fits(settings) {
			t.Errorf("%s does not fit", path)
		}
		if server, err := agents.WithServer(settings, "https://atelier.example.com"); err != nil || !fits(server) {
			t.Errorf("%s with a server does not fit: %v", path, err)
		}
	}
	var described struct {
		Properties map[string]struct{ Description string }
	}
	if err := json.Unmarshal(text, &described); err != nil || len(described.Properties) < 15 {
		t.Fatalf("%d properties, %v", len(described.Properties), err)
	}
	for name, property := range described.Properties {
		if property.Description == "" {
			t.Errorf("%s has no description", name)
		}
		wrong := name + ": [[]]\n"
		if fits([]byte(wrong)) {
			t.Errorf("the schema accepts %s", wrong)
		}
	}
	for _, wrong := range []string{"nmae: x\n", "language: cobol\n", "limits: {timeout: 1}\n", "capabilities: {host: []}\n", "tags: x\n", "environment: {PORT: 80}\n", "files: {}\n", "name: No Name\n", "server: ftp://x\n"} {
		if fits([]byte(wrong)) {
			t.Errorf("the schema accepts %s", wrong)
		}
	}
	for _, wrong := range []string{"nmae: x\n", "limits: {timeout: 1}\n", "capabilities: {host: []}\n", "tags: x\n", "environment: {PORT: 80}\n"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(wrong), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := agents.ReadFolder(os.DirFS(dir)); err == nil {
			t.Errorf("ReadFolder accepts %s", wrong)
		}
	}
}

// The first line of a written agent.yaml names its schema, with or without a server. Reading the file returns the same
// settings.
func TestWithServer(t *testing.T) {
	t.Parallel()
	name := "greet"
	settings, err := agents.WriteSettings(agents.Input{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range []string{"", "https://atelier.example.com", "a: b # \"'"} {
		text, err := agents.WithServer(settings, server)
		if err != nil || !strings.HasPrefix(string(text), "# yaml-language-server: $schema="+agents.SchemaFile+"\n") {
			t.Errorf("%s %v", text, err)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		if found, err := agents.ServerOf(os.DirFS(dir)); err != nil || found != server {
			t.Errorf("%q instead of %q, %v", found, server, err)
		}
		folder, err := agents.ReadFolder(os.DirFS(dir))
		if err != nil || *folder.Agent.Name != name || folder.Server != server {
			t.Errorf("%+v %v", folder, err)
		}
	}
	for text, want := range map[string]string{
		"server: https://a.example.com\nunknown: 1\n": "https://a.example.com", "name: [": "", "": "", "[]": "", "server: [1]": "", "server: 1": "",
	} {
		folder := fstest.MapFS{"agent.yaml": {Data: []byte(text)}}
		if found, err := agents.ServerOf(folder); err != nil || found != want {
			t.Errorf("%q: %q instead of %q, %v", text, found, want, err)
		}
	}
	if found, err := agents.ServerOf(os.DirFS(t.TempDir())); found != "" || err != nil {
		t.Errorf("an empty folder: %q %v", found, err)
	}
}
