package mcpapi

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/gate"
)

// metadata describes an MCP address as a protected resource (RFC 9728).
type metadata struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers"`
	ScopesSupported      []string `json:"scopes_supported"`
	BearerMethods        []string `json:"bearer_methods_supported"`
	Name                 string   `json:"resource_name"`
}

// describe answers with the metadata of an MCP address. The metadata names the provider at which clients sign in. If no
// provider is configured, the answer is NotFound.
func (a *API) describe(w http.ResponseWriter, r *http.Request) {
	if a.Issuer == "" {
		a.Refuse.Write(w, r, fault.New(fault.NotFound, "Clients cannot sign in here: the server needs oidc-issuer and public-url. Send a token: Authorization: Bearer TOKEN."))
		return
	}
	path := strings.TrimPrefix(r.URL.Path, gate.MetadataPath)
	if path == "" {
		path = Path
	}
	body, err := json.Marshal(metadata{
		Resource: a.PublicURL + path, AuthorizationServers: []string{a.Issuer}, ScopesSupported: a.Scopes, BearerMethods: []string{"header"}, Name: "Atelier",
	})
	if err != nil {
		a.Refuse.Write(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*") // The metadata is public, and clients in browsers read it.
	_, _ = w.Write(append(body, '\n'))                 // The client may have disconnected.
}
