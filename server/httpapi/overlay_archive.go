package httpapi

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/projects"
)

func overlayParameters() []*huma.Param {
	text := &huma.Schema{Type: huma.TypeString}
	return []*huma.Param{
		{Name: "project", In: "path", Required: true, Description: "Name of the project.", Schema: text},
		{Name: "overlay", In: "path", Required: true, Description: "ID of the overlay.", Schema: text},
	}
}

func (a *API) materializeOverlay() {
	binary := &huma.Schema{Type: huma.TypeString, ContentEncoding: "binary"}
	a.stream(endpoint{
		id: "materializeOverlay", method: http.MethodGet, path: Base + "/projects/{project}/overlays/{overlay}/archive", tag: "projects", summary: "Get the files of a project with an overlay",
		about: "Returns the files that the run read, with the changes of the run, as one archive. A download that ends early is an incomplete archive.",
		answers: map[string]*huma.Response{"200": {Description: "A gzipped tar.",
			Content: map[string]*huma.MediaType{archiveType: {Schema: binary}}}},
		refusals: []fault.Code{fault.NotFound},
	}, overlayParameters(), nil, a.writeOverlay)
}

func (a *API) writeOverlay(w http.ResponseWriter, r *http.Request) {
	files, err := a.Projects.Materialize(r.Context(), actor(r.Context()), chi.URLParam(r, "project"), chi.URLParam(r, "overlay"))
	if err != nil {
		a.Problems.Write(w, r, err)
		return
	}
	w.Header().Set("Content-Type", archiveType)
	w.Header().Set("Content-Disposition", `attachment; filename="overlay.tar.gz"`)
	if err := files.Write(r.Context(), w); err != nil {
		a.Problems.Log.LogAttrs(r.Context(), slog.LevelWarn, "write overlay", slog.String("request_id", telemetry.RequestID(r.Context())), slog.Any("error", err))
		panic(http.ErrAbortHandler) // The answer has begun, so only a broken connection shows the client that the answer is incomplete.
	}
}

func (a *API) readBackOverlay() {
	report := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[registry.Overlay](), true, "")
	a.stream(endpoint{
		id: "readBackOverlay", method: http.MethodPut, path: Base + "/projects/{project}/overlays/{overlay}/archive", tag: "projects", summary: "Replace the changes of an overlay with those of an archive",
		about: "The archive must contain all files of the project in their new state. Files that are missing in the archive are deleted by the overlay. Links and devices are refused. An overlay with decided files cannot be replaced.",
		answers: map[string]*huma.Response{"200": {Description: "The overlay.",
			Content: map[string]*huma.MediaType{"application/json": {Schema: report}}}},
		refusals: []fault.Code{fault.NotFound, fault.InvalidInput, fault.Conflict, fault.StorageFull, fault.UnsupportedMediaType},
	}, overlayParameters(), &huma.RequestBody{Required: true, Content: archiveContent()}, a.readOverlay)
}

func (a *API) readOverlay(w http.ResponseWriter, r *http.Request) {
	if !a.isArchive(w, r) {
		return
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(uploadDeadline)) // Ignore the error: the writer of a test has no connection.
	overlay, err := a.Projects.ReadBack(r.Context(), actor(r.Context()), chi.URLParam(r, "project"), chi.URLParam(r, "overlay"), http.MaxBytesReader(w, r.Body, projects.MaxUpload+1))
	if err != nil { // Keep the deadline, because the server may have to read the rest of the body before it answers.
		a.Problems.Write(w, r, err)
		return
	}
	_ = control.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(overlay) // The client may have disconnected.
}
