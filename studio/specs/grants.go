package specs

import (
	"fmt"

	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/registry"
)

// CapGrants sets the function that returns the hosts that may be granted in a workspace. It must be called before the
// checker is used.
func (c *Checker) CapGrants(ceiling func(workspace string) hostpattern.Ceiling) { c.ceiling = ceiling }

// Grants rejects hosts that may not be granted to the agents of a workspace. The error names the hosts, because the
// spec may be a copy from another author. If a version was published before the permitted hosts were reduced, it is
// checked when it runs.
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
