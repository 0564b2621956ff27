package bundle

import (
	"path"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/atelier-run/atelier/internal/fault"
)

// Module is one source file in the syntax that goja's parser accepts. Imports are calls of require.
type Module struct {
	File string
	Code string
	Map  []byte // source map, as in Program
}

// Separate converts each source file separately, so that its imports stay visible. For an invalid file it returns
// problems.
func Separate(src Source) ([]Module, []fault.Detail) {
	files, problem := open(src)
	if problem != nil {
		return nil, []fault.Detail{*problem}
	}
	var modules []Module
	for _, name := range names(src.Files) {
		kind := loader(name, src.Language)
		if kind == api.LoaderNone || kind == api.LoaderJSON || path.Ext(name) == "" && name != src.Entrypoint {
			continue
		}
		module, problems := files.separate(name, kind)
		if len(problems) > 0 {
			return nil, problems
		}
		modules = append(modules, module)
	}
	return modules, nil
}

// CodeUndecided is the code of a problem in source that is valid but that Separate cannot convert.
const CodeUndecided = "undecided"

// separate converts one file.
func (f *sources) separate(name string, kind api.Loader) (Module, []fault.Detail) {
	result := api.Transform(string(f.Files[name]), api.TransformOptions{
		Loader: kind, Format: api.FormatCommonJS, Platform: api.PlatformNeutral, Target: api.ES2017, Supported: syntax(), Sourcefile: namespace + ":" + name,
		Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude, Charset: api.CharsetASCII, LegalComments: api.LegalCommentsNone,
		LogLevel: api.LogLevelSilent, LogLimit: MaxProblems, TsconfigRaw: f.tsconfig,
	})
	if len(result.Errors) > 0 {
		code := CodeUndecided
		for _, e := range result.Errors {
			if !strings.Contains(e.Text, "op-level await") {
				code = CodeSyntax
			}
		}
		return Module{}, problems(f.Source, code, result.Errors)
	}
	mapping, err := shift(result.Map)
	if err != nil {
		return Module{}, []fault.Detail{{File: name, Code: CodeUndecided, Message: "The converted file is not readable: " + err.Error()}}
	}
	return Module{File: name, Code: "(function (require, module, exports) {\n" + string(result.Code) + "\n})", Map: mapping}, nil
}
