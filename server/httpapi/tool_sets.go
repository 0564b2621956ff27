package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/tools"
)

// ToolSetBody describes a tool set.
type ToolSetBody struct {
	Title       string   `json:"title,omitempty" maxLength:"1000"`
	Description string   `json:"description,omitempty" maxLength:"1000"`
	References  []string `json:"references" minItems:"1" maxItems:"200" doc:"References such as weather@1.2.0 or weather@^1. The set stores the versions that they resolve to now."`
}

// ToolSetList lists tool sets.
type ToolSetList struct {
	Items      []registry.ToolSet `json:"items"`
	NextCursor string             `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
}

// ToolSetName is a path parameter that names a tool set.
type ToolSetName struct {
	Set string `path:"set" maxLength:"63" doc:"Name of the tool set."`
}

type toolSetAnswer struct{ Body registry.ToolSet }

func (a *API) listToolSets() {
	type answer struct{ Body ToolSetList }
	add(a, endpoint{
		id: "listToolSets", method: http.MethodGet, path: Base + "/tool-sets", tag: "tool sets", summary: "List tool sets",
		about: "Lists all tool sets of the workspace by name.",
	}, func(ctx context.Context, q *ListPaging) (*answer, error) {
		sets, err := a.Tools.Sets(ctx, actor(ctx))
		if err != nil {
			return nil, err
		}
		page, next, err := pageOf(*q, "tool sets", sets, func(s registry.ToolSet) string { return s.Name })
		return &answer{ToolSetList{page, next}}, err
	})
}

func (a *API) getToolSet() {
	add(a, endpoint{
		id: "getToolSet", method: http.MethodGet, path: Base + "/tool-sets/{set}", tag: "tool sets", summary: "Read a tool set",
		about:    "Returns the tool set with its pinned versions.",
		refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *ToolSetName) (*toolSetAnswer, error) {
		set, err := a.Tools.Set(ctx, actor(ctx), q.Set)
		return &toolSetAnswer{set}, err
	})
}

func (a *API) putToolSet() {
	type in struct {
		ToolSetName
		Body ToolSetBody
	}
	add(a, endpoint{
		id: "putToolSet", method: http.MethodPut, path: Base + "/tool-sets/{set}", tag: "tool sets", summary: "Create or replace a tool set",
		about:      "Pins the versions that the references resolve to now. MCP clients use them at /mcp/sets/{set}.",
		idempotent: true, refusals: []fault.Code{fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*toolSetAnswer, error) {
		set, err := a.Tools.PutSet(ctx, actor(ctx), tools.SetRequest{Name: q.Set, Title: q.Body.Title, Description: q.Body.Description, References: q.Body.References})
		return &toolSetAnswer{set}, err
	})
}

func (a *API) deleteToolSet() {
	add(a, endpoint{
		id: "deleteToolSet", method: http.MethodDelete, path: Base + "/tool-sets/{set}", tag: "tool sets", summary: "Delete a tool set",
		about:  "MCP clients of the set can no longer use its tools. The versions are kept.",
		status: http.StatusNoContent, idempotent: true, refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *ToolSetName) (*none, error) {
		return &none{}, a.Tools.DeleteSet(ctx, actor(ctx), q.Set)
	})
}
