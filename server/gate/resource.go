package gate

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
)

// MetadataPath is the path beneath which the metadata of protected resources are, by RFC 9728.
const MetadataPath = "/.well-known/oauth-protected-resource"

// mcpPath is the address of MCP clients. They sign in at the OpenID provider by OAuth.
const mcpPath = "/mcp"

func mcp(r *http.Request) bool {
	return r.URL.Path == mcpPath || strings.HasPrefix(r.URL.Path, mcpPath+"/")
}

// delegates reports whether a credential is an access token of the OpenID provider: a JWT, at an MCP address. Tokens of
// the server have no dots.
func (g *Gate) delegates(r *http.Request, secret string) bool {
	return g.Delegations != nil && mcp(r) && strings.Count(secret, ".") == 2
}

// Resource is the address that access tokens for a request must name. The mode of an address is no part of it.
func (g *Gate) Resource(r *http.Request) string { return g.PublicURL + r.URL.Path }

// challenge says where MCP clients find the OpenID provider.
func (g *Gate) challenge(w http.ResponseWriter, r *http.Request, err error) {
	if g.Delegations != nil && mcp(r) && fault.Is(err, fault.Unauthenticated) {
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="atelier", resource_metadata=%q`, g.PublicURL+MetadataPath+r.URL.EscapedPath()))
	}
}
