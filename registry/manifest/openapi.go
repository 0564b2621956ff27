package manifest

import (
	"encoding/json"
	"strings"
)

// openAPIDocument is an OpenAPI 3.1 document with one operation, for gateways, code generators and assistants.
type openAPIDocument struct {
	OpenAPI    string              `json:"openapi"`
	Info       openAPIInfo         `json:"info"`
	Servers    []openAPIServer     `json:"servers"`
	Paths      map[string]any      `json:"paths"`
	Components openAPIComponents   `json:"components"`
	Security   []map[string][]any  `json:"security"`
	Reference  openAPIVersionNotes `json:"x-atelier"`
}

type openAPIInfo struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Version     string `json:"version"`
}

type openAPIServer struct {
	URL string `json:"url"`
}

type openAPIComponents struct {
	Schemas         openAPISchemas `json:"schemas"`
	SecuritySchemes any            `json:"securitySchemes"`
}

type openAPISchemas struct {
	Input   json.RawMessage `json:"Input"`
	Output  json.RawMessage `json:"Output"`
	Call    any             `json:"Call"`
	Run     any             `json:"Run"`
	Problem any             `json:"Problem"`
}

// openAPIVersionNotes holds values for which OpenAPI has no member.
type openAPIVersionNotes struct {
	Reference        string   `json:"reference"`
	Digest           string   `json:"digest"`
	SafetyFlags      []string `json:"safetyFlags"`
	RequiresApproval bool     `json:"requiresApproval"`
	Deprecated       bool     `json:"deprecated"`
}

func openAPI(m Manifest) (Result, error) {
	schema, err := parameters(m)
	if err != nil {
		return Result{}, err
	}
	description, warnings := describe(m)
	raw, err := encode(schema)
	if err != nil {
		return Result{}, err
	}
	input, why, err := relocated(raw, "#/components/schemas/Input")
	if err != nil {
		return Result{}, err
	}
	warnings = append(warnings, prefixed("Input ", why)...)
	output, why, err := relocated(m.OutputSchema, "#/components/schemas/Output")
	if err != nil {
		return Result{}, err
	}
	warnings = append(warnings, prefixed("Output ", why)...)
	at := strings.LastIndex(m.Handler.URL, "/api/v1/code-agents/") // this path always exists, because Build adds it
	server, path := m.Handler.URL[:at], m.Handler.URL[at:]
	title := m.Title
	if title == "" {
		title = m.Name
	}
	return result(openAPIDocument{
		OpenAPI: "3.1.1", Info: openAPIInfo{Title: title, Description: description, Version: m.Version}, Servers: []openAPIServer{{URL: server}},
		Paths:      map[string]any{path: map[string]any{"post": operationOf(m, title, description)}},
		Components: openAPIComponents{Schemas: openAPISchemas{Input: input, Output: output, Call: callOf(m), Run: runSchema(), Problem: problemSchema()}, SecuritySchemes: bearer()},
		Security:   []map[string][]any{{"token": {}}},
		Reference: openAPIVersionNotes{
			Reference: m.Reference, Digest: m.Digest, SafetyFlags: m.SafetyFlags, RequiresApproval: m.RequiresApproval, Deprecated: m.Deprecated,
		},
	}, warnings)
}

func operationOf(m Manifest, summary, description string) any {
	body := func(schema string) any {
		return map[string]any{"schema": map[string]any{"$ref": "#/components/schemas/" + schema}}
	}
	return map[string]any{
		"operationId": m.Name, "summary": summary, "description": description, "deprecated": m.Deprecated,
		"requestBody": map[string]any{"required": true, "content": map[string]any{"application/json": body("Call")}},
		"responses": map[string]any{
			"200":     map[string]any{"description": "The run has finished. success is true if it succeeded.", "content": map[string]any{"application/json": body("Run")}},
			"default": map[string]any{"description": "The run was refused.", "content": map[string]any{"application/problem+json": body("Problem")}},
		},
	}
}

// callOf returns the schema of the request body. The schema allows only the described version, because the path is the
// same for all versions of the agent.
func callOf(m Manifest) any {
	return map[string]any{
		"type": "object", "required": []string{"version", "input"},
		"properties": map[string]any{
			"version": map[string]any{"type": "string", "enum": []string{m.Version}, "default": m.Version, "description": "Version that this document describes."},
			"input":   map[string]any{"$ref": "#/components/schemas/Input"},
		},
	}
}

func runSchema() any {
	text := map[string]any{"type": "string"}
	return map[string]any{
		"type": "object", "required": []string{"runId", "status", "success", "output"},
		"properties": map[string]any{
			"runId": text, "status": text, "success": map[string]any{"type": "boolean"},
			"output": map[string]any{"anyOf": []any{map[string]any{"$ref": "#/components/schemas/Output"}, map[string]any{}},
				"description": "Matches Output if success is true. Otherwise null, or the invalid output of the program."},
			"error": map[string]any{"type": "object", "properties": map[string]any{"type": text, "message": text, "remedy": text}},
		},
	}
}

func problemSchema() any {
	text := map[string]any{"type": "string"}
	return map[string]any{
		"type": "object", "required": []string{"code", "detail"},
		"properties": map[string]any{
			"code": text, "detail": text,
			"errors": map[string]any{"type": "array", "items": map[string]any{"type": "object", "properties": map[string]any{"pointer": text, "message": text}}},
		},
	}
}

func bearer() any {
	return map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer", "description": "Token created with `atelier token create`."}}
}
