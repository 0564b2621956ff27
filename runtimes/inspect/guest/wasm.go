package guest

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes/bundle"
	"github.com/atelier-run/atelier/runtimes/wasm/module"
)

// CodeModule is the code of errors in a WebAssembly module.
const CodeModule = "invalid_module"

// wasm validates a module and lists its imports and exports. It does not compile the module to machine code.
func wasm(job Job) Report {
	binary, ok := job.Files[job.Entrypoint]
	if !ok {
		return Report{Errors: []fault.Detail{{Code: bundle.CodeEntry, Message: fmt.Sprintf("The entrypoint %q does not exist.", job.Entrypoint)}}}
	}
	wrong := func(format string, args ...any) fault.Detail {
		return fault.Detail{File: job.Entrypoint, Code: CodeModule, Message: fmt.Sprintf(format, args...)}
	}
	ctx := context.Background()
	engine := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	report, err := func() (report Report, err error) {
		defer func() { err = errors.Join(err, engine.Close(ctx)) }()
		offered, err := module.WASI(ctx, engine)
		if err != nil {
			return report, err
		}
		compiled, err := engine.CompileModule(ctx, binary)
		if err != nil {
			report.Errors = append(report.Errors, wrong("The file is not a valid WebAssembly module: %v.", err))
			return report, nil
		}
		said := module.Describe(compiled, len(binary))
		report.Module = &said
		for _, reason := range module.Faults(binary, compiled, offered) {
			report.Errors = append(report.Errors, wrong("The module cannot run: %s", reason))
		}
		return report, nil
	}()
	if err != nil {
		report.Errors = append(report.Errors, wrong("The module could not be inspected: %v.", err))
	}
	return report
}
