package app

import (
	"context"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/manifest"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/server/httpapi"
	"github.com/atelier-run/atelier/server/problem"
	"github.com/atelier-run/atelier/studio/specs"
)

// statusProvider tells the APIs the version and the state of the server.
type statusProvider struct {
	app *App

	mu     sync.Mutex // guards the results of the last registry query
	looked time.Time
	loaded bool
	skills int
	done   chan struct{} // closed when the query in progress ends; nil if no query is in progress
}

// lookEvery is the minimum interval between two counts of the skills for /health. It applies however often clients
// request /health.
const lookEvery = 5 * time.Second

// lookFor is the maximum time that /health waits for the count of the skills.
const lookFor = time.Second

func (a *App) newStatusProvider() *statusProvider { return &statusProvider{app: a} }

// Capabilities implements httpapi.StatusProvider.
func (h *statusProvider) Capabilities(ctx context.Context, workspace string) (httpapi.Capabilities, error) {
	c := httpapi.Capabilities{
		Limits:  httpapi.LimitBounds{Defaults: h.app.Config.Defaults, Ceilings: h.app.Config.Ceilings},
		Sandbox: h.sandbox(), HostFunctions: specs.HostFunctions(), ExportFormats: manifest.Formats(),
	}
	model, err := h.app.models.State(ctx, workspace)
	if err != nil {
		return c, err
	}
	if model.Usable() {
		c.LanguageModel = model.Model
	}
	for _, language := range specs.Languages() {
		c.Languages = append(c.Languages, h.language(language))
	}
	return c, nil
}

func (h *statusProvider) sandbox() httpapi.SandboxState {
	level := h.app.engines.Level()
	missing := level.Missing
	if missing == nil {
		missing = []string{}
	}
	return httpapi.SandboxState{Level: level.Level, Missing: missing}
}

func (h *statusProvider) language(language runtimes.Language) httpapi.LanguageState {
	names := specs.Runtimes(language)
	state := httpapi.LanguageState{Language: language, Runtimes: names, Entrypoint: specs.Entrypoint(language), Available: true}
	level := h.app.engines.Level()
	if level.Level == sandbox.LevelNone {
		state.Available, state.Reason = false, level.Missing[0]
		return state
	}
	if why := h.app.engines.selfTest.refusal(language); why != "" {
		state.Available, state.Reason = false, why
		return state
	}
	for _, name := range names {
		engine := httpapi.EngineState{Runtime: name, Reason: h.app.engines.lacks(name), Interpreter: h.app.engines.interpreter(name), Version: h.app.engines.version(name)}
		engine.Available = engine.Reason == ""
		state.Engines = append(state.Engines, engine)
	}
	state.Available, state.Reason, state.Interpreter = state.Engines[0].Available, state.Engines[0].Reason, state.Engines[0].Interpreter
	return state
}

// Runtimes implements httpapi.StatusProvider.
func (h *statusProvider) Runtimes() httpapi.RuntimeList {
	states := []httpapi.RuntimeState{}
	load := h.app.engines.Router.Load()
	for _, language := range specs.Languages() {
		can := h.language(language)
		for _, name := range can.Runtimes {
			ready := can.Available && h.app.engines.lacks(name) == ""
			state := httpapi.RuntimeState{Runtime: name, Language: language, Ready: ready, Queue: httpapi.QueueState{Depth: load.Waiting, Running: load.ByRuntime[name]}}
			if e, ok := h.app.engines.engines[name]; ok {
				state.Workers, state.Features = httpapi.WorkerState(e.Stats()), e.Features()
			}
			states = append(states, state)
		}
	}
	list := httpapi.RuntimeList{Items: states, Load: make([]httpapi.MinuteOfLoad, len(load.LastHour))}
	for i, m := range load.LastHour {
		list.Load[i] = httpapi.MinuteOfLoad(m)
	}
	return list
}

// Health implements httpapi.StatusProvider.
func (h *statusProvider) Health(ctx context.Context) httpapi.Health {
	loaded, skills := h.look(ctx)
	health := httpapi.Health{Status: "healthy", Version: h.app.Version, RegistryLoaded: loaded, SkillsCount: skills, Sandbox: h.sandbox()}
	health.ExecutorReady = health.Sandbox.Level != sandbox.LevelNone
	health.Storage = httpapi.StorageState{Writable: true}
	if err := h.app.store.Ready(); err != nil {
		health.Storage = httpapi.StorageState{Reason: problem.Of(err).Detail}
	}
	health.Servers = h.app.serversState()
	if health.Servers != nil && !health.Servers.Listening {
		health.Status = "degraded"
	}
	health.Kafka = h.kafkaState()
	if health.Kafka != nil && !health.Kafka.Connected {
		health.Status = "degraded"
	}
	health.Bucket = h.bucketState()
	if health.Bucket != nil && !health.Bucket.Available {
		health.Status = "degraded"
	}
	if !loaded || !health.ExecutorReady || !health.Storage.Writable {
		health.Status = "degraded"
	}
	if h.app.draining.Load() {
		health.Status = "draining"
	}
	return health
}

// Serving implements httpapi.StatusProvider.
func (h *statusProvider) Serving() error {
	if h.app.draining.Load() {
		return fault.New(fault.ShuttingDown, "The server is draining: it finishes its runs and stops. Send requests to another server.")
	}
	return h.app.store.Ready()
}

// ReadOnly returns the reason why the server cannot write to its database, or "" if it can. err is the error of an
// attempted write.
func (a *App) ReadOnly(err error) string {
	doc := problem.Of(err)
	if err == nil || doc.Code != fault.StorageUnavailable {
		return ""
	}
	return doc.Detail
}

// look reports whether the registry responds, and returns the number of installed skills. If the query does not end
// within lookFor, the registry counts as not responding.
func (h *statusProvider) look(ctx context.Context) (loaded bool, skills int) {
	h.mu.Lock()
	if h.done == nil && (h.looked.IsZero() || h.app.Now().Sub(h.looked) >= lookEvery) {
		h.done = make(chan struct{})
		go h.count(context.WithoutCancel(ctx), h.done)
	}
	done := h.done
	h.mu.Unlock()
	if done != nil {
		late := time.NewTimer(lookFor)
		defer late.Stop()
		select {
		case <-done:
		case <-late.C:
			return false, 0
		case <-ctx.Done():
			return false, 0
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.loaded, h.skills
}

func (h *statusProvider) count(ctx context.Context, done chan struct{}) {
	n, err := h.app.skills.Count(ctx, registry.DefaultWorkspace)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.looked, h.loaded, h.skills, h.done = h.app.Now(), err == nil, n, nil
	close(done)
}
