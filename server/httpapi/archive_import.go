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
		about: "Everything is checked before anything is written: digests, names, specs. What is there with the same digest stays; other content under the same version refuses the whole. Agents that are new here or were deleted appear all at once; if the server ends meanwhile, they are not there, and the same archive goes on where it stopped.",
		answers: map[string]*huma.Response{"200": {Description: "What became of each agent.",
			Content: map[string]*huma.MediaType{"application/json": {Schema: report}}}},
		refusals: []fault.Code{fault.InvalidInput, fault.VersionExists, fault.TooManyRequests},
	}, []*huma.Param{
		{Name: "dryRun", In: "query", Description: "true checks and writes nothing.", Schema: &huma.Schema{Type: huma.TypeBoolean}},
		{Name: "listed", In: "query", Description: "true lists again what was listed in the public registry where the archive was written.", Schema: &huma.Schema{Type: huma.TypeBoolean}},
	},
		&huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{archiveType: {Schema: binary}}}, a.readArchive)
}

func (a *API) readArchive(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Content-Type") != archiveType {
		a.Problems.Write(w, r, fault.New(fault.UnsupportedMediaType, "An archive is sent with Content-Type: %s.", archiveType))
		return
	}
	var req archives.ImportRequest
	for name, flag := range map[string]*bool{"dryRun": &req.DryRun, "listed": &req.Listed} {
		switch r.URL.Query().Get(name) {
		case "true":
			*flag = true
		case "", "false":
		default:
			a.Problems.Write(w, r, fault.Invalid("/"+name, "must be true or false."))
			return
		}
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(uploadDeadline)) // a writer of a test has no connection
	agents, err := a.Archives.Import(r.Context(), actor(r.Context()), http.MaxBytesReader(w, r.Body, archives.MaxUpload+1), req)
	if err != nil { // the deadline stays: the server may wait for the rest of the body before it answers
		a.Problems.Write(w, r, err)
		return
	}
	_ = control.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(ImportReport{Agents: agents, DryRun: req.DryRun}) // the client may have gone
}
