package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
)

// Ready reports that the server can be used.
type Ready struct {
	Ready bool `json:"ready"`
}

func (a *API) getReady() {
	type out struct{ Body Ready }
	add(a, endpoint{
		id: "getReady", method: http.MethodGet, path: "/ready", tag: "server", summary: "Check whether the server can be used",
		about: "200 if the server can run programs and record them, otherwise 503 with the reasons. A server that stops answers 503 with the code shutting_down first, and closes its listeners after --drain-delay.", public: true,
		refusals: []fault.Code{fault.RuntimeUnavailable, fault.StorageUnavailable, fault.ShuttingDown},
	}, func(ctx context.Context, _ *none) (*out, error) {
		if err := a.StatusProvider.Serving(); err != nil {
			return nil, err
		}
		health := a.StatusProvider.Health(ctx)
		switch {
		case !health.RegistryLoaded:
			return nil, fault.New(fault.StorageUnavailable, "The database does not answer.")
		case !health.ExecutorReady:
			return nil, fault.New(fault.SandboxUnavailable, "No program can run. GET /health lists the missing mechanisms.")
		}
		return &out{Body: Ready{Ready: true}}, nil
	})
}
