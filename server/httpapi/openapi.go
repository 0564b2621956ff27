package httpapi

import (
	"encoding/json"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/atelier-run/atelier/registry/manifest"
	"github.com/atelier-run/atelier/studio/agents"
)

// DescribeToo adds the routes of another API to the description.
func (a *API) DescribeToo(describe func(api *huma.OpenAPI) error) error {
	if err := describe(a.huma.OpenAPI()); err != nil {
		return err
	}
	return complete(a.huma.OpenAPI())
}

// OpenAPI returns the indented description of all routes. The same routes always give the same bytes.
func (a *API) OpenAPI() ([]byte, error) {
	text, err := json.MarshalIndent(a.huma.OpenAPI(), "", "  ")
	return append(text, '\n'), err
}

func (a *API) getOpenAPI() {
	serve := a.document("application/openapi+json", a.OpenAPI)
	a.router.Get("/openapi.json", serve)
	a.router.Get(Base+"/openapi.json", serve)
}

func (a *API) getManifestSchema() {
	a.router.Get("/schemas/tool-manifest.json", a.document("application/schema+json", manifest.Schema))
	a.router.Get("/schemas/agent.json", a.document("application/schema+json", agents.SettingsSchema))
}

// document serves a document that does not change while the server runs. It calls make only once, for the first
// request.
func (a *API) document(kind string, make func() ([]byte, error)) http.HandlerFunc {
	once := sync.OnceValues(make)
	return func(w http.ResponseWriter, r *http.Request) {
		text, err := once()
		if err != nil {
			a.Problems.Write(w, r, err)
			return
		}
		w.Header().Set("Content-Type", kind)
		sendOnce(w, r, untilChecked, func(w http.ResponseWriter) {
			_, _ = w.Write(text) // Ignore the error: this writes to memory.
		})
	}
}
