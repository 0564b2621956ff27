package bundle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// builtins is the namespace of Node's own modules.
const builtins = "builtin"

// forNode keeps all syntax that V8 supports. Imports become calls of require, which the program receives as a
// parameter. A top-level await remains, inside an async function.
func (f *sources) forNode(options *api.BuildOptions) {
	options.Target = api.ES2023
	options.Supported = map[string]bool{"dynamic-import": false, "top-level-await": true}
	options.Define = map[string]string{
		"import.meta.url":      strconv.Quote("file:///work/" + f.Entrypoint),
		"import.meta.filename": strconv.Quote("/work/" + f.Entrypoint),
		"import.meta.dirname":  strconv.Quote("/work"),
	}
}

// loadBuiltin returns a module that represents one of Node's. esbuild then handles all forms of import.
func loadBuiltin(args api.OnLoadArgs) (api.OnLoadResult, error) {
	contents := fmt.Sprintf("module.exports = require(%q)", args.Path)
	return api.OnLoadResult{Contents: &contents, Loader: api.LoaderJS}, nil
}

// isNodeModule accepts any name with the scheme node: because the host's Node knows which modules exist.
func isNodeModule(wanted string) bool {
	bare, schemed := strings.CutPrefix(wanted, "node:")
	return schemed && bare != "" || slices.Contains(nodeModules(), wanted)
}

// refusal is Refusal for the program's engine.
func (f *sources) refusal(wanted string) string {
	if !f.Node {
		return Refusal(f.Files, wanted)
	}
	if relative(wanted) {
		return fmt.Sprintf("File %q does not exist.", wanted)
	}
	return Refusal(f.Files, wanted)
}
