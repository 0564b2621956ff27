package specs

import (
	"fmt"

	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/registry"
)

// CapGrants sets what the agents of a workspace may be granted at most. It is called before the checker is used.
func (c *Checker) CapGrants(ceiling func(workspace string) hostpattern.Ceiling) { c.ceiling = ceiling }

// Grants refuses hosts that the agents of a workspace may not be granted, by name: who copies a spec has not written it. A version that was published before the ceiling
// was lowered is held to it when it runs.
func (c *Checker) Grants(workspace string, spec registry.Spec) error {
	if c.ceiling == nil {
		return nil
	}
	ceiling, faults := c.ceiling(workspace), &faults{}
	for i, host := range spec.Capabilities.Hosts {
		if grant, err := hostpattern.ParseGrant(host); err == nil && !ceiling.Allows(grant) {
			faults.addf(fmt.Sprintf("/capabilities/hosts/%d", i), "must not be granted in this workspace (%s); the operator of the server can allow it with --egress-hosts. By default only the public internet can be granted.", host)
		}
	}
	return faults.err()
}
