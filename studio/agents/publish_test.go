package agents_test

import (
	"context"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/access"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/agents/agentstest"
)

// during implements Replays. It calls a function while the replay is running.
type during func(seen registry.Seen) error

func (d during) Differing(_ context.Context, _ registry.Actor, _ string, seen registry.Seen, _ int) ([]registry.Regression, error) {
	return nil, d(seen)
}

// Publishing fails if the draft is saved during the replay of recorded inputs, because the saved draft was not tested.
func TestPublishRefusesADraftThatIsSavedDuringItsReplay(t *testing.T) {
	t.Parallel()
	service := agents.New(agentstest.Options(storetest.Open(t, storetest.SQLite)))
	name, language, code, later := "weather", runtimes.Bash, "echo 1\n", "echo 2\n"
	saving := true
	service.Replays = during(func(seen registry.Seen) error {
		if !saving {
			return nil
		}
		a, err := service.Save(t.Context(), access.Administrator(), name, registry.SeenRevision(1), agents.Input{Code: &later})
		if err != nil {
			return err
		}
		_, err = a.DraftAt(seen) // The replay reads the draft in the same way as a run.
		return err
	})
	if _, err := service.Create(t.Context(), access.Administrator(), agents.Input{Name: &name, Language: &language, Code: &code}); err != nil {
		t.Fatal(err)
	}
	if _, err := service.Publish(t.Context(), access.Administrator(), name, agents.PublishRequest{Seen: registry.AnyRevision(), Replay: 1}); !fault.Is(err, fault.StaleDraft) {
		t.Fatalf("got %v", err)
	}
	saving = false
	v, err := service.Publish(t.Context(), access.Administrator(), name, agents.PublishRequest{Seen: registry.AnyRevision(), Replay: 1})
	if err != nil || v.Version.Version != "1.0.0" || string(v.Files["main.sh"]) != later {
		t.Fatalf("%+v %v", v, err)
	}
}
