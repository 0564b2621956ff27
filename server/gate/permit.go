package gate

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Lookup finds the resource that a path names. It is used only for callers with restricted access.
type Lookup interface {
	AgentID(ctx context.Context, workspace, nameOrID string) (string, error)
	Run(ctx context.Context, actor registry.Actor, id string) (registry.Run, error)
}

// Require rejects a caller who has none of the given scopes. Handlers call it if the needed scope depends on the
// content of the request.
func Require(ctx context.Context, anyOf ...registry.Scope) error {
	if caller, _ := CallerOf(ctx); !caller.May(anyOf...) {
		return lacking(caller.Caller, anyOf)
	}
	return nil
}

// lacking returns the Forbidden error for a missing scope. It lists the required scopes, and the lowest role that has
// one of these scopes.
func lacking(caller registry.Caller, anyOf []registry.Scope) error {
	role := registry.RoleWith(anyOf...)
	f := &fault.Error{Code: fault.Forbidden, Extra: map[string]any{"needs": anyOf, "role": role}}
	switch {
	case caller.Actor.Type == registry.UserActor:
		f.Message = fmt.Sprintf("This requires the role %s; yours is %s. An administrator of the workspace can change it.", role, caller.Role)
	case caller.User != "" && !caller.Role.Covers(role):
		f.Message = fmt.Sprintf("This requires the role %s; the owner of this token is %s.", role, caller.Role)
	default:
		f.Message = fmt.Sprintf("This requires the scope %s; the credential has %s. Create a token with it: atelier token create NAME --scope %s.",
			words(anyOf, " or "), words(caller.Scopes, ", "), anyOf[0])
	}
	return f
}

func words(scopes []registry.Scope, between string) string {
	var said []string
	for _, s := range scopes {
		said = append(said, string(s))
	}
	return strings.Join(said, between)
}

// permit rejects requests that the caller may not make. If a path has no route, permit does nothing, because the router
// returns the error.
func (g *Gate) permit(r *http.Request, caller registry.Caller) error {
	pattern, params := g.route(r)
	if pattern == "" {
		return nil
	}
	n, ok := g.needs[methodOf(r)+" "+pattern]
	if !ok { // No permission is declared for the route. A test that uses Undeclared finds this.
		n = need{anyOf: []registry.Scope{registry.AdminScope}}
	}
	if !caller.May(n.anyOf...) {
		return lacking(caller, n.anyOf)
	}
	switch n.subject {
	case agent:
		return g.permitAgent(r.Context(), caller, params.URLParam("agent"))
	case run:
		return g.permitRun(r.Context(), caller, params.URLParam("run"))
	case nothing:
		return nil
	case workspace:
	}
	if len(caller.Agents) > 0 {
		return fault.New(fault.Forbidden, "This token is restricted to %s and cannot access anything else.", named(caller.Agents))
	}
	return nil
}

func named(agents []registry.TokenAgent) string {
	if len(agents) == 1 {
		return "the agent " + agents[0].Name
	}
	return fmt.Sprintf("%d agents", len(agents))
}

// permitAgent rejects requests for agents that a restricted token may not use. The error is the same as for a missing
// agent.
func (g *Gate) permitAgent(ctx context.Context, caller registry.Caller, nameOrID string) error {
	if len(caller.Agents) == 0 {
		return nil
	}
	id, err := g.Lookup.AgentID(ctx, caller.Actor.Workspace, nameOrID)
	if err == nil && !caller.MayTouch(id) {
		err = fault.New(fault.NotFound, "Agent %s not found.", nameOrID)
	}
	return err
}

// permitRun rejects requests for runs that the caller may not access. A token that is restricted to some agents cannot
// access runs of other agents. A caller with the scope run but not read cannot access runs that others started. The
// error is the same as for a missing run.
func (g *Gate) permitRun(ctx context.Context, caller registry.Caller, id string) error {
	reads := caller.May(registry.ReadScope)
	if reads && len(caller.Agents) == 0 {
		return nil
	}
	found, err := g.Lookup.Run(ctx, caller.Actor, id)
	if err != nil {
		return err
	}
	own := found.Actor.ID == caller.Actor.ID && found.Actor.Type == caller.Actor.Type
	if !caller.MayTouch(found.AgentID) || !reads && !own {
		return fault.New(fault.NotFound, "Run %s not found.", id)
	}
	return nil
}

// route returns the pattern of the route that the router will choose for a request. It also returns the path
// parameters.
func (g *Gate) route(r *http.Request) (pattern string, params *chi.Context) {
	path := r.URL.RawPath
	if path == "" {
		path = r.URL.Path
	}
	params = chi.NewRouteContext()
	return g.Routes.Find(params, methodOf(r), path), params
}

// methodOf returns the method by which a request is routed. HEAD requests are answered by the routes of GET.
func methodOf(r *http.Request) string {
	if r.Method == http.MethodHead {
		return http.MethodGet
	}
	return r.Method
}

// Undeclared lists guarded routes without a declared permission, and declarations without a route.
func (g *Gate) Undeclared() ([]string, error) {
	found, missing := map[string]bool{}, []string{}
	err := chi.Walk(g.Routes, func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		route := method + " " + pattern
		found[route] = true
		if _, ok := g.needs[route]; guardedPath(method, pattern) && !ok {
			missing = append(missing, route)
		}
		return nil
	})
	for route := range g.needs {
		if !found[route] {
			missing = append(missing, route)
		}
	}
	slices.Sort(missing)
	return missing, err
}
