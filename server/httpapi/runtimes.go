package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

// RuntimeState is the state of one runtime for one language.
type RuntimeState struct {
	Runtime  runtimes.Name      `json:"runtime"`
	Language runtimes.Language  `json:"language"`
	Ready    bool               `json:"ready"`
	Features []runtimes.Feature `json:"features" doc:"Features that the runtime supports, of: files, packages, hosts, subprocess, tools, rules, strict (isolation) and gpu (hint of a call). A version that needs a missing feature is refused for this runtime."`
	Workers  WorkerState        `json:"workers"`
	Queue    QueueState         `json:"queue"`
}

// WorkerState contains the number of sandboxed processes that exist now, and the number of those that were started
// since the server began.
type WorkerState struct {
	Idle      int   `json:"idle" doc:"Workers that are ready and idle."`
	Busy      int   `json:"busy" doc:"Workers that are executing or starting a run."`
	Preparing int   `json:"preparing" doc:"Workers that are being prepared."`
	Waiting   int   `json:"waiting" doc:"Admitted runs that wait for a worker."`
	Started   int64 `json:"started" doc:"Workers that have become ready since the server started."`
	Died      int64 `json:"died" doc:"Started workers that exited or were killed by another process."`
	Retired   int64 `json:"retired" doc:"Started workers that the server stopped, after their runs or at a limit."`
}

// QueueState contains the number of runs that wait for any runtime, and the number of runs that this runtime executes.
type QueueState struct {
	Depth   int `json:"depth"`
	Running int `json:"running"`
}

// RuntimeList lists the runtimes of this server.
type RuntimeList struct {
	Items []RuntimeState `json:"items"`
	Load  []MinuteOfLoad `json:"load" doc:"The runs of all runtimes and workspaces in each minute of the last hour, oldest first. A restart of the server clears it."`
}

// MinuteOfLoad counts the runs of one minute.
type MinuteOfLoad struct {
	At      time.Time `json:"at" doc:"Start of the minute."`
	Started int       `json:"started" doc:"Runs that started."`
	Running int       `json:"running" doc:"Maximum number of runs that were active at the same time."`
	Waiting int       `json:"waiting" doc:"Maximum number of runs that waited at the same time."`
}

func (a *API) listRuntimes() {
	type out struct{ Body RuntimeList }
	add(a, endpoint{
		id: "listRuntimes", method: http.MethodGet, path: Base + "/runtimes", tag: "server", summary: "Get the state of the runtimes",
		about: "Lists the runtimes of this server with the state of their workers and queues, and the load of the last hour. The list is complete.",
	}, func(context.Context, *none) (*out, error) {
		return &out{Body: a.StatusProvider.Runtimes()}, nil
	})
}
