package httpapi

import (
	"log/slog"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry"
)

// archiveType is the media type of an archive.
const archiveType = "application/gzip"

func (a *API) exportArchive() {
	binary := &huma.Schema{Type: huma.TypeString, ContentEncoding: "binary"}
	a.stream(endpoint{
		id: "exportArchive", method: http.MethodGet, path: Base + "/archive", tag: "agents", summary: "Export agents with all their versions as one file",
		about: "Exports all agents of the workspace, or the named agents. docs/archive.md documents the format. A download that ends early is an incomplete archive.",
		answers: map[string]*huma.Response{"200": {Description: "A gzipped tar.",
			Content: map[string]*huma.MediaType{archiveType: {Schema: binary}}}},
		refusals: []fault.Code{fault.NotFound},
	}, []*huma.Param{{Name: "agent", In: "query", Description: "Name or ID of an agent. Repeatable.", Schema: &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}}}},
		nil, a.writeArchive)
}

func (a *API) writeArchive(w http.ResponseWriter, r *http.Request) {
	export, err := a.Archives.Export(r.Context(), actor(r.Context()), r.URL.Query()["agent"])
	if err != nil {
		a.Problems.Write(w, r, err)
		return
	}
	w.Header().Set("Content-Type", archiveType)
	w.Header().Set("Content-Disposition", `attachment; filename="`+archiveName(r.URL.Query()["agent"])+`"`)
	if err := export.Write(r.Context(), w); err != nil {
		a.Problems.Log.LogAttrs(r.Context(), slog.LevelWarn, "write archive", slog.String("request_id", telemetry.RequestID(r.Context())), slog.Any("error", err))
		panic(http.ErrAbortHandler) // The answer has begun, so only a broken connection shows the client that the answer is incomplete.
	}
}

// archiveName returns the file name of a downloaded archive. If the archive has a single agent with a valid name, it
// uses this name; otherwise it uses a general name.
func archiveName(agents []string) string {
	if len(agents) == 1 && registry.CheckName(agents[0]) == nil {
		return agents[0] + ".tar.gz"
	}
	return "atelier.tar.gz"
}
