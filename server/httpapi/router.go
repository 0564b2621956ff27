package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/routing"
	"github.com/atelier-run/atelier/studio/runs"
)

// ExplainBody describes the call that is explained: an agent with a version, or a program as in POST /execute.
type ExplainBody struct {
	Agent    string         `json:"agent,omitempty" maxLength:"200" doc:"Name or ID of an agent. Absent if the body contains the program."`
	Version  string         `json:"version,omitempty" maxLength:"200" doc:"1.2.0, ^1, latest, sha256:… or draft."`
	Revision int64          `json:"revision,omitempty" minimum:"1" doc:"With version draft: revision of the draft (default: the current one)."`
	Hints    *routing.Hints `json:"hints,omitempty"`
	Program  *InlineBody    `json:"program,omitempty" doc:"A program as in POST /execute, without an agent."`
}

func (a *API) getRouter() {
	type out struct{ Body routing.RouterState }
	add(a, endpoint{
		id: "getRouter", method: http.MethodGet, path: Base + "/router", tag: "server", summary: "Get the routing table",
		about: "Lists the rules that choose a runtime for programs that do not set one. The first rule that applies and has a usable runtime decides.",
	}, func(ctx context.Context, _ *none) (*out, error) {
		return &out{a.Routing.State(actor(ctx).Workspace)}, nil
	})
}

func (a *API) explainRoute() {
	type in struct{ Body ExplainBody }
	type out struct{ Body routing.RouteExplanation }
	add(a, endpoint{
		modules: true, id: "explainRoute", method: http.MethodPost, path: Base + "/router/explain", tag: "server", summary: "Explain which runtime a call would use",
		about:    "Nothing is executed. If the call would be refused, the field refused of the answer states the reason.",
		refusals: []fault.Code{fault.NotFound, fault.NoVersion, fault.InvalidInput, fault.StaleDraft, fault.SandboxUnavailable, fault.QueueFull},
	}, func(ctx context.Context, q *in) (*out, error) {
		request, err := explained(q.Body)
		if err != nil {
			return nil, err
		}
		explanation, err := a.Runs.Explain(ctx, actor(ctx), request)
		return &out{explanation}, err
	})
}

func explained(b ExplainBody) (runs.Request, error) {
	request := runs.Request{Agent: b.Agent, Version: b.Version, Seen: registry.SeenRevision(b.Revision), Hints: hintsOf(b.Hints)}
	switch {
	case (b.Agent == "") == (b.Program == nil):
		return request, fault.Invalid("/agent", "must be set if program is absent, and must be absent if program is set.")
	case b.Program == nil && b.Version == "":
		return request, fault.Invalid("/version", "must be a version, or draft.")
	case b.Program == nil:
		return request, nil
	}
	spec, err := inlineSpec(*b.Program)
	request.Inline = &spec
	if request.Hints == (routing.Hints{}) {
		request.Hints = hintsOf(b.Program.Hints)
	}
	return request, err
}

func hintsOf(hints *routing.Hints) routing.Hints {
	if hints == nil {
		return routing.Hints{}
	}
	return *hints
}

func (a *API) getRouterSchema() {
	a.router.Get("/schemas/router.json", a.document("application/schema+json", routing.Schema))
}
