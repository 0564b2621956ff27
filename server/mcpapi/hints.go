package mcpapi

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/atelier-run/atelier/studio/routing"
)

// metaHints is the member of a call's _meta with facts about the run, for the choice of its runtime.
const metaHints = "run.atelier/hints"

// hintsOf reads the hints of a call. Hints that do not exist are refused.
func hintsOf(req *mcp.CallToolRequest) (routing.Hints, error) {
	given, ok := req.Params.GetMeta()[metaHints]
	if !ok {
		return routing.Hints{}, nil
	}
	return routing.ParseHints([]byte(encode(given)), "/_meta/run.atelier~1hints")
}
