// Package manifest converts a published version to a tool description, either in the canonical format or in a format of
// another product. The package does not depend on how versions run.
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

// Manifest is the canonical manifest. The order of its fields is the order of the JSON members. The function Schema
// returns the JSON Schema of a Manifest.
type Manifest struct {
	ManifestVersion  string                `json:"manifestVersion" jsonschema_description:"The version of this format."`
	Name             string                `json:"name" jsonschema_description:"Name of the agent, a valid tool name in all formats."`
	Title            string                `json:"title" jsonschema_description:"Title shown to people. May be empty."`
	Description      string                `json:"description" jsonschema_description:"Description for people and models."`
	Version          string                `json:"version" jsonschema_description:"Semantic version."`
	Reference        string                `json:"reference" jsonschema_description:"Reference to call and pin: name and version."`
	Digest           string                `json:"digest" jsonschema_description:"SHA-256 of the whole version as canonical JSON (RFC 8785)."`
	InputSchema      json.RawMessage       `json:"inputSchema" jsonschema_description:"JSON Schema of the input. {} accepts anything."`
	OutputSchema     json.RawMessage       `json:"outputSchema" jsonschema_description:"JSON Schema of the output. {} allows anything."`
	SafetyFlags      []string              `json:"safetyFlags" jsonschema_description:"Effects that the author declares. A flag grants nothing."`
	RequiresApproval bool                  `json:"requiresApproval" jsonschema_description:"true if a person must approve each run."`
	Capabilities     runtimes.Capabilities `json:"capabilities" jsonschema_description:"Capabilities that the tool is granted."`
	Deprecated       bool                  `json:"deprecated" jsonschema_description:"true if another version should be used."`
	Handler          Handler               `json:"handler" jsonschema_description:"How to call the tool."`
}

// Handler describes how to call a tool: send POST with {"version","input"} to the URL.
type Handler struct {
	Type    string `json:"type" jsonschema_description:"Always code_agent."`
	AgentID string `json:"agentId" jsonschema_description:"ID of the agent. It does not change when the agent is renamed."`
	Version string `json:"version" jsonschema_description:"Version to send in the call."`
	URL     string `json:"url" jsonschema_description:"URL for POST {\"version\": …, \"input\": …}."`
}

// Build returns the canonical manifest of a version. baseURL is the URL at which clients reach the server, such as
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

// document returns a schema unchanged, or {} for an absent schema.
func document(raw json.RawMessage) json.RawMessage {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) > 0 && string(trimmed) != "null" {
		return slices.Clone(trimmed)
	}
	return json.RawMessage("{}")
}

func list(names []string) []string { return append([]string{}, names...) }
