package httpapi

import (
	"encoding/json"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/studio/archives"
)

// ImportReport says what became of each agent of an archive.
type ImportReport struct {
	Agents []archives.Imported `json:"agents"`
	DryRun bool                `json:"dryRun"`
}

// uploadDeadline is how long a client may take to send an archive.
const uploadDeadline = 10 * time.Minute

func (a *API) importArchive() {
	report := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[ImportReport](), true, "")
	binary := &huma.Schema{Type: huma.TypeString, ContentEncoding: "binary"}
	a.stream(endpoint{
		id: "importArchive", method: http.MethodPost, path: Base + "/archive", tag: "agents", summary: "Put an archive's agents into the workspace",
		about: "Everything is checked before anything is written: digests, names, specs. What is there with the same digest stays; other content under the same version refuses the whole.",
		answers: map[string]*huma.Response{"200": {Description: "What became of each agent.",
			Content: map[string]*huma.MediaType{"application/json": {Schema: report}}}},
		refusals: []fault.Code{fault.InvalidInput, fault.VersionExists, fault.TooManyRequests},
	}, []*huma.Param{{Name: "dryRun", In: "query", Description: "true checks and writes nothing.", Schema: &huma.Schema{Type: huma.TypeBoolean}}},
		&huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{archiveType: {Schema: binary}}}, a.readArchive)
}

func (a *API) readArchive(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Content-Type") != archiveType {
		a.Problems.Write(w, r, fault.New(fault.UnsupportedMediaType, "An archive is sent with Content-Type: %s.", archiveType))
		return
	}
	dry := r.URL.Query().Get("dryRun")
	if dry != "" && dry != "true" && dry != "false" {
		a.Problems.Write(w, r, fault.Invalid("/dryRun", "must be true or false."))
		return
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(uploadDeadline)) // a writer of a test has no connection
	agents, err := a.Archives.Import(r.Context(), actor(r.Context()), http.MaxBytesReader(w, r.Body, archives.MaxUpload+1), dry == "true")
	_ = control.SetReadDeadline(time.Time{})
	if err != nil {
		a.Problems.Write(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(ImportReport{Agents: agents, DryRun: dry == "true"}) // the client may have gone
}
