package runs

import (
	"context"

	"go.opentelemetry.io/otel/attribute"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/routing"
)

// route chooses the runtime of a run. A continued run keeps its runtime, because its job already runs at a remote
// service.
func (s *Service) route(ctx context.Context, actor registry.Actor, req Request, t target) (runtimes.Name, registry.Route, error) {
	if req.attach != "" {
		return req.resumed.Runtime, req.resumed.Route, nil
	}
	ctx, span := s.step(ctx, "runtimeRouter.route")
	defer span.End()
	name, route, err := s.Routing.Route(ctx, callOf(actor, req, t))
	if span.IsRecording() {
		span.SetAttributes(attribute.String("route.rule", route.Rule), attribute.String("route.reason", route.Reason), attribute.String("code.runtime", string(name)))
	}
	if err != nil {
		span.RecordError(err)
	}
	return name, route, err
}

func callOf(actor registry.Actor, req Request, t target) routing.Call {
	c := routing.Call{Workspace: actor.Workspace, Spec: t.spec, Hints: req.Hints, Private: private(t.spec, req.outer)}
	if t.digest != "" {
		c.Version = &t.of
	}
	return c
}

// Explain returns the runtime that would execute a request, and the reason for this choice. It starts no run.
func (s *Service) Explain(ctx context.Context, actor registry.Actor, req Request) (routing.RouteExplanation, error) {
	t, err := s.resolve(ctx, actor, req)
	if err != nil {
		return routing.RouteExplanation{}, err
	}
	return s.Routing.Explain(ctx, callOf(actor, req, t))
}
