package mcpapi

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/atelier-run/atelier/studio/routing"
)

// metaHints is the key in _meta of a call for facts about the run. These facts help to choose the runtime of the run.
const metaHints = "run.atelier/hints"

// hintsOf decodes the hints of a call. It rejects unknown hints.
func hintsOf(req *mcp.CallToolRequest) (routing.Hints, error) {
	given, ok := req.Params.GetMeta()[metaHints]
	if !ok {
		return routing.Hints{}, nil
	}
	return routing.ParseHints([]byte(encode(given)), "/_meta/run.atelier~1hints")
}
