package quotas_test

import (
	"context"
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/studio/quotas"
)

// others returns fixed counts of other servers.
type others struct{ all []registry.ServerUse }

func (*others) ShareUse(context.Context, []registry.ServerUse) error      { return nil }
func (o *others) OthersUse(context.Context) ([]registry.ServerUse, error) { return o.all, nil }

// A server counts a run when it admits the run, and may be killed before it records the run. The other servers must
// then count only recorded runs.
func TestShare_ServerEnded_UnrecordedRunsNotCounted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for name, last := range map[string][]registry.ServerUse{
			"it is gone":          nil,
			"it has started anew": {{Server: "b", Workspace: ws, Day: midnight, Used: registry.DayUse{Runs: 1}}},
		} {
			service, shared := open(s, &clock{}, registry.Quota{RunsPerDay: 100}), &others{}
			before := used(t, service)
			share := func(all ...registry.ServerUse) {
				t.Helper()
				shared.all = all
				if err := service.Share(t.Context(), shared); err != nil {
					t.Fatal(err)
				}
			}
			own, err := service.Admit(t.Context(), ws) // This run is admitted, but not recorded yet.
			if err != nil {
				t.Fatal(err)
			}
			share(registry.ServerUse{Server: "b", Workspace: ws, Day: midnight})
			share(registry.ServerUse{Server: "b", Workspace: ws, Day: midnight, Live: 3, Used: registry.DayUse{Runs: 5}})
			finish(t, s, ws, noon, 1)
			finish(t, s, ws, noon, 1)
			if got := used(t, service); got != before+6 {
				t.Errorf("%s: while the other server lives, %d runs are counted", name, got-before)
			}
			share(last...)
			if got := used(t, service); got != before+3 {
				t.Errorf("%s: %d runs are counted, of which two are recorded and one is active here", name, got-before)
			}
			own.Back()
		}
	})
}

var midnight = noon.Truncate(24 * time.Hour)

func used(t *testing.T, service *quotas.Service) int64 {
	t.Helper()
	report, err := service.Of(t.Context(), ws)
	if err != nil {
		t.Fatal(err)
	}
	return report.Used.RunsPerDay
}
