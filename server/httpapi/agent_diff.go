package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/studio/agents"
)

type diffAnswer struct {
	Renamed string `header:"Atelier-Renamed" doc:"Current name of the agent, if the request used a former name."`
	Body    agents.Diff
}

func (a *API) diffAgent() {
	type in struct {
		AgentRef
		DraftMatchQuery
		From string `query:"from" maxLength:"256" default:"latest" doc:"First version: a number, a range, latest, a digest or draft."`
		To   string `query:"to" maxLength:"256" default:"draft" doc:"Second version, in the same forms."`
	}
	add(a, endpoint{
		id: "diffAgent", method: http.MethodGet, path: Base + "/code-agents/{agent}/diff", tag: "versions", summary: "Compare two versions, or a version and the draft",
		about: "Returns file diffs, schema changes as sentences, other changed fields, and the suggested next version.", refusals: []fault.Code{fault.NotFound, fault.InvalidInput, fault.StaleDraft},
	}, func(ctx context.Context, q *in) (*diffAnswer, error) {
		return a.diff(ctx, q.Agent, q.From, q.To, q.DraftMatchQuery)
	})
}

func (a *API) diffVersions() {
	type in struct {
		VersionRef
		DraftMatchQuery
		Other string `path:"other" maxLength:"256" doc:"Version to compare with, or draft."`
	}
	add(a, endpoint{
		id: "diffVersions", method: http.MethodGet, path: Base + "/code-agents/{agent}/versions/{version}/diff/{other}", tag: "versions", summary: "Compare a version with another",
		about:    "Works like diffAgent, with both versions in the path.",
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
	return &diffAnswer{Renamed: a.currentName(ctx, agent), Body: d}, nil
}
