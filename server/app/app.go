// Package app is the composition root. It opens the database, the engines, the services and the APIs of a server in
// this order, and connects them. Then it serves requests. At the end it closes everything in reverse order. All other
// logic is in other packages.
package app

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"sync/atomic"
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
	"github.com/atelier-run/atelier/server/kafkaapi"
	"github.com/atelier-run/atelier/server/mcpapi"
	"github.com/atelier-run/atelier/server/problem"
	"github.com/atelier-run/atelier/server/skillsapi"
	"github.com/atelier-run/atelier/server/streamapi"
	"github.com/atelier-run/atelier/server/webui"
	"github.com/atelier-run/atelier/studio/access"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/approvals"
	"github.com/atelier-run/atelier/studio/archives"
	"github.com/atelier-run/atelier/studio/assist"
	"github.com/atelier-run/atelier/studio/budgets"
	"github.com/atelier-run/atelier/studio/catalog"
	"github.com/atelier-run/atelier/studio/changes"
	"github.com/atelier-run/atelier/studio/garbage"
	"github.com/atelier-run/atelier/studio/infer"
	"github.com/atelier-run/atelier/studio/llm"
	"github.com/atelier-run/atelier/studio/oidc"
	"github.com/atelier-run/atelier/studio/packages"
	"github.com/atelier-run/atelier/studio/pins"
	"github.com/atelier-run/atelier/studio/policy"
	"github.com/atelier-run/atelier/studio/projects"
	"github.com/atelier-run/atelier/studio/quotas"
	"github.com/atelier-run/atelier/studio/references"
	"github.com/atelier-run/atelier/studio/replay"
	"github.com/atelier-run/atelier/studio/routing"
	"github.com/atelier-run/atelier/studio/runs"
	"github.com/atelier-run/atelier/studio/secrets"
	"github.com/atelier-run/atelier/studio/skills"
	"github.com/atelier-run/atelier/studio/tasks"
	"github.com/atelier-run/atelier/studio/tests"
	"github.com/atelier-run/atelier/studio/toolmaker"
	"github.com/atelier-run/atelier/studio/tools"
	"github.com/atelier-run/atelier/studio/usage"
)

// Options configures an App. It contains everything that is not part of the configuration.
type Options struct {
	Config  config.Config
	Version string
	Log     *slog.Logger
	Studio  fs.FS             // output of the web build; it has no index.html if the Studio was not built
	Samples fs.FS             // one folder per sample
	Skills  fs.FS             // one folder per bundled skill; nil if there are none
	Exe     string            // path of the binary that is started in jails; "" means the running binary
	Traces  *telemetry.Traces // log and traces; nil creates them from the configuration
	Now     func() time.Time  // clock; nil means time.Now
	// Examined is a recent self-test report about the same sandbox. It replaces the self-test in tests that start many
	// servers. If it is nil, the self-test runs.
	Examined *doctor.Report
	// Cost is the cost of hashing a password; zero means the cost of RFC 9106. Tests with many people set a lower cost.
	Cost access.Cost
	// Asked is called for every database statement. It may be nil.
	Asked func(ctx context.Context, operation string)
}

// App is an open server. Call Serve at most once, and always call Close.
type App struct {
	Options
	closers   closers
	newID     func() string
	metrics   *telemetry.Metrics
	store     *store.Store
	bucket    store.Blobs // store for the files of large versions
	engines   *Engines
	access    *access.Service
	provider  *oidc.Service // nil if there is no OpenID provider, and before it is opened
	agents    *agents.Service
	approvals *approvals.Service
	inference *infer.Service
	assistant *assist.Service
	toolmaker *toolmaker.Service
	garbage   *garbage.Service
	models    *llm.Service
	kafka     *kafkaapi.API // nil if no Kafka brokers are configured
	archives  *archives.Service
	catalog   *catalog.Service
	changes   *changes.Hub
	packages  *packages.Service
	pins      *pins.Service
	policy    *policy.Service
	budgets   *budgets.Service
	quotas    *quotas.Service
	usage     *usage.Service
	replays   *replay.Service
	tests     *tests.Service
	routing   *routing.Router
	runs      *runs.Service
	secrets   *secrets.Service
	skills    *skills.Service
	stream    *streamapi.API
	tools     *tools.Service
	projects  *projects.Service
	tasks     *tasks.Service
	handler   http.Handler
	resolver  *references.Resolver
	draining  atomic.Bool // whether the server was asked to stop
	listening atomic.Bool // whether the connection for messages of other servers is open
	problems  problem.Writer
}

// Open opens everything except the network listener. It returns errors that explain the fix, for example if the data
// directory is unusable or the database is newer than this program.
func Open(ctx context.Context, o Options) (*App, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	a := &App{Options: o, newID: newID, problems: problem.Writer{Log: o.Log}}
	for _, step := range []func(context.Context) error{
		a.openTelemetry, a.openData, a.openStoreAndEngines, a.openSecrets, a.openStudio, a.openSkills, a.openAPIs, a.openKafka, a.watchBucket, a.work, a.measure, a.sweep, a.noteUses, a.sweepApprovals, a.measureStorage, a.deliverWebhooks, a.joinOthers,
		a.warnBudgets,
	} {
		if err := step(ctx); err != nil {
			return nil, joinClose(err, a.closers.close())
		}
	}
	return a, nil
}

// Close closes everything that Open opened, in reverse order.
func (a *App) Close() error { return a.closers.close() }

// newID returns a UUID. Later UUIDs sort after earlier ones.
func newID() string {
	return uuid.Must(uuid.NewV7()).String() // It fails only if there are no random numbers; then the process must end.
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

// openStoreAndEngines opens the database and the engines in parallel, because both are slow and independent.
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
		enginesErr = a.keepEngines(engines)
	}
	return joinClose(storeErr, enginesErr)
}

// openAPIs adds the routes of every API to the router. The gate checks each request before its route.
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
		Agents: a.agents, Approvals: a.approvals, Policy: a.policy, Inference: a.inference, Assist: a.assistant, Toolmaker: a.toolmaker, Garbage: a.garbage, Models: a.models, Archives: a.archives, Catalog: a.catalog, Changes: a.changes, Packages: a.packages, Pins: a.pins, Projects: a.projects, Tools: a.tools, Quotas: a.quotas, Replays: a.replays, Tests: a.tests, Runs: a.runs, Routing: a.routing, Secrets: a.secrets, Skills: a.skills, Access: a.access, Keys: a.store, StatusProvider: a.newStatusProvider(), Samples: samples, Metrics: a.metrics.Handler(),
		Usage:    a.usage,
		Tasks:    a.tasks,
		Budgets:  a.budgets,
		Problems: a.problems, Attempts: attempts, PublicURL: a.Config.PublicURL, BasePath: a.Config.BasePath, BodyBytes: a.Config.BodyBytes, Now: a.Now,
		Provider: a.signInProvider(), ProviderName: a.Config.OIDC.Name,
	})
	a.stream = streamapi.New(streamapi.Options{Follow: a.follow, Refuse: a.problems})
	api.Router().Method(http.MethodGet, httpapi.StreamPath, a.stream)
	if inputs := a.inputs(); inputs != nil {
		api.Router().Get(gate.JobInputsPath+"{permission}/{file}", inputs.serve(a.problems))
	}
	skills := skillsapi.New(skillsapi.Options{
		Skills: a.skills, Agents: a.agents, Packages: a.packages, Approvals: a.approvals, Policy: a.policy, Runs: a.runs, Toolmaker: a.toolmaker, Problems: a.problems, BodyBytes: a.Config.BodyBytes, Now: a.Now,
	})
	skills.Hang(api.Router())
	if err := api.DescribeToo(skills.Describe); err != nil {
		return err
	}
	issuer, scopes := a.mcpIssuer()
	mcpAPI := mcpapi.New(mcpapi.Options{
		Tools: a.tools, Runs: a.runs, Approvals: a.approvals, Refuse: a.problems, Log: a.Log, Version: a.Version, PublicURL: a.Config.PublicURL, BasePath: a.Config.BasePath,
		BodyBytes: a.Config.BodyBytes, Now: a.Now, Issuer: issuer, Scopes: scopes,
	})
	a.closers.add("mcp", func() error { mcpAPI.Close(); return nil })
	mcpAPI.Register(api.Router())
	api.Router().Method(http.MethodGet, webui.Base+"*", webui.New(a.Studio, a.Config.BasePath, a.problems))
	g := gate.New(gate.Options{
		Anonymous: a.Config.SkillsAnonymous,
		Names:     a.names(), PublicURL: a.Config.PublicURL, BasePath: a.Config.BasePath, Proxies: a.Config.TrustedProxies, ProxyCount: int(a.Config.ProxyCount), Access: a.access, Rights: a.access, Delegations: a.delegations(), Attempts: attempts, Budget: budget.New(a.Config.RequestMemory), Routes: api.Router(), Lookup: lookup{a.store, a.runs},
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

// lookup finds the agent or the run that a path names, for the permission checks of the gate.
type lookup struct {
	*store.Store
	runs *runs.Service
}

// Run implements gate.Lookup.
func (t lookup) Run(ctx context.Context, actor registry.Actor, id string) (registry.Run, error) {
	return t.runs.Summary(ctx, actor, id)
}
