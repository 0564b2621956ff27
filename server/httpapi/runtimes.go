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

// WorkerState counts jailed processes.
type WorkerState struct {
	Idle int `json:"idle"`
	Busy int `json:"busy"`
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
