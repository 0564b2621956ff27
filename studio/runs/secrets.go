package runs

import (
	"cmp"
	"context"
	"maps"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/internal/redact"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/secrets"
)

// given returns the values of the secrets that a target declares. If the target declares none, the result is empty.
func (s *Service) given(ctx context.Context, workspace string, t target) (secrets.Given, error) {
	if len(t.spec.Secrets) == 0 {
		return secrets.Given{}, nil
	}
	if s.Secrets == nil {
		return secrets.Given{}, fault.New(fault.SecretMissing,
			"The program declares the secret %s, which is available only on a server. Save the program there as an agent and run that.", t.spec.Secrets[0])
	}
	given, err := s.Secrets.Open(ctx, workspace, t.agentID, t.spec.Secrets)
	if err != nil {
		return given, err
	}
	for _, one := range given.Bound {
		if err := usable(one, t.spec); err != nil {
			return given, err
		}
	}
	return given, nil
}

// usable returns an error if a secret is bound to a host but the program cannot send requests to that host.
func usable(one runtimes.BoundSecret, spec registry.Spec) error {
	if spec.Language == runtimes.WASM {
		return fault.New(fault.Conflict, "The secret %s is bound to %s, which a WebAssembly module cannot reach. Remove it from the declared secrets.", one.Name, one.Host)
	}
	target, err := hostpattern.ParseHostPort(one.Host, 0)
	if err != nil {
		return err
	}
	for _, text := range spec.Capabilities.Hosts {
		if grant, err := hostpattern.ParseGrant(text); err == nil && grant.Covers(target) {
			return nil
		}
	}
	return fault.New(fault.Conflict, "The secret %s is bound to %s, which is not granted. Add %q to capabilities.hosts, or remove the secret from the declared secrets.", one.Name, one.Host, one.Host)
}

// environment returns the program's environment variables, including its secrets.
func environment(spec registry.Spec, given secrets.Given) map[string]string {
	if len(given.Environment) == 0 {
		return spec.Environment
	}
	all := maps.Clone(given.Environment)
	maps.Copy(all, spec.Environment) // Validation ensures that no name is in both maps.
	return all
}

// isolation returns strict for a run whose environment contains secrets, even if the request asks for less. Otherwise
// the next run could read the secrets from the memory of a shared process.
func isolation(req Request, spec registry.Spec, given secrets.Given) runtimes.Isolation {
	if len(given.Environment) > 0 {
		return runtimes.Strict
	}
	return cmp.Or(req.Isolation, req.Hints.Strict(), spec.Current().Isolation)
}

// redacted returns an outcome in which the values of secrets are redacted.
func redacted(m *redact.Redactor, outcome runtimes.Outcome) runtimes.Outcome {
	if m == nil {
		return outcome
	}
	outcome.Output = m.JSON(outcome.Output)
	if outcome.Error == nil {
		return outcome
	}
	e := *outcome.Error
	for _, text := range []*string{&e.Message, &e.File, &e.Stack, &e.Remedy, &e.Rule} {
		*text = m.Text(*text)
	}
	if e.Grant != nil {
		grant := runtimes.Grant{}
		for _, host := range e.Grant.Hosts {
			grant.Hosts = append(grant.Hosts, m.Text(host))
		}
		for _, tool := range e.Grant.Tools {
			grant.Tools = append(grant.Tools, m.Text(tool))
		}
		e.Grant = &grant
	}
	outcome.Error = &e
	return outcome
}
