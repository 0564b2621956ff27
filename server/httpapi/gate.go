package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/policy"
)

// RulePackName is a path parameter that names a rule pack.
type RulePackName struct {
	Pack string `path:"pack" maxLength:"63" doc:"Name of the rule pack."`
}

// RulePackBody is a rule pack as YAML.
type RulePackBody struct {
	Source string `json:"source" maxLength:"262144" doc:"YAML that matches /schemas/rule-pack.json."`
}

// RulePackList lists rule packs.
type RulePackList struct {
	Items      []policy.PackInfo `json:"items"`
	NextCursor string            `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
}

type gateAnswer struct{ Body registry.GateSettings }

func (a *API) getGate() {
	add(a, endpoint{
		id: "getGate", method: http.MethodGet, path: Base + "/gate", tag: "approvals", summary: "Read the settings of the gate",
		about: "The gate checks each program with rules before it is published or run.",
	}, func(ctx context.Context, _ *none) (*gateAnswer, error) {
		settings, err := a.Policy.Settings(ctx, actor(ctx).Workspace)
		return &gateAnswer{settings}, err
	})
}

func (a *API) setGate() {
	type in struct{ Body registry.GateSettings }
	add(a, endpoint{
		id: "setGate", method: http.MethodPut, path: Base + "/gate", tag: "approvals", summary: "Change the settings of the gate",
		about: "Replaces all settings.", refusals: []fault.Code{fault.InvalidInput, fault.Conflict},
	}, func(ctx context.Context, q *in) (*gateAnswer, error) {
		settings, err := a.Policy.SetSettings(ctx, actor(ctx), q.Body)
		return &gateAnswer{settings}, err
	})
}

func (a *API) listRulePacks() {
	type out struct{ Body RulePackList }
	add(a, endpoint{
		id: "listRulePacks", method: http.MethodGet, path: Base + "/rule-packs", tag: "approvals", summary: "List rule packs",
		about: "Lists the built-in packs, then the packs of the workspace by name.",
	}, func(ctx context.Context, q *ListPaging) (*out, error) {
		packs, err := a.Policy.List(ctx, actor(ctx))
		if err != nil {
			return nil, err
		}
		page, next, err := pageOf(*q, "rule packs", packs, func(p policy.PackInfo) string { return p.Name })
		return &out{RulePackList{page, next}}, err
	})
}

func (a *API) putRulePack() {
	type in struct {
		RulePackName
		Body RulePackBody
	}
	type out struct{ Body policy.Pack }
	add(a, endpoint{
		id: "putRulePack", method: http.MethodPut, path: Base + "/rule-packs/{pack}", tag: "approvals", summary: "Create or replace a rule pack",
		about: "An invalid pack is refused with the line and the reason, and the old pack stays. A pack applies only if the settings of the gate list it.", refusals: []fault.Code{fault.InvalidInput, fault.NameTaken, fault.Conflict},
	}, func(ctx context.Context, q *in) (*out, error) {
		pack, err := a.Policy.PutPack(ctx, actor(ctx), q.Pack, q.Body.Source)
		return &out{pack}, err
	})
}

func (a *API) deleteRulePack() {
	add(a, endpoint{
		id: "deleteRulePack", method: http.MethodDelete, path: Base + "/rule-packs/{pack}", tag: "approvals", summary: "Delete a rule pack",
		about: "The settings of the gate must not use the pack.", status: http.StatusNoContent, refusals: []fault.Code{fault.NotFound, fault.Conflict},
	}, func(ctx context.Context, q *RulePackName) (*none, error) {
		return &none{}, a.Policy.DeletePack(ctx, actor(ctx), q.Pack)
	})
}

func (a *API) getDraftVerdict() {
	type in struct {
		AgentRef
		Revision int64 `query:"revision" minimum:"1" doc:"Revision of the draft (default: the current one)."`
	}
	type out struct{ Body registry.Verdict }
	add(a, endpoint{
		id: "getDraftVerdict", method: http.MethodGet, path: Base + "/code-agents/{agent}/verdict", tag: "approvals", summary: "Check the draft with the gate",
		about:    "Returns the gate's verdict on the draft, compared with the highest version. Nothing is published. If the gate of the workspace is off, the verdict is APPROVE without findings.",
		refusals: []fault.Code{fault.NotFound, fault.StaleDraft, fault.SandboxUnavailable},
	}, func(ctx context.Context, q *in) (*out, error) {
		verdict, err := a.Agents.Verdict(ctx, actor(ctx), q.Agent, registry.SeenRevision(q.Revision))
		return &out{verdict}, err
	})
}

// TrialBody is a program with which to try rules.
type TrialBody struct {
	Language runtimes.Language `json:"language"`
	Code     string            `json:"code" maxLength:"262144"`
	Pack     string            `json:"pack,omitempty" maxLength:"63" doc:"Name of the only rule pack to try, active or not (default: the active packs)."`
	Rule     string            `json:"rule,omitempty" maxLength:"63" doc:"ID of the only rule of the pack to try."`
	Source   string            `json:"source,omitempty" maxLength:"262144" doc:"YAML of a rule pack to try instead of a stored pack. It is not stored."`
}

func (a *API) tryRules() {
	type in struct{ Body TrialBody }
	type out struct{ Body registry.Verdict }
	add(a, endpoint{
		id: "tryRules", method: http.MethodPost, path: Base + "/gate/try", tag: "approvals", summary: "Try rules on a piece of code",
		about:    "Nothing is stored. Packs and rules that are turned off can be tried, too. An invalid source is refused with the line and the reason.",
		refusals: []fault.Code{fault.InvalidInput, fault.NameTaken, fault.SandboxUnavailable, fault.QueueFull},
	}, func(ctx context.Context, q *in) (*out, error) {
		b := q.Body
		verdict, err := a.Policy.Try(ctx, actor(ctx), policy.Trial{Language: b.Language, Code: b.Code, Pack: b.Pack, Rule: b.Rule, Source: b.Source})
		return &out{verdict}, err
	})
}

func (a *API) getRulePackSchema() {
	a.router.Get("/schemas/rule-pack.json", a.document("application/schema+json", policy.Schema))
}
