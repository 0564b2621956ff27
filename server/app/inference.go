package app

import (
	"context"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/python"
	"github.com/atelier-run/atelier/studio/infer"
	"github.com/atelier-run/atelier/studio/quotas"
)

// inference returns the service that reads the types of programs. limits may be nil.
func (b *Engines) inference(limits *quotas.Service) *infer.Service {
	o := infer.Options{
		Specs: b.Specs, Validator: b.Validator, Admission: b.Router, NewID: newID,
		Engines: map[runtimes.Language]runtimes.Runtime{runtimes.Python: proved{pythonTypes{b.python}, b.selfTest}},
		Lacks:   func(runtimes.Language) string { return b.lacks(runtimes.PythonEngine) },
	}
	if limits != nil { // a nil *Service in an interface is not nil
		o.Quotas = limits
	}
	return infer.New(o)
}

// pythonTypes describes the types of a Python program instead of running it.
type pythonTypes struct{ *python.Engine }

// Run implements runtimes.Runtime.
func (p pythonTypes) Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	return p.Infer(ctx, job, host)
}
