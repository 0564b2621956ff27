package gate

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
)

// MetadataPath is the prefix of the paths with the metadata of protected resources (RFC 9728).
const MetadataPath = "/.well-known/oauth-protected-resource"

// mcpPath is the path prefix of the MCP addresses. MCP clients may sign in at the OpenID provider with OAuth.
const mcpPath = "/mcp"

func mcp(r *http.Request) bool {
	return r.URL.Path == mcpPath || strings.HasPrefix(r.URL.Path, mcpPath+"/")
}

// delegates reports whether a credential is an access token of the OpenID provider: a JWT, at an MCP address. Tokens of
// the server have no dots.
func (g *Gate) delegates(r *http.Request, secret string) bool {
	return g.Delegations != nil && mcp(r) && strings.Count(secret, ".") == 2
}

// Resource returns the address that an access token for a request must name. The query, which may select a mode, is not
// part of it.
func (g *Gate) Resource(r *http.Request) string { return g.PublicURL + r.URL.Path }

// challenge adds the WWW-Authenticate header, with which MCP clients find the OpenID provider, to a 401 answer.
func (g *Gate) challenge(w http.ResponseWriter, r *http.Request, err error) {
	if g.Delegations != nil && mcp(r) && fault.Is(err, fault.Unauthenticated) {
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="atelier", resource_metadata=%q`, g.PublicURL+MetadataPath+r.URL.EscapedPath()))
	}
}
