package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
)

// RunRef is a path parameter that names a run.
type RunRef struct {
	Run string `path:"run" maxLength:"100" doc:"ID of the run."`
}

func (a *API) getRun() {
	type out struct{ Body Run }
	add(a, endpoint{
		id: "getRun", method: http.MethodGet, path: Base + "/runs/{run}", tag: "runs", summary: "Get a run",
		about:    "The result of the run, or its state while it is in progress.",
		refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *RunRef) (*out, error) {
		run, err := a.Runs.Get(ctx, actor(ctx), q.Run)
		if err != nil {
			return nil, err
		}
		return &out{Body: runOf(run)}, nil
	})
}
