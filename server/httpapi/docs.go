package httpapi

import (
	"bytes"
	"cmp"
	_ "embed" // embeds the template of the page
	"encoding/json"
	"html/template"
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
	Body                             string // name of the schema of the body
	Request, Answer                  string // example of the body, and example of the answer
	Answers                          []docAnswer
	order                            int
}

type docParameter struct{ Name, In, About string }

type docAnswer struct{ Status, About, Schema string }

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
	var routes []docRoute
	for path, item := range api.Paths {
		for order, op := range []*huma.Operation{item.Post, item.Get, item.Put, item.Patch, item.Delete} {
			if op != nil && slices.Contains(op.Tags, tag) {
				route := docRouteOf(op)
				route.Path, route.order = path, order
				routes = append(routes, route)
			}
		}
	}
	slices.SortFunc(routes, func(a, b docRoute) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.order, b.order)) })
	return routes
}

func docRouteOf(op *huma.Operation) docRoute {
	route := docRoute{ID: op.OperationID, Method: op.Method, Summary: op.Summary, About: op.Description}
	for _, p := range op.Parameters {
		route.Parameters = append(route.Parameters, docParameter{Name: p.Name, In: p.In, About: p.Description})
	}
	if op.RequestBody != nil {
		route.Body = schemaIn(op.RequestBody.Content)
		route.Request = exampleIn(op.RequestBody.Content)
	}
	for status, answer := range op.Responses {
		route.Answers = append(route.Answers, docAnswer{Status: status, About: answer.Description, Schema: schemaIn(answer.Content)})
		if example := exampleIn(answer.Content); example != "" {
			route.Answer = example
		}
	}
	slices.SortFunc(route.Answers, func(a, b docAnswer) int { return cmp.Compare(a.Status, b.Status) })
	return route
}

// schemaIn returns the name of the schema of a body.
func schemaIn(content map[string]*huma.MediaType) string {
	for _, media := range content {
		if media.Schema != nil && media.Schema.Ref != "" {
			return media.Schema.Ref[strings.LastIndexByte(media.Schema.Ref, '/')+1:]
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
