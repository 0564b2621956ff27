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

// doctor is an examiner of the bench: the same sandbox, pools and engines that runs have.
func (b *Engines) doctor() doctor.Options {
	o := doctor.Options{Box: b.sandbox, Binary: b.exe}
	for _, language := range specs.Languages() {
		if language == runtimes.WASM {
			continue // what a module can try is what its worker's filter lets it: that is examined as such
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

// SelfTest begins the short examination. Runs wait for it from now on.
func (b *Engines) SelfTest() { b.selfTest.begin() }

// Level is how much of the sandbox this server enforces.
func (a *App) Level() sandbox.Level { return a.engines.Level() }

// Found waits for the examination of the start and returns what it found.
func (a *App) Found(ctx context.Context) (doctor.Report, error) {
	return a.engines.selfTest.result(ctx)
}

// Examination is what an examination of this server needs beyond the server.
type Examination struct {
	Planted doctor.Planted     // from before the server was opened
	Server  string             // whose doors are tried; "" leaves them out
	Only    []doctor.Group     // nil is all of them
	Tell    func(doctor.Check) // hears of each check as it is made
}

// Examine lets the doctor make every check there is, after the short examination of the start.
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
