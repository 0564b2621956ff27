package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// DraftHistory is a page of the history of a draft, newest save first.
type DraftHistory struct {
	Items      []registry.DraftSave `json:"items"`
	NextCursor string               `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
}

// SaveRef contains the path parameters that name a save in the history of an agent's draft.
type SaveRef struct {
	AgentRef
	Revision int64 `path:"revision" minimum:"1" doc:"Revision of an entry of the history."`
}

func (a *API) listDraftHistory() {
	type in struct {
		AgentRef
		Paging
	}
	type out struct{ Body DraftHistory }
	add(a, endpoint{
		id: "listDraftHistory", method: http.MethodGet, path: Base + "/code-agents/{agent}/draft/history", tag: "agents", summary: "List the saves of the draft",
		about: "Lists the saves, newest first, including the current draft. The last 50 entries and up to 50 more with a label are kept. " +
			"Saves of one browser session within one minute share an entry, which contains the newest of them. Entries with a label, " +
			"saves of other clients and restored drafts are never merged.",
		refusals: []fault.Code{fault.NotFound, fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*out, error) {
		page, err := a.Agents.History(ctx, actor(ctx), q.Agent, q.Cursor, q.Limit)
		return &out{Body: DraftHistory{Items: orEmpty(page.Items), NextCursor: page.NextCursor}}, err
	})
}

func (a *API) getDraftSave() {
	type out struct{ Body registry.Draft }
	add(a, endpoint{
		id: "getDraftSave", method: http.MethodGet, path: Base + "/code-agents/{agent}/draft/history/{revision}", tag: "agents", summary: "Get a save of the draft",
		about:    "Returns the complete draft of one entry of the history, with its files.",
		refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *SaveRef) (*out, error) {
		draft, err := a.Agents.Saved(ctx, actor(ctx), q.Agent, q.Revision)
		return &out{Body: draft}, err
	})
}

// LabelBody sets the label of a save.
type LabelBody struct {
	Label string `json:"label" maxLength:"200" doc:"New label. An empty one removes the label."`
}

func (a *API) labelDraftSave() {
	type in struct {
		SaveRef
		Body LabelBody
	}
	add(a, endpoint{
		id: "labelDraftSave", method: http.MethodPatch, path: Base + "/code-agents/{agent}/draft/history/{revision}", tag: "agents", summary: "Label a save of the draft",
		about: "An entry with a label is kept even when it is not one of the last 50.", status: http.StatusNoContent,
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.InvalidInput, fault.Conflict},
	}, func(ctx context.Context, q *in) (*none, error) {
		return &none{}, a.Agents.LabelSave(ctx, actor(ctx), q.Agent, q.Revision, q.Body.Label)
	})
}

func (a *API) restoreDraftSave() {
	type in struct {
		SaveRef
		RequiredDraftMatch
	}
	add(a, endpoint{
		id: "restoreDraftSave", method: http.MethodPost, path: Base + "/code-agents/{agent}/draft/history/{revision}/restore", tag: "agents", summary: "Restore a save of the draft",
		about:      "Saves the earlier draft as the current one. The replaced draft stays in the history. Title, description and tags do not change.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.PreconditionRequired, fault.StaleDraft, fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*agentAnswer, error) {
		seen, err := q.seen()
		if err != nil {
			return nil, err
		}
		return answered(a.Agents.RestoreSave(ctx, actor(ctx), q.Agent, q.Revision, seen))
	})
}
