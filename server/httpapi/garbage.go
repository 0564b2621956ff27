package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/studio/garbage"
)

// GarbageBody selects the data that is removed.
type GarbageBody struct {
	OlderThanHours int64 `json:"olderThanHours,omitempty" minimum:"1" maximum:"87600" default:"720" doc:"Minimum age in hours, since a task or an overlay ended, a draft was saved, or a package was used."`
	DryRun         bool  `json:"dryRun,omitempty" doc:"Only count the data to remove."`
}

func (a *API) collectGarbage() {
	type in struct{ Body GarbageBody }
	type out struct{ Body garbage.Cleanup }
	add(a, endpoint{
		id: "collectGarbage", method: http.MethodPost, path: Base + "/gc", tag: "server", summary: "Remove data that is no longer needed",
		about: "Removes data of the workspace: ended tasks, rejected and expired overlays, unreferenced files of projects, old saves of drafts without a label, and unused packages. In the workspace default it also removes files of large versions that no version of any workspace references. " +
			"Runs can continue meanwhile. Files that were stored in the last two hours are kept.",
		idempotent: true, refusals: []fault.Code{fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*out, error) {
		done, err := a.Garbage.Collect(ctx, actor(ctx).Workspace, time.Duration(q.Body.OlderThanHours)*time.Hour, q.Body.DryRun)
		return &out{Body: done}, err
	})
}
