package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/runtimes"
)

// RuntimeState is how one runtime is doing for one language.
type RuntimeState struct {
	Runtime  runtimes.Name     `json:"runtime"`
	Language runtimes.Language `json:"language"`
	Ready    bool              `json:"ready"`
	Workers  WorkerState       `json:"workers"`
	Queue    QueueState        `json:"queue"`
}

// WorkerState counts jailed processes: those there are, and those there have been since the server began.
type WorkerState struct {
	Idle      int   `json:"idle" doc:"Prepared, in no run."`
	Busy      int   `json:"busy" doc:"In a run, or on the way into one."`
	Preparing int   `json:"preparing" doc:"Being prepared ahead of a run."`
	Waiting   int   `json:"waiting" doc:"Admitted runs that wait for a worker."`
	Started   int64 `json:"started" doc:"All that were ever ready."`
	Died      int64 `json:"died" doc:"Of these, ended by themselves or killed from outside."`
	Retired   int64 `json:"retired" doc:"Of these, ended by the server: after their runs, or at a limit."`
}

// QueueState counts runs: those that wait, of all runtimes, and those at work in this one.
type QueueState struct {
	Depth   int `json:"depth"`
	Running int `json:"running"`
}

// RuntimeList is every runtime of this server.
type RuntimeList struct {
	Items []RuntimeState `json:"items"`
}

func (a *API) listRuntimes() {
	type out struct{ Body RuntimeList }
	add(a, endpoint{
		id: "listRuntimes", method: http.MethodGet, path: Base + "/runtimes", tag: "server", summary: "How the runtimes are doing",
	}, func(context.Context, *none) (*out, error) {
		return &out{Body: RuntimeList{Items: orEmpty(a.House.Runtimes())}}, nil
	})
}
