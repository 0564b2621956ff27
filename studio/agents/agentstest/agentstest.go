// Package agentstest creates an agents service for tests. The service uses a store and the other real services, but no
// sandbox.
package agentstest

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/engines"
	"github.com/atelier-run/atelier/studio/pins"
	"github.com/atelier-run/atelier/studio/references"
	"github.com/atelier-run/atelier/studio/specs"
)

// Store has all methods that the agents service needs from its store. It is an interface so that a test can wrap a
// store.
type Store interface {
	agents.Agents
	agents.Versions
	agents.Numbers
	agents.Histories
	references.Store
	pins.Store
}

// Options returns the options of a service that accepts all code, and has no quotas and no replays.
func Options(s Store) agents.Options {
	validator := specs.NewValidator(schema.NewCache(64))
	checker := specs.New(validator, runtimes.DefaultLimits(), runtimes.DefaultCeilings())
	resolver := references.New(s, time.Now)
	return agents.Options{
		Agents: s, Histories: s, Versions: s, Numbers: s, Resolver: resolver, Pins: pins.New(s, s, resolver, time.Now), Inspector: plain{}, Validator: validator, Specs: checker,
		Engines: engines.New(engines.Options{Specs: checker}), Now: time.Now, NewID: func() string { return uuid.Must(uuid.NewV7()).String() },
	}
}

// plain is an inspector that finds no errors in any code.
type plain struct{}

func (plain) Check(context.Context, inspect.Request) (inspect.Report, error) {
	return inspect.Report{}, nil
}

func (plain) Format(context.Context, string, int) (string, []fault.Detail, error) {
	return "", nil, nil
}

func (plain) CheckAll(_ context.Context, programs []inspect.Request) []inspect.Result {
	return make([]inspect.Result, len(programs))
}
