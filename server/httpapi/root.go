package httpapi

import (
	"encoding/json"
	"mime"
	"net/http"
	"strings"
)

// studio is the path of the Studio; server/webui serves it.
const studio = "/studio/"

// getRoot redirects browsers to the Studio. To other clients it sends a description of the server.
func (a *API) getRoot() {
	a.router.Get("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept")
		w.Header().Set("Cache-Control", "no-store")
		if wantsPage(r.Header.Get("Accept")) {
			http.Redirect(w, r, a.BasePath+studio, http.StatusFound)
			return
		}
		health := a.StatusProvider.Health(r.Context())
		body, err := json.Marshal(map[string]any{"service": "atelier", "status": health.Status, "skills_loaded": health.SkillsCount})
		if err != nil {
			a.Problems.Write(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(append(body, '\n')) // The client may have disconnected.
	})
	a.router.Get(strings.TrimSuffix(studio, "/"), func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, a.BasePath+studio, http.StatusFound)
	})
}

// wantsPage reports whether the client is a browser, or sends no Accept header.
func wantsPage(accept string) bool {
	if accept == "" {
		return true
	}
	for part := range strings.SplitSeq(accept, ",") {
		if kind, _, err := mime.ParseMediaType(part); err == nil && kind == "text/html" {
			return true
		}
	}
	return false
}
