package archives

import (
	"context"
	"io"
	"slices"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/archive"
)

// Export is an archive that is ready to be written.
type Export struct {
	service   *Service
	workspace string
	names     []string
}

// Export prepares an archive of the agents with the given names or IDs. If none are given, it exports the whole
// workspace. Error: NotFound.
func (s *Service) Export(ctx context.Context, actor registry.Actor, agents []string) (*Export, error) {
	e := &Export{service: s, workspace: actor.Workspace}
	for _, ref := range agents {
		a, err := s.Agents.Agent(ctx, actor.Workspace, ref)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(e.names, a.Name) {
			e.names = append(e.names, a.Name)
		}
	}
	if len(agents) > 0 {
		return e, nil
	}
	filter := registry.AgentFilter{Limit: 200}
	for {
		page, err := s.Agents.ListAgents(ctx, actor.Workspace, filter)
		if err != nil {
			return nil, err
		}
		for _, a := range page.Items {
			e.names = append(e.names, a.Name)
		}
		if filter.Cursor = page.NextCursor; filter.Cursor == "" {
			return e, nil
		}
	}
}

// Write writes the archive. It loads only one version into memory at a time.
func (e *Export) Write(ctx context.Context, w io.Writer) error {
	out, err := archive.NewWriter(w, e.names)
	if err != nil {
		return err
	}
	for _, name := range e.names {
		if err := e.agent(ctx, out, name); err != nil {
			return err
		}
	}
	return out.Close()
}

func (e *Export) agent(ctx context.Context, out *archive.Writer, name string) error {
	s := e.service
	a, err := s.Agents.Agent(ctx, e.workspace, name)
	if err != nil {
		return err
	}
	versions, err := s.Versions.Versions(ctx, e.workspace, a.ID)
	if err != nil {
		return err
	}
	former, err := s.Names.AgentNames(ctx, e.workspace, a.ID)
	if err != nil {
		return err
	}
	written := archive.Agent{
		ID: a.ID, Name: a.Name, Title: a.Title, Description: a.Description, Tags: a.Tags, Metadata: a.Metadata, Listed: a.Listed, Origin: a.Origin, CreatedAt: a.CreatedAt,
		Creator: archive.Actor{ID: a.Creator.ID, Type: a.Creator.Type, Name: a.Creator.Name}, Draft: a.Draft.Spec, Tests: a.Draft.Tests,
		FormerNames: slices.DeleteFunc(former, func(n string) bool { return n == registry.NameKey(a.Name) }),
	}
	slices.Reverse(versions) // in the order of publication, the oldest first
	for _, v := range versions {
		written.Versions = append(written.Versions, v.Version)
	}
	if err := out.Agent(written); err != nil {
		return err
	}
	for _, number := range written.Versions {
		v, err := s.Versions.Version(ctx, e.workspace, a.ID, number)
		if err != nil {
			return err
		}
		if err := out.Version(a.Name, v); err != nil {
			return err
		}
	}
	return nil
}
