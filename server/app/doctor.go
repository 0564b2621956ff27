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

// doctor returns options for a self-test with the same sandbox, pools and engines that runs use.
func (b *Engines) doctor() doctor.Options {
	o := doctor.Options{Box: b.sandbox, Binary: b.exe}
	for _, language := range specs.Languages() {
		if language == runtimes.WASM {
			continue // a module can only do what its worker's filter permits, and the filter has its own check
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

// SelfTest starts the short self-test. From then on, runs wait for it.
func (b *Engines) SelfTest() { b.selfTest.begin() }

// Level returns the protection that the sandbox of this server enforces, and the missing mechanisms.
func (a *App) Level() sandbox.Level { return a.engines.Level() }

// Found waits for the short self-test at startup and returns its report.
func (a *App) Found(ctx context.Context) (doctor.Report, error) {
	return a.engines.selfTest.result(ctx)
}

// Examination holds the inputs of a full self-test, in addition to the server.
type Examination struct {
	Planted doctor.Planted     // created before the server was opened
	Server  string             // address whose APIs are tested; "" skips them
	Only    []doctor.Group     // nil means all groups
	Tell    func(doctor.Check) // called after each check
}

// Examine waits for the short self-test at startup, and then runs the checks of the wanted groups. It returns the reports
// of both.
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
