package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// These are the formats that Export supports.
const (
	Atelier   = "atelier"
	OpenAI    = "openai"
	LangChain = "langchain"
	Anthropic = "anthropic"
	Gemini    = "gemini"
	MCP       = "mcp"
	OpenAPI   = "openapi"
)

// Formats lists the formats that Export supports, the canonical one first.
func Formats() []string { return []string{Atelier, OpenAI, LangChain, Anthropic, Gemini, MCP, OpenAPI} }

// Result is a manifest in one format, with warnings. A warning is a printable sentence for people. There are at most
// about twenty warnings, each of a few hundred bytes. The warnings are not in the manifest, because clients reject
// unknown members.
type Result struct {
	Manifest json.RawMessage
	Warnings []string
}

// Export writes a version in one of the Formats. It never removes a keyword from a schema. If the format cannot express
// something, Export adds a warning. Error: InvalidInput for an unknown format.
func Export(format string, v registry.Version, baseURL string) (Result, error) {
	r, err := export(format, Build(v, baseURL))
	if err == nil && schemaless(v.InputSchema) {
		r.Warnings = append([]string{"The agent has no input schema, so models must guess its arguments, and the server cannot check them. Write a schema, or infer one from the code, and publish."}, r.Warnings...)
	}
	return r, err
}

// schemaless reports whether an input schema allows any members in the input.
func schemaless(input json.RawMessage) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(input, &members) != nil {
		return false // a schema may also be true or false
	}
	for name := range members {
		switch name {
		case "$schema", "$id", "$comment", "title", "description", "type", "additionalProperties":
		default:
			return false
		}
	}
	return string(members["additionalProperties"]) != "false" // if additionalProperties is false, the schema allows only an empty input
}

func export(format string, m Manifest) (Result, error) {
	switch format {
	case Atelier:
		return result(m, nil)
	case OpenAI:
		return openAI(m)
	case LangChain:
		return langChain(m)
	case Anthropic:
		return anthropic(m)
	case Gemini:
		return gemini(m)
	case MCP:
		return mcp(m)
	case OpenAPI:
		return openAPI(m)
	}
	return Result{}, fault.Invalid("/format", "must be one of: %s", strings.Join(Formats(), ", "))
}

func result(manifest any, warnings []string) (Result, error) {
	raw, err := encode(manifest)
	if err != nil {
		return Result{}, fmt.Errorf("write a tool manifest: %w", err)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, raw, "", "  "); err != nil {
		return Result{}, fmt.Errorf("indent a tool manifest: %w", err)
	}
	const maxWarning = 300 // removes unsafe characters, because a warning may contain property names that an author chose
	for i := range warnings {
		warnings[i] = fault.Shown(warnings[i], maxWarning)
	}
	return Result{Manifest: pretty.Bytes(), Warnings: warnings}, nil
}

// encode encodes a value as JSON. It does not escape <, > and &, because people read manifests and paste them into
// code.
func encode(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// describe returns the description of a tool for models. If the agent has no description, describe returns the title
// and adds a warning.
func describe(m Manifest) (description string, warnings []string) {
	if m.Description != "" {
		return m.Description, nil
	}
	warnings = []string{"The agent has no description, which models use to choose tools. Write one and publish."}
	if m.Title != "" {
		return m.Title, warnings
	}
	return m.Name + " code agent", warnings
}
