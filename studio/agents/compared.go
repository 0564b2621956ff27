package agents

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Awaited is a program that waits for approval, together with the version with which it is compared.
type Awaited struct {
	Program registry.Version
	Before  *registry.Version // the highest earlier version that counts as approved; nil if there is none
}

// Awaited returns the program that a request for approval is about. inline is the program of a run without an agent,
// and nil for other requests. Error: NotFound if the program is no longer stored.
func (s *Service) Awaited(ctx context.Context, approval registry.Approval, inline *registry.Spec) (Awaited, error) {
	if inline != nil {
		spec, err := s.Specs.Complete(*inline)
		return Awaited{Program: registry.Version{Spec: spec}}, err
	}
	if approval.AgentID == "" {
		return Awaited{}, fault.New(fault.NotFound, "The program of this request is no longer stored.")
	}
	program, err := s.awaitedProgram(ctx, approval)
	if err != nil {
		return Awaited{}, err
	}
	published, err := s.Numbers.Numbers(ctx, approval.Workspace, approval.AgentID)
	if err != nil || s.Gate == nil {
		return Awaited{Program: program}, err
	}
	lower := make([]registry.Version, 0, len(published))
	for _, v := range published {
		if v.Version != program.Version {
			lower = append(lower, v)
		}
	}
	before, err := s.before(ctx, program, approval.Workspace, lower)
	return Awaited{Program: program, Before: before}, err
}

// awaitedProgram returns the version that a run uses or that was published. For a publication that still waits, it
// builds the version from the request.
func (s *Service) awaitedProgram(ctx context.Context, approval registry.Approval) (registry.Version, error) {
	if approval.Kind != registry.PublishApproval || len(approval.Request) == 0 {
		ref := approval.Version
		if approval.Kind != registry.PublishApproval && approval.Digest != "" {
			ref = approval.Digest
		}
		v, err := s.Resolver.Resolve(ctx, approval.Workspace, registry.Reference{Agent: approval.AgentID, Version: ref})
		if err == nil && v.ContentDigest != approval.ContentDigest {
			err = fault.New(fault.NotFound, "The program of this request is no longer stored.")
		}
		return v, err
	}
	var p pending
	if err := json.Unmarshal(approval.Request, &p); err != nil {
		return registry.Version{}, fmt.Errorf("request of approval %s: %w", approval.ID, err)
	}
	a, err := s.Agents.Agent(ctx, approval.Workspace, approval.AgentID)
	if err != nil {
		return registry.Version{}, err
	}
	spec, err := s.Specs.Complete(p.Spec.Current())
	return registry.Version{AgentID: a.ID, Agent: a.Name, Title: a.Title, Description: a.Description, Version: p.Version, Spec: spec}, err
}

// AwaitedDiff compares the program of a request with the last version that counts as approved. Without such a version,
// every file counts as added.
func (s *Service) AwaitedDiff(ctx context.Context, workspace string, w Awaited) (Diff, error) {
	if w.Before != nil {
		return s.compare(ctx, workspace, *w.Before, w.Program)
	}
	none := registry.Version{AgentID: w.Program.AgentID}
	changes, err := s.packagesApart(ctx, workspace, none, w.Program)
	if err != nil {
		return Diff{}, err
	}
	verdict, err := s.judged(ctx, workspace, w.Program.Spec, nil)
	if err != nil && !fault.Is(err, fault.RuntimeUnavailable) && !fault.Is(err, fault.SandboxUnavailable) {
		return Diff{}, err
	}
	return Diff{
		To: w.Program.Version, Files: filesApart(nil, w.Program.Files), Settings: settingsApart(none, w.Program), Packages: changes,
		Advice: registry.Advice{Bump: registry.NoBump, Reasons: []registry.Reason{}}, CapabilityChanges: verdict.CapabilityChanges,
	}, nil
}
