package specs

import (
	"fmt"
	"slices"

	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/e2b"
	"github.com/atelier-run/atelier/runtimes/remote"
)

// checkRemote checks the service of a program that runs elsewhere. Its host must be granted like any other.
func checkRemote(faults *faults, spec registry.Spec, name runtimes.Name) {
	if name != runtimes.RemoteEngine {
		return
	}
	service, err := remote.Read(spec.Files)
	if err != nil {
		faults.add(err)
		return
	}
	if !slices.ContainsFunc(spec.Capabilities.Hosts, func(text string) bool {
		grant, err := hostpattern.ParseGrant(text)
		return err == nil && grant.Covers(service.Target())
	}) {
		faults.addf("/capabilities/hosts", "must contain %q, the host of the service in %s.", service.Target(), remote.File)
	}
}

// checkE2B refuses hosts that E2B cannot grant.
func checkE2B(faults *faults, spec registry.Spec, name runtimes.Name) {
	if name != runtimes.E2BEngine {
		return
	}
	for i, text := range spec.Capabilities.Hosts {
		if grant, err := hostpattern.ParseGrant(text); err == nil && e2b.Name(grant) == "" {
			faults.addf(fmt.Sprintf("/capabilities/hosts/%d", i), "must have port 80 or 443, because E2B grants hosts without other ports; choose the runtime python.")
		}
	}
}
