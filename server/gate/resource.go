package gate

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
)

// MetadataPath is the prefix of the paths with the metadata of protected resources (RFC 9728).
const MetadataPath = "/.well-known/oauth-protected-resource"

// mcpPath is the path prefix of the MCP addresses. At these addresses, clients may sign in with OAuth at the OpenID
// provider.
const mcpPath = "/mcp"

func mcp(r *http.Request) bool {
	return r.URL.Path == mcpPath || strings.HasPrefix(r.URL.Path, mcpPath+"/")
}

// delegates reports whether a credential is an access token of the OpenID provider, which is a JWT that is sent to an
// MCP address. Tokens of this server contain no dots.
func (g *Gate) delegates(r *http.Request, secret string) bool {
	return g.Delegations != nil && mcp(r) && strings.Count(secret, ".") == 2
}

// Resource returns the address for which an access token must be issued to be valid for a request. The address does not
// contain the query, because the query may only select a mode.
func (g *Gate) Resource(r *http.Request) string { return g.PublicURL + r.URL.Path }

// challenge adds the WWW-Authenticate header to a 401 answer of an MCP address. MCP clients use this header to find the
// OpenID provider.
func (g *Gate) challenge(w http.ResponseWriter, r *http.Request, err error) {
	if g.Delegations != nil && mcp(r) && fault.Is(err, fault.Unauthenticated) {
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="atelier", resource_metadata=%q`, g.PublicURL+MetadataPath+r.URL.EscapedPath()))
	}
}
