package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/manifest"
	"github.com/atelier-run/atelier/studio/tools"
)

// getServerJSON serves server.json. With this document, an MCP address can be published in a registry of MCP servers.
func (a *API) getServerJSON() {
	type in struct {
		RequestBase
		Set       string `query:"set" maxLength:"63" doc:"Name of a tool set."`
		Reference string `query:"reference" maxLength:"200" doc:"One version, such as weather@1.2.0 or weather@^1."`
	}
	type out struct{ Body manifest.Server }
	add(a, endpoint{
		id: "getServerJSON", method: http.MethodGet, path: Base + "/server.json", tag: "tool sets", summary: "Get the server.json of an MCP address",
		about:    "Describes an MCP address to an MCP registry: the address of all agents, of a tool set or of one version. The address begins with --public-url, or else with the address of the request.",
		refusals: []fault.Code{fault.NotFound, fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*out, error) {
		offer, selection, err := a.offered(ctx, q.Set, q.Reference)
		if err != nil {
			return nil, err
		}
		versions, err := a.Tools.Select(ctx, caller(ctx), selection)
		if err != nil {
			return nil, err
		}
		offer.Base, offer.SignIn, offer.Tools = a.baseURL(q.RequestBase), a.Provider != nil && a.PublicURL != "", make([]manifest.ServerTool, 0, len(versions))
		for _, v := range versions {
			offer.Tools = append(offer.Tools, manifest.ServerTool{Reference: v.Reference(), Digest: v.Digest})
		}
		if v := versions; selection.Reference.Agent != "" {
			offer.Title, offer.Description, offer.Version = v[0].Title, cmp.Or(v[0].Description, "The agent "+v[0].Agent+"."), v[0].Version
		}
		return &out{manifest.ServerOf(offer)}, nil
	})
}

// offered returns a selection of tools, with the path, title and description of its MCP address.
func (a *API) offered(ctx context.Context, set, reference string) (manifest.Offer, tools.Selection, error) {
	switch {
	case set != "" && reference != "":
		return manifest.Offer{}, tools.Selection{}, fault.Invalid("/reference", "must not be given together with set.")
	case set != "":
		found, err := a.Tools.Set(ctx, actor(ctx), set)
		return manifest.Offer{
			Path: "/mcp/sets/" + set, Name: set, Title: found.Title, Description: cmp.Or(found.Description, "The tool set "+set+"."),
			Version: fmt.Sprintf("1.0.%d", found.UpdatedAt.Unix()), // Every change of the set gives a newer version.
		}, tools.Selection{Set: set}, err
	case reference != "":
		if !strings.Contains(reference, "@") {
			reference += "@" + registry.Latest
		}
		ref, err := registry.ParseReference(reference)
		return manifest.Offer{Path: "/mcp/" + reference, Name: ref.Agent}, tools.Selection{Reference: ref}, err
	}
	return manifest.Offer{
		Path: "/mcp", Name: "atelier", Title: "Atelier", Description: "The newest version of each agent as a tool.", Version: a.StatusProvider.Health(ctx).Version,
	}, tools.Selection{}, nil
}
