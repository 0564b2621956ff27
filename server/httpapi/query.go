package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/gate"
)

// checkQuery rejects query parameters that the description of a route does not contain. It also rejects repeated
// parameters, because a proxy and the server could choose different values. It checks all routes of the router; a route
// without a description may have no parameters.
func (a *API) checkQuery(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			if err := a.queryFault(r); err != nil {
				a.Problems.Write(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// openQueries returns the routes whose queries are not checked here. These are pages, whose queries are read by the
// page or come from an OpenID provider, and the MCP addresses, which check their queries themselves.
func openQueries() []string {
	return []string{
		"/", strings.TrimSuffix(studio, "/"), studio + "*", gate.SignInPath, callbackPath,
		"/mcp", "/mcp/{reference}", "/mcp/sets/{set}",
	}
}

func (a *API) queryFault(r *http.Request) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return &fault.Error{Code: fault.BadRequest, Message: "The query string is not valid.", Err: err}
	}
	method := r.Method
	if routes := chi.RouteContext(r.Context()); routes.RouteMethod != "" {
		method = routes.RouteMethod
	}
	route := a.router.Find(chi.NewRouteContext(), method, gate.RoutedPath(r))
	if route == "" || slices.Contains(openQueries(), route) {
		return nil // If no route matches, the answer is 404 or 405.
	}
	known := a.parameters(method, route)
	for name, values := range query {
		schema, ok := known[name]
		switch {
		case !ok && len(known) == 0:
			return fault.New(fault.BadRequest, "The query parameter %s is unknown. This endpoint has no query parameters.", fault.Shown(name, 60))
		case !ok:
			return fault.New(fault.BadRequest, "The query parameter %s is unknown. The known parameters are: %s.", fault.Shown(name, 60), strings.Join(sortedNames(known), ", "))
		case len(values) > 1 && schema.Type != huma.TypeArray:
			return &fault.Error{Code: fault.InvalidInput, Message: "The input is not valid.",
				Details: []fault.Detail{{Message: "query parameter " + name + ": must be given only once"}}}
		}
	}
	return nil
}

// parameters returns the query parameters of a route, from the API description. Every GET route also has the parameter
// workspace, which the gate reads.
func (a *API) parameters(method, route string) map[string]*huma.Schema {
	known := map[string]*huma.Schema{}
	if method == http.MethodGet {
		known[gate.WorkspaceParameter] = &huma.Schema{Type: huma.TypeString}
	}
	path := a.huma.OpenAPI().Paths[route]
	if path == nil {
		return known
	}
	op := map[string]*huma.Operation{http.MethodGet: path.Get, http.MethodPost: path.Post, http.MethodPut: path.Put, http.MethodPatch: path.Patch, http.MethodDelete: path.Delete}[method]
	if op == nil {
		return known
	}
	for _, p := range op.Parameters {
		if p.In == "query" {
			known[p.Name] = p.Schema
		}
	}
	return known
}

func sortedNames(known map[string]*huma.Schema) []string {
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
