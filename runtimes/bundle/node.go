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

// forNode leaves alone what V8 has of the language. Imports become calls of require, which the program is given; a
// top-level await stays one, in a function that is async.
func (f *sources) forNode(options *api.BuildOptions) {
	options.Target = api.ES2023
	options.Supported = map[string]bool{"dynamic-import": false, "top-level-await": true}
	options.Define = map[string]string{
		"import.meta.url":      strconv.Quote("file:///work/" + f.Entrypoint),
		"import.meta.filename": strconv.Quote("/work/" + f.Entrypoint),
		"import.meta.dirname":  strconv.Quote("/work"),
	}
}

// loadBuiltin is a module that stands for one of Node's: how it was imported is then esbuild's business.
func loadBuiltin(args api.OnLoadArgs) (api.OnLoadResult, error) {
	contents := fmt.Sprintf("module.exports = require(%q)", args.Path)
	return api.OnLoadResult{Contents: &contents, Loader: api.LoaderJS}, nil
}

// isNodeModule takes any name with the scheme: which of them there are, the Node of the host knows.
func isNodeModule(wanted string) bool {
	bare, schemed := strings.CutPrefix(wanted, "node:")
	return schemed && bare != "" || slices.Contains(nodeModules(), wanted)
}

// refusal is Refusal for the engine that the program is meant for.
func (f *sources) refusal(wanted string) string {
	if !f.Node {
		return Refusal(f.Files, wanted)
	}
	if relative(wanted) {
		return fmt.Sprintf("File %q does not exist.", wanted)
	}
	text := Refusal(f.Files, wanted)
	return strings.Replace(text, "only relative imports of the agent's own files are possible", "only Node modules and relative imports of the agent's own files are possible", 1)
}
