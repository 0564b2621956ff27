// Package app is the composition root: it opens what a server consists of, in order, wires it, serves, and closes it in
// reverse. It decides nothing that a room could decide.
package app

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/atelier-run/atelier/internal/budget"
	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/runtimes/doctor"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/server/httpapi"
	"github.com/atelier-run/atelier/server/mcpapi"
	"github.com/atelier-run/atelier/server/problem"
	"github.com/atelier-run/atelier/server/skillsapi"
	"github.com/atelier-run/atelier/server/streamapi"
	"github.com/atelier-run/atelier/server/webui"
	"github.com/atelier-run/atelier/studio/access"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/archives"
	"github.com/atelier-run/atelier/studio/catalog"
	"github.com/atelier-run/atelier/studio/pins"
	"github.com/atelier-run/atelier/studio/quotas"
	"github.com/atelier-run/atelier/studio/replay"
	"github.com/atelier-run/atelier/studio/runs"
	"github.com/atelier-run/atelier/studio/secrets"
	"github.com/atelier-run/atelier/studio/skills"
	"github.com/atelier-run/atelier/studio/tools"
)

// Options is what an App is made of, beside its configuration.
type Options struct {
	Config  config.Config
	Version string
	Log     *slog.Logger
	Studio  fs.FS             // what the web build left; without index.html the Studio was not built
	Samples fs.FS             // one folder for each sample
	Skills  fs.FS             // one folder for each skill that is shipped; nil for none
	Exe     string            // the binary that is started in jails; "" is the running one
	Traces  *telemetry.Traces // nil makes them as configured
	Now     func() time.Time  // nil is time.Now
	// Examined is what an examination found of the same walls a moment ago, for tests that start many servers; nil examines.
	Examined *doctor.Report
	// Cost is what a guess at a password costs, for tests with many people; zero is that of RFC 9106.
	Cost access.Cost
	// Asked is told of every statement that the database is asked; nil for nobody.
	Asked func(ctx context.Context, operation string)
}

// App is an open server. Serve may be called once; Close always.
type App struct {
	Options
	closers  closers
	newID    func() string
	metrics  *telemetry.Metrics
	store    *store.Store
	engines  *Engines
	access   *access.Service
	agents   *agents.Service
	archives *archives.Service
	catalog  *catalog.Service
	pins     *pins.Service
	quotas   *quotas.Service
	replays  *replay.Service
	runs     *runs.Service
	secrets  *secrets.Service
	skills   *skills.Service
	stream   *streamapi.API
	tools    *tools.Service
	handler  http.Handler
	problems problem.Writer
}

// Open opens everything but the network. A data directory that cannot be used, a database that is newer than this
// program and the like are errors that say what to do.
func Open(ctx context.Context, o Options) (*App, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	a := &App{Options: o, newID: newID, problems: problem.Writer{Log: o.Log}}
	for _, step := range []func(context.Context) error{
		a.openTelemetry, a.openData, a.openStoreAndEngines, a.openSecrets, a.openStudio, a.openSkills, a.openAPIs, a.sweep, a.noteUses,
	} {
		if err := step(ctx); err != nil {
			return nil, joinClose(err, a.closers.close())
		}
	}
	return a, nil
}

// Close closes what Open opened, in reverse.
func (a *App) Close() error { return a.closers.close() }

// newID returns a UUID that sorts by the time it was made.
func newID() string {
	return uuid.Must(uuid.NewV7()).String() // fails only without random numbers, and then the process is to end
}

func (a *App) openTelemetry(ctx context.Context) error {
	a.metrics = telemetry.NewMetrics(a.Version)
	if a.Traces != nil {
		return nil
	}
	traces, err := telemetry.NewTraces(ctx, a.Version, a.Config.Traces)
	if err != nil {
		return err
	}
	a.Traces = traces
	a.closers.add("traces", traces.Close)
	return nil
}

// openStoreAndEngines opens the two that take long side by side: neither needs the other.
func (a *App) openStoreAndEngines(ctx context.Context) error {
	var engines *Engines
	var enginesErr error
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		engines, enginesErr = OpenEngines(ctx, a.Config, a.Exe, a.Log)
	}()
	storeErr := a.openStore(ctx)
	<-opened
	if enginesErr == nil {
		a.keepEngines(engines)
	}
	return joinClose(storeErr, enginesErr)
}

// openAPIs hangs every door beside the others, behind one gate.
func (a *App) openAPIs(ctx context.Context) error {
	samples, err := agents.LoadSamples(a.Samples, agents.SampleNames())
	if err != nil {
		return err
	}
	attempts, err := gate.NewAttempts(ctx, a.store, a.Now)
	if err != nil {
		return err
	}
	api := httpapi.New(httpapi.Options{
		Agents: a.agents, Archives: a.archives, Catalog: a.catalog, Pins: a.pins, Tools: a.tools, Quotas: a.quotas, Replays: a.replays, Runs: a.runs, Secrets: a.secrets, Skills: a.skills, Access: a.access, Keys: a.store, StatusProvider: a.newStatusProvider(), Samples: samples, Metrics: a.metrics.Handler(),
		Problems: a.problems, Attempts: attempts, PublicURL: a.Config.PublicURL, BasePath: a.Config.BasePath, BodyBytes: a.Config.BodyBytes, Now: a.Now,
		Provider: a.loginProvider(), ProviderName: a.Config.OIDC.Name,
	})
	a.stream = streamapi.New(streamapi.Options{Follow: a.follow, Refuse: a.problems})
	api.Router().Method(http.MethodGet, httpapi.StreamPath, a.stream)
	skills := skillsapi.New(skillsapi.Options{
		Skills: a.skills, Agents: a.agents, Problems: a.problems, BodyBytes: a.Config.BodyBytes, Now: a.Now, NewID: a.newID,
	})
	skills.Hang(api.Router())
	if err := api.DescribeToo(skills.Describe); err != nil {
		return err
	}
	mcpAPI := mcpapi.New(mcpapi.Options{
		Tools: a.tools, Runs: a.runs, Refuse: a.problems, Log: a.Log, Version: a.Version, PublicURL: a.Config.PublicURL, BasePath: a.Config.BasePath,
		BodyBytes: a.Config.BodyBytes, Now: a.Now,
	})
	a.closers.add("mcp", func() error { mcpAPI.Close(); return nil })
	mcpAPI.Register(api.Router())
	api.Router().Handle(webui.Base+"*", webui.New(a.Studio, a.Config.BasePath, a.problems))
	g := gate.New(gate.Options{
		Anonymous: a.Config.SkillsAnonymous == config.AnonymousLoopback,
		Names:     a.names(), PublicURL: a.Config.PublicURL, BasePath: a.Config.BasePath, Proxies: a.Config.TrustedProxies, Access: a.access, Rights: a.access, Attempts: attempts, Budget: budget.New(a.Config.RequestMemory), Routes: api.Router(), Lookup: lookup{a.store, a.runs},
		Refuse: a.problems, Meter: a.metrics,
		Tracer: a.Traces.Tracer("server/gate"), Propagate: a.Traces.Propagator(), Log: a.Log, NewID: a.newID,
	})
	if err := g.CheckBase(); err != nil {
		return err
	}
	undeclared, err := g.Undeclared()
	if err != nil {
		return err
	}
	if len(undeclared) > 0 {
		a.Log.LogAttrs(ctx, slog.LevelError, "routes without an entry in server/gate/needs.go, or entries without a route; only admin may use them", slog.Any("routes", undeclared))
	}
	a.handler = g.Guard(api.Router())
	return nil
}

// lookup tells the gate what a path names.
type lookup struct {
	*store.Store
	runs *runs.Service
}

// Run implements gate.Things.
func (t lookup) Run(ctx context.Context, actor registry.Actor, id string) (registry.Run, error) {
	return t.runs.Get(ctx, actor, id)
}
