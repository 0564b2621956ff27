package specs

import (
	"slices"

	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
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
