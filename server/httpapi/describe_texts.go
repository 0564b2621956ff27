package httpapi

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/atelier-run/atelier/internal/fault"
)

// The API description contains rules about texts and integers that the framework does not check. The operations check
// these rules themselves, because their error messages are better.

// maxInteger is the largest integer that a double represents exactly, and that every client can therefore represent.
// Larger integers are refused.
const maxInteger = 1<<53 - 1

// plainText matches text without control characters, except for tabs and line breaks, and without characters that
// databases or YAML cannot represent.
const plainText = "^[^\\x00-\\x08\\x0B\\x0C\\x0E-\\x1F\\x7F-\\x9F\uFEFF\uFFFE\uFFFF]*$"

// agentName and variableName match those names that registry.CheckName and registry.CheckVariable accept.
const (
	agentName    = "^[a-z][a-z0-9_-]{0,62}$"
	variableName = "^[A-Za-z_][A-Za-z0-9_]{0,63}$"
)

// checkedPatterns lists the patterns that the operations check themselves, because their error messages are better.
func checkedPatterns() []string { return []string{plainText, agentName} }

// namesOf returns the path parameter of an operation with which a new resource may be named, and the pattern of valid
// names.
func namesOf(operation string) (parameter, pattern string) {
	switch operation {
	case "putToolSet":
		return "set", agentName
	case "importProject":
		return "project", agentName
	case "setSecret":
		return "name", variableName
	}
	return "", ""
}

// texts lists the members and parameters that contain text written by people.
func texts() []string {
	return []string{"title", "description", "comment", "changelog", "label", "note", "reason", "q", "tag"}
}

// describeTexts adds the rules about texts and integers to the parameters and the body of an operation.
func describeTexts(api *huma.OpenAPI, op *huma.Operation) {
	for _, p := range op.Parameters {
		if p.Schema == nil {
			continue
		}
		described := *p.Schema // Change only a copy, because the framework checks requests with the original.
		if name, pattern := namesOf(op.OperationID); p.Name == name && p.In == "path" {
			described.Pattern = pattern
		}
		if p.In == "query" {
			addRefusal(op, fault.InvalidInput)
		}
		if slices.Contains(texts(), p.Name) {
			plain(&described)
		}
		bounded(&described)
		p.Schema = &described
	}
	if op.RequestBody == nil {
		return
	}
	for _, content := range op.RequestBody.Content {
		switch op.OperationID {
		case "createAgent", "copyAgent", "createWorkspace":
			named(api, content, op.OperationID)
		}
		describeBody(api, content.Schema, map[*huma.Schema]bool{})
	}
}

// named adds the members that are required to create a resource to the schema of an operation's body. An operation that
// saves uses the same body, but there these members are optional.
func named(api *huma.OpenAPI, content *huma.MediaType, operation string) {
	if len(content.Schema.AllOf) > 0 {
		return // The schema was described by an earlier call.
	}
	rule := &huma.Schema{Required: []string{"name"}, Properties: map[string]*huma.Schema{"name": {Type: huma.TypeString, Pattern: agentName}}}
	if operation == "createAgent" {
		rule.Required = append(rule.Required, "language")
	}
	content.Schema = &huma.Schema{AllOf: []*huma.Schema{content.Schema, rule}}
}

func describeBody(api *huma.OpenAPI, s *huma.Schema, seen map[*huma.Schema]bool) {
	if s == nil || seen[s] {
		return
	}
	seen[s] = true
	if s.Ref != "" {
		describeBody(api, api.Components.Schemas.SchemaFromRef(s.Ref), seen)
		return
	}
	bounded(s)
	for name, property := range s.Properties {
		if slices.Contains(texts(), name) {
			plain(property)
		}
		describeBody(api, property, seen)
	}
	if tags := s.Properties["tags"]; tags != nil {
		plain(tags.Items)
	}
	describeBody(api, s.Items, seen)
	for _, inner := range slices.Concat(s.AnyOf, s.OneOf, s.AllOf) {
		describeBody(api, inner, seen)
	}
	if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
		describeBody(api, values, seen)
	}
}

func plain(s *huma.Schema) {
	if s != nil && s.Type == huma.TypeString && s.Pattern == "" && len(s.Enum) == 0 && s.Format == "" {
		s.Pattern = plainText
	}
}

// bounded adds the bounds that apply to all integers to the schema of an integer.
func bounded(s *huma.Schema) {
	if s.Type != huma.TypeInteger {
		return
	}
	if s.Maximum == nil && s.ExclusiveMaximum == nil {
		s.Maximum = new(float64(maxInteger))
	}
	if s.Minimum == nil && s.ExclusiveMinimum == nil {
		s.Minimum = new(float64(-maxInteger))
	}
}

// checkedByOperations removes those rules from the text of a schema that the operations check themselves.
func checkedByOperations(text string) (string, error) {
	for _, p := range checkedPatterns() {
		pattern, err := json.Marshal(p)
		if err != nil {
			return "", err
		}
		text = removeMember(text, `"pattern":`+string(pattern))
	}
	return text, nil
}

// removeMember removes a member from a JSON text that has no spaces.
func removeMember(text, member string) string {
	text = strings.ReplaceAll(text, member+",", "")
	return strings.ReplaceAll(text, ","+member, "")
}
