package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/engines"
	"github.com/atelier-run/atelier/studio/infer"
	"github.com/atelier-run/atelier/studio/runs"
	"github.com/atelier-run/atelier/studio/tests"
)

// Local runs programs from files in the sandbox of this machine. It stores data in memory only.
type Local struct {
	*runs.Service
	Chooser   *engines.Chooser
	Inference *infer.Service
	Tests     *tests.Service
	engines   *Engines
	closers   closers
}

// OpenLocal opens the engines and services that a run needs, without a data directory or database.
func OpenLocal(ctx context.Context, c config.Config, exe, version string, log *slog.Logger) (*Local, error) {
	l, kept := &Local{}, newMemory()
	traces, err := telemetry.NewTraces(ctx, version, c.Traces)
	if err != nil {
		return nil, err
	}
	l.closers.add("traces", traces.Close)
	engines, err := OpenEngines(ctx, c, exe, log)
	if err != nil {
		return nil, joinClose(err, l.closers.close())
	}
	l.closers.add("runtimes", engines.Close)
	l.engines, l.Chooser = engines, engines.chooser(kept)
	installed := engines.packages(noLocks{}, nil, time.Now)
	l.Inference = engines.inference(nil, installed, l.Chooser)
	l.Service = runs.New(runs.Options{
		Journal: kept, Archive: kept, Drafts: kept, Resolver: kept, Specs: engines.Specs, Packages: installed, Routing: engines.routing(l.Chooser, nil), Validator: engines.Validator,
		Router: engines.Router, Meter: meter{telemetry.NewMetrics(version)}, Tracer: traces.Tracer("studio/runs"), Log: log,
		Ceilings: c.Ceilings, Level: engines.Level().String(), Now: time.Now, NewID: newID,
	})
	l.Tests = tests.New(tests.Options{Runs: l.Service, Agents: kept, Resolver: kept, Validator: engines.Validator})
	l.closers.add("runs", func() error { l.Service.Close(); return nil })
	return l, nil
}

// Complete fills in the defaults of a program and validates it.
func (l *Local) Complete(spec registry.Spec) (registry.Spec, error) {
	return l.engines.Specs.Complete(spec)
}

// Close stops the programs that are running, and then the engines.
func (l *Local) Close() error { return l.closers.close() }
