package app

import (
	"context"
	"os"
	"path/filepath"
	"runtime"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/python"
	"github.com/atelier-run/atelier/runtimes/types"
	"github.com/atelier-run/atelier/studio/infer"
	"github.com/atelier-run/atelier/studio/packages"
	"github.com/atelier-run/atelier/studio/quotas"
)

// inference returns the service that infers schemas from the types of programs. limits and installed may be nil.
func (b *Engines) inference(limits *quotas.Service, installed *packages.Service, choose infer.Chooser) *infer.Service {
	return infer.New(infer.Options{
		Specs: b.Specs, Validator: b.Validator, Router: b.Router, Quotas: limits, Packages: installed, NewID: newID,
		Engines: map[runtimes.Language]runtimes.Runtime{
			runtimes.Python: proved{pythonTypes{b.python}, b.selfTest}, runtimes.TypeScript: proved{b.types, b.selfTest}, runtimes.JavaScript: proved{b.types, b.selfTest},
		},
		Programs: map[runtimes.Name]runtimes.Runtime{
			runtimes.Goja: proved{b.engines[runtimes.Goja], b.selfTest}, runtimes.NodeEngine: proved{b.engines[runtimes.NodeEngine], b.selfTest},
		},
		Chooser: choose, Lacks: b.lacksTypes,
	})
}

// lacksTypes returns the reason why the types of a language cannot be read here and how to fix that, or "" if they can
// be read.
func (b *Engines) lacksTypes(language runtimes.Language) string {
	switch {
	case language == runtimes.Python:
		return b.lacks(runtimes.PythonEngine)
	case !b.types.Available():
		return types.Remedy
	}
	return ""
}

// typescript returns the path of the native TypeScript compiler: either the configured path, or a compiler next to the
// atelier binary or among the system's Node modules. If there is none, it returns "".
func typescript(configured, exe string) string {
	if configured != "" {
		return configured
	}
	if exe == "" {
		exe, _ = os.Executable() // If this fails, only the other directories are searched.
	}
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	paths := []string{filepath.Join(filepath.Dir(exe), "typescript", "tsc")}
	for _, modules := range []string{"/usr/lib/node_modules", "/usr/local/lib/node_modules"} {
		paths = append(paths, filepath.Join(modules, "typescript/node_modules/@typescript/typescript-linux-"+arch, "lib", "tsc"))
	}
	for _, path := range append(paths, interpreter("", "tsgo")) {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// pythonTypes is a runtime that describes the types of a Python program instead of calling its entrypoint.
type pythonTypes struct{ *python.Engine }

// Run implements runtimes.Runtime.
func (p pythonTypes) Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	return p.Infer(ctx, job, host)
}
