package bundle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// builtins is the esbuild namespace of Node's own modules.
const builtins = "builtin"

// forNode sets the options of esbuild for a program for Node. All syntax that V8 supports is kept. Imports become calls
// of require, which is a parameter of the program. A top-level await is kept, because the program is an async function.
func (f *sources) forNode(options *api.BuildOptions) {
	options.Target = api.ES2023
	options.Supported = map[string]bool{"dynamic-import": false, "top-level-await": true}
	options.Define = map[string]string{
		"import.meta.url":      strconv.Quote("file:///work/" + f.Entrypoint),
		"import.meta.filename": strconv.Quote("/work/" + f.Entrypoint),
		"import.meta.dirname":  strconv.Quote("/work"),
	}
}

// loadBuiltin returns the source of a module that exports the exports of a Node module. This lets esbuild handle all
// forms of import.
func loadBuiltin(args api.OnLoadArgs) (api.OnLoadResult, error) {
	contents := fmt.Sprintf("module.exports = require(%q)", args.Path)
	return api.OnLoadResult{Contents: &contents, Loader: api.LoaderJS}, nil
}

// isNodeModule reports whether an import names a module of Node. It accepts any name that begins with node:, because
// only the installed Node can tell which modules exist.
func isNodeModule(wanted string) bool {
	bare, schemed := strings.CutPrefix(wanted, "node:")
	return schemed && bare != "" || slices.Contains(nodeModules(), wanted)
}

// refusal returns the error message for an import that cannot be resolved, for the program's engine.
func (f *sources) refusal(wanted string) string {
	if !f.Node {
		return Refusal(f.Files, wanted)
	}
	if relative(wanted) {
		return fmt.Sprintf("File %q does not exist.", wanted)
	}
	return Refusal(f.Files, wanted)
}
