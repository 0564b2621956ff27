package specs

import (
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/packages"
)

// OfferPackages allows packages of those ecosystems for which lacks returns "". It must be called before the checker is
// used.
func (c *Checker) OfferPackages(lacks func(runtimes.Ecosystem) string) { c.lacks = lacks }

// checkPackages rejects packages that this server cannot install, and entries that are not a name with an optional
// version.
func (c *Checker) checkPackages(spec registry.Spec) error {
	named, err := packages.Declared(spec)
	if err != nil {
		return err
	}
	if len(named.Requirements) == 0 {
		return nil
	}
	where := named.At("")
	pointer, must := where.Pointer, "be empty"
	if named.File != "" {
		must = "name no packages"
	}
	if c.lacks == nil {
		return fault.Invalid(pointer, "must %s, because this server installs no packages; use the standard library, or add the code to the files.", must)
	}
	if why := c.lacks(named.Ecosystem); why != "" {
		return fault.Invalid(pointer, "must %s. %s", must, why)
	}
	return nil
}
