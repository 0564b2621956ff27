package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/studio/routing"
	"github.com/atelier-run/atelier/studio/runs"
)

// ExecuteBody requests a run of an agent's version or draft.
type ExecuteBody struct {
	Version       string          `json:"version,omitempty" doc:"1.2.0, ^1, latest, sha256:… or draft. Also accepted as a query parameter."`
	Revision      int64           `json:"revision,omitempty" minimum:"1" doc:"With version draft: the same as If-Match."`
	Input         json.RawMessage `json:"input,omitempty" doc:"Input of the run (default: {})."`
	Limits        *LimitsBody     `json:"limits,omitempty" doc:"Limits for this run. They can only lower the limits of the version."`
	Isolation     string          `json:"isolation,omitempty" enum:"strict" doc:"strict runs the program in a new process."`
	Hints         *routing.Hints  `json:"hints,omitempty" doc:"Facts about this run, for the choice of its runtime."`
	ParentRunID   string          `json:"parentRunId,omitempty" maxLength:"100"`
	WorkflowRunID string          `json:"workflowRunId,omitempty" maxLength:"100"`
	NodeID        string          `json:"nodeId,omitempty" maxLength:"100"`
}

// PreferOptions holds the caller's preferences for the form of the answer.
type PreferOptions struct {
	Prefer    string `header:"Prefer" doc:"respond-async: answer 202 at once. Follow the run by its ID."`
	UserAgent string `header:"User-Agent" hidden:"true"`
}

// runAnswer is the answer about a run that is finished or accepted.
type runAnswer struct {
	Status   int
	Location string `header:"Location"`
	Applied  string `header:"Preference-Applied"`
	Renamed  string `header:"Atelier-Renamed" doc:"Current name of the agent, if the request used a former name."`
	Old      string `header:"Atelier-Deprecated" doc:"A JSON string: why the version is deprecated and which one to use instead."`
	Body     any
}

func (a *API) executeAgent() {
	type in struct {
		AgentRef
		DraftMatch
		PreferOptions
		Version string `query:"version" maxLength:"200" doc:"Version to run, if the body does not set one."`
		Body    ExecuteBody
	}
	add(a, endpoint{
		id: "executeAgent", method: http.MethodPost, path: Base + "/code-agents/{agent}/execute", tag: "runs", summary: "Run a version or the draft",
		about:      "Waits for the outcome. A program that fails is answered with 200 and success: false. If the client disconnects, the run is cancelled, unless the request had Prefer: respond-async or an Idempotency-Key.",
		idempotent: true, refusals: append(runRefusals(), fault.StaleDraft), answers: a.runAnswers(),
	}, func(ctx context.Context, q *in) (*runAnswer, error) {
		seen, err := q.seen(q.Body.Revision)
		if err != nil {
			return nil, err
		}
		request := runs.Request{
			Agent: q.Agent, Seen: seen, Version: q.Body.Version, Input: q.Body.Input, Limits: q.Body.Limits.limits(), Isolation: runtimes.Isolation(q.Body.Isolation), Hints: hintsOf(q.Body.Hints),
			ParentRunID: q.Body.ParentRunID, WorkflowRunID: q.Body.WorkflowRunID, NodeID: q.Body.NodeID,
		}
		if request.Version == "" {
			request.Version = q.Version
		}
		answer, of, err := a.run(ctx, q.PreferOptions, request)
		if err != nil {
			return nil, err
		}
		answer.Renamed, answer.Old = renamed(request.Agent, of), deprecation(of)
		return answer, nil
	})
}

// currentName returns the current name of an agent that was requested by a former name. If the agent was requested by
// its current name, or if the name cannot be determined, it returns "".
func (a *API) currentName(ctx context.Context, asked string) string {
	agent, err := a.Agents.Get(ctx, actor(ctx), asked)
	if err != nil {
		return ""
	}
	return renamed(asked, registry.Version{AgentID: agent.ID, CurrentName: agent.Name})
}

func deprecation(v registry.Version) string {
	if !v.Deprecated {
		return ""
	}
	text := v.Reference() + " is deprecated."
	if v.Reason != "" {
		text = v.Reference() + " is deprecated: " + strings.TrimRight(v.Reason, ". ") + "."
	}
	if v.Successor != "" {
		text += " Use " + v.Successor + " instead."
	}
	header, err := quoted([]string{strings.Join(strings.Fields(text), " ")})
	if err != nil {
		return ""
	}
	return header[0]
}

// run executes a run. It waits for the result unless the client prefers respond-async. It also returns the version that
// ran.
func (a *API) run(ctx context.Context, how PreferOptions, request runs.Request) (*runAnswer, registry.Version, error) {
	request.Trigger, request.Key = trigger(ctx, how), keyOf(ctx)
	if wantsAsync(how.Prefer) {
		run, err := a.Runs.Start(ctx, actor(ctx), request)
		if err != nil {
			return nil, run.Of, err
		}
		if run.Status.Final() { // The run was blocked before it started.
			return &runAnswer{Status: http.StatusOK, Body: runs.AnswerOf(run.Run)}, run.Of, nil
		}
		return a.accepted(ctx, run, "respond-async")
	}
	run, err := a.Runs.Execute(ctx, actor(ctx), request)
	if err != nil {
		return nil, run.Of, err
	}
	if run.Status == registry.AwaitingApproval {
		return a.accepted(ctx, run, "")
	}
	if run.Private {
		storeInstead(ctx, runs.AnswerOf(runs.Withheld(run.Run)))
	}
	return &runAnswer{Status: http.StatusOK, Body: runs.AnswerOf(run.Run)}, run.Of, nil
}

// accepted returns the 202 answer for a run that has not finished. If the run waits for an approval, the answer
// contains the ID of the request for approval.
func (a *API) accepted(ctx context.Context, run runs.Result, applied string) (*runAnswer, registry.Version, error) {
	body := Accepted{RunID: run.ID, Status: run.Status, DraftRevision: run.DraftRevision}
	if run.Status == registry.AwaitingApproval {
		request, err := a.Approvals.OfRun(ctx, actor(ctx), run.ID)
		if err != nil {
			return nil, run.Of, err
		}
		body.ApprovalID, body.Reasons, body.ExpiresAt = request.ID, request.Reasons, &request.ExpiresAt
		body.Approvers, _ = a.Approvals.Approvers(ctx, request) // The request for approval is stored, so the answer must contain its ID.
	}
	return &runAnswer{Status: http.StatusAccepted, Location: a.BasePath + Base + "/runs/" + run.ID, Applied: applied, Body: body}, run.Of, nil
}

func wantsAsync(prefer string) bool {
	for preference := range strings.SplitSeq(prefer, ",") {
		name, _, _ := strings.Cut(preference, ";")
		if strings.EqualFold(strings.TrimSpace(name), "respond-async") {
			return true
		}
	}
	return false
}

// trigger returns the way in which a run was started. It is the Studio if the caller has a session, the command line if
// User-Agent says so, and otherwise the API.
func trigger(ctx context.Context, how PreferOptions) registry.Trigger {
	caller, _ := gate.CallerOf(ctx)
	switch {
	case caller.Browser:
		return registry.TriggerStudio
	case strings.HasPrefix(how.UserAgent, "atelier-cli/"):
		return registry.TriggerCLI
	}
	return registry.TriggerAPI
}

func runRefusals() []fault.Code {
	return []fault.Code{fault.NotFound, fault.InvalidInput, fault.SecretMissing, fault.QueueFull, fault.QuotaExceeded, fault.BudgetExceeded, fault.StorageFull, fault.SandboxUnavailable, fault.RuntimeUnavailable, fault.StorageUnavailable, fault.RunInterrupted}
}

// runAnswers describes the two success responses of a run.
func (a *API) runAnswers() map[string]*huma.Response {
	schemas := a.huma.OpenAPI().Components.Schemas
	return map[string]*huma.Response{
		"200": {Description: "The run has finished.", Content: map[string]*huma.MediaType{
			"application/json": {Schema: schemas.Schema(reflect.TypeFor[runs.Answer](), true, "")}}},
		"202": {Description: "The run was accepted. The header Location is its address.",
			Headers: map[string]*huma.Param{"Location": {Schema: &huma.Schema{Type: huma.TypeString}}},
			Content: map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[Accepted](), true, "")}}},
	}
}
