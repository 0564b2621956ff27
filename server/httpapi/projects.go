package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/projects"
)

// ProjectList lists projects.
type ProjectList struct {
	Items      []registry.Project `json:"items"`
	NextCursor string             `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
}

// ProjectDetail is a project with the list of its files.
type ProjectDetail struct {
	registry.Project
	Paths []ProjectFile `json:"paths" doc:"All files, by path."`
}

// ProjectFile is one file of a project.
type ProjectFile struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
}

// ProjectFileContent is the content of a file. If the file is not text, the content is omitted.
type ProjectFileContent struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Binary  bool   `json:"binary"`
}

// ProjectChangeList is one page of a project's changes, newest first.
type ProjectChangeList struct {
	Items      []registry.ProjectChange `json:"items"`
	NextCursor string                   `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
}

// OverlayList is one page of a project's overlays, newest first.
type OverlayList struct {
	Items      []registry.Overlay `json:"items"`
	NextCursor string             `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
}

// ProjectName is a path parameter that names a project.
type ProjectName struct {
	Project string `path:"project" maxLength:"63" doc:"Name of the project."`
}

// OverlayRef contains the path parameters that name an overlay.
type OverlayRef struct {
	ProjectName
	Overlay string `path:"overlay" maxLength:"100" doc:"ID of the overlay."`
}

// OverlayDecision selects files of an overlay.
type OverlayDecision struct {
	Files    []string `json:"files,omitempty" maxItems:"5000" doc:"Paths of the files to decide about (default: all undecided files)."`
	Summary  string   `json:"summary,omitempty" maxLength:"4000" doc:"Summary of the project's change (default: the summary that the program wrote)."`
	Revision int64    `json:"revision,omitempty" minimum:"1" doc:"Revision of the overlay that you last read (default: any). If the overlay has changed or was decided since then, the answer is conflict."`
}

type overlayAnswer struct{ Body registry.Overlay }

func (a *API) listProjects() {
	type answer struct{ Body ProjectList }
	add(a, endpoint{
		id: "listProjects", method: http.MethodGet, path: Base + "/projects", tag: "projects", summary: "List projects",
		about: "Lists all projects of the workspace by name: trees of files that programs read and propose changes to.",
	}, func(ctx context.Context, q *ListPaging) (*answer, error) {
		all, err := a.Projects.List(ctx, actor(ctx))
		if err != nil {
			return nil, err
		}
		page, next, err := pageOf(*q, "projects", all, func(p registry.Project) string { return p.Name })
		return &answer{ProjectList{page, next}}, err
	})
}

func (a *API) getProject() {
	type answer struct{ Body ProjectDetail }
	add(a, endpoint{
		id: "getProject", method: http.MethodGet, path: Base + "/projects/{project}", tag: "projects", summary: "Read a project",
		about: "Returns the project with its list of files. The list is complete.", refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *ProjectName) (*answer, error) {
		p, tree, err := a.Projects.Tree(ctx, actor(ctx), q.Project)
		if err != nil {
			return nil, err
		}
		detail := ProjectDetail{Project: p, Paths: []ProjectFile{}}
		for path, file := range tree {
			detail.Paths = append(detail.Paths, ProjectFile{path, file.Size})
		}
		slices.SortFunc(detail.Paths, func(a, b ProjectFile) int { return cmp.Compare(a.Path, b.Path) })
		return &answer{detail}, nil
	})
}

func (a *API) deleteProject() {
	add(a, endpoint{
		id: "deleteProject", method: http.MethodDelete, path: Base + "/projects/{project}", tag: "projects", summary: "Delete a project",
		about:  "Removes its files, its history and its undecided changes. Programs that use the project then fail.",
		status: http.StatusNoContent, idempotent: true, refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *ProjectName) (*none, error) {
		return &none{}, a.Projects.Delete(ctx, actor(ctx), q.Project)
	})
}

func (a *API) getProjectFile() {
	type in struct {
		ProjectName
		Path string `query:"path" required:"true" maxLength:"1024" doc:"Path of the file."`
	}
	type answer struct{ Body ProjectFileContent }
	add(a, endpoint{
		id: "getProjectFile", method: http.MethodGet, path: Base + "/projects/{project}/file", tag: "projects", summary: "Read a file of a project",
		about: "Returns the current content of the file.", refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *in) (*answer, error) {
		text, err := a.Projects.File(ctx, actor(ctx), q.Project, q.Path)
		if err != nil {
			return nil, err
		}
		if !utf8.Valid(text) {
			return &answer{ProjectFileContent{Path: q.Path, Binary: true}}, nil
		}
		return &answer{ProjectFileContent{Path: q.Path, Content: string(text)}}, nil
	})
}

func (a *API) listProjectChanges() {
	type in struct {
		ProjectName
		Paging
	}
	type answer struct{ Body ProjectChangeList }
	add(a, endpoint{
		id: "listProjectChanges", method: http.MethodGet, path: Base + "/projects/{project}/changes", tag: "projects", summary: "List a project's changes, newest first",
		about: "Lists imports and accepted overlays.", refusals: []fault.Code{fault.NotFound, fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*answer, error) {
		page, err := a.Projects.History(ctx, actor(ctx), q.Project, q.Cursor, q.Limit)
		return &answer{ProjectChangeList(page)}, err
	})
}

func (a *API) listOverlays() {
	type in struct {
		ProjectName
		Paging
		Status registry.OverlayStatus `query:"status" enum:"open,accepted,rejected,expired" doc:"Only overlays in this state."`
	}
	type answer struct{ Body OverlayList }
	add(a, endpoint{
		id: "listOverlays", method: http.MethodGet, path: Base + "/projects/{project}/overlays", tag: "projects", summary: "List a project's overlays, newest first",
		about: "An overlay contains the changes that one run proposes.", refusals: []fault.Code{fault.NotFound, fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*answer, error) {
		page, err := a.Projects.ListOverlays(ctx, actor(ctx), q.Project, q.Status, q.Cursor, q.Limit)
		return &answer{OverlayList(page)}, err
	})
}

func (a *API) diffOverlay() {
	type answer struct{ Body projects.OverlayDifference }
	add(a, endpoint{
		id: "diffOverlay", method: http.MethodGet, path: Base + "/projects/{project}/overlays/{overlay}/diff", tag: "projects", summary: "Compare an overlay with the project",
		about:    "Returns unified diffs from the files that the run read, and whether each change can still be applied to the current project.",
		refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *OverlayRef) (*answer, error) {
		diff, err := a.Projects.Diff(ctx, actor(ctx), q.Project, q.Overlay)
		return &answer{diff}, err
	})
}

func (a *API) acceptOverlay() {
	type in struct {
		OverlayRef
		Body OverlayDecision
	}
	add(a, endpoint{
		id: "acceptOverlay", method: http.MethodPost, path: Base + "/projects/{project}/overlays/{overlay}/accept", tag: "projects", summary: "Accept an overlay",
		about:      "Applies all files of the overlay to the project, or only the given ones. If the project has changed the same lines meanwhile, nothing is applied, and the answer is a conflict that contains both changes.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.Conflict, fault.InvalidInput, fault.StorageFull},
	}, func(ctx context.Context, q *in) (*overlayAnswer, error) {
		overlay, err := a.Projects.Accept(ctx, actor(ctx), q.Project, q.Overlay, projects.Decision(q.Body))
		return &overlayAnswer{overlay}, err
	})
}

func (a *API) rejectOverlay() {
	type in struct {
		OverlayRef
		Body OverlayDecision
	}
	add(a, endpoint{
		id: "rejectOverlay", method: http.MethodPost, path: Base + "/projects/{project}/overlays/{overlay}/reject", tag: "projects", summary: "Reject an overlay",
		about:      "Rejects all files of the overlay, or only the given ones. The project does not change.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.Conflict, fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*overlayAnswer, error) {
		overlay, err := a.Projects.Reject(ctx, actor(ctx), q.Project, q.Overlay, projects.Decision(q.Body))
		return &overlayAnswer{overlay}, err
	})
}

// projectTypes lists the content types of archives with the files of a project.
func projectTypes() []string {
	return []string{"application/gzip", "application/x-tar", "application/zip", "application/x-git-bundle"}
}

// archiveContent describes an archive as the body of a request.
func archiveContent() map[string]*huma.MediaType {
	content := map[string]*huma.MediaType{}
	for _, name := range projectTypes() {
		content[name] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, ContentEncoding: "binary"}}
	}
	return content
}

// isArchive reports whether the content type of a request is the content type of an archive. If not, it answers with an
// error.
func (a *API) isArchive(w http.ResponseWriter, r *http.Request) bool {
	is := slices.Contains(projectTypes(), r.Header.Get("Content-Type"))
	if !is {
		a.Problems.Write(w, r, fault.New(fault.UnsupportedMediaType, "An archive must be sent with Content-Type application/gzip, application/x-tar, application/zip or application/x-git-bundle."))
	}
	return is
}

func (a *API) importProject() {
	report := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[projects.ImportedProject](), true, "")
	text := &huma.Schema{Type: huma.TypeString}
	a.stream(endpoint{
		id: "importProject", method: http.MethodPost, path: Base + "/projects/{project}/import", tag: "projects", summary: "Import the files of a project",
		about: "Creates the project, or replaces its files; the history keeps the earlier files. Links, devices and .git folders are skipped and reported. From a git bundle, the files of HEAD or of its only branch are imported; the bundle must contain the complete history. A file may have at most 10 MiB, and a project at most 20,000 files with 256 MiB in total.",
		answers: map[string]*huma.Response{"200": {Description: "The project.",
			Content: map[string]*huma.MediaType{"application/json": {Schema: report}}}},
		refusals: []fault.Code{fault.InvalidInput, fault.Conflict, fault.StorageFull, fault.UnsupportedMediaType},
	}, []*huma.Param{
		{Name: "project", In: "path", Required: true, Description: "Name of the project.", Schema: text},
		{Name: "summary", In: "query", Description: "Summary of the change.", Schema: text},
		{Name: "description", In: "query", Description: "Description of a new project.", Schema: text},
		{Name: "strip", In: "query", Description: "true removes the top folder from all paths if it contains all files, as in archives of repositories.", Schema: &huma.Schema{Type: huma.TypeBoolean}},
	}, &huma.RequestBody{Required: true, Content: archiveContent()}, a.readProject)
}

func (a *API) readProject(w http.ResponseWriter, r *http.Request) {
	if !a.isArchive(w, r) {
		return
	}
	query := r.URL.Query()
	if strip := query.Get("strip"); strip != "" && strip != "true" && strip != "false" {
		a.Problems.Write(w, r, fault.Invalid("/strip", "must be true or false."))
		return
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(uploadDeadline)) // Ignore the error: the writer of a test has no connection.
	result, err := a.Projects.Import(r.Context(), actor(r.Context()), projects.ImportRequest{
		Name: chi.URLParam(r, "project"), Description: query.Get("description"), Summary: query.Get("summary"), Strip: query.Get("strip") == "true",
		Archive: http.MaxBytesReader(w, r.Body, projects.MaxUpload+1),
	})
	if err != nil { // Keep the deadline, because the server may have to read the rest of the body before it answers.
		a.Problems.Write(w, r, err)
		return
	}
	_ = control.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(result) // The client may have disconnected.
}
