package httpapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/runs"
	"github.com/atelier-run/atelier/studio/specs"
)

// contract is the version of the API in the API description. It is independent of the binary's version, so that a
// release does not change the description in the repository.
const contract = "1.0"

// describe returns the base configuration for the API description.
func describe(base string) huma.Config {
	schemas := huma.NewMapRegistry("#/components/schemas/", nameOf)
	schemas.RegisterTypeAlias(reflect.TypeFor[registry.File](), reflect.TypeFor[fileSchema]())
	schemas.RegisterTypeAlias(reflect.TypeFor[runtimes.Language](), reflect.TypeFor[languageSchema]())
	schemas.RegisterTypeAlias(reflect.TypeFor[registry.Scope](), reflect.TypeFor[scopeSchema]())
	schemas.RegisterTypeAlias(reflect.TypeFor[registry.Role](), reflect.TypeFor[roleSchema]())
	schemas.RegisterTypeAlias(reflect.TypeFor[registry.Status](), reflect.TypeFor[statusSchema]())
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Atelier", Version: contract,
				Description: "Write code agents, run them in a sandbox, publish immutable versions and export them as tools. " +
					"A browser session selects its workspace with X-Workspace (name or ID); a token belongs to one workspace. " +
					"Errors are application/problem+json with a code. Lists are paged by cursor.",
				License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
			},
			Servers: serversAt(base),
			Components: &huma.Components{
				Schemas: schemas,
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"token":   {Type: "http", Scheme: "bearer", Description: "A token from `atelier token create`, or the administrator's token. It must have one of the scopes listed for an operation. admin includes all others."},
					"session": {Type: "apiKey", In: "cookie", Name: "atelier_session", Description: "Session cookie of the Studio. Behind HTTPS and without a base path its name is __Host-atelier_session."},
				},
			},
			Security: []map[string][]string{{"token": {}}, {"session": {}}},
			Tags: []*huma.Tag{
				{Name: "agents", Description: "Programs with a name, one draft and immutable versions."},
				{Name: "versions", Description: "Published versions. They never change."},
				{Name: "registry", Description: "Agents that a workspace shares with all other workspaces."},
				{Name: "skills", Description: "Agents that are stored in folders and called by name. Existing clients use /skills and /v1/skills."},
				{Name: "projects", Description: "Trees of files that programs read, and changes that programs propose."},
				{Name: "tasks", Description: "Tasks run an agent that changes the files of a project. A person accepts or rejects the changes."},
				{Name: "tool sets", Description: "Named sets of pinned versions. MCP clients see each set as one server."},
				{Name: "tests", Description: "Inputs of a program with the expected outputs."},
				{Name: "assist", Description: "Proposals of a language model, checked before a person sees them."},
				{Name: "runs", Description: "Executions of a version, a draft or inline code."},
				{Name: "approvals", Description: "The gate, which checks programs before they are published or run, and requests that wait for the decision of a person."},
				{Name: "secrets", Description: "Encrypted values that versions declare by name and runs receive. No endpoint returns them."},
				{Name: "server", Description: "Capabilities and state of the server."},
				{Name: "people", Description: "Workspaces, members and invitations."},
				{Name: "session", Description: "Browser sessions, and tokens with scopes."},
			},
		},
		Formats:       map[string]huma.Format{"application/json": plainJSON(), "json": plainJSON()},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{refuse},
	}
}

// plainJSON returns a format that writes JSON without escaping <, > and &. If a value cannot be encoded, it writes nothing.
func plainJSON() huma.Format {
	return huma.Format{
		Marshal: func(w io.Writer, v any) error {
			var text bytes.Buffer
			encoder := json.NewEncoder(&text)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(v); err != nil {
				return err
			}
			_, err := w.Write(text.Bytes())
			return err
		},
		Unmarshal: func(data []byte, v any) error {
			err := jcs.Unmarshal(data, v)
			var wrong *json.UnmarshalTypeError
			if errors.As(err, &wrong) && wrong.Field != "" {
				return misfitAt(wrong.Field)
			}
			return err
		},
	}
}

// misfit is the JSON pointer of a value that matches the schema of its field but not the field's Go type, for example
// an integer beyond 64 bits. The pointer is also the text of the error, because the framework passes on only this text.
type misfit string

func (m misfit) Error() string { return string(m) }

// misfitAt returns a misfit for the path in a decoder's error. It removes the names of embedded structs from the path.
func misfitAt(path string) misfit {
	var pointer strings.Builder
	for part := range strings.SplitSeq(path, ".") {
		if part != "" && !unicode.IsUpper(rune(part[0])) {
			pointer.WriteString("/" + part)
		}
	}
	return misfit(pointer.String())
}

// nameOf returns the name of a type's schema. It replaces Go names that are unclear without the name of their package.
func nameOf(t reflect.Type, hint string) string {
	switch t {
	case reflect.TypeFor[runs.Answer]():
		return "RunAnswer"
	case reflect.TypeFor[Capabilities]():
		return "ServerCapabilities"
	case reflect.TypeFor[runs.Metadata]():
		return "RunMetadata"
	}
	return huma.DefaultSchemaNamer(t, hint)
}

// finish corrects the parts of the API description that the framework generates wrongly, and then completes the
// description.
func (a *API) finish() {
	problemSchema(a.huma.OpenAPI())
	if err := complete(a.huma.OpenAPI()); err != nil {
		panic(err) // This is a bug: an example in this package is not valid JSON.
	}
}

func neverNull(s *huma.Schema, seen map[*huma.Schema]bool) {
	if s == nil || seen[s] {
		return
	}
	seen[s] = true
	if s.Type == huma.TypeArray {
		s.Nullable = false
		s.PrecomputeMessages()
	}
	neverNull(s.Items, seen)
	for _, property := range s.Properties {
		neverNull(property, seen)
	}
	if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
		neverNull(values, seen)
	}
}

// fileSchema, languageSchema, scopeSchema, roleSchema and statusSchema describe types of lower layers. They are defined
// here because the lower layers do not depend on OpenAPI.
type fileSchema struct{}

// Schema returns the schema of a file. Text is a string; other content is an object with base64.
func (fileSchema) Schema(huma.Registry) *huma.Schema {
	binary := &huma.Schema{Type: huma.TypeObject, Required: []string{"base64"}, AdditionalProperties: false,
		Properties: map[string]*huma.Schema{"base64": {Type: huma.TypeString, ContentEncoding: "base64"}}}
	text := &huma.Schema{Type: huma.TypeString}
	binary.PrecomputeMessages()
	text.PrecomputeMessages()
	return &huma.Schema{Description: "Text, or {\"base64\": …}.", AnyOf: []*huma.Schema{text, binary}}
}

type languageSchema struct{}

// Schema returns the schema of a language.
func (languageSchema) Schema(huma.Registry) *huma.Schema {
	return choice(specs.Languages()...)
}

type scopeSchema struct{}

// Schema returns the schema of a scope.
func (scopeSchema) Schema(huma.Registry) *huma.Schema { return choice(registry.Scopes()...) }

type roleSchema struct{}

// Schema returns the schema of a role.
func (roleSchema) Schema(huma.Registry) *huma.Schema { return choice(registry.Roles()...) }

type statusSchema struct{}

// Schema returns the schema of the status of a run.
func (statusSchema) Schema(huma.Registry) *huma.Schema {
	return choice(registry.Queued, registry.AwaitingApproval, registry.Running, registry.Succeeded, registry.Failed,
		registry.TimedOut, registry.StatusCancelled, registry.Blocked, registry.StatusInterrupted)
}

func choice[T ~string](values ...T) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, v := range values {
		s.Enum = append(s.Enum, string(v))
	}
	s.PrecomputeMessages()
	return s
}

// problemSchema replaces the framework's error model by our problem document in every answer.
func problemSchema(api *huma.OpenAPI) {
	const name = "ErrorModel"
	schemas := api.Components.Schemas.Map()
	delete(schemas, "ErrorDetail")
	schemas["Problem"] = &huma.Schema{
		Type: huma.TypeObject, Description: "RFC 9457 problem. It may have further members, for example currentRevision.",
		Required: []string{"type", "title", "status", "code", "detail"}, AdditionalProperties: true,
		Properties: map[string]*huma.Schema{
			"type": {Type: huma.TypeString}, "title": {Type: huma.TypeString}, "status": {Type: huma.TypeInteger}, "code": {Type: huma.TypeString},
			"detail": {Type: huma.TypeString, Description: "Explanation for people."},
			"errors": {Type: huma.TypeArray, Items: &huma.Schema{Ref: "#/components/schemas/Detail"}},
		},
	}
	api.Components.Schemas.Schema(reflect.TypeFor[fault.Detail](), true, "Detail")
	delete(schemas, name)
	for _, path := range api.Paths {
		for _, op := range operationsOf(path) {
			describeRefusal(op, componentsPath+name)
		}
	}
}

func describeRefusal(op *huma.Operation, ref string) {
	for _, response := range op.Responses {
		for kind, content := range response.Content {
			if content.Schema != nil && content.Schema.Ref == ref {
				delete(response.Content, kind)
				response.Content["application/problem+json"] = &huma.MediaType{Schema: &huma.Schema{Ref: problemRef}}
			}
		}
	}
}

// serversAt returns the list of servers in the API description. It contains only the server that sends the description,
// with its base path.
func serversAt(base string) []*huma.Server {
	return []*huma.Server{{URL: cmp.Or(base, "/"), Description: "This server."}}
}
