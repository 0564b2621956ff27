package httpapi

import (
	"bytes"
	"cmp"
	_ "embed" // embeds the template of the page
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed docs.html
var docsPage string

// getDocs serves the API description as an HTML page that loads nothing from other hosts. Its scripts and fonts are
// files of the Studio. If the Studio was not built, the page has no search and uses the theme and the fonts of the
// system.
func (a *API) getDocs() {
	a.router.Get("/docs", a.document("text/html; charset=utf-8", func() ([]byte, error) {
		page, err := template.New("docs").Parse(docsPage)
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		err = page.Execute(&text, docsOf(a.huma.OpenAPI(), a.BasePath+Base))
		return text.Bytes(), err
	}))
}

type docs struct {
	Title, Version, About string
	Base                  string // base path of the API
	Groups                []docGroup
	Schemas               []docSchema
}

type docGroup struct {
	Name, About string
	Routes      []docRoute
}

type docRoute struct {
	ID, Method, Path, Summary, About string
	Parameters                       []docParameter
	Curl                             string // arguments of curl
	Body                             docBody
	Answer                           docAnswer // the answer of a success
	Errors                           []docAnswer
	order                            int
}

// docBody is the body of a request or of an answer.
type docBody struct {
	Schema  string // name of a schema
	Example string
	Fields  []docField
}

type docField struct {
	Name, Type, Ref, About string
	Required               bool
}

type docParameter struct{ Name, In, About string }

type docAnswer struct {
	Status, About string
	docBody
}

type docSchema struct{ Name, About, Text string }

func docsOf(api *huma.OpenAPI, base string) docs {
	page := docs{Title: api.Info.Title, Version: api.Info.Version, About: api.Info.Description, Base: base}
	for _, tag := range api.Tags {
		page.Groups = append(page.Groups, docGroup{Name: tag.Name, About: tag.Description, Routes: routesOf(api, tag.Name)})
	}
	schemas := api.Components.Schemas.Map()
	for name, schema := range schemas {
		text, err := json.MarshalIndent(schema, "", "  ")
		if err == nil {
			page.Schemas = append(page.Schemas, docSchema{Name: name, About: schema.Description, Text: string(text)})
		}
	}
	slices.SortFunc(page.Schemas, func(a, b docSchema) int { return cmp.Compare(a.Name, b.Name) })
	return page
}

func routesOf(api *huma.OpenAPI, tag string) []docRoute {
	schemas := api.Components.Schemas.Map()
	var routes []docRoute
	for path, item := range api.Paths {
		for order, op := range []*huma.Operation{item.Post, item.Get, item.Put, item.Patch, item.Delete} {
			if op != nil && slices.Contains(op.Tags, tag) {
				route := docRouteOf(op, schemas)
				route.Path, route.order = path, order
				route.Curl = curlOf(op, path, route.Body.Example)
				routes = append(routes, route)
			}
		}
	}
	slices.SortFunc(routes, func(a, b docRoute) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.order, b.order)) })
	return routes
}

func docRouteOf(op *huma.Operation, schemas map[string]*huma.Schema) docRoute {
	route := docRoute{ID: op.OperationID, Method: op.Method, Summary: op.Summary, About: op.Description}
	for _, p := range op.Parameters {
		route.Parameters = append(route.Parameters, docParameter{Name: p.Name, In: p.In, About: p.Description})
	}
	if op.RequestBody != nil {
		route.Body = docBodyOf(op.RequestBody.Content, schemas)
	}
	for status, answer := range op.Responses {
		a := docAnswer{Status: status, About: answer.Description}
		if status >= "400" {
			a.Schema = schemaIn(answer.Content)
			route.Errors = append(route.Errors, a)
			continue
		}
		a.docBody = docBodyOf(answer.Content, schemas)
		// Of several successes, the one with a body is described.
		if route.Answer.Status == "" || len(a.Fields) > len(route.Answer.Fields) {
			route.Answer = a
		}
	}
	slices.SortFunc(route.Errors, func(a, b docAnswer) int { return cmp.Compare(a.Status, b.Status) })
	return route
}

func docBodyOf(content map[string]*huma.MediaType, schemas map[string]*huma.Schema) docBody {
	body := docBody{Schema: schemaIn(content), Example: exampleIn(content)}
	for _, media := range content {
		if media.Schema != nil {
			body.Fields = fieldsOf(media.Schema, schemas)
		}
	}
	return body
}

// fieldsOf returns the properties of an object, or of the items of a list: the required ones first, then by name.
func fieldsOf(schema *huma.Schema, schemas map[string]*huma.Schema) []docField {
	found := map[string]docField{}
	collectFields(schema, schemas, found)
	return slices.SortedFunc(maps.Values(found), func(a, b docField) int {
		if a.Required != b.Required {
			if a.Required {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Name, b.Name)
	})
}

func collectFields(schema *huma.Schema, schemas map[string]*huma.Schema, found map[string]docField) {
	if schema.Ref != "" {
		if to := schemas[nameOfRef(schema.Ref)]; to != nil {
			collectFields(to, schemas, found)
		}
		return
	}
	if schema.Items != nil {
		collectFields(schema.Items, schemas, found)
		return
	}
	for _, part := range schema.AllOf {
		collectFields(part, schemas, found)
	}
	for name, property := range schema.Properties {
		if _, known := found[name]; known || name == "$schema" {
			continue // a later part only restricts it
		}
		text, ref := typeOf(property)
		found[name] = docField{Name: name, Type: text, Ref: ref, About: property.Description}
	}
	for _, name := range schema.Required {
		if field, known := found[name]; known {
			field.Required = true
			found[name] = field
		}
	}
}

// typeOf returns the type of a value as text, and the name of the schema that the text ends with.
func typeOf(schema *huma.Schema) (text, ref string) {
	switch {
	case schema.Ref != "":
		return "", nameOfRef(schema.Ref)
	case len(schema.Enum) > 0:
		values := make([]string, 0, len(schema.Enum))
		for _, value := range schema.Enum {
			values = append(values, fmt.Sprint(value))
		}
		return strings.Join(values, " | "), ""
	case schema.Items != nil:
		of, ref := typeOf(schema.Items)
		return strings.TrimSpace("array of " + of), ref
	case len(schema.AllOf) > 0:
		return typeOf(schema.AllOf[0])
	}
	if values, ok := schema.AdditionalProperties.(*huma.Schema); ok {
		of, ref := typeOf(values)
		return strings.TrimSpace("map of " + of), ref
	}
	return cmp.Or(schema.Type, "any"), ""
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// curlOf returns the arguments of a curl command. The address of the server stands before them.
func curlOf(op *huma.Operation, path, example string) string {
	var text strings.Builder
	text.WriteString(pathParameter.ReplaceAllStringFunc(path, func(p string) string { return strings.ToUpper(p[1 : len(p)-1]) }) + "'")
	if op.Method != http.MethodGet && (op.Method != http.MethodPost || op.RequestBody == nil) {
		text.WriteString(" -X " + op.Method)
	}
	if op.Security == nil || len(op.Security) > 0 {
		text.WriteString(" \\\n  -H \"Authorization: Bearer $ATELIER_TOKEN\"")
	}
	for _, parameter := range op.Parameters {
		if parameter.In == "header" && parameter.Required {
			value := strings.ToUpper(strings.ReplaceAll(parameter.Name, "-", "_"))
			if parameter.Name == "If-Match" {
				value = `"REVISION"`
			}
			text.WriteString(" \\\n  -H '" + parameter.Name + ": " + value + "'")
		}
	}
	if op.RequestBody == nil {
		return text.String()
	}
	kinds := slices.Sorted(maps.Keys(op.RequestBody.Content))
	if len(kinds) == 0 {
		return text.String()
	}
	kind := kinds[0]
	if slices.Contains(kinds, "application/json") {
		kind = "application/json"
	}
	text.WriteString(" \\\n  -H 'Content-Type: " + kind + "' \\\n  ")
	if kind != "application/json" {
		text.WriteString("--data-binary @FILE")
	} else {
		text.WriteString("-d '" + strings.ReplaceAll(cmp.Or(example, "{}"), "'", `'\''`) + "'")
	}
	return text.String()
}

func nameOfRef(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// schemaIn returns the name of the schema of a body.
func schemaIn(content map[string]*huma.MediaType) string {
	for _, media := range content {
		if media.Schema != nil && media.Schema.Ref != "" {
			return nameOfRef(media.Schema.Ref)
		}
		if media.Schema != nil && len(media.Schema.AllOf) > 0 && media.Schema.AllOf[0].Ref != "" {
			return nameOfRef(media.Schema.AllOf[0].Ref) // the other parts restrict it
		}
	}
	return ""
}

// exampleIn returns the example of a body as JSON text.
func exampleIn(content map[string]*huma.MediaType) string {
	for _, media := range content {
		if text, ok := media.Example.(string); ok {
			return text
		}
		if media.Example != nil {
			text, err := json.MarshalIndent(media.Example, "", "  ")
			if err == nil {
				return string(text)
			}
		}
	}
	return ""
}
