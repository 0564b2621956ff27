package httpapi

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/gate"
)

// StreamPath is the path of the WebSocket of a run. Package server/streamapi serves it.
const StreamPath = Base + "/runs/{run}/stream"

// describeStream adds the WebSocket of a run to the API description, because another package serves it.
func (a *API) describeStream() {
	op := &huma.Operation{
		OperationID: "streamRun", Method: http.MethodGet, Path: StreamPath, Tags: []string{"runs"}, Summary: "Follow a run over a WebSocket",
		Description: "Sends one event per frame, starting after from. After the result the socket closes with 1000. A reader that is too slow is disconnected with a reason, and can resume with from.",
		Parameters: []*huma.Param{
			{Name: "run", In: "path", Required: true, Description: "ID of the run.", Schema: &huma.Schema{Type: huma.TypeString}},
			{Name: "from", In: "query", Description: "Only events with a higher seq.", Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: new(0.0)}},
		},
		Security:  gate.Security(http.MethodGet, StreamPath),
		Responses: map[string]*huma.Response{"101": {Description: "WebSocket."}},
	}
	addRefusal(op, fault.UpgradeRequired)
	addRefusal(op, fault.ShuttingDown)
	a.huma.OpenAPI().AddOperation(op)
}
