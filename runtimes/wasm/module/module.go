// Package module says what a WebAssembly module needs and offers, and whether it can be run here. Modules are what a stranger
// wrote: it is for the guest halves, in the jail.
package module

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/atelier-run/atelier/runtimes"
)

// Start is what a WASI command exports.
const Start = "_start"

// maxListed bounds how many imports and exports are told; a module has thousands if it likes.
const maxListed = 200

// maxFaults bounds how many reasons are told why a module cannot be run; it can have as many as it has bytes.
const maxFaults = 20

// Describe lists imports and exports of a module.
func Describe(compiled wazero.CompiledModule, bytes int) runtimes.Module {
	said := runtimes.Module{Bytes: bytes, Imports: []runtimes.ModuleFunction{}, Exports: []runtimes.ModuleFunction{}}
	for _, f := range compiled.ImportedFunctions() {
		if len(said.Imports) < maxListed {
			from, name, _ := f.Import()
			said.Imports = append(said.Imports, runtimes.ModuleFunction{Module: cut(from), Name: cut(name), Type: signature(f)})
		}
	}
	exported := compiled.ExportedFunctions()
	for _, name := range slices.Sorted(maps.Keys(exported)) {
		if len(said.Exports) < maxListed {
			said.Exports = append(said.Exports, runtimes.ModuleFunction{Name: cut(name), Type: signature(exported[name])})
		}
	}
	return said
}

// WASI is what a module may import: the functions of WASI preview 1, by name.
func WASI(ctx context.Context, engine wazero.Runtime) (map[string]api.FunctionDefinition, error) {
	offered, err := wasi_snapshot_preview1.NewBuilder(engine).Compile(ctx)
	if err != nil {
		return nil, fmt.Errorf("compile WASI: %w", err)
	}
	return offered.ExportedFunctions(), nil
}

// Faults says why a valid module cannot be run here: what it imports that is not there, and how it is to be started.
func Faults(binary []byte, compiled wazero.CompiledModule, offered map[string]api.FunctionDefinition) []string {
	faults := imported(binary)
	for _, f := range compiled.ImportedFunctions() {
		from, name, _ := f.Import()
		known, ok := offered[name]
		switch {
		case from != wasi_snapshot_preview1.ModuleName:
			faults = append(faults, fmt.Sprintf("it imports the function %q of %q; only WASI preview 1 (%s) is offered.", cut(name), cut(from), wasi_snapshot_preview1.ModuleName))
		case !ok:
			faults = append(faults, fmt.Sprintf("it imports the function %q, which does not exist in WASI preview 1.", cut(name)))
		case signature(known) != signature(f):
			faults = append(faults, fmt.Sprintf("it imports %q as %s; in WASI preview 1 it is %s.", name, signature(f), signature(known)))
		}
	}
	entry, ok := compiled.ExportedFunctions()[Start]
	switch {
	case !ok:
		faults = append(faults, "it exports no function _start: build a command, not a library.")
	case len(entry.ParamTypes()) > 0 || len(entry.ResultTypes()) > 0:
		faults = append(faults, "its function _start must have no parameters and no results.")
	}
	if more := len(faults) - maxFaults; more > 0 {
		return append(faults[:maxFaults:maxFaults], fmt.Sprintf("there are %d more reasons.", more))
	}
	return faults
}

func signature(f api.FunctionDefinition) string {
	list := func(types []api.ValueType) string {
		text := ""
		for i, t := range types {
			if i > 0 {
				text += ", "
			}
			text += api.ValueTypeName(t)
		}
		return "(" + text + ")"
	}
	return list(f.ParamTypes()) + " -> " + list(f.ResultTypes())
}

// cut makes a name of a stranger fit for a message.
func cut(name string) string {
	const longest = 100
	if runes := []rune(name); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return name
}
