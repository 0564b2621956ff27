package app

import (
	"context"
	"sync"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// memory stores the runs of a Local in memory. It has no agents and no versions, because a Local runs programs from files.
type memory struct {
	mu     sync.Mutex
	runs   map[string]registry.Run
	events map[string][]runtimes.Event
}

func newMemory() *memory {
	return &memory{runs: map[string]registry.Run{}, events: map[string][]runtimes.Event{}}
}

// Ready implements runs.Journal.
func (m *memory) Ready() error { return nil }

// BeginRun implements runs.Journal.
func (m *memory) BeginRun(_ context.Context, run registry.Run) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runs[run.ID] = run
	return nil
}

// AppendEvents implements runs.Journal.
func (m *memory) AppendEvents(_ context.Context, _, id string, events []runtimes.Event) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events[id] = append(m.events[id], events...)
	return nil
}

// FinishRun implements runs.Journal.
func (m *memory) FinishRun(ctx context.Context, run registry.Run, events []runtimes.Event) error {
	_ = m.AppendEvents(ctx, run.Workspace, run.ID, events) // AppendEvents never fails here.
	return m.BeginRun(ctx, run)
}

// Run implements runs.Archive.
func (m *memory) Run(_ context.Context, _, id string) (registry.Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	run, ok := m.runs[id]
	if !ok {
		return run, fault.New(fault.NotFound, "Run not found.")
	}
	return run, nil
}

// RunSummary implements runs.Archive.
func (m *memory) RunSummary(ctx context.Context, workspace, id string) (registry.Run, int64, error) {
	run, err := m.Run(ctx, workspace, id)
	return run, 0, err
}

// ListRuns implements runs.Archive. It is never called.
func (m *memory) ListRuns(context.Context, string, registry.RunFilter) (registry.RunPage, error) {
	return registry.RunPage{Items: []registry.Run{}}, nil
}

// Events implements runs.Archive.
func (m *memory) Events(_ context.Context, _, id string, from int64, limit int) ([]runtimes.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []runtimes.Event
	for _, e := range m.events[id] {
		if e.Seq > from && len(found) < limit {
			found = append(found, e)
		}
	}
	return found, nil
}

// Agent implements runs.Drafts.
func (m *memory) Agent(_ context.Context, _, name string) (registry.Agent, error) {
	return registry.Agent{}, fault.New(fault.NotFound, "Agent %s not found.", name)
}

// Resolve implements runs.Resolver.
func (m *memory) Resolve(_ context.Context, _ string, ref registry.Reference) (registry.Version, error) {
	return registry.Version{}, fault.New(fault.NotFound, "Version %s not found.", ref)
}
