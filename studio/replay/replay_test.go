package replay_test

import (
	"context"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/replay"
	"github.com/atelier-run/atelier/studio/runs"
)

// gone is a service in which runs are removed, or the agent is deleted, during a replay.
type gone struct{ swept, deleted bool }

func (gone) Resolve(context.Context, string, registry.Reference) (registry.Version, error) {
	return registry.Version{AgentID: "a", Agent: "weather", Version: "1.0.0"}, nil
}

func (gone) List(context.Context, registry.Actor, registry.RunFilter) (registry.RunPage, error) {
	return registry.RunPage{Items: []registry.Run{{ID: "1", Status: registry.Succeeded, InputsHash: "1"}, {ID: "2", Status: registry.Succeeded, InputsHash: "2"}}}, nil
}

func (g gone) Get(_ context.Context, _ registry.Actor, id string) (registry.Run, error) {
	if g.swept && id == "1" {
		return registry.Run{}, fault.New(fault.NotFound, "No such run.")
	}
	return registry.Run{ID: id, Status: registry.Succeeded}, nil
}

func (g gone) Execute(_ context.Context, _ registry.Actor, req runs.Request) (runs.Result, error) {
	if g.deleted {
		return runs.Result{}, fault.New(fault.NotFound, "No such agent.")
	}
	return runs.Result{Run: registry.Run{ID: req.ParentRunID + "'", Status: registry.Failed}}, nil
}

// If the replay could not run, publishing must fail. Only an agent without a version may be published without a replay.
func TestGateStaysShut(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		server    gone
		differing int
		want      fault.Code
	}{
		"fails":                            {gone{}, 2, ""},
		"fails, and a run is swept":        {gone{swept: true}, 1, ""},
		"the agent is deleted as it tries": {gone{deleted: true}, 0, fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			differing, err := replay.New(tt.server, tt.server).Differing(t.Context(), registry.Actor{}, "weather", registry.AnyRevision(), 2)
			if len(differing) != tt.differing || tt.want != "" && !fault.Is(err, tt.want) || tt.want == "" && err != nil {
				t.Errorf("got %v %v, want %d, %s", differing, err, tt.differing, tt.want)
			}
		})
	}
}
