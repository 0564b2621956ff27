package agents

import (
	"context"

	"github.com/atelier-run/atelier/registry"
)

// Histories stores the saves of drafts, and labels them.
type Histories interface {
	DraftSaves(ctx context.Context, workspace, agentID, cursor string, limit int) (registry.DraftSavePage, error)
	DraftSave(ctx context.Context, workspace, agentID string, revision int64) (registry.Draft, error)
	LabelDraftSave(ctx context.Context, workspace, agentID string, revision int64, label string) error
}

// History returns a page of the saves of an agent's draft, newest first.
func (s *Service) History(ctx context.Context, actor registry.Actor, ref, cursor string, limit int) (registry.DraftSavePage, error) {
	a, err := s.Agents.Agent(ctx, actor.Workspace, ref)
	if err != nil {
		return registry.DraftSavePage{}, err
	}
	return s.Histories.DraftSaves(ctx, actor.Workspace, a.ID, cursor, limit)
}

// Saved returns the draft of a former revision. Error: NotFound.
func (s *Service) Saved(ctx context.Context, actor registry.Actor, ref string, revision int64) (registry.Draft, error) {
	a, err := s.Agents.Agent(ctx, actor.Workspace, ref)
	if err != nil {
		return registry.Draft{}, err
	}
	return s.Histories.DraftSave(ctx, actor.Workspace, a.ID, revision)
}

// LabelSave sets the label of a history entry. The label "" removes it. A labelled entry is never deleted, and later
// saves are not merged into it.
func (s *Service) LabelSave(ctx context.Context, actor registry.Actor, ref string, revision int64, label string) error {
	if err := registry.CheckLabel(label); err != nil {
		return err
	}
	a, err := s.Agents.Agent(ctx, actor.Workspace, ref)
	if err != nil {
		return err
	}
	return s.Histories.LabelDraftSave(ctx, actor.Workspace, a.ID, revision, label)
}

// RestoreSave saves the draft of a former revision as a new revision. The client must have seen the current revision,
// else the error is StaleDraft. The current revision stays in the history.
func (s *Service) RestoreSave(ctx context.Context, actor registry.Actor, ref string, from int64, seen registry.Seen) (registry.Agent, error) {
	if err := s.checkAgentLimit(ctx, actor); err != nil {
		return registry.Agent{}, err
	}
	a, done, err := s.edit(ctx, actor, ref)
	if err != nil {
		return registry.Agent{}, err
	}
	defer done()
	former, err := s.Histories.DraftSave(ctx, actor.Workspace, a.ID, from)
	if err != nil {
		return registry.Agent{}, err
	}
	// The draft is checked like in every save, because limits and grants may have changed since it was first saved.
	spec, err := s.Specs.Complete(former.Spec)
	if err != nil {
		return registry.Agent{}, err
	}
	if err := s.Specs.Grants(actor.Workspace, spec); err != nil {
		return registry.Agent{}, err
	}
	a.Draft.Spec, a.Draft.SchemaSources, a.Draft.Tests = spec, former.SchemaSources, former.Tests
	return s.saveDraft(ctx, actor, a, seen)
}

// saveDraft stores a draft and notifies the clients that follow the agent. Every change of a draft must use it.
func (s *Service) saveDraft(ctx context.Context, actor registry.Actor, a registry.Agent, seen registry.Seen) (registry.Agent, error) {
	a.UpdatedAt, a.Editor = s.Now(), actor
	saved, err := s.Agents.SaveDraft(ctx, a, seen.Revision(a.Draft))
	if err == nil {
		s.Changes.Saved(saved.ID, saved.Draft)
	}
	return saved, err
}
