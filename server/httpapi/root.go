package httpapi

import (
	"encoding/json"
	"mime"
	"net/http"
	"strings"
)

// studio is where the Studio lives; server/webui serves it.
const studio = "/studio/"

// getRoot leads browsers to the Studio and tells programs what this is.
func (a *API) getRoot() {
	a.router.Get("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept")
		w.Header().Set("Cache-Control", "no-store")
		if wantsPage(r.Header.Get("Accept")) {
			http.Redirect(w, r, a.BasePath+studio, http.StatusFound)
			return
		}
		health := a.House.Health(r.Context())
		body, err := json.Marshal(map[string]any{"service": "atelier", "status": health.Status, "skills_loaded": health.SkillsCount})
		if err != nil {
			a.Problems.Write(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(append(body, '\n')) // the client has gone: there is nobody to tell
	})
	a.router.Get(strings.TrimSuffix(studio, "/"), func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, a.BasePath+studio, http.StatusFound)
	})
}

// wantsPage is true for a browser, and for a client that says nothing.
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
