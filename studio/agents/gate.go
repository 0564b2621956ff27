package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/advice"
)

// pending is the stored request of a publication that waits for an approval.
type pending struct {
	Spec      registry.Spec   `json:"spec"`
	Version   string          `json:"version"`
	Changelog string          `json:"changelog"`
	Force     bool            `json:"force"`
	Comment   string          `json:"comment"`
	Repeats   bool            `json:"repeats"`
	Tests     []registry.Test `json:"tests,omitempty"`
	Accept    bool            `json:"acceptRegressions,omitempty"`
}

// reviewed returns the gate's verdict about a version just before it is published.
func (s *Service) reviewed(ctx context.Context, actor registry.Actor, v registry.Version, spec registry.Spec, published []registry.Version, req PublishRequest) (*registry.Verdict, error) {
	if s.Gate == nil || req.approved != nil {
		return req.approved, nil
	}
	before, err := s.before(ctx, v, actor.Workspace, published)
	if err != nil {
		return nil, err
	}
	request, err := json.Marshal(pending{Spec: spec, Version: v.Version, Changelog: req.Changelog, Force: req.Force, Comment: req.Comment, Repeats: req.repeats, Tests: v.Tests, Accept: req.AcceptRegressions})
	if err != nil {
		return nil, err
	}
	return s.Gate.Publication(ctx, actor, v, before, request)
}

// before returns the version whose capabilities are compared with those of a new version. It is the highest lower
// version that counts as approved, or nil if there is none.
func (s *Service) before(ctx context.Context, v registry.Version, workspace string, published []registry.Version) (*registry.Version, error) {
	lower := published
	for {
		at := advice.Previous(v.Version, numbers(lower))
		if at < 0 {
			return nil, nil //nolint:nilnil // nil means that there is no earlier approved version
		}
		before, err := s.Resolver.Resolve(ctx, workspace, registry.Reference{Agent: v.AgentID, Version: lower[at].Version})
		if err != nil {
			return nil, err
		}
		approved, err := s.Gate.Approved(ctx, workspace, before)
		if err != nil {
			return nil, err
		}
		if approved {
			return &before, nil
		}
		lower = slices.Delete(slices.Clone(lower), at, at+1)
	}
}

// specOf returns the spec of a version, or nil if there is no version.
func specOf(v *registry.Version) *registry.Spec {
	if v == nil {
		return nil
	}
	return &v.Spec
}

// Verdict returns the verdict about a draft, compared with the highest version that counts as approved. If the gate is
// off, Verdict approves every draft.
func (s *Service) Verdict(ctx context.Context, actor registry.Actor, ref string, seen registry.Seen) (registry.Verdict, error) {
	a, err := s.Agents.Agent(ctx, actor.Workspace, ref)
	if err != nil {
		return registry.Verdict{}, err
	}
	draft, err := a.DraftAt(seen)
	if err != nil {
		return registry.Verdict{}, err
	}
	spec, err := s.Specs.Complete(draft.Spec.Current())
	if err != nil {
		return registry.Verdict{}, err
	}
	published, err := s.Numbers.Numbers(ctx, actor.Workspace, a.ID)
	if err != nil {
		return registry.Verdict{}, err
	}
	number := highest(published)
	if s.Gate == nil || number == "" {
		return s.judged(ctx, actor.Workspace, spec, nil)
	}
	before, err := s.before(ctx, registry.Version{AgentID: a.ID, Version: number}, actor.Workspace, published)
	if err != nil {
		return registry.Verdict{}, err
	}
	return s.judged(ctx, actor.Workspace, spec, specOf(before))
}

func (s *Service) judged(ctx context.Context, workspace string, spec registry.Spec, before *registry.Spec) (registry.Verdict, error) {
	free := registry.Verdict{Decision: registry.Approve, Score: 1, Findings: []registry.Finding{}, CapabilityChanges: []registry.CapabilityChange{}}
	if s.Gate == nil {
		return free, nil
	}
	verdict, err := s.Gate.Judge(ctx, workspace, spec, before)
	if err != nil || verdict == nil {
		return free, err
	}
	return *verdict, nil
}

// PublishApproved publishes an approved request. It publishes the content that was approved, even if the draft has
// changed since.
func (s *Service) PublishApproved(ctx context.Context, approval registry.Approval) (registry.Version, error) {
	var p pending
	if err := json.Unmarshal(approval.Request, &p); err != nil {
		return registry.Version{}, fmt.Errorf("request of approval %s: %w", approval.ID, err)
	}
	a, err := s.Agents.Agent(ctx, approval.Workspace, approval.AgentID)
	if err != nil {
		return registry.Version{}, err
	}
	verdict := approval.Verdict
	if verdict == nil {
		verdict = &registry.Verdict{}
	}
	v, _, err := s.publish(ctx, approval.Requester, a, p.Spec, p.Tests, PublishRequest{
		Version: p.Version, Changelog: p.Changelog, Force: p.Force, Comment: p.Comment, AcceptRegressions: p.Accept, IfChanged: true, repeats: p.Repeats, approved: verdict,
	}, false)
	return v, err
}
