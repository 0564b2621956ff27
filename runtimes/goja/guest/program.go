package guest

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes/bundle"
	"github.com/atelier-run/atelier/runtimes/goja/guest/gaps"
)

// programName is the file name of positions outside the agent's files, such as the bundler's helpers.
const programName = "(program)"

// program is a compiled agent. It can run in any number of VMs.
type program struct {
	code        *goja.Program
	problems    []fault.Detail // reasons why the program could not be compiled
	wordSet     wordSet
	globals     []maker
	corrections []string          // functions of patch.js that the program needs
	files       map[string][]byte // names of the agent's files; their content is not stored
	size        int               // size in bytes that counts for maxProgramBytes
	packaged    bool              // the agent has packages
	preparable  bool              // the program may be loaded in advance
}

// Maximum number of programs in the cache, and maximum total size of their bundled sources in bytes. Source files that
// are not part of the bundle are not stored and do not count, because packages contain megabytes of them.
const (
	maxPrograms     = 64
	maxProgramBytes = 8 << 20
)

// key returns the cache key of a job's program: the server's digest if there is one, otherwise a digest computed here.
func (j Job) key() string {
	if name := j.Program(); name != "" {
		return name
	}
	sum := sha256.New()
	names := make([]string, 0, len(j.Files))
	for name := range j.Files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(sum, "%q %d ", name, len(j.Files[name]))
		_, _ = io.WriteString(sum, j.Files[name])
	}
	fmt.Fprintf(sum, "%q %q", j.Entrypoint, j.Language)
	return string(sum.Sum(nil))
}

// compile bundles and compiles the agent of a job.
//
// goja follows source maps, so that all positions and stack traces refer to the agent's files. By default goja would
// read any file or URL that the last line of a source names. The loader here returns only the bundle's source map.
func compile(job Job) *program {
	p := build(job)
	p.files = make(map[string][]byte, len(job.Files))
	for name := range job.Files {
		p.files[name] = nil
		p.packaged = p.packaged || strings.HasPrefix(name, bundle.PackagesDir+"/")
		p.size += len(name)
	}
	return p
}

func build(job Job) *program {
	files := make(map[string][]byte, len(job.Files))
	for name, text := range job.Files {
		files[name] = []byte(text)
	}
	bundled, problems := bundle.Build(bundle.Source{Files: files, Entrypoint: job.Entrypoint, Language: job.Language})
	if len(problems) > 0 {
		return &program{problems: problems}
	}
	text := bundled.Code + "\n//# sourceMappingURL=bundle.map"
	tree, err := goja.Parse(programName, text, parser.WithSourceMapLoader(func(string) ([]byte, error) { return bundled.Map, nil }))
	if err != nil {
		return &program{problems: gaps.Refusals(err, bundled.Position)}
	}
	if problems := gaps.Properties(tree); len(problems) > 0 {
		return &program{problems: problems}
	}
	code, err := goja.CompileAST(tree, false)
	if err != nil {
		return &program{problems: gaps.Refusals(err, bundled.Position)}
	}
	named := scan(bundled.Code)
	return &program{code: code, wordSet: named, globals: named.globals(), corrections: named.corrections(), size: len(bundled.Code) + len(bundled.Map)}
}
