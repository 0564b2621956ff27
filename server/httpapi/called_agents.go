package httpapi

import (
	"context"
	"fmt"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// mayCall checks the agents that a draft may call (capabilities.tools). If a token is restricted to some agents, the
// draft may list only these agents. Otherwise the token could run any agent through the draft.
func (a *API) mayCall(ctx context.Context, capabilities *runtimes.Capabilities) error {
	who := caller(ctx)
	if len(who.Agents) == 0 || capabilities == nil || len(capabilities.Tools) == 0 {
		return nil
	}
	refs := make([]registry.Reference, len(capabilities.Tools))
	for i, text := range capabilities.Tools {
		ref, err := registry.ParseReference(text)
		if err != nil {
			return nil //nolint:nilerr // the save reports this error together with the other errors
		}
		refs[i] = ref
	}
	found, err := a.Agents.FindAll(ctx, who.Actor, refs)
	if err != nil {
		return err
	}
	for i, f := range found {
		if f.Err != nil || !who.MayTouch(f.Version.AgentID) {
			return fault.Invalid(fmt.Sprintf("/capabilities/tools/%d", i), "must be an agent that this token can use.")
		}
	}
	return nil
}
