package manifest

import (
	"encoding/json"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// langChainTool is read by LangChain for Python as a function dictionary (name, description, parameters), and holds what
// DynamicStructuredTool of LangChain for JavaScript and existing clients ask for besides: schema, and a handler.
type langChainTool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Schema      json.RawMessage `json:"schema"`
	Output      json.RawMessage `json:"outputSchema"`
	Handler     Handler         `json:"handler"`
	Metadata    langChainNotes  `json:"metadata"`
}

type langChainNotes struct {
	Reference        string   `json:"reference"`
	Digest           string   `json:"digest"`
	SafetyFlags      []string `json:"safetyFlags"`
	RequiresApproval bool     `json:"requiresApproval"`
}

func langChain(v registry.Version, baseURL string) (Result, error) {
	parameters, warnings, err := objectRoot(v.InputSchema)
	if err != nil {
		return Result{}, err
	}
	canonical := Build(v, baseURL)
	return encode(langChainTool{
		Name: v.Agent, Title: v.Agent, Description: describe(v), Parameters: parameters, Schema: parameters, Output: canonical.OutputSchema,
		Handler: canonical.Handler,
		Metadata: langChainNotes{
			Reference: canonical.Reference, Digest: v.Digest, SafetyFlags: canonical.SafetyFlags, RequiresApproval: v.RequiresApproval,
		},
	}, warnings)
}

func notAnObject() error {
	return fault.Invalid("/format", "This format takes tools with an object as input; the input schema of this version asks for something else.")
}
