package app

import (
	"context"
	"path/filepath"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/doctor"
	"github.com/atelier-run/atelier/runtimes/inspect"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/studio/specs"
)

// doctor returns options for a self-test that uses the same sandbox, pools and engines as runs.
func (b *Engines) doctor() doctor.Options {
	o := doctor.Options{Box: b.sandbox, Binary: b.exe}
	for _, language := range specs.Languages() {
		if language == runtimes.WASM {
			continue // A WebAssembly module needs no self-test: it can do only what the filter of its worker permits, and this filter has its own check.
		}
		name := specs.Runtimes(language)[0]
		e, ok := b.engines[name]
		if !ok {
			continue
		}
		patient := doctor.Engine{Language: language, Name: name, Runtime: e}
		if interpreted, ok := e.(interface{ Interpreter() string }); ok {
			if patient.Interpreter = interpreted.Interpreter(); patient.Interpreter == "" {
				patient.Unavailable = b.lacks(name)
			}
		}
		o.Engines = append(o.Engines, patient)
	}
	if e, ok := b.engines[runtimes.NodeEngine].(interface{ Interpreter() string }); ok && e.Interpreter() != "" {
		o.Engines = append(o.Engines, doctor.Engine{
			Language: doctor.Node, Name: runtimes.NodeEngine, Runtime: b.engines[runtimes.NodeEngine], Interpreter: e.Interpreter(),
		})
	}
	o.Inspect = func(ctx context.Context, language runtimes.Language, files map[string][]byte, entrypoint string) error {
		_, err := b.Inspector.Check(ctx, inspect.Request{Language: language, Files: files, Entrypoint: entrypoint})
		return err
	}
	return o
}

// SelfTest starts the short self-test. Runs that start afterwards wait for its end.
func (b *Engines) SelfTest() { b.selfTest.begin() }

// Level returns the protection that the sandbox of this server enforces, and the mechanisms that are missing.
func (a *App) Level() sandbox.Level { return a.engines.Level() }

// Found waits for the short self-test of the startup and returns its report.
func (a *App) Found(ctx context.Context) (doctor.Report, error) {
	return a.engines.selfTest.result(ctx)
}

// Examination holds the inputs of a full self-test that are not part of the server.
type Examination struct {
	Planted doctor.Planted     // log and traces, created before the server was opened
	Server  string             // address whose APIs are tested; "" skips these tests
	Only    []doctor.Group     // groups of checks to run; nil means all groups
	Tell    func(doctor.Check) // function that is called after each check
}

// Examine waits for the short self-test of the startup, and then runs the checks of the wanted groups. It returns both
// reports.
func (a *App) Examine(ctx context.Context, e Examination) (start, full doctor.Report, err error) {
	if start, err = a.Found(ctx); err != nil {
		return start, full, err
	}
	o := a.engines.doctor()
	o.Planted, o.Server, o.Only, o.Report = e.Planted, e.Server, e.Only, e.Tell
	if o.Binary != "" {
		if o.Binary, err = filepath.Abs(o.Binary); err != nil {
			return start, full, err
		}
	}
	return start, doctor.New(o).Full(ctx), nil
}
