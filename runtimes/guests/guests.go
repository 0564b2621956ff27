// Package guests maps each sandboxed role to the code that serves it. The binary of the server also serves these roles when
// it is started in a sandbox.
package guests

import (
	"slices"

	doctor "github.com/atelier-run/atelier/runtimes/doctor/guest"
	goja "github.com/atelier-run/atelier/runtimes/goja/guest"
	inspect "github.com/atelier-run/atelier/runtimes/inspect/guest"
	monty "github.com/atelier-run/atelier/runtimes/monty/guest"
	node "github.com/atelier-run/atelier/runtimes/node/guest"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/launcher"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
	types "github.com/atelier-run/atelier/runtimes/types/guest"
	wasm "github.com/atelier-run/atelier/runtimes/wasm/guest"
)

// Main must be the first call in main. In a sandboxed process, Main executes the role of the process and returns the
// exit code, and jailed is true. In any other process, jailed is false.
func Main(args []string) (code int, jailed bool) {
	if code, ours := types.Main(args); ours { // another process has set up the jail and then executed this binary in it
		return code, true
	}
	if code, ours := monty.Main(args); ours {
		return code, true
	}
	return launcher.Main(args, slices.Concat(program.Roles(), []launcher.Role{
		{Name: goja.RoleName, Filter: sandbox.FilterWorker, Serve: goja.Serve},
		{Name: node.RoleName, Filter: sandbox.FilterWorker, Serve: node.Serve},
		{Name: wasm.RoleName, Filter: sandbox.FilterCompiler, Serve: wasm.Serve},
		{Name: inspect.RoleName, Filter: sandbox.FilterWorker, Serve: inspect.Serve},
	}, doctor.Roles()))
}
