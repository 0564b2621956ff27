package manifest

import (
	"encoding/json"
	"fmt"
	"slices"
)

// mcpTool is an entry in the response to tools/list. It has the members that the protocol revisions 2025-11-25 and
// 2026-07-28 share.
type mcpTool struct {
	Name         string         `json:"name"`
	Title        string         `json:"title,omitempty"`
	Description  string         `json:"description"`
	InputSchema  members        `json:"inputSchema"`
	OutputSchema *members       `json:"outputSchema,omitempty"`
	Annotations  mcpAnnotations `json:"annotations"`
	Meta         mcpMeta        `json:"_meta"`
}

// mcpAnnotations holds the hints that the server can derive. For missing hints, clients use the cautious defaults of
// the protocol.
type mcpAnnotations struct {
	ReadOnly  bool `json:"readOnlyHint"`
	OpenWorld bool `json:"openWorldHint"`
}

// mcpMeta holds values for which the protocol has no member. Clients use these values to pin and verify versions.
type mcpMeta struct {
	Reference        string   `json:"run.atelier/reference"`
	Digest           string   `json:"run.atelier/digest"`
	SafetyFlags      []string `json:"run.atelier/safetyFlags"`
	RequiresApproval bool     `json:"run.atelier/requiresApproval"`
	Deprecated       bool     `json:"run.atelier/deprecated"`
	Handler          Handler  `json:"run.atelier/handler"`
}

func mcp(m Manifest) (Result, error) {
	schema, err := parameters(m)
	if err != nil {
		return Result{}, err
	}
	description, warnings := describe(m)
	if err := objectsOnly(schema); err != nil {
		return Result{}, err
	}
	tool := mcpTool{
		Name: m.Name, Title: m.Title, Description: description, InputSchema: schema, Annotations: annotationsOf(m),
		Meta: mcpMeta{
			Reference: m.Reference, Digest: m.Digest, SafetyFlags: m.SafetyFlags, RequiresApproval: m.RequiresApproval,
			Deprecated: m.Deprecated, Handler: m.Handler,
		},
	}
	output, why, err := mcpOutput(m)
	if err != nil {
		return Result{}, err
	}
	tool.OutputSchema = output
	return result(tool, append(warnings, why...))
}

// mcpOutput returns the output schema if every revision of the protocol accepts it. Revisions before 2026-07-28 require
// a schema that describes an object. For any other schema, mcpOutput returns a warning instead.
func mcpOutput(m Manifest) (schema *members, warnings []string, err error) {
	if output := string(m.OutputSchema); output == "{}" || output == "true" {
		return nil, nil, nil
	}
	all, err := readMembers(m.OutputSchema)
	if err != nil {
		return nil, nil, fmt.Errorf("read the output schema of %s: %w", m.Reference, err)
	}
	if !slices.Equal(typesIn(all.get("type")), []string{"object"}) {
		return nil, []string{"outputSchema is omitted: before 2026-07-28 MCP allows only objects as output, and this schema allows other values."}, nil
	}
	all.set("type", json.RawMessage(`"object"`))
	return &all, nil, objectsOnly(all)
}

// objectsOnly replaces each root property whose schema is true or false by an equivalent object, because the official
// client rejects true and false there.
func objectsOnly(schema members) error {
	for i := range schema {
		if schema[i].name != "properties" {
			continue
		}
		properties, err := readMembers(schema[i].value)
		if err != nil {
			return fmt.Errorf("read properties: %w", err)
		}
		changed := false
		for j := range properties {
			switch string(properties[j].value) {
			case "true":
				properties[j].value, changed = json.RawMessage("{}"), true
			case "false":
				properties[j].value, changed = json.RawMessage(`{"not":{}}`), true
			}
		}
		if !changed {
			continue
		}
		if schema[i].value, err = encode(properties); err != nil {
			return err
		}
	}
	return nil
}

// annotationsOf derives hints from the capabilities and the safety flags. A program without network, subprocesses and
// host functions cannot change anything outside its sandbox. So the hints call it harmless unless its author declares
// otherwise. A program that calls other agents may have all effects of these agents.
func annotationsOf(m Manifest) mcpAnnotations {
	flagged := func(names ...string) bool {
		return slices.ContainsFunc(m.SafetyFlags, func(flag string) bool { return slices.Contains(names, flag) })
	}
	harmless := []string{"log", "progress"}
	reaches := slices.ContainsFunc(m.Capabilities.HostFunctions, func(name string) bool { return !slices.Contains(harmless, name) })
	return mcpAnnotations{
		ReadOnly:  len(m.Capabilities.Hosts) == 0 && len(m.Capabilities.Tools) == 0 && (m.Capabilities.Files == nil || !m.Capabilities.Files.Write) && !reaches && !flagged("side_effect", "external_call", "network_access", "file_system"),
		OpenWorld: len(m.Capabilities.Hosts) > 0 || len(m.Capabilities.Tools) > 0 || flagged("external_call", "network_access") || slices.Contains(m.Capabilities.HostFunctions, "askLLM"),
	}
}
