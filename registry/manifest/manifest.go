// Package manifest says what a version is to the world: its digests, and the tool manifests that other programs read. A
// manifest always points at one version, never at a draft.
package manifest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// The formats that a version can be exported in.
const (
	Atelier   = "atelier"
	OpenAI    = "openai"
	LangChain = "langchain"
)

// Formats lists the formats in the order people see them.
func Formats() []string { return []string{Atelier, OpenAI, LangChain} }

// Manifest is the canonical form.
type Manifest struct {
	ManifestVersion  string                `json:"manifestVersion" jsonschema:"const=1"`
	Name             string                `json:"name" jsonschema:"pattern=^[a-z][a-z0-9_-]{0,62}$"`
	Title            string                `json:"title"`
	Description      string                `json:"description"`
	Version          string                `json:"version" jsonschema:"description=Semantic version of what the tool runs"`
	Reference        string                `json:"reference" jsonschema:"description=name@version"`
	Digest           string                `json:"digest" jsonschema:"pattern=^sha256:[0-9a-f]{64}$"`
	InputSchema      json.RawMessage       `json:"inputSchema"`
	OutputSchema     json.RawMessage       `json:"outputSchema"`
	SafetyFlags      []string              `json:"safetyFlags"`
	RequiresApproval bool                  `json:"requiresApproval"`
	Capabilities     runtimes.Capabilities `json:"capabilities"`
	Deprecated       bool                  `json:"deprecated"`
	Handler          Handler               `json:"handler"`
}

// Handler says how the tool is called: POST {"version","input"} to URL.
type Handler struct {
	Type    string `json:"type" jsonschema:"const=code_agent"`
	AgentID string `json:"agentId"`
	Version string `json:"version"`
	URL     string `json:"url" jsonschema:"format=uri"`
}

// JSONSchemaExtend tells the schema of a manifest that its two schemas are schemas.
func (Manifest) JSONSchemaExtend(s *jsonschema.Schema) {
	for _, name := range []string{"inputSchema", "outputSchema"} {
		s.Properties.Set(name, &jsonschema.Schema{Type: "object", Description: "A JSON Schema, 2020-12 unless it says otherwise."})
	}
}

// Schema returns the JSON Schema of the canonical manifest.
func Schema() ([]byte, error) {
	r := jsonschema.Reflector{DoNotReference: true, Anonymous: true}
	s := r.Reflect(&Manifest{})
	s.Title = "Atelier tool manifest"
	return json.MarshalIndent(s, "", "  ")
}

// Build returns the canonical manifest of a version. baseURL is where callers reach the server, without a slash at the end.
func Build(v registry.Version, baseURL string) Manifest {
	return Manifest{
		ManifestVersion: "1", Name: v.Agent, Title: v.Title, Description: v.Description, Version: v.Version, Reference: v.Reference(),
		Digest: v.Digest, InputSchema: document(v.InputSchema), OutputSchema: document(v.OutputSchema), SafetyFlags: list(v.SafetyFlags),
		RequiresApproval: v.RequiresApproval,
		Capabilities: runtimes.Capabilities{
			Hosts: list(v.Capabilities.Hosts), HostFunctions: list(v.Capabilities.HostFunctions), Subprocess: v.Capabilities.Subprocess,
		},
		Deprecated: v.Deprecated,
		Handler: Handler{
			Type: "code_agent", AgentID: v.AgentID, Version: v.Version,
			URL: strings.TrimSuffix(baseURL, "/") + "/api/v1/code-agents/" + v.Agent + "/execute",
		},
	}
}

// document is a schema, {} for an absent one.
func document(schema json.RawMessage) json.RawMessage {
	if len(schema) == 0 || string(schema) == "null" {
		return json.RawMessage(`{}`)
	}
	return schema
}

// Result is an exported manifest. Warnings are sentences about what the format cannot say of this version.
type Result struct {
	Manifest json.RawMessage
	Warnings []string
}

// Export returns a version in one of the Formats; another is InvalidInput.
func Export(format string, v registry.Version, baseURL string) (Result, error) {
	switch format {
	case Atelier:
		return encode(Build(v, baseURL), nil)
	case OpenAI:
		return openAI(v)
	case LangChain:
		return langChain(v, baseURL)
	}
	return Result{}, fault.Invalid("/format", "must be one of %s.", strings.Join(Formats(), ", "))
}

func encode(manifest any, warnings []string) (Result, error) {
	text, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return Result{}, fmt.Errorf("encode manifest: %w", err)
	}
	return Result{Manifest: text, Warnings: warnings}, nil
}

// describe is what a model reads to choose a tool: the description, or at least the title.
func describe(v registry.Version) string {
	if v.Description != "" {
		return v.Description
	}
	if v.Title != "" {
		return v.Title
	}
	return v.Agent
}
