package httpapi

import (
	"context"
	"errors"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/studio/agents"
)

// PublishBody sets the number of the new version. If both version and bump are missing, the server chooses the number;
// the first version gets 1.0.0.
type PublishBody struct {
	Revision          int64  `json:"revision,omitempty" minimum:"1" doc:"Same as If-Match."`
	Version           string `json:"version,omitempty" doc:"Semantic version, for example 1.2.0."`
	Bump              string `json:"bump,omitempty" enum:"auto,major,minor,patch"`
	Changelog         string `json:"changelog,omitempty"`
	Force             bool   `json:"force,omitempty" doc:"Accept a smaller version number than suggested. Requires comment."`
	Comment           string `json:"comment,omitempty" doc:"Reason for a smaller version number than suggested, or for failed checks. It is stored with the version."`
	AcceptRegressions bool   `json:"acceptRegressions,omitempty" doc:"Publish a major version even if tests or recorded inputs fail. Requires comment. The version records the failures and the comment."`
	IfChanged         bool   `json:"ifChanged,omitempty" doc:"If the draft has no changes since the previous version, return that version with 200 instead of the error version_exists."`
	Replay            int    `json:"replay,omitempty" minimum:"0" maximum:"100" doc:"Publish only if the draft returns the same outputs for this many recorded inputs of the latest version. Otherwise the answer is tests_failed with the differences."`
}

// versionAnswer is the answer with a complete version.
type versionAnswer struct {
	Location string `header:"Location"`
	Renamed  string `header:"Atelier-Renamed" doc:"Current name of the agent, if the request used a former name."`
	Body     registry.Version
}

// publishAnswer is the answer with a new version and its draft.
type publishAnswer struct {
	Status   int
	Location string `header:"Location"`
	Body     any
}

// AwaitedPublication is a publication that waits for the approval of a person.
type AwaitedPublication struct {
	Status     registry.Status  `json:"status" enum:"awaiting_approval"`
	ApprovalID string           `json:"approvalId"`
	Message    string           `json:"message"`
	Reasons    []fault.Detail   `json:"reasons"`
	Verdict    registry.Verdict `json:"verdict"`
	Approvers  []string         `json:"approvers,omitempty" doc:"Sign-in names of people who may approve the publication."`
	Warnings   []fault.Detail   `json:"warnings,omitempty" doc:"Weaknesses of the version that do not prevent publishing, such as a missing description."`
}

// awaited handles an error of a publication. It converts the error ApprovalRequired to a 202 answer with the request
// for approval. It returns any other error unchanged.
func (a *API) awaited(ctx context.Context, err error) (*publishAnswer, error) {
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.ApprovalRequired {
		return nil, err
	}
	body := AwaitedPublication{Status: registry.AwaitingApproval, Message: f.Message, Reasons: f.Details}
	body.ApprovalID, _ = f.Extra["approvalId"].(string)
	body.Warnings, _ = f.Extra["warnings"].([]fault.Detail)
	if verdict, ok := f.Extra["verdict"].(*registry.Verdict); ok {
		body.Verdict = *verdict
	}
	if request, err := a.Approvals.Get(ctx, actor(ctx), body.ApprovalID); err == nil {
		body.Approvers, _ = a.Approvals.Approvers(ctx, request) // The request for approval is stored, so the answer must contain its ID.
	}
	return &publishAnswer{Status: http.StatusAccepted, Location: a.BasePath + Base + "/approvals/" + body.ApprovalID, Body: body}, nil
}

func (a *API) publishVersion() {
	type in struct {
		AgentRef
		DraftMatch
		Body PublishBody
	}
	add(a, endpoint{
		id: "publishVersion", method: http.MethodPost, path: Base + "/code-agents/{agent}/versions", tag: "versions", summary: "Publish the draft",
		about:  "Send the revision that you last read to publish exactly that draft. draftRevision is the revision that was published. A smaller number than suggested is refused with bump_too_small: errors lists the reasons; advisedBump and advisedVersion contain the suggestion. A draft without changes since the previous version is refused with version_exists; version names that version. The tests of the draft must pass and, unless the new version is a major version, the tests of the previous version too. Otherwise the answer is tests_failed; errors lists the failed tests, and pins lists the callers of the previous version.",
		status: http.StatusCreated, idempotent: true, answers: map[string]*huma.Response{"200": {Description: "The draft has no changes since this version, and the request contained ifChanged.",
			Content: map[string]*huma.MediaType{"application/json": {Schema: a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[agents.Published](), true, "")}}},
			"201": {Description: "The new version.", Content: map[string]*huma.MediaType{"application/json": {Schema: a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[agents.Published](), true, "")}}},
			"202": {Description: "A person must approve the publication first. The header Location is the address of the request for approval.", Content: map[string]*huma.MediaType{"application/json": {Schema: a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[AwaitedPublication](), true, "")}}},
		},
		refusals: []fault.Code{fault.NotFound, fault.StaleDraft, fault.VersionExists, fault.BumpTooSmall, fault.PolicyBlocked, fault.TestsFailed, fault.SandboxUnavailable},
	}, func(ctx context.Context, q *in) (*publishAnswer, error) {
		if err := a.mayChange(ctx, q.Agent); err != nil {
			return nil, err
		}
		seen, err := q.seen(q.Body.Revision)
		if err != nil {
			return nil, err
		}
		v, err := a.Agents.Publish(keyed(ctx), actor(ctx), q.Agent, agents.PublishRequest{
			Seen: seen, Version: q.Body.Version, Bump: q.Body.Bump, Changelog: q.Body.Changelog, Force: q.Body.Force, Comment: q.Body.Comment, AcceptRegressions: q.Body.AcceptRegressions, Replay: q.Body.Replay, IfChanged: q.Body.IfChanged,
		})
		if err != nil {
			return a.awaited(ctx, err)
		}
		status := http.StatusCreated
		if v.Existing {
			status = http.StatusOK
		}
		return &publishAnswer{Status: status, Location: a.BasePath + Base + "/code-agents/" + v.AgentID + "/versions/" + v.Version.Version, Body: v}, nil
	})
}

// mayChange requires the scope write. If the agent is a skill, it also requires approve, because callers of a skill run
// the latest version at once. If the caller has approve, it does not look up whether the agent is a skill.
func (a *API) mayChange(ctx context.Context, agent string) error {
	if err := gate.Require(ctx, registry.WriteScope); err != nil {
		return err
	}
	lacks := gate.Require(ctx, registry.ApproveScope)
	if lacks == nil {
		return nil
	}
	is, err := a.Skills.Is(ctx, actor(ctx), agent)
	if err == nil && is {
		err = lacks
	}
	return err
}
