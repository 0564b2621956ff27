package registry

import "encoding/json"

// SchemaOrigin is the kind of source from which a schema was made.
type SchemaOrigin string

// These are the values of SchemaOrigin. A schema that was made from samples is a guess.
const (
	FromJSONSchema SchemaOrigin = "json_schema" // a person wrote it
	FromPython     SchemaOrigin = "python"
	FromPydantic   SchemaOrigin = "pydantic"
	FromTypeScript SchemaOrigin = "typescript"
	FromZod        SchemaOrigin = "zod"
	FromSample     SchemaOrigin = "sample"
	// FromStandardSchema marks a schema that another library exported through the interface Standard JSON Schema.
	FromStandardSchema SchemaOrigin = "standard_schema"
)

// SchemaOrigins returns all origins.
func SchemaOrigins() []SchemaOrigin {
	return []SchemaOrigin{FromJSONSchema, FromPython, FromPydantic, FromTypeScript, FromZod, FromStandardSchema, FromSample}
}

// SchemaSource says how one schema was made. A schema that was made from code is outdated if CodeDigest differs from
// the digest of the draft's files.
type SchemaSource struct {
	Source     SchemaOrigin `json:"source"`
	CodeDigest string       `json:"codeDigest,omitempty"` // digest of the code from which the schema was made; "" for json_schema and sample
}

// SchemaSources says how the schemas of a draft were made. A nil field means json_schema.
type SchemaSources struct {
	Input  *SchemaSource `json:"input,omitempty"`
	Output *SchemaSource `json:"output,omitempty"`
}

// InferredSchemas holds the schemas that were inferred from the types of a program or from samples of its values. Notes
// name the parts that JSON cannot represent, with file and line.
type InferredSchemas struct {
	InputSchema   json.RawMessage `json:"inputSchema"`
	OutputSchema  json.RawMessage `json:"outputSchema"`
	SchemaSource                  // notes about the input schema
	SchemaSources SchemaSources   `json:"schemaSources"`
	Notes         []SchemaNote    `json:"notes"`
}

// SchemaNote explains a part of an inferred schema.
type SchemaNote struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}
