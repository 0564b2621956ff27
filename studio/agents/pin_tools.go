package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// pinTools returns the versions that the references to other agents select now. The new version always calls exactly
// these versions. Error: InvalidInput, which lists every reference that selects no version.
func (s *Service) pinTools(ctx context.Context, actor registry.Actor, agentID string, tools []string) ([]runtimes.ToolPin, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	refs := make([]registry.Reference, len(tools))
	for i, text := range tools {
		ref, err := registry.ParseReference(text)
		if err != nil {
			return nil, err
		}
		refs[i] = ref
	}
	found, err := s.Resolver.FindAll(ctx, actor.Workspace, refs)
	if err != nil {
		return nil, err
	}
	wrong := &fault.Error{Code: fault.InvalidInput, Message: "A reference in capabilities.tools does not match any version."}
	pins := make([]runtimes.ToolPin, 0, len(tools))
	for i, f := range found {
		pointer := fmt.Sprintf("/capabilities/tools/%d", i)
		var refused *fault.Error
		switch {
		case errors.As(f.Err, &refused) && refused.Code != fault.Internal:
			wrong.Details = append(wrong.Details, fault.Detail{Pointer: pointer, Code: string(refused.Code), Message: "does not match any version: " + refused.Message})
		case f.Err != nil:
			return nil, f.Err
		case f.Version.AgentID == agentID:
			wrong.Details = append(wrong.Details, fault.Detail{Pointer: pointer, Message: "must not be the agent itself; call a function of the program instead."})
		default:
			pins = append(pins, runtimes.ToolPin{Reference: tools[i], Version: f.Version.Version, Digest: f.Version.Digest})
		}
	}
	if len(wrong.Details) > 0 {
		return nil, wrong
	}
	slices.SortFunc(pins, func(a, b runtimes.ToolPin) int { return cmp.Compare(a.Reference, b.Reference) })
	return pins, nil
}
