package agents

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/invopop/jsonschema"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/specs"
)

// SchemaFile is the file with the JSON Schema of agent.yaml in an agent's folder. Editors use it. Its name starts with
// a dot, so that it does not become a file of the agent.
const SchemaFile = ".agent.schema.json"

// announcement is the first line of agent.yaml. It tells editors with a YAML language server where the schema is.
const announcement = "# yaml-language-server: $schema=" + SchemaFile + "\n"

// Settings are the contents of agent.yaml: the fields of the API, and the server that the folder belongs to.
type Settings struct {
	Server string `json:"server,omitempty"`
	Input
}

// SettingsSchema returns the JSON Schema of agent.yaml, generated from the Go type. It is served at /schemas/agent.json.
func SettingsSchema() ([]byte, error) {
	reflector := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, DoNotReference: true, RequiredFromJSONSchemaTags: true, Mapper: rawSchema}
	s := reflector.Reflect(Settings{})
	for _, elsewhere := range []string{"files", "code", "tests"} { // These fields are stored in other files of the folder.
		s.Properties.Delete(elsewhere)
	}
	for name, text := range settingTexts() {
		member, ok := s.Properties.Get(name)
		if !ok {
			return nil, fmt.Errorf("make the schema of %s: no member %s", registry.SettingsFile, name)
		}
		member.Description = text
	}
	member := func(name string) *jsonschema.Schema {
		found, _ := s.Properties.Get(name) // The member exists: settingTexts has a text for every property.
		return found
	}
	member("name").Pattern = `^[a-z][a-z0-9_-]{0,62}$`
	member("server").Pattern = `^https?://[^@?#]+$`
	member("metadata").AnyOf, member("metadata").Type = nil, "object"
	for _, language := range specs.Languages() {
		member("language").Enum = append(member("language").Enum, language)
	}
	s.Title = "Atelier agent"
	s.Description = registry.SettingsFile + " describes an agent. All other files of the folder are its program."
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("make the schema of %s: %w", registry.SettingsFile, err)
	}
	return append(text, '\n'), nil
}

// rawSchema returns the schema of a field whose value is itself a JSON Schema.
func rawSchema(t reflect.Type) *jsonschema.Schema {
	if t != reflect.TypeFor[json.RawMessage]() {
		return nil
	}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "object"}, {Type: "boolean"}}}
}

// settingTexts returns the descriptions of the fields of agent.yaml.
func settingTexts() map[string]string {
	return map[string]string{
		"server":           "Address of the server that the folder belongs to. push and pull use it if a profile of yours has this server.",
		"name":             "Name: a letter, followed by up to 62 of a-z, 0-9, - and _.",
		"title":            "Title shown to people.",
		"description":      "Purpose of the agent, for people and models.",
		"tags":             "Words to find the agent by.",
		"metadata":         "Values for your own purposes.",
		"language":         "Language of the entry file.",
		"runtime":          "auto, or a runtime of the server. It is fixed when a version is published.",
		"isolation":        "strict starts a new process for each run. If absent, the default of the runtime applies.",
		"entrypoint":       "File with the program's main function.",
		"inputSchema":      "JSON Schema of the input.",
		"outputSchema":     "JSON Schema of the output.",
		"packages":         "Packages with versions, for example requests==2.32.3.",
		"environment":      "Environment variables of the program. Do not put secrets here.",
		"secrets":          "Names of secrets. Their values are stored in the workspace.",
		"capabilities":     "Resources that the program may use in addition to its input.",
		"limits":           "Limits of a run. The defaults of the server apply to limits that are not set.",
		"safetyFlags":      "Properties that callers should know, for example side_effect.",
		"requiresApproval": "true requires that a person approves each run.",
		"deterministic":    "Reserved: servers refuse true.",
		"rules":            "Rules for the program's code.",
		"schemaSources":    "Origin of the schemas. The server writes this field.",
	}
}
