package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/studio/agents"
)

type diffAnswer struct {
	Renamed string `header:"Atelier-Renamed" doc:"The agent's present name, when a former one was asked for."`
	Body    agents.Diff
}

func (a *API) diffAgent() {
	type in struct {
		AgentRef
		DraftMatchQuery
		From string `query:"from" maxLength:"256" default:"latest" doc:"A version, a range, latest, a digest or draft."`
		To   string `query:"to" maxLength:"256" default:"draft" doc:"The same."`
	}
	add(a, endpoint{
		id: "diffAgent", method: http.MethodGet, path: Base + "/code-agents/{agent}/diff", tag: "versions", summary: "What separates two versions, or a version and the draft",
		about: "Files as unified text, schemas as sentences, other fields by name, and the number that the changes ask for.", refusals: []fault.Code{fault.NotFound, fault.InvalidInput, fault.StaleDraft},
	}, func(ctx context.Context, q *in) (*diffAnswer, error) {
		return a.diff(ctx, q.Agent, q.From, q.To, q.DraftMatchQuery)
	})
}

func (a *API) diffVersions() {
	type in struct {
		VersionRef
		DraftMatchQuery
		Other string `path:"other" maxLength:"256" doc:"A version, or draft."`
	}
	add(a, endpoint{
		id: "diffVersions", method: http.MethodGet, path: Base + "/code-agents/{agent}/versions/{version}/diff/{other}", tag: "versions", summary: "What separates a version from another",
		refusals: []fault.Code{fault.NotFound, fault.InvalidInput, fault.StaleDraft},
	}, func(ctx context.Context, q *in) (*diffAnswer, error) {
		return a.diff(ctx, q.Agent, q.Version, q.Other, q.DraftMatchQuery)
	})
}

func (a *API) diff(ctx context.Context, agent, from, to string, match DraftMatchQuery) (*diffAnswer, error) {
	seen, err := match.seen()
	if err != nil {
		return nil, err
	}
	d, err := a.Agents.Diff(ctx, actor(ctx), agent, from, to, seen)
	if err != nil {
		return nil, err
	}
	return &diffAnswer{Renamed: a.present(ctx, agent), Body: d}, nil
}
