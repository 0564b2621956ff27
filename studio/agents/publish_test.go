package agents_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect"
	"github.com/atelier-run/atelier/studio/access"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/engines"
	"github.com/atelier-run/atelier/studio/pins"
	"github.com/atelier-run/atelier/studio/references"
	"github.com/atelier-run/atelier/studio/specs"
)

// during does something while a replay is at work, which it does not refuse.
type during func() error

func (d during) Gate(context.Context, registry.Actor, string, int) error { return d() }

// plain finds nothing wrong with code.
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

// What was saved while recorded inputs were replayed has not been tried, so it does not pass; nor does what was tried in part.
func TestPublishRefusesADraftThatIsSavedDuringItsReplay(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	validator := specs.NewValidator(schema.NewCache(16))
	resolver, checker := references.New(s, time.Now), specs.New(validator, runtimes.DefaultLimits(), runtimes.DefaultCeilings())
	var service *agents.Service
	name, language, code, later := "weather", runtimes.Bash, "echo 1\n", "echo 2\n"
	saving := true
	service = agents.New(agents.Options{
		Agents: s, Versions: s, Resolver: resolver, Pins: pins.New(s, s, resolver, time.Now), Validator: validator, Specs: checker, Engines: engines.New(engines.Options{Specs: checker}),
		Now: time.Now, NewID: func() string { return uuid.Must(uuid.NewV7()).String() }, Inspector: plain{},
		Replays: during(func() error {
			if !saving {
				return nil
			}
			_, err := service.Save(t.Context(), access.Administrator(), name, 1, agents.Input{Code: &later})
			return err
		}),
	})
	if _, err := service.Create(t.Context(), access.Administrator(), agents.Input{Name: &name, Language: &language, Code: &code}); err != nil {
		t.Fatal(err)
	}
	if _, err := service.Publish(t.Context(), access.Administrator(), name, agents.PublishRequest{Replay: 1}); !fault.Is(err, fault.Conflict) {
		t.Fatalf("got %v", err)
	}
	saving = false
	v, err := service.Publish(t.Context(), access.Administrator(), name, agents.PublishRequest{Replay: 1})
	if err != nil || v.Version != "1.0.0" || string(v.Files["main.sh"]) != later {
		t.Fatalf("%+v %v", v, err)
	}
}
