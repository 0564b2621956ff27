// Package module lists the imports and exports of a WebAssembly module and checks whether the server can run it.
// Modules are untrusted, so only the guest packages use it, inside the sandbox.
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

// Start is the name of the function that a WASI command exports.
const Start = "_start"

// maxListed is the maximum length of the list of imports and of the list of exports. A module may have thousands of
// each.
const maxListed = 200

// maxFaults is the maximum number of reported faults. A module may have about as many faults as bytes.
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

// WASI returns the functions that a module may import: those of WASI preview 1, by name.
func WASI(ctx context.Context, engine wazero.Runtime) (map[string]api.FunctionDefinition, error) {
	offered, err := wasi_snapshot_preview1.NewBuilder(engine).Compile(ctx)
	if err != nil {
		return nil, fmt.Errorf("compile WASI: %w", err)
	}
	return offered.ExportedFunctions(), nil
}

// Faults returns the reasons why a valid module cannot run here: imports that are not available, or a missing start
// function.
func Faults(binary []byte, compiled wazero.CompiledModule, offered map[string]api.FunctionDefinition) []string {
	faults := imported(binary)
	for _, f := range compiled.ImportedFunctions() {
		from, name, _ := f.Import()
		known, ok := offered[name]
		switch {
		case from != wasi_snapshot_preview1.ModuleName:
			faults = append(faults, fmt.Sprintf("it imports the function %q of %q; only the functions of WASI preview 1 (%s) are available.", cut(name), cut(from), wasi_snapshot_preview1.ModuleName))
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

// cut shortens an untrusted name for a message.
func cut(name string) string {
	const longest = 100
	if runes := []rune(name); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return name
}
