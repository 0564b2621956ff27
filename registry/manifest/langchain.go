package manifest

import "encoding/json"

// langChainTool is a document that both LangChain libraries accept, because they have no common manifest format. In
// Python, convert_to_openai_tool accepts the whole document because it has a name. It also accepts Parameters alone
// because Parameters has a title; Parameters is also a valid args_schema. In JavaScript, DynamicStructuredTool accepts
// the whole document after the caller has added func. It reads name, description, schema and metadata. The document has
// no member input_schema or type. With such a member, LangChain would treat the document as the format of another
// vendor.
type langChainTool struct {
	Title        string            `json:"title"`
	Name         string            `json:"name"`
	Description  string            `json:"description"`
	Parameters   members           `json:"parameters"`
	Schema       members           `json:"schema"`
	OutputSchema json.RawMessage   `json:"outputSchema"`
	Metadata     langChainMetadata `json:"metadata"`
	Handler      Handler           `json:"handler"`
}

// langChainMetadata is the metadata of a LangChain tool. LangChain shows it in traces.
type langChainMetadata struct {
	Title            string   `json:"title"`
	Version          string   `json:"version"`
	Reference        string   `json:"reference"`
	Digest           string   `json:"digest"`
	SafetyFlags      []string `json:"safetyFlags"`
	RequiresApproval bool     `json:"requiresApproval"`
	Deprecated       bool     `json:"deprecated"`
}

func langChain(m Manifest) (Result, error) {
	schema, err := parameters(m)
	if err != nil {
		return Result{}, err
	}
	description, warnings := describe(m)
	for _, root := range []struct{ keyword, value string }{{"description", description}, {"title", m.Name}} {
		text, err := encode(root.value)
		if err != nil {
			return Result{}, err
		}
		if was := schema.get(root.keyword); was != nil && string(was) != string(text) {
			warnings = append(warnings, "The root of parameters has the tool's "+root.keyword+" instead of the schema's, because LangChain reads it there.")
		}
		schema.set(root.keyword, text)
	}
	return result(langChainTool{
		Title: m.Name, Name: m.Name, Description: description, Parameters: schema, Schema: schema, OutputSchema: m.OutputSchema,
		Metadata: langChainMetadata{
			Title: m.Title, Version: m.Version, Reference: m.Reference, Digest: m.Digest,
			SafetyFlags: m.SafetyFlags, RequiresApproval: m.RequiresApproval, Deprecated: m.Deprecated,
		},
		Handler: m.Handler,
	}, warnings)
}
