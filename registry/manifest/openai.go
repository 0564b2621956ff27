package manifest

import "fmt"

// maxOpenAIDescription is the longest function description, in characters, that OpenAI accepts.
const maxOpenAIDescription = 1024

// openAITool is a tool of Chat Completions.
type openAITool struct {
	Type     string         `json:"type"`
	Function openAIFunction `json:"function"`
}

type openAIFunction struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Parameters  members `json:"parameters"`
	Strict      bool    `json:"strict"`
}

// openAI exports a tool for OpenAI. It sets strict to true only if the schema is in the strict subset. Otherwise strict
// is false, and the warnings give the reasons. It never changes the schema.
func openAI(m Manifest) (Result, error) {
	schema, err := parameters(m)
	if err != nil {
		return Result{}, err
	}
	description, warnings := describe(m)
	if n := len([]rune(description)); n > maxOpenAIDescription {
		warnings = append(warnings, fmt.Sprintf("The description has %d characters; OpenAI allows %d.", n, maxOpenAIDescription))
	}
	raw, err := encode(schema)
	if err != nil {
		return Result{}, err
	}
	reasons, refusals, err := strictReasons(raw)
	if err != nil {
		return Result{}, err
	}
	for _, reason := range reasons {
		warnings = append(warnings, "strict is false: "+reason)
	}
	warnings = append(warnings, refusals...)
	return result(openAITool{Type: "function", Function: openAIFunction{
		Name: m.Name, Description: description, Parameters: schema, Strict: len(reasons) == 0,
	}}, warnings)
}
