package specs

import (
	"fmt"
	"slices"

	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bacalhau"
	"github.com/atelier-run/atelier/runtimes/e2b"
	"github.com/atelier-run/atelier/runtimes/remote"
)

// checkRemote checks the settings of the remote service that runs a program. The program must be granted the host of
// the service.
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

// checkNames rejects host patterns that a remote runtime cannot grant, because it compares host names without ports.
func checkNames(faults *faults, spec registry.Spec, name runtimes.Name) {
	var granted func(hostpattern.Grant) string
	service := ""
	switch name {
	case runtimes.E2BEngine:
		granted, service = e2b.Name, "E2B"
	case runtimes.Bacalhau:
		granted, service = bacalhau.Domain, "Bacalhau"
	default:
		return
	}
	for i, text := range spec.Capabilities.Hosts {
		if grant, err := hostpattern.ParseGrant(text); err == nil && granted(grant) == "" {
			faults.addf(fmt.Sprintf("/capabilities/hosts/%d", i), "must be a host name with port 80 or 443, because %s cannot grant other ports; choose another runtime.", service)
		}
	}
}
