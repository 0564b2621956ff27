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

// ImportReport lists the result for each agent of an archive.
type ImportReport struct {
	Agents []archives.Imported `json:"agents"`
	DryRun bool                `json:"dryRun"`
}

// uploadDeadline is the maximum time in which a client must send an archive.
const uploadDeadline = 10 * time.Minute

func (a *API) importArchive() {
	report := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[ImportReport](), true, "")
	binary := &huma.Schema{Type: huma.TypeString, ContentEncoding: "binary"}
	a.stream(endpoint{
		id: "importArchive", method: http.MethodPost, path: Base + "/archive", tag: "agents", summary: "Import the agents of an archive",
		about: "The whole archive is checked before anything is written. Existing versions with the same digest are kept. If a version exists with another digest, the whole archive is refused. New and restored agents appear together at the end. If the import is interrupted, send the same archive again to continue.",
		answers: map[string]*huma.Response{"200": {Description: "Result for each agent.",
			Content: map[string]*huma.MediaType{"application/json": {Schema: report}}}},
		refusals: []fault.Code{fault.InvalidInput, fault.VersionExists, fault.TooManyRequests},
	}, []*huma.Param{
		{Name: "dryRun", In: "query", Description: "true only checks the archive.", Schema: &huma.Schema{Type: huma.TypeBoolean}},
		{Name: "listed", In: "query", Description: "true lists agents in the public registry if they were listed where the archive was written.", Schema: &huma.Schema{Type: huma.TypeBoolean}},
	},
		&huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{archiveType: {Schema: binary}}}, a.readArchive)
}

func (a *API) readArchive(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Content-Type") != archiveType {
		a.Problems.Write(w, r, fault.New(fault.UnsupportedMediaType, "An archive must be sent with Content-Type: %s.", archiveType))
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
	_ = control.SetReadDeadline(time.Now().Add(uploadDeadline)) // This fails only in tests, whose response writer has no connection.
	agents, err := a.Archives.Import(r.Context(), actor(r.Context()), http.MaxBytesReader(w, r.Body, archives.MaxUpload+1), req)
	if err != nil { // Keep the deadline, because the server may have to read the rest of the body before it answers.
		a.Problems.Write(w, r, err)
		return
	}
	_ = control.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(ImportReport{Agents: agents, DryRun: req.DryRun}) // The client may have disconnected.
}
