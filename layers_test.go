package main_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/atelier-run/atelier"

// layers lists the layers from the lowest to the highest, each with the root paths of its packages. A package belongs to the
// layer that has the longest root matching its path. A package may import its own layer and lower ones.
var layers = []struct {
	name  string
	roots []string
}{
	{"internal", []string{"internal", "migrations", "skills"}},
	{"runtimes, registry", []string{"runtimes", "registry"}},
	{"studio", []string{"studio"}},
	{"server", []string{"server"}},
	{"composition", []string{"server/app", "server/cli", "main"}},
	{"tests", []string{"server/servertest", "runtimes/hostile", "scripts"}},
}

// layerOf returns the layer of a package, or -1 if no root fits.
func layerOf(pkg string) int {
	found, longest := -1, -1
	for layer, l := range layers {
		for _, root := range l.roots {
			if within(pkg, []string{root}) && len(root) > longest {
				found, longest = layer, len(root)
			}
		}
	}
	if found >= 0 && forTests(pkg) {
		return len(layers) - 1
	}
	return found
}

func TestImportsGoDownward(t *testing.T) {
	t.Parallel()
	for _, fault := range faults(imports(t, sources(t))) {
		t.Error(fault)
	}
}

// TestLayersRefuse checks that faults reports forbidden imports, so that the check of the real packages can fail.
func TestLayersRefuse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		from, to string
		want     string
	}{
		"downward":                {"studio/runs", "registry/store", ""},
		"own layer":               {"runtimes/python", "runtimes/sandbox", ""},
		"composition":             {"main", "server/cli", ""},
		"upward":                  {"registry/store", "studio/runs", "registry/store (layer runtimes, registry) imports studio/runs (layer studio)"},
		"use case to API":         {"studio/runs", "server/gate", "studio/runs (layer studio) imports server/gate (layer server)"},
		"API to composition":      {"server/gate", "server/app", "server/gate (layer server) imports server/app (layer composition)"},
		"unknown package":         {"attic", "internal/fault", "attic has no layer"},
		"import of an unknown":    {"main", "attic", "main imports attic, which has no layer"},
		"test kit in the product": {"server/app", "server/servertest", "server/app imports server/servertest, which is for tests"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := faults(map[string][]string{tt.from: {tt.to}})
			switch {
			case tt.want == "" && len(got) > 0:
				t.Errorf("refused a good import: %v", got)
			case tt.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], tt.want)):
				t.Errorf("got %q, want one fault that starts with %q", got, tt.want)
			}
		})
	}
}

// faults lists the imports that break the order of layers, one sentence each.
func faults(packages map[string][]string) []string {
	var found []string
	for pkg, wanted := range packages {
		layer := layerOf(pkg)
		if layer < 0 {
			found = append(found, pkg+" has no layer: give it one in layers_test.go")
			continue
		}
		for _, other := range wanted {
			below := layerOf(other)
			switch {
			case below < 0:
				found = append(found, fmt.Sprintf("%s imports %s, which has no layer", pkg, other))
			case forTests(other) && layer < len(layers)-1:
				found = append(found, fmt.Sprintf("%s imports %s, which is for tests", pkg, other))
			case below > layer:
				found = append(found, fmt.Sprintf("%s (layer %s) imports %s (layer %s): imports go downward", pkg, layers[layer].name, other, layers[below].name))
			}
		}
	}
	slices.Sort(found)
	return found
}

// forTests reports whether a package is a test helper, which only tests may import. Its name ends in "test".
func forTests(pkg string) bool {
	return strings.HasSuffix(path.Base(pkg), "test")
}

// source is a parsed Go file of the product. Test files are left out.
type source struct {
	pkg, path string
	syntax    *ast.File
	files     *token.FileSet
}

// sources parses all Go files of the product. It reads the files itself instead of running `go list`, so that Go's test
// cache notices changed files.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	files := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && skipped(name):
			return filepath.SkipDir
		case entry.IsDir(), !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		syntax, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		all = append(all, source{pkg: packageOf(filepath.ToSlash(filepath.Dir(name))), path: filepath.ToSlash(name), syntax: syntax, files: files})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func skipped(dir string) bool {
	base := filepath.Base(dir)
	return base != "." && (strings.HasPrefix(base, ".") || base == "node_modules" || base == "testdata" || dir == "web" || dir == "samples")
}

func packageOf(dir string) string {
	if dir == "." {
		return "main"
	}
	return dir
}

// imports maps each pkg to the packages of this module that it imports.
func imports(t *testing.T, files []source) map[string][]string {
	t.Helper()
	packages := map[string][]string{}
	for _, file := range files {
		packages[file.pkg] = append(packages[file.pkg], modulePackages(file)...)
	}
	for pkg, wanted := range packages {
		slices.Sort(wanted)
		packages[pkg] = slices.Compact(wanted)
	}
	return packages
}

func modulePackages(file source) []string {
	var wanted []string
	for _, name := range packagesIn(file) {
		if rest, ok := strings.CutPrefix(name, module+"/"); ok {
			wanted = append(wanted, rest)
		}
	}
	return wanted
}

func packagesIn(file source) []string {
	var names []string
	for _, spec := range file.syntax.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			names = append(names, name)
		}
	}
	return names
}
