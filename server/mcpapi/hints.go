package mcpapi

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/atelier-run/atelier/studio/routing"
)

// metaHints is the _meta key of a call with facts about the run that help to choose its runtime.
const metaHints = "run.atelier/hints"

// hintsOf decodes the hints of a call. It refuses unknown hints.
func hintsOf(req *mcp.CallToolRequest) (routing.Hints, error) {
	given, ok := req.Params.GetMeta()[metaHints]
	if !ok {
		return routing.Hints{}, nil
	}
	return routing.ParseHints([]byte(encode(given)), "/_meta/run.atelier~1hints")
}
