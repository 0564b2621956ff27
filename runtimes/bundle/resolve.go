package bundle

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

// namespace is the esbuild namespace of the agent's modules. esbuild reads files of the host only in its namespace
// "file". The resolver below never returns that namespace.
const namespace = "agent"

// pluginName identifies the resolver's messages among the messages of esbuild.
const pluginName = "agent"

// sources provides the agent's files to one esbuild call.
type sources struct {
	Source
	suffix   string // text that is appended to the entrypoint
	tsconfig string
	notes    []fault.Detail

	hasPackages bool
	mu          sync.Mutex           // protects manifests: esbuild resolves imports concurrently
	manifests   map[string]*manifest // key: folder
}

// open checks the entrypoint, the size and the nesting of a source, before any parser reads it.
func open(src Source) (*sources, *fault.Detail) {
	if _, ok := src.Files[src.Entrypoint]; !ok {
		return nil, &fault.Detail{Code: CodeEntry, Message: fmt.Sprintf("The entrypoint %q does not exist.", src.Entrypoint)}
	}
	f := &sources{Source: src, manifests: map[string]*manifest{}}
	total := 0
	for _, name := range names(src.Files) {
		if loader(name, src.Language) == api.LoaderNone {
			continue
		}
		if isPackaged(name) { // files of packages are checked when they are imported
			f.hasPackages = true
			continue
		}
		text := src.Files[name]
		if total += len(text); total > MaxSource {
			return nil, &fault.Detail{File: name, Code: CodeSize, Message: fmt.Sprintf("The agent's source files are larger than %s.", bytesize.Text(MaxSource))}
		}
		if line, column, deep := tooDeep(text); deep {
			return nil, &fault.Detail{File: name, Line: line, Column: column, Code: CodeNesting, Message: fmt.Sprintf("Brackets are nested more than %d levels deep.", MaxNesting)}
		}
	}
	f.tsconfig, f.notes = compilerOptions(src.Files)
	return f, nil
}

func names(files map[string][]byte) []string {
	all := make([]string, 0, len(files))
	for name := range files {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func loader(name string, language runtimes.Language) api.Loader {
	switch path.Ext(name) {
	case ".js", ".mjs", ".cjs":
		return api.LoaderJS
	case ".jsx":
		return api.LoaderJSX
	case ".ts", ".mts", ".cts":
		return api.LoaderTS
	case ".tsx":
		return api.LoaderTSX
	case ".json":
		return api.LoaderJSON
	case "":
		if language == runtimes.TypeScript {
			return api.LoaderTS
		}
		return api.LoaderJS
	}
	return api.LoaderNone
}

// Texts returns the content of a job's source files. For all other files it returns only the names. An import of such a
// file is then rejected with the correct reason.
func Texts(job runtimes.Job) map[string]string {
	texts := make(map[string]string, len(job.Files))
	for name, content := range job.Files {
		texts[name] = ""
		if name == job.Entrypoint || path.Ext(name) != "" && loader(name, job.Language) != api.LoaderNone {
			texts[name] = string(content)
		}
	}
	if job.Packages != nil {
		maps.Copy(texts, job.Packages.Sources)
	}
	return texts
}

func (f *sources) plugin() api.Plugin {
	return api.Plugin{Name: pluginName, Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: ".*"}, f.resolve)
		build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: namespace}, f.load)
		build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: builtins}, loadBuiltin)
		build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: absent}, loadAbsent)
		build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: calls}, loadAgents)
	}}
}

func (f *sources) resolve(args api.OnResolveArgs) (api.OnResolveResult, error) {
	if args.Kind == api.ResolveEntryPoint {
		return api.OnResolveResult{Path: f.Entrypoint, Namespace: namespace}, nil
	}
	if f.excluded(args.Importer, args.Path) {
		return api.OnResolveResult{Path: args.Path, Namespace: absent}, nil
	}
	if f.hasPackages && (bare(args.Path) || strings.HasPrefix(args.Path, "#")) {
		if name, pure, ok := f.packaged(args.Importer, args.Path, args.Kind); ok {
			result := api.OnResolveResult{Path: name, Namespace: namespace}
			if pure {
				result.SideEffects = api.SideEffectsFalse
			}
			return result, nil
		}
	}
	if f.Node && isNodeModule(args.Path) {
		if args.Namespace == builtins {
			return api.OnResolveResult{Path: args.Path, External: true}, nil
		}
		return api.OnResolveResult{Path: "node:" + strings.TrimPrefix(args.Path, "node:"), Namespace: builtins}, nil
	}
	if args.Path == AgentsModule {
		return api.OnResolveResult{Path: args.Path, Namespace: calls}, nil
	}
	if f.Unpacked && bare(args.Path) && !isNodeModule(args.Path) {
		return api.OnResolveResult{Path: args.Path, Namespace: absent}, nil
	}
	name, ok := f.find(args.Importer, args.Path)
	if !ok && f.hasPackages && bare(args.Path) && !isNodeModule(args.Path) {
		return api.OnResolveResult{Errors: []api.Message{{Text: missingPackage(args.Path, args.Importer)}}}, nil
	}
	if !ok {
		return api.OnResolveResult{Errors: []api.Message{{Text: f.refusal(args.Path)}}}, nil
	}
	if loader(name, f.Language) == api.LoaderNone {
		text := fmt.Sprintf("%q cannot be imported: only JavaScript, TypeScript and JSON files are supported.", args.Path)
		return api.OnResolveResult{Errors: []api.Message{{Text: text}}}, nil
	}
	return api.OnResolveResult{Path: name, Namespace: namespace}, nil
}

func (f *sources) load(args api.OnLoadArgs) (api.OnLoadResult, error) {
	if isPackaged(args.Path) {
		if text := f.Files[args.Path]; len(text) > MaxSource {
			return api.OnLoadResult{}, fmt.Errorf("the file of a package is larger than %s", bytesize.Text(MaxSource))
		} else if _, _, deep := tooDeep(text); deep {
			return api.OnLoadResult{}, fmt.Errorf("the file of a package has brackets that are nested more than %d levels deep", MaxNesting)
		}
	}
	contents := string(f.Files[args.Path])
	if !f.Node {
		contents = forOneRun(args.Path, contents)
	}
	kind := loader(args.Path, f.Language)
	if args.Path == f.Entrypoint && kind != api.LoaderJSON {
		contents += f.suffix
	}
	return api.OnLoadResult{Contents: &contents, Loader: kind}, nil
}

// find resolves a relative import to a file: the file at the path, the path with an extension, or the index file of a
// folder. As in TypeScript, an import of "./x.js" also matches x.ts.
func (f *sources) find(importer, wanted string) (string, bool) {
	if !relative(wanted) {
		return "", false
	}
	name := path.Join(path.Dir(importer), wanted)
	if isPackaged(importer) {
		if dir, m := f.owner(importer); m != nil {
			return f.replaced(dir, m, name)
		}
		return f.file(name)
	}
	for _, candidate := range candidates(name, strings.HasSuffix(wanted, "/")) {
		if _, ok := f.Files[candidate]; ok {
			return candidate, true
		}
	}
	return "", false
}

func relative(wanted string) bool {
	return wanted == "." || wanted == ".." || strings.HasPrefix(wanted, "./") || strings.HasPrefix(wanted, "../")
}

func candidates(name string, folder bool) []string {
	extensions := []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json"}
	var all []string
	if !folder {
		all = append(all, name)
		for from, to := range map[string]string{".js": ".ts", ".jsx": ".tsx", ".mjs": ".mts", ".cjs": ".cts"} {
			if stem, ok := strings.CutSuffix(name, from); ok {
				all = append(all, stem+to)
			}
		}
		for _, extension := range extensions {
			all = append(all, name+extension)
		}
	}
	for _, extension := range extensions {
		all = append(all, path.Join(name, "index"+extension))
	}
	return all
}

// Refusal returns the error message for an import that cannot be resolved, with advice.
func Refusal(files map[string][]byte, wanted string) string {
	text := fmt.Sprintf("File %q does not exist", wanted)
	plain := strings.TrimPrefix(wanted, "node:")
	switch {
	case strings.HasPrefix(wanted, "node:") || slices.Contains(nodeModules(), plain):
		return fmt.Sprintf("The Node module %q is not available in the goja runtime: set the runtime to node.", wanted)
	case relative(wanted):
		return text + "."
	}
	for _, candidate := range candidates(strings.TrimPrefix(wanted, "/"), false) {
		if _, ok := files[candidate]; ok {
			return text + fmt.Sprintf(": write %q for %s.", "./"+strings.TrimPrefix(wanted, "/"), candidate)
		}
	}
	if bare(wanted) {
		name, _ := splitBare(wanted)
		return fmt.Sprintf("The package %q is not installed: add it to the packages of the agent. Imports of the agent's own files must begin with ./.", name)
	}
	return text + ": a program can import only its packages, and its own files by relative paths."
}

func nodeModules() []string {
	return []string{
		"assert", "assert/strict", "async_hooks", "buffer", "child_process", "cluster", "console", "constants", "crypto", "dgram",
		"diagnostics_channel", "dns", "dns/promises", "domain", "events", "fs", "fs/promises", "http", "http2", "https", "inspector",
		"inspector/promises", "module", "net", "os", "path", "path/posix", "path/win32", "perf_hooks", "process", "punycode",
		"querystring", "readline", "readline/promises", "repl", "stream", "stream/consumers", "stream/promises", "stream/web",
		"string_decoder", "sys", "timers", "timers/promises", "tls", "trace_events", "tty", "url", "util", "util/types", "v8", "vm",
		"wasi", "worker_threads", "zlib",
	}
}
