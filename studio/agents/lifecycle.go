package agents

import (
	"context"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Redraft replaces the draft by the content of a version. With the latest version this discards all edits since it was
// published. The client must have seen the current revision, else the error is StaleDraft.
func (s *Service) Redraft(ctx context.Context, actor registry.Actor, ref string, seen registry.Seen, from string) (registry.Agent, error) {
	if err := s.checkAgentLimit(ctx, actor); err != nil {
		return registry.Agent{}, err
	}
	a, done, err := s.edit(ctx, actor, ref)
	if err != nil {
		return registry.Agent{}, err
	}
	defer done()
	v, err := s.Resolver.Resolve(ctx, actor.Workspace, registry.Reference{Agent: a.ID, Version: from})
	if err != nil {
		return registry.Agent{}, err
	}
	// The draft is checked like in every save, because the version may exceed the ceilings of this server or need a
	// feature that the server lacks.
	if a.Draft.Spec, err = s.Specs.Complete(v.Spec.Current()); err != nil {
		return registry.Agent{}, err
	}
	if err := s.Specs.Grants(actor.Workspace, a.Draft.Spec); err != nil {
		return registry.Agent{}, err
	}
	a.Title, a.Description, a.Draft.SchemaSources, a.Draft.Tests = v.Title, v.Description, nil, v.Tests
	return s.saveDraft(ctx, actor, a, seen)
}

// Copy creates a new agent with the draft and the description of another agent. The new agent has no versions, and no
// references point to it.
func (s *Service) Copy(ctx context.Context, actor registry.Actor, ref, name string, seen registry.Seen) (registry.Agent, error) {
	if err := s.checkAgentLimit(ctx, actor); err != nil {
		return registry.Agent{}, err
	}
	from, err := s.Agents.Agent(ctx, actor.Workspace, ref)
	if err != nil {
		return registry.Agent{}, err
	}
	draft, err := from.DraftAt(seen)
	if err != nil {
		return registry.Agent{}, err
	}
	if err := registry.CheckName(name); err != nil {
		return registry.Agent{}, err
	}
	if err := s.Specs.Grants(actor.Workspace, draft.Spec); err != nil {
		return registry.Agent{}, err
	}
	now := s.Now()
	a := registry.Agent{
		ID: s.NewID(), Workspace: actor.Workspace, Name: name, Title: from.Title, Description: from.Description, Tags: from.Tags, Metadata: from.Metadata,
		Draft: registry.FirstDraft(draft.Spec, actor, now), Changelog: []registry.ChangelogEntry{},
		CreatedAt: now, CreatedBy: actor.ID, Creator: actor, Editor: actor, UpdatedAt: now,
	}
	a.Draft.SchemaSources, a.Draft.Tests = draft.SchemaSources, draft.Tests
	return a, s.Agents.CreateAgent(ctx, a)
}

// Restore restores a deleted agent with its draft, versions and names. Error: Conflict if it is not deleted.
func (s *Service) Restore(ctx context.Context, actor registry.Actor, ref string) (registry.Agent, error) {
	if a, err := s.Agents.Agent(ctx, actor.Workspace, ref); err == nil {
		return registry.Agent{}, fault.New(fault.Conflict, "%s is not deleted.", a.Name)
	}
	if err := s.Agents.RestoreAgent(ctx, actor.Workspace, ref); err != nil {
		return registry.Agent{}, err
	}
	s.Resolver.Forget(actor.Workspace)
	return s.Agents.Agent(ctx, actor.Workspace, ref)
}
