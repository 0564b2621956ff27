package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/studio/replay"
)

// ReplayBody selects the recorded inputs with which the draft is run.
type ReplayBody struct {
	Revision int64  `json:"revision,omitempty" minimum:"1" doc:"Same as If-Match."`
	Version  string `json:"version,omitempty" doc:"Version whose runs are used: 1.2.0, ^1, latest or a digest (default: latest)."`
	Runs     int    `json:"runs,omitempty" minimum:"1" maximum:"100" doc:"Number of inputs (default: 20)."`
}

func (a *API) replayDraft() {
	type in struct {
		AgentRef
		DraftMatch
		PreferOptions
		Body ReplayBody
	}
	type out struct{ Body replay.Report }
	add(a, endpoint{
		id: "replayDraft", method: http.MethodPost, path: Base + "/code-agents/{agent}/replay", tag: "runs", summary: "Run the draft with recorded inputs of a version",
		about:      "Reports changed outputs, failures, refused inputs and slower runs. Each input is run once. The runs are recorded as runs of the draft.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.StaleDraft, fault.InvalidInput, fault.QueueFull, fault.SandboxUnavailable},
	}, func(ctx context.Context, q *in) (*out, error) {
		seen, err := q.seen(q.Body.Revision)
		if err != nil {
			return nil, err
		}
		report, err := a.Replays.Run(ctx, actor(ctx), q.Agent, replay.Request{Seen: seen, Version: q.Body.Version, Runs: q.Body.Runs, Trigger: trigger(ctx, q.PreferOptions)})
		return &out{Body: report}, err
	})
}
