package manifest

import (
	"encoding/json"
	"reflect"

	"github.com/invopop/jsonschema"
)

// Schema returns the JSON Schema of the canonical manifest, which is generated from the Go type. The server provides it
// at /schemas/tool-manifest.json.
func Schema() ([]byte, error) {
	reflector := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, DoNotReference: true, Mapper: anySchema}
	s := reflector.Reflect(Manifest{})
	s.Title = "Atelier tool manifest"
	s.Description = "One published version of a code agent as a tool."
	property(s, "manifestVersion").Const = "1"
	property(s, "name").Pattern = `^[a-z][a-z0-9_-]{0,62}$`
	property(s, "version").Pattern = `^[0-9]+\.[0-9]+\.[0-9]+([-+].*)?$`
	property(s, "reference").Pattern = `^[a-z][a-z0-9_-]{0,62}@[0-9]+\.[0-9]+\.[0-9]+([-+].*)?$`
	property(s, "digest").Pattern = `^sha256:[0-9a-f]{64}$`
	property(property(s, "handler"), "type").Const = "code_agent"
	property(property(s, "handler"), "url").Format = "uri"
	return json.MarshalIndent(s, "", "  ")
}

// anySchema describes a member whose value is a JSON Schema.
func anySchema(t reflect.Type) *jsonschema.Schema {
	if t != reflect.TypeFor[json.RawMessage]() {
		return nil
	}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "object"}, {Type: "boolean"}}}
}

// property returns an existing property of a schema. Its callers pass only names of properties of Manifest. A test
// checks the resulting schema.
func property(s *jsonschema.Schema, name string) *jsonschema.Schema {
	p, ok := s.Properties.Get(name)
	if !ok {
		return &jsonschema.Schema{}
	}
	return p
}
