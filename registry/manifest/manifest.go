// Package manifest turns a published version into the description of a tool: the canonical manifest, and the dialects
// that other programs eat. It reads versions and knows nothing of how they run.
package manifest

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// Manifest is the canonical manifest, in the order in which it is written. Schema describes it.
type Manifest struct {
	ManifestVersion  string                `json:"manifestVersion" jsonschema_description:"The version of this format."`
	Name             string                `json:"name" jsonschema_description:"The agent's name, which is a valid tool name everywhere."`
	Title            string                `json:"title" jsonschema_description:"For people; may be empty."`
	Description      string                `json:"description" jsonschema_description:"What the tool does, for people and models."`
	Version          string                `json:"version" jsonschema_description:"The version as semver.org has it."`
	Reference        string                `json:"reference" jsonschema_description:"Name and version: what to call, and to pin."`
	Digest           string                `json:"digest" jsonschema_description:"The SHA-256 of the whole version in canonical JSON (RFC 8785)."`
	InputSchema      json.RawMessage       `json:"inputSchema" jsonschema_description:"A JSON Schema of the input; {} accepts anything."`
	OutputSchema     json.RawMessage       `json:"outputSchema" jsonschema_description:"A JSON Schema of the output; {} promises nothing."`
	SafetyFlags      []string              `json:"safetyFlags" jsonschema_description:"What the author says the tool does beyond computing; a flag grants nothing."`
	RequiresApproval bool                  `json:"requiresApproval" jsonschema_description:"Whether a person approves each run."`
	Capabilities     runtimes.Capabilities `json:"capabilities" jsonschema_description:"What the tool is granted beyond computing."`
	Deprecated       bool                  `json:"deprecated" jsonschema_description:"Whether another version should be used."`
	Handler          Handler               `json:"handler" jsonschema_description:"How the tool is called."`
}

// Handler says how a tool is called: POST url with {"version","input"}.
type Handler struct {
	Type    string `json:"type" jsonschema_description:"Always code_agent."`
	AgentID string `json:"agentId" jsonschema_description:"The agent, whatever it is named later."`
	Version string `json:"version" jsonschema_description:"The version to send in the call."`
	URL     string `json:"url" jsonschema_description:"Where to POST {\"version\": …, \"input\": …}."`
}

// Build returns the canonical manifest of a version. baseURL is where clients reach the server, such as
// https://studio.example.com.
func Build(v registry.Version, baseURL string) Manifest {
	m := Manifest{
		ManifestVersion:  "1",
		Name:             v.Agent,
		Title:            v.Title,
		Description:      v.Description,
		Version:          v.Version,
		Reference:        v.Reference(),
		Digest:           v.Digest,
		InputSchema:      document(v.InputSchema),
		OutputSchema:     document(v.OutputSchema),
		SafetyFlags:      list(v.SafetyFlags),
		RequiresApproval: v.RequiresApproval,
		Capabilities:     v.Capabilities,
		Deprecated:       v.Deprecated,
		Handler: Handler{
			Type: "code_agent", AgentID: v.AgentID, Version: v.Version,
			URL: strings.TrimRight(baseURL, "/") + "/api/v1/code-agents/" + url.PathEscape(v.Agent) + "/execute",
		},
	}
	m.Capabilities.Hosts, m.Capabilities.HostFunctions = list(v.Capabilities.Hosts), list(v.Capabilities.HostFunctions)
	return m
}

// document is a schema as it was written, {} where there is none.
func document(raw json.RawMessage) json.RawMessage {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) > 0 && string(trimmed) != "null" {
		return slices.Clone(trimmed)
	}
	return json.RawMessage("{}")
}

func list(names []string) []string { return append([]string{}, names...) }
