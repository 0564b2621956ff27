package guest

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes/bundle"
	"github.com/atelier-run/atelier/runtimes/goja/guest/gaps"
)

// programName is what positions outside the agent's files carry: those in the bundler's helpers.
const programName = "(program)"

// program is an agent, compiled. It is immutable and serves any number of VMs.
type program struct {
	code     *goja.Program
	problems []fault.Detail // why there is no code
	wordSet  wordSet
	globals  []maker
	sources  map[string]string // original text of patterns that were rewritten
	files    map[string][]byte // the names of the agent's files, without what is in them
	size     int
}

// The cache of programs is bounded by number and by source text.
const (
	maxPrograms     = 64
	maxProgramBytes = 8 << 20
)

// key names the program of a job: the digest that the server computed, else one of our own.
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
// goja follows source maps, which makes every position and every stack point into the agent's files. By default it
// would read any file or URL that the last line of a source names; the loader here knows one map only, the bundle's.
func compile(job Job) *program {
	p := build(job)
	p.files = make(map[string][]byte, len(job.Files))
	for name, text := range job.Files {
		p.files[name] = nil
		p.size += len(text)
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
	sources, problems := gaps.Rewrite(tree)
	if len(problems) > 0 {
		return &program{problems: problems}
	}
	code, err := goja.CompileAST(tree, false)
	if err != nil {
		return &program{problems: gaps.Refusals(err, bundled.Position)}
	}
	named := scan(bundled.Code)
	return &program{code: code, wordSet: named, globals: named.globals(), sources: sources, size: len(bundled.Code)}
}
