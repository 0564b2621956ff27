package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
)

func (a *API) cancelRun() {
	type out struct{ Body Run }
	add(a, endpoint{
		id: "cancelRun", method: http.MethodPost, path: Base + "/runs/{run}/cancel", tag: "runs", summary: "Cancel a run",
		about:      "The answer is sent after the program has stopped and the run is recorded. For a finished run the answer is conflict. If another server executes the run and does not cancel it within 30 seconds, the answer is 503.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.Conflict, fault.RuntimeUnavailable},
	}, func(ctx context.Context, q *RunRef) (*out, error) {
		run, err := a.Runs.Cancel(ctx, actor(ctx), q.Run)
		if err != nil {
			return nil, err
		}
		if recorded, err := a.Runs.Recorded(ctx, actor(ctx), q.Run); err == nil && recorded.Withheld {
			storeInstead(ctx, runOf(recorded)) // A repeated request gets no values of a private run.
		}
		return &out{Body: runOf(run)}, nil
	})
}
