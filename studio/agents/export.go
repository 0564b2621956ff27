package agents

import (
	"context"
	"errors"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/manifest"
)

// ExportRequest requests a version as a tool manifest. If Version is "", the latest version is exported. If Publish is
// set and the agent has no version, the draft is published first. BaseURL is the address at which callers reach this
// server.
type ExportRequest struct {
	Version string
	Format  string
	Publish bool
	Seen    registry.Seen // revision of the draft that may be published if Publish is set
	BaseURL string
}

// Exported is the tool manifest of a version. Its warnings list features that the format cannot express. DraftRevision
// is the revision of the draft that the export published, or 0 if it published none.
type Exported struct {
	manifest.Result
	Published
}

// Export returns a version as a tool manifest. A manifest never refers to a draft: if the agent has no version, the
// error is NoVersion, unless the request allows publishing one.
func (s *Service) Export(ctx context.Context, actor registry.Actor, ref string, req ExportRequest) (Exported, error) {
	if req.Version == "" {
		req.Version = registry.Latest
	}
	if req.Format == "" {
		req.Format = manifest.Atelier
	}
	if registry.KindOf(req.Version) == registry.ByDraft {
		return Exported{}, fault.Invalid("/version", "must be a published version, because a manifest cannot describe a draft. Publish the draft first.")
	}
	v, err := s.exported(ctx, actor, ref, req)
	if err != nil {
		return Exported{}, err
	}
	result, err := manifest.Export(req.Format, v.Version, req.BaseURL)
	return Exported{result, v}, err
}

func (s *Service) exported(ctx context.Context, actor registry.Actor, ref string, req ExportRequest) (Published, error) {
	a, err := s.Agents.Agent(ctx, actor.Workspace, ref)
	if err != nil {
		return Published{}, err
	}
	if req.Seen.Named() && !req.Publish {
		return Published{}, registry.NoDraftNamed("publish is not asked for")
	}
	v, err := s.Resolver.Resolve(ctx, actor.Workspace, registry.Reference{Agent: a.ID, Version: req.Version})
	if !fault.Is(err, fault.NotFound) {
		return Published{Version: v}, err
	}
	versions, listErr := s.Numbers.Numbers(ctx, actor.Workspace, a.ID)
	if listErr != nil || len(versions) > 0 {
		return Published{}, errors.Join(err, listErr)
	}
	if !req.Publish {
		return Published{}, &fault.Error{
			Code:    fault.NoVersion,
			Message: "The agent has no version, and a manifest cannot describe a draft.",
			Extra:   map[string]any{"remedy": `Publish it, or send "publish": true to publish and export in one step.`},
		}
	}
	publish := PublishRequest{Seen: req.Seen}
	if registry.KindOf(req.Version) == registry.Exact {
		publish.Version = req.Version
	}
	return s.Publish(ctx, actor, ref, publish)
}
