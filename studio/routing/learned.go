package routing

import (
	"context"
	"slices"
	"sync"

	"github.com/atelier-run/atelier/registry"
)

const (
	measured = 20   // number of a version's newest runs from which the median is computed
	mostKept = 2000 // maximum number of versions in the cache
)

// Runs lists recorded runs.
type Runs interface {
	ListRuns(ctx context.Context, workspace string, filter registry.RunFilter) (registry.RunPage, error)
}

// learned caches how long the successful runs of versions took. It reads the recorded runs of a version once, and then
// adds the runs of this server.
type learned struct {
	runs Runs

	mu       sync.Mutex
	versions map[version][]float64 // durations in milliseconds, oldest first
}

type version struct{ workspace, agent, number string }

// median returns the median duration of a version's newest runs, and the number of these runs.
func (l *learned) median(ctx context.Context, of version) (ms float64, runs int, err error) {
	l.mu.Lock()
	times, known := l.versions[of]
	times = slices.Clone(times)
	l.mu.Unlock()
	if !known && l.runs != nil {
		if times, err = l.read(ctx, of); err != nil {
			return 0, 0, err
		}
	}
	if len(times) == 0 {
		return 0, 0, nil
	}
	slices.Sort(times)
	return times[len(times)/2], len(times), nil
}

func (l *learned) read(ctx context.Context, of version) ([]float64, error) {
	page, err := l.runs.ListRuns(ctx, of.workspace, registry.RunFilter{Agent: of.agent, Version: of.number, Status: registry.Succeeded, Limit: measured})
	if err != nil {
		return nil, err
	}
	times := []float64{}
	for _, run := range slices.Backward(page.Items) {
		times = append(times, run.Metrics.RunMs)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.versions) >= mostKept {
		clear(l.versions)
	}
	l.versions[of] = times
	return slices.Clone(times), nil
}

// add adds the duration of a run, if the runs of its version have been read.
func (l *learned) add(run registry.Run) {
	if run.Status != registry.Succeeded || run.AgentID == "" || run.Version == registry.DraftVersion {
		return
	}
	of := version{run.Workspace, run.AgentID, run.Version}
	l.mu.Lock()
	defer l.mu.Unlock()
	times, known := l.versions[of]
	if !known {
		return
	}
	if len(times) >= measured {
		times = slices.Delete(times, 0, 1+len(times)-measured)
	}
	l.versions[of] = append(times, run.Metrics.RunMs)
}
