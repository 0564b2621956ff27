package agents

import (
	"context"
	"errors"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/manifest"
)

// ExportRequest asks for a version as a tool manifest. Version "" means latest. Publish makes the first version on the
// way when there is none. BaseURL is where callers reach this server.
type ExportRequest struct {
	Version string
	Format  string
	Publish bool
	BaseURL string
}

// Export returns a version as a tool manifest, with warnings about what the format cannot say, and the version. A manifest never points
// at a draft: without a version the answer is NoVersion, unless the request publishes.
func (s *Service) Export(ctx context.Context, actor registry.Actor, ref string, req ExportRequest) (manifest.Result, registry.Version, error) {
	if req.Version == "" {
		req.Version = registry.Latest
	}
	if req.Format == "" {
		req.Format = manifest.Atelier
	}
	if registry.KindOf(req.Version) == registry.ByDraft {
		return manifest.Result{}, registry.Version{}, fault.Invalid("/version", "A manifest never points at a draft; publish it first.")
	}
	v, err := s.exported(ctx, actor, ref, req)
	if err != nil {
		return manifest.Result{}, registry.Version{}, err
	}
	result, err := manifest.Export(req.Format, v, req.BaseURL)
	return result, v, err
}

func (s *Service) exported(ctx context.Context, actor registry.Actor, ref string, req ExportRequest) (registry.Version, error) {
	a, err := s.Agents.Agent(ctx, actor.Workspace, ref)
	if err != nil {
		return registry.Version{}, err
	}
	v, err := s.Resolver.Resolve(ctx, actor.Workspace, registry.Reference{Agent: a.ID, Version: req.Version})
	if !fault.Is(err, fault.NotFound) {
		return v, err
	}
	versions, listErr := s.Versions.Versions(ctx, actor.Workspace, a.ID)
	if listErr != nil || len(versions) > 0 {
		return registry.Version{}, errors.Join(err, listErr)
	}
	if !req.Publish {
		return registry.Version{}, &fault.Error{
			Code:    fault.NoVersion,
			Message: "The agent has no version yet, and a manifest never points at a draft.",
			Extra:   map[string]any{"remedy": `Publish it, or send "publish": true to publish and export in one step.`},
		}
	}
	publish := PublishRequest{}
	if registry.KindOf(req.Version) == registry.Exact {
		publish.Version = req.Version
	}
	return s.Publish(ctx, actor, ref, publish)
}
