// Package guests says which jailed role is served by what. The same binary is the server and, started again in a jail,
// each of these.
package guests

import (
	"slices"

	doctor "github.com/atelier-run/atelier/runtimes/doctor/guest"
	goja "github.com/atelier-run/atelier/runtimes/goja/guest"
	inspect "github.com/atelier-run/atelier/runtimes/inspect/guest"
	node "github.com/atelier-run/atelier/runtimes/node/guest"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
	wasm "github.com/atelier-run/atelier/runtimes/wasm/guest"
)

// Main is called first in main. In a jailed process it serves and answers the code to end with; otherwise it answers false.
func Main(args []string) (code int, jailed bool) {
	return sandbox.Main(args, slices.Concat(program.Roles(), []sandbox.Role{
		{Name: goja.RoleName, Filter: sandbox.FilterWorker, Serve: goja.Serve},
		{Name: node.RoleName, Filter: sandbox.FilterWorker, Serve: node.Serve},
		{Name: wasm.RoleName, Filter: sandbox.FilterCompiler, Serve: wasm.Serve},
		{Name: inspect.RoleName, Filter: sandbox.FilterWorker, Serve: inspect.Serve},
	}, doctor.Roles()))
}
