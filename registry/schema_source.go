package registry

import "encoding/json"

// SchemaOrigin is the kind of text that a schema came from.
type SchemaOrigin string

// These are the origins of schemas. A schema from samples is a guess.
const (
	FromJSONSchema SchemaOrigin = "json_schema" // a person wrote it
	FromPython     SchemaOrigin = "python"
	FromPydantic   SchemaOrigin = "pydantic"
	FromTypeScript SchemaOrigin = "typescript"
	FromZod        SchemaOrigin = "zod"
	FromSample     SchemaOrigin = "sample"
	// FromStandardSchema is a schema of another library that has Standard JSON Schema.
	FromStandardSchema SchemaOrigin = "standard_schema"
)

// SchemaOrigins returns all origins.
func SchemaOrigins() []SchemaOrigin {
	return []SchemaOrigin{FromJSONSchema, FromPython, FromPydantic, FromTypeScript, FromZod, FromStandardSchema, FromSample}
}

// SchemaSource says where one schema came from. A schema from code is outdated if CodeDigest differs from the digest of
// the draft's files.
type SchemaSource struct {
	Source     SchemaOrigin `json:"source"`
	CodeDigest string       `json:"codeDigest,omitempty"` // digest of the code that the schema came from; "" for json_schema and sample
}

// SchemaSources says where the schemas of a draft came from. A nil field stands for json_schema.
type SchemaSources struct {
	Input  *SchemaSource `json:"input,omitempty"`
	Output *SchemaSource `json:"output,omitempty"`
}

// InferredSchemas are the schemas that a program's types or samples of its values describe. Notes name the parts that have
// no JSON form, with file and line.
type InferredSchemas struct {
	InputSchema   json.RawMessage `json:"inputSchema"`
	OutputSchema  json.RawMessage `json:"outputSchema"`
	SchemaSource                  // of the input schema
	SchemaSources SchemaSources   `json:"schemaSources"`
	Notes         []SchemaNote    `json:"notes"`
}

// SchemaNote explains a part of inferred schemas.
type SchemaNote struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}
