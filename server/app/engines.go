package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bacalhau"
	"github.com/atelier-run/atelier/runtimes/bash"
	"github.com/atelier-run/atelier/runtimes/doctor"
	"github.com/atelier-run/atelier/runtimes/e2b"
	"github.com/atelier-run/atelier/runtimes/egress"
	"github.com/atelier-run/atelier/runtimes/goja"
	"github.com/atelier-run/atelier/runtimes/inspect"
	"github.com/atelier-run/atelier/runtimes/monty"
	"github.com/atelier-run/atelier/runtimes/node"
	"github.com/atelier-run/atelier/runtimes/packages"
	"github.com/atelier-run/atelier/runtimes/python"
	"github.com/atelier-run/atelier/runtimes/remote"
	"github.com/atelier-run/atelier/runtimes/router"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/script"
	"github.com/atelier-run/atelier/runtimes/types"
	"github.com/atelier-run/atelier/runtimes/wasm"
	"github.com/atelier-run/atelier/runtimes/wasmedge"
	"github.com/atelier-run/atelier/runtimes/worker"
	"github.com/atelier-run/atelier/studio/engines"
	"github.com/atelier-run/atelier/studio/routing"
	"github.com/atelier-run/atelier/studio/runs"
	"github.com/atelier-run/atelier/studio/specs"
)

// schemasKept is the number of compiled schemas that stay in memory.
const schemasKept = 512

// Engines contains the engines, the sandbox and the other services needed to run a program. It does not use the database.
type Engines struct {
	closers   closers
	config    config.Config
	exe       string
	sandbox   *sandbox.Sandbox
	selfTest  *selfTest
	engines   map[runtimes.Name]engine
	python    *python.Engine
	types     *types.Engine
	traffic   traffic
	table     routing.Table
	listeners listeners
	Router    *router.Router
	Packages  *packages.Manager
	Inspector *inspect.Inspector
	Validator *specs.Validator
	Specs     *specs.Checker
}

// engine is a runtime with workers.
type engine interface {
	runtimes.Runtime
	Warm(ctx context.Context) error
	Stats() worker.Stats
	Features() []runtimes.Feature
	Close()
}

// OpenEngines detects which sandbox features this host can enforce, and starts to prepare workers in the background.
// exe is the path of the binary that is started in sandboxes; "" means the running binary.
func OpenEngines(ctx context.Context, c config.Config, exe string, log *slog.Logger) (*Engines, error) {
	table, err := tableOf(c)
	if err != nil {
		return nil, err
	}
	box, err := sandbox.New(ctx, sandbox.Options{Exe: exe, Log: log, AllowWeak: c.AllowWeak, Without: c.Masked})
	if err != nil {
		return nil, err
	}
	b := &Engines{config: c, exe: exe, sandbox: box, table: table}
	b.closers.add("sandbox", box.Close)
	b.openEngines(worker.FromSandbox(box), log)
	b.Validator = specs.NewValidator(schema.NewCache(schemasKept))
	b.Specs = specs.New(b.Validator, c.Defaults, c.Ceilings, c.Restricted...)
	b.Specs.CapGrants(c.Ceiling)
	b.Specs.OfferPackages(b.Packages.Lacks)
	b.Specs.CheckFeatures(b.features)
	b.closers.add("proof", b.selfTest.close)
	return b, nil
}

// pausedPerSlot is the number of programs per concurrent run that may wait for an approval. A waiting program uses memory
// but no CPU time.
const pausedPerSlot = 4

func (b *Engines) openEngines(jailer worker.Jailer, log *slog.Logger) {
	running := b.config.Concurrency
	if running == 0 {
		running = max(8, 4*runtime.NumCPU())
	}
	jails := running*(1+runs.MaxToolDepth) + b.config.Warm // A program that waits for a called agent keeps its jail.
	paused := pausedPerSlot * running                      // A program that waits for an approval keeps its jail too.
	proxy := egress.New(egress.Options{Ceiling: b.ceiling, Server: b.listeners.all, Meter: &b.traffic})
	pythonPath, bashPath := interpreter(b.config.Python, "python3"), interpreter(b.config.Bash, "bash")
	b.python = python.New(python.Options{Jailer: jailer, Egress: proxy, Interpreter: pythonPath, Models: b.config.EmbeddingModel, Idle: b.config.Warm, Max: jails, Log: log})
	v8 := node.New(node.Options{
		Jailer: jailer, Egress: proxy, Interpreter: interpreter(b.config.Node, "node"), Guest: doctor.Workspace, Memory: b.config.Defaults.MemoryBytes, Idle: b.config.Warm, Max: jails, Log: log,
	})
	b.engines = map[runtimes.Name]engine{
		runtimes.Goja:         goja.New(goja.Options{Jailer: jailer, Egress: proxy, Idle: b.config.Warm, Max: jails, Log: log}),
		runtimes.NodeEngine:   v8,
		runtimes.PythonEngine: b.python,
		runtimes.MontyEngine: monty.New(monty.Options{
			Jailer: jailer, Egress: proxy, Interpreter: interpreter(b.config.Monty, "monty"), Exe: b.exe, Max: jails + paused, Log: log,
		}),
		runtimes.BashEngine: bash.New(bash.Options{Jailer: jailer, Egress: proxy, Interpreter: bashPath, Idle: b.config.Warm, Max: jails, Log: log}),
		runtimes.WASMEngine: wasm.New(wasm.Options{Jailer: jailer, Max: jails, Log: log}),
		runtimes.WasmEdge:   wasmedge.New(wasmedge.Options{Jailer: jailer, Runner: b.config.WasmEdge, Max: jails, Log: log}),
		runtimes.E2BEngine: e2b.New(e2b.Options{
			Key: b.config.E2B.Key, API: b.config.E2B.API, Domain: b.config.E2B.Domain, Template: b.config.E2B.Template, Sandboxes: b.config.E2B.Sandboxes,
			Bundle: v8.Bundle, Ceiling: b.ceiling, Log: log,
		}),
		runtimes.Bacalhau: bacalhau.New(bacalhau.Options{
			Host: b.config.Bacalhau.Host, Port: b.config.Bacalhau.Port, Key: b.config.Bacalhau.Key, Publisher: b.config.Bacalhau.Publisher,
			Python: b.config.Bacalhau.Python, PythonModule: b.config.Bacalhau.Module, Node: b.config.Bacalhau.Node, Bash: b.config.Bacalhau.Bash, Bundle: v8.Bundle, Ceiling: b.ceiling, Log: log,
		}),
		runtimes.RemoteEngine: remote.New(remote.Options{Egress: proxy, Log: log}),
	}
	b.selfTest = newSelfTest(func(ctx context.Context) doctor.Report { return doctor.New(b.doctor()).Quick(ctx) }, log)
	all := map[runtimes.Name]runtimes.Runtime{}
	for name, e := range b.engines {
		all[name] = proved{e, b.selfTest}
		b.closers.add(string(name), func() error { e.Close(); return nil })
	}
	if b.config.ScriptRuntime {
		all[runtimes.Script] = script.New()
	}
	b.Inspector = inspect.New(inspect.Options{Jailer: jailer, Programs: b.python, Bash: bashPath, Python: pythonPath, Log: log})
	b.closers.add("inspector", func() error { b.Inspector.Close(); return nil })
	b.Packages = b.openPackages(jailer, pythonPath, log)
	b.closers.add("packages", func() error { b.Packages.Close(); return nil })
	b.types = types.New(types.Options{Jailer: jailer, Compiler: typescript(b.config.TypeScript, b.exe), Exe: b.exe, Log: log})
	b.closers.add("types", func() error { b.types.Close(); return nil })
	b.Router = router.New(router.Options{Engines: all, Running: running, Queue: b.config.QueueSize, Paused: paused})
}

// chooser returns the service that selects an engine by the features that code uses and by the CPU time of earlier
// runs.
func (b *Engines) chooser(runs engines.Runs) *engines.Chooser {
	return engines.New(engines.Options{Inspector: b.Inspector, Specs: b.Specs, Runs: runs, Lacks: b.lacks, SlowMs: b.table.SlowMs})
}

// routing returns the router that chooses a runtime for each run.
func (b *Engines) routing(chooser *engines.Chooser, runs routing.Runs) *routing.Router {
	return routing.New(routing.Options{Table: b.table, Specs: b.Specs, Engines: chooser, Lacks: b.lacks, Features: b.features, Runs: runs})
}

// tableOf reads the router's table: the file named by --router, or the built-in table if none is named.
func tableOf(c config.Config) (routing.Table, error) {
	if c.Router == "" {
		return routing.Shipped()
	}
	text, err := os.ReadFile(c.Router)
	if err != nil {
		return routing.Table{}, fmt.Errorf("read the file of --router: %w", err)
	}
	return routing.Parse(c.Router, text)
}

// lacks returns the reason why an engine cannot run here and how to fix that, or "" if it can run.
func (b *Engines) lacks(name runtimes.Name) string {
	engine, ok := b.engines[name]
	if !ok {
		return "This server does not have the runtime " + string(name) + "."
	}
	if away, ok := engine.(interface{ Lacks() string }); ok {
		return away.Lacks()
	}
	if name == runtimes.MontyEngine && b.interpreter(name) == "" {
		return monty.Remedy
	}
	if _, interpreted := engine.(interface{ Interpreter() string }); interpreted && b.interpreter(name) == "" {
		return fmt.Sprintf("No %[1]s interpreter was found in /usr/bin or /usr/local/bin. Install it or set its path with --%[1]s.", name)
	}
	return ""
}

// features returns the features of an engine. If this server does not have the engine, it returns false.
func (b *Engines) features(name runtimes.Name) ([]runtimes.Feature, bool) {
	engine, ok := b.engines[name]
	if !ok {
		return nil, false
	}
	return engine.Features(), true
}

// interpreter returns the path of the host program that an engine starts, or "" if it starts none.
func (b *Engines) interpreter(name runtimes.Name) string {
	if interpreted, ok := b.engines[name].(interface{ Interpreter() string }); ok {
		return interpreted.Interpreter()
	}
	return ""
}

// version returns the version of the language that an engine runs, or "" if it is unknown.
func (b *Engines) version(name runtimes.Name) string {
	if versioned, ok := b.engines[name].(interface{ Version() string }); ok {
		return versioned.Version()
	}
	return ""
}

// ceiling returns the hosts that runs of a workspace may reach at most. Grants of an agent cannot exceed it.
func (b *Engines) ceiling(workspace string) hostpattern.Ceiling {
	if workspace == doctor.Workspace {
		return hostpattern.Ceiling{All: true, Private: true}
	}
	return b.config.Ceiling(workspace)
}

// Close stops every worker and removes the resources that the sandbox created on the host.
func (b *Engines) Close() error { return b.closers.close() }

// Level returns the protection that the sandbox enforces on this host. After a failed self-test, the level is lower
// than the one that the sandbox itself reports.
func (b *Engines) Level() sandbox.Level { return b.selfTest.level(b.sandbox.Level()) }

func (a *App) keepEngines(engines *Engines) error {
	a.engines = engines
	a.closers.add("runtimes", engines.Close)
	if a.Examined != nil {
		engines.selfTest.examine = func(context.Context) doctor.Report { return *a.Examined }
	}
	engines.SelfTest()
	a.showLoad()
	return a.tidyElsewhere()
}

// showLoad registers the metrics of the server's load. Their values are computed on each request of /metrics.
func (a *App) showLoad() {
	router := a.engines.Router
	a.metrics.Gauge("atelier_queue_waiting", "Number of queued runs.", nil, func() float64 { return float64(router.Load().Waiting) })
	a.metrics.Gauge("atelier_runs_running", "Number of active runs.", nil, func() float64 { return float64(router.Load().Running) })
	a.showTraffic(&a.engines.traffic)
	for name, e := range a.engines.engines {
		labels := map[string]string{"runtime": string(name)}
		a.showWorkers(labels, e.Stats)
	}
}

func (a *App) showWorkers(labels map[string]string, stats func() worker.Stats) {
	a.metrics.Gauge("atelier_workers_idle", "Number of prepared workers.", labels, func() float64 { return float64(stats().Idle) })
	a.metrics.Gauge("atelier_workers_busy", "Number of workers that execute a run.", labels, func() float64 { return float64(stats().Busy) })
	a.metrics.Gauge("atelier_workers_preparing", "Number of workers that are being prepared.", labels, func() float64 { return float64(stats().Preparing) })
	a.metrics.Gauge("atelier_workers_waiting", "Number of admitted runs that wait for a worker.", labels, func() float64 { return float64(stats().Waiting) })
	a.metrics.Counter("atelier_workers_started_total", "Number of workers that became ready.", labels, func() float64 { return float64(stats().Started) })
	a.metrics.Counter("atelier_workers_died_total", "Number of workers that exited or were killed by another process.", labels, func() float64 { return float64(stats().Died) })
	a.metrics.Counter("atelier_workers_retired_total", "Number of workers that the server stopped.", labels, func() float64 { return float64(stats().Retired) })
}
