package approvals

import (
	"context"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/packages"
	"github.com/atelier-run/atelier/studio/runs"
)

// Programs reads and compares the programs of requests.
type Programs interface {
	Awaited(ctx context.Context, approval registry.Approval, inline *registry.Spec) (agents.Awaited, error)
	AwaitedDiff(ctx context.Context, workspace string, w agents.Awaited) (agents.Diff, error)
}

// Comparison lists the differences between the program of a request and the last version that counts as approved.
type Comparison struct {
	With              string                      `json:"with" doc:"The last approved version. Empty if there is none; then everything is new."`
	Files             []FileChange                `json:"files" doc:"Changed files. The diff of the request shows the changed lines."`
	Packages          []packages.Change           `json:"packages" doc:"Packages with a different version or file."`
	CapabilityChanges []registry.CapabilityChange `json:"capabilityChanges" doc:"Descriptions of the capabilities that the approved version does not have. Empty if the gate is off."`
}

// FileChange is a file that was added, removed or changed.
type FileChange struct {
	Path   string `json:"path"`
	Status string `json:"status" enum:"added,removed,changed"`
}

// Details is a request together with the information that an approver needs to decide.
type Details struct {
	registry.Approval
	Comparison    *Comparison `json:"comparison,omitempty" doc:"Absent if the program is no longer stored."`
	Approvers     []string    `json:"approvers,omitempty" doc:"Sign-in names of people who may decide a pending request."`
	InputWithheld bool        `json:"inputWithheld,omitempty" doc:"true if the program has the flag pii_risk. Then its input is encrypted until the decision and is not returned."`
}

// Details returns a request with its findings, and with the differences between its program and the last version that
// counts as approved. Error: NotFound.
func (s *Service) Details(ctx context.Context, actor registry.Actor, id string) (Details, error) {
	a, err := s.Get(ctx, actor, id)
	if err != nil {
		return Details{}, err
	}
	d := Details{Approval: a, InputWithheld: a.Kind == registry.RunApproval && runs.InputSealed(a.Request)}
	if a.Status == registry.ApprovalPending {
		if d.Approvers, err = s.Approvers(ctx, a); err != nil {
			return d, err
		}
	}
	w, err := s.awaited(ctx, a)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.NoVersion) {
		return d, nil
	}
	if err != nil {
		return d, err
	}
	diff, err := s.programs.AwaitedDiff(ctx, a.Workspace, w)
	if err != nil {
		return d, err
	}
	d.Comparison = &Comparison{With: diff.From, Files: make([]FileChange, 0, len(diff.Files)), Packages: diff.Packages, CapabilityChanges: diff.CapabilityChanges}
	for _, f := range diff.Files {
		d.Comparison.Files = append(d.Comparison.Files, FileChange{f.Path, f.Status})
	}
	if a.Kind == registry.PublishApproval && a.Verdict != nil {
		d.Comparison.CapabilityChanges = a.Verdict.CapabilityChanges // The person decides about the changes that existed at the time of the request.
	}
	return d, s.find(ctx, w, &d)
}

// find adds the verdict about the program to a request that has none, because the request was made for a reason other
// than a verdict.
func (s *Service) find(ctx context.Context, w agents.Awaited, d *Details) error {
	if d.Verdict != nil {
		return nil
	}
	var before *registry.Spec
	if w.Before != nil {
		before = &w.Before.Spec
	}
	verdict, err := s.Judge(ctx, d.Workspace, w.Program.Spec, before)
	if fault.Is(err, fault.SandboxUnavailable) || fault.Is(err, fault.RuntimeUnavailable) {
		return nil // Without a parser, the other details can still be read.
	}
	d.Verdict = verdict
	return err
}

// Diff compares the program of a request with the last version that counts as approved. Error: NotFound if the request
// does not exist or its program is no longer stored.
func (s *Service) Diff(ctx context.Context, actor registry.Actor, id string) (agents.Diff, error) {
	a, err := s.Get(ctx, actor, id)
	if err != nil {
		return agents.Diff{}, err
	}
	w, err := s.awaited(ctx, a)
	if err != nil {
		return agents.Diff{}, err
	}
	return s.programs.AwaitedDiff(ctx, a.Workspace, w)
}

func (s *Service) awaited(ctx context.Context, a registry.Approval) (agents.Awaited, error) {
	var inline *registry.Spec
	if a.Kind == registry.RunApproval {
		var err error
		if inline, err = runs.InlineOf(a.Request); err != nil {
			return agents.Awaited{}, err
		}
	}
	return s.programs.Awaited(ctx, a, inline)
}
