package specs

import (
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/packages"
)

// OfferPackages allows packages of the ecosystems for which lacks returns "". It must be called before the checker is
// used.
func (c *Checker) OfferPackages(lacks func(runtimes.Ecosystem) string) { c.lacks = lacks }

// checkPackages refuses packages that this server cannot install, and entries that are not names with versions.
func (c *Checker) checkPackages(spec registry.Spec) error {
	if len(spec.Packages) == 0 {
		return nil
	}
	if c.lacks == nil {
		return fault.Invalid("/packages", "must be empty, because this server installs no packages; use the standard library, or add the code to the files.")
	}
	ecosystem, ok := packages.EcosystemOf(spec.Language)
	if !ok {
		return fault.Invalid("/packages", "must be empty: %s has no packages. Add the code to the files.", spec.Language)
	}
	if why := c.lacks(ecosystem); why != "" {
		return fault.Invalid("/packages", "must be empty. %s", why)
	}
	_, err := packages.Parse(ecosystem, spec.Packages)
	return err
}
