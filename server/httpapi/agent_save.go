package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
)

func (a *API) saveAgent() {
	type in struct {
		AgentRef
		IfMatch string `header:"If-Match" doc:"The revision that was seen, in quotes."`
		Body    agentBody
	}
	add(a, endpoint{
		modules: true, id: "saveAgent", method: http.MethodPut, path: Base + "/code-agents/{agent}", tag: "agents", summary: "Save the draft",
		about:      "Needs If-Match with the revision that was seen. A stale one is refused with currentRevision.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.PreconditionRequired, fault.StaleDraft},
	}, func(ctx context.Context, q *in) (*agentAnswer, error) {
		revision, err := revisionOf(q.IfMatch)
		if err != nil {
			return nil, err
		}
		agent, err := a.Agents.Save(ctx, actor(ctx), q.Agent, revision, q.Body.Input)
		if err != nil {
			return nil, err
		}
		return answerWith(agent), nil
	})
}

// revisionOf reads If-Match: "7".
func revisionOf(header string) (int64, error) {
	if header == "" {
		return 0, fault.New(fault.PreconditionRequired, `Saving needs If-Match with the revision that you saw, such as If-Match: "7"; the ETag of an answer has it.`)
	}
	text, opened := strings.CutPrefix(header, `"`)
	text, closed := strings.CutSuffix(text, `"`)
	revision, err := strconv.ParseInt(text, 10, 64)
	if !opened || !closed || err != nil || revision < 1 {
		return 0, fault.New(fault.BadRequest, `If-Match must be one revision in quotes, such as "7".`)
	}
	return revision, nil
}
