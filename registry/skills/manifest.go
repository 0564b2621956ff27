package skills

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/atelier-run/atelier/registry"
)

// ManifestFile is the file that describes a skill for skill managers of other products. A folder for these managers
// contains this file instead of skill.yaml and schema.json, and a Python program that defines run(action, args). A
// folder that this package writes contains all three files.
const ManifestFile = "manifest.yaml"

// manifest holds the members of manifest.yaml that Atelier uses. Atelier ignores the other members, which are for the
// planners of other products.
type manifest struct {
	Name          string         `yaml:"name" json:"name"`
	Version       string         `yaml:"version,omitempty" json:"version"`
	Description   string         `yaml:"description" json:"description"`
	EntryPoint    string         `yaml:"entry_point,omitempty" json:"entry_point"`
	Triggers      []string       `yaml:"triggers,omitempty" json:"triggers"`
	DefaultParams map[string]any `yaml:"default_params,omitempty" json:"default_params"`
}

// entryNames lists the files that may contain the program if manifest.yaml does not name one. The most common name is
// first.
func entryNames(name string) []string {
	return []string{"main.py", "handler.py", "skill.py", "run.py", name + ".py"}
}

// shortVersion matches version numbers with one or two parts, such as 1 or 1.0. Such numbers are common in folders with
// a manifest.yaml.
var shortVersion = regexp.MustCompile(`^(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*))?$`)

// fromManifest makes skill.yaml and, if it is missing, schema.json from the manifest.yaml of a folder. It returns the
// folder unchanged if skill.yaml exists or manifest.yaml does not.
func fromManifest(files map[string]registry.File, all *faults) map[string]registry.File {
	text, ok := files[ManifestFile]
	if _, has := files[SettingsFile]; has || !ok {
		return files
	}
	m, ok := readManifest(text, all)
	if !ok {
		return files
	}
	settings := Settings{Name: m.Name, Version: m.Version, Description: m.Description, Tags: m.Triggers}
	if settings.Version == "" {
		settings.Version = "1.0.0"
	}
	if shortVersion.MatchString(settings.Version) {
		settings.Version += strings.Repeat(".0", 2-strings.Count(settings.Version, "."))
	}
	if settings.Handler = m.handler(files); settings.Handler == "" {
		all.addf(ManifestFile, 0, "needs a program: set entry_point, or add main.py with run(action, args).")
		return files
	}
	yaml, err := writeSettings(settings)
	if err != nil {
		all.addf(ManifestFile, 0, "%s", err)
		return files
	}
	made := map[string]registry.File{SettingsFile: yaml}
	if _, has := files[SchemaFile]; !has {
		made[SchemaFile] = registry.File(`{"input": ` + string(ActionSchema(m.defaults())) + `, "output": {}}`)
	}
	for name, content := range files {
		made[name] = content
	}
	return made
}

func readManifest(text []byte, all *faults) (m manifest, ok bool) {
	if len(text) > MaxSettings {
		all.addf(ManifestFile, 0, "is too large.")
		return m, false
	}
	document, problem := parseYAML(text)
	if problem != nil {
		problem.File = ManifestFile
		all.add(*problem)
		return m, false
	}
	w := &yamlWriter{lines: map[string]int{}}
	if err := w.write(document, "", 0); err != nil {
		all.addf(ManifestFile, w.line, "%s", err)
		return m, false
	}
	// In YAML a version such as 1.0 is a number, but it must be a string.
	var loose struct {
		Version any `json:"version"`
	}
	decoder := json.NewDecoder(strings.NewReader(w.out.String()))
	decoder.UseNumber()
	if err := decoder.Decode(&loose); err == nil {
		if number, isNumber := loose.Version.(json.Number); isNumber {
			w.out.Reset()
			setVersion(document, number.String())
			if err := w.write(document, "", 0); err != nil {
				all.addf(ManifestFile, w.line, "%s", err)
				return m, false
			}
		}
	}
	if err := json.Unmarshal(w.out.Bytes(), &m); err != nil {
		all.addf(ManifestFile, 1, "must have name, version, description and entry_point as texts, triggers as a list of texts and default_params as an object.")
		return m, false
	}
	return m, true
}

// setVersion replaces the version in a document by a string.
func setVersion(document *yaml.Node, text string) {
	for i := 0; i+1 < len(document.Content); i += 2 {
		if document.Content[i].Value == "version" {
			document.Content[i+1].SetString(text)
		}
	}
}

// handler returns the module of a folder's program, such as main. It returns "" if there is no program.
func (m manifest) handler(files map[string]registry.File) string {
	names := entryNames(m.Name)
	if m.EntryPoint != "" {
		names = []string{path.Clean(strings.TrimPrefix(m.EntryPoint, "./"))}
	}
	at := slices.IndexFunc(names, func(name string) bool {
		_, ok := files[name]
		return ok && strings.HasSuffix(name, ".py") && !strings.Contains(name, "/")
	})
	if at < 0 {
		return ""
	}
	return strings.TrimSuffix(names[at], ".py")
}

func (m manifest) defaults() json.RawMessage {
	if len(m.DefaultParams) == 0 {
		return nil
	}
	text, err := json.Marshal(m.DefaultParams)
	if err != nil {
		return nil
	}
	return text
}

// writeManifest returns a manifest.yaml. With this file, skill managers of other products can use the skill.
func writeManifest(s Settings, input []byte) ([]byte, error) {
	m := manifest{Name: s.Name, Version: s.Version, Description: s.Description, Triggers: s.Tags, DefaultParams: defaultsOf(input)}
	module, _, _ := strings.Cut(s.Handler, ".")
	m.EntryPoint = module + ".py"
	text, err := yaml.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", ManifestFile, err)
	}
	return text, nil
}

// defaultsOf returns the default of args in the input schema of run(action, args), or nil if there is none.
func defaultsOf(input []byte) map[string]any {
	var schema struct {
		Properties struct {
			Args struct {
				Default map[string]any `json:"default"`
			} `json:"args"`
		} `json:"properties"`
	}
	if json.Unmarshal(input, &schema) != nil {
		return nil
	}
	return schema.Properties.Args.Default
}

// ActionSchema returns the input schema of run(action, args). defaults is the default value of args: a JSON object, or
// nothing.
func ActionSchema(defaults json.RawMessage) []byte {
	if len(defaults) == 0 || string(defaults) == "null" {
		defaults = json.RawMessage(`{}`)
	}
	return []byte(`{"type": "object", "properties": {"action": {"type": "string", "default": "run"}, "args": {"type": "object", "default": ` +
		string(defaults) + `}}, "required": ["action", "args"], "additionalProperties": false}`)
}
