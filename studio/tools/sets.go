package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/pins"
)

const (
	maxTools = 200 // maximum number of tools in one set
	maxText  = 1000
)

var setName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)

// SetRequest describes a tool set. A reference may be an exact version, a range or latest. The set stores the version
// that each reference selects now.
type SetRequest struct {
	Name        string
	Title       string
	Description string
	References  []string
}

// Sets lists the tool sets of a workspace by name.
func (s *Service) Sets(ctx context.Context, actor registry.Actor) ([]registry.ToolSet, error) {
	return s.Store.ToolSets(ctx, actor.Workspace)
}

// Set returns a tool set. It marks versions that were deleted or deprecated since they were pinned, and adds the
// numbers of newer versions.
func (s *Service) Set(ctx context.Context, actor registry.Actor, name string) (registry.ToolSet, error) {
	set, err := s.Store.ToolSet(ctx, actor.Workspace, name)
	if err != nil {
		return set, err
	}
	for i := range set.Tools {
		if err := s.followUp(ctx, actor.Workspace, &set.Tools[i]); err != nil {
			return set, err
		}
	}
	return set, nil
}

// followUp adds to a pinned version whether it was deleted or deprecated since it was pinned, and whether there is a
// newer version.
func (s *Service) followUp(ctx context.Context, workspace string, tool *registry.SetTool) error {
	v, err := s.resolved(ctx, workspace, *tool)
	switch {
	case fault.Is(err, fault.NotFound):
		tool.Missing = true
	case err != nil:
		return err
	}
	tool.Deprecated, tool.Reason, tool.Successor = v.Deprecated, v.Reason, v.Successor
	newest, err := s.Resolver.Resolve(ctx, workspace, registry.Reference{Agent: tool.AgentID, Version: registry.Latest})
	switch {
	case fault.Is(err, fault.NotFound): // The agent was deleted, or has only pre-releases.
		return nil
	case err != nil:
		return err
	case newest.Version != tool.Version:
		tool.Newest = newest.Version
	}
	return nil
}

// PutSet creates or replaces a tool set. It pins the versions that the references select now. Error: InvalidInput,
// which lists every reference that selects no version and every tool name that occurs twice.
func (s *Service) PutSet(ctx context.Context, actor registry.Actor, req SetRequest) (registry.ToolSet, error) {
	switch {
	case !setName.MatchString(req.Name):
		return registry.ToolSet{}, fault.Invalid("/name", "must begin with a lower-case letter and have at most 63 lower-case letters, digits, - and _.")
	case len(req.Title) > maxText || len(req.Description) > maxText:
		return registry.ToolSet{}, fault.Invalid("/description", "and the title must have at most %d bytes each.", maxText)
	case len(req.References) == 0 || len(req.References) > maxTools:
		return registry.ToolSet{}, fault.Invalid("/references", "must have 1 to %d references.", maxTools)
	}
	set := registry.ToolSet{
		ID: s.NewID(), Workspace: actor.Workspace, Name: req.Name, Title: req.Title, Description: req.Description,
		CreatedAt: s.Now(), UpdatedAt: s.Now(), UpdatedBy: cmp.Or(actor.Name, actor.ID),
	}
	for field, text := range map[string]string{"/title": req.Title, "/description": req.Description} {
		if err := registry.CheckText(field, text); err != nil {
			return set, err
		}
	}
	refused := &fault.Error{Code: fault.InvalidInput, Message: "The references are not valid."}
	exact, seen := make([]string, 0, len(req.References)), map[string]int{}
	for i, text := range req.References {
		pointer := fmt.Sprintf("/references/%d", i)
		ref, err := registry.ParseReference(text)
		var v registry.Version
		if err == nil {
			v, err = s.Resolver.Resolve(ctx, actor.Workspace, ref)
		}
		var f *fault.Error
		switch {
		case errors.As(err, &f) && f.Code != fault.Internal:
			refused.Details = append(refused.Details, fault.Detail{Pointer: pointer, Code: string(f.Code), Message: f.Message})
			continue
		case err != nil:
			return set, err
		}
		name := cmp.Or(v.CurrentName, v.Agent)
		if first, twice := seen[registry.NameKey(name)]; twice {
			refused.Details = append(refused.Details, fault.Detail{Pointer: pointer, Message: fmt.Sprintf("has the same tool name, %s, as /references/%d.", name, first)})
			continue
		}
		seen[registry.NameKey(name)] = i
		set.Tools = append(set.Tools, registry.SetTool{AgentID: v.AgentID, Name: name, Version: v.Version, Digest: v.Digest})
		exact = append(exact, registry.Reference{Agent: name, Version: v.Version}.String())
	}
	if len(refused.Details) > 0 {
		return set, refused
	}
	slices.SortFunc(set.Tools, func(a, b registry.SetTool) int { return cmp.Compare(a.Name, b.Name) })
	if old, err := s.Store.ToolSet(ctx, actor.Workspace, req.Name); err == nil {
		set.ID, set.CreatedAt = old.ID, old.CreatedAt
	} else if !fault.Is(err, fault.NotFound) {
		return set, err
	}
	if _, err := s.Pins.Put(ctx, actor, pins.Request{Owner: pinOwner(req.Name), Label: "Tool set " + req.Name, References: exact}); err != nil {
		return set, err
	}
	return set, s.Store.PutToolSet(ctx, set)
}

// DeleteSet removes a tool set and its pins. Error: NotFound.
func (s *Service) DeleteSet(ctx context.Context, actor registry.Actor, name string) error {
	if err := s.Store.DeleteToolSet(ctx, actor.Workspace, name); err != nil {
		return err
	}
	return s.Pins.Drop(ctx, actor, pinOwner(name))
}

func pinOwner(set string) string { return "tool-set:" + set }

// ofSet returns the existing versions of a set that the caller may use.
func (s *Service) ofSet(ctx context.Context, caller registry.Caller, name string) ([]registry.Version, error) {
	set, err := s.Store.ToolSet(ctx, caller.Actor.Workspace, name)
	if err != nil {
		return nil, err
	}
	versions := make([]registry.Version, 0, len(set.Tools))
	for _, tool := range set.Tools {
		if !caller.MayTouch(tool.AgentID) {
			continue
		}
		v, err := s.resolved(ctx, caller.Actor.Workspace, tool)
		if fault.Is(err, fault.NotFound) {
			continue // The version was deleted by force since it was pinned; GET /tool-sets/{set} shows this.
		}
		if err != nil {
			return nil, err
		}
		v.Agent, v.Files = tool.Name, nil
		versions = append(versions, v)
	}
	return versions, nil
}

func (s *Service) resolved(ctx context.Context, workspace string, tool registry.SetTool) (registry.Version, error) {
	v, err := s.Resolver.Resolve(ctx, workspace, registry.Reference{Agent: tool.AgentID, Version: tool.Version})
	if err == nil && v.Digest != tool.Digest {
		err = fault.New(fault.NotFound, "Version %s@%s not found.", tool.Name, tool.Version)
	}
	return v, err
}
