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

// floors maps each package to its layer. A package may import only packages of a lower layer. A package that is missing
// here fails the test, so that its layer is a decision and not an accident. ARCHITECTURE.md shows the same list.
var floors = map[string]int{
	"internal/budget":       0,
	"internal/fault":        0,
	"internal/jcs":          1,
	"internal/config":       1,
	"internal/hostpattern":  0,
	"internal/redact":       0,
	"internal/gctuning":     0,
	"internal/pyhash":       0,
	"internal/lru":          0,
	"internal/bytesize":     0,
	"internal/editdistance": 0,
	"internal/telemetry":    0,
	"internal/terminal":     0,
	"internal/vault":        0,
	"migrations":            0,
	"scripts/load":          0,
	"scripts/report":        0,
	"server/gate/gatetest":  0,
	"skills":                0,

	"runtimes":        1,
	"scripts/bench":   1,
	"scripts/kill":    1,
	"scripts/profile": 1,
	"scripts/soak":    1,

	"registry":        2,
	"runtimes/frames": 2,

	"registry/blobs":           3,
	"registry/digest":          3,
	"registry/schema":          3,
	"registry/tarball":         3,
	"runtimes/sandbox/cgroups": 3,
	"runtimes/sandbox":         3,
	"runtimes/sandbox/seccomp": 3,

	"registry/archive":                         4,
	"registry/compat":                          4,
	"registry/manifest":                        4,
	"registry/skills":                          4,
	"registry/advice":                          5,
	"registry/store":                           4,
	"runtimes/bundle":                          4,
	"runtimes/egress":                          4,
	"runtimes/sandbox/sandboxtest/hostiletest": 4,
	"runtimes/sandbox/sandboxtest":             4,
	"runtimes/worker":                          4,

	"registry/store/storetest": 5,
	"runtimes/goja/guest/gaps": 4,
	"runtimes/wasm/module":     4,
	"runtimes/doctor/guest":    5,
	"runtimes/goja/guest":      5,
	"runtimes/node/guest":      5,
	"runtimes/wasm/guest":      5,
	"runtimes/inspect/guest":   5,
	"runtimes/python/rules":    5,
	"runtimes/sandbox/program": 5,

	"runtimes/bash":        6,
	"runtimes/goja":        6,
	"runtimes/node":        6,
	"runtimes/guests":      6,
	"runtimes/python":      6,
	"runtimes/wasm":        6,
	"runtimes/runtimetest": 6,
	"runtimes/script":      6,

	"runtimes/doctor":                        7,
	"runtimes/guests/guestmain":              7,
	"runtimes/sandbox/sandboxtest/covertest": 6,

	"runtimes/inspect": 7,
	"runtimes/router":  7,
	"studio/recorder":  7,

	"studio/access":     8,
	"studio/changes":    8,
	"studio/references": 8,
	"studio/engines":    8,
	"studio/quotas":     8,
	"studio/oidc":       8,
	"studio/secrets":    8,
	"studio/specs":      8,

	"studio/pins": 9,

	"studio/tools": 10,

	"studio/archives": 10,
	"studio/catalog":  10,
	"studio/runs":     10,

	"studio/agents": 11,
	"studio/replay": 11,

	"server/gate":              12,
	"server/problem":           12,
	"studio/agents/agentstest": 12,
	"studio/skills":            12,

	"server/httpapi":   13,
	"server/skillsapi": 13,
	"server/mcpapi":    13,
	"server/streamapi": 13,
	"server/webui":     13,

	"server/app": 14,
	"server/cli": 15,

	"main":              16,
	"server/servertest": 16,

	"runtimes/hostile": 17,
}

func TestImportsGoDownstairs(t *testing.T) {
	t.Parallel()
	for _, fault := range faults(floors, imports(t, sources(t))) {
		t.Error(fault)
	}
}

func TestFloorsHaveNoEmptyRooms(t *testing.T) {
	t.Parallel()
	rooms := imports(t, sources(t))
	for room := range floors {
		if _, ok := rooms[room]; !ok {
			t.Errorf("%s has a floor but no Go files: remove it from the list", room)
		}
	}
}

// TestArchitectureShowsTheFloors checks that the layers in ARCHITECTURE.md equal the enforced ones.
func TestArchitectureShowsTheFloors(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```floors\n")
	plan, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("ARCHITECTURE.md has no block of floors")
	}
	shown := map[string]int{}
	floor := 0
	for _, word := range strings.Fields(plan) {
		if n, err := strconv.Atoi(word); err == nil {
			floor = n
			continue
		}
		shown[word] = floor
	}
	for room, floor := range floors {
		if got, ok := shown[room]; !ok || got != floor {
			t.Errorf("%s is on floor %d, ARCHITECTURE.md says %d (shown: %t)", room, floor, got, ok)
		}
	}
	for room := range shown {
		if _, ok := floors[room]; !ok {
			t.Errorf("ARCHITECTURE.md shows %s, which has no floor", room)
		}
	}
}

// TestFloorsRefuse checks that the check above can fail.
func TestFloorsRefuse(t *testing.T) {
	t.Parallel()
	plan := map[string]int{"cellar": 0, "hall": 1, "hall/closet": 1, "hall/stairs": 1, "roof": 2, "hall/halltest": 1}
	tests := map[string]struct {
		from, to string
		want     string
	}{
		"downward":                 {"roof", "cellar", ""},
		"own closet":               {"hall", "hall/closet", ""},
		"upward":                   {"cellar", "roof", "cellar (floor 0) imports roof (floor 2)"},
		"sideways":                 {"hall/closet", "hall/stairs", "hall/closet (floor 1) imports hall/stairs (floor 1)"},
		"out of the closet":        {"hall/closet", "hall", "hall/closet (floor 1) imports hall (floor 1)"},
		"unknown room":             {"attic", "cellar", "attic has no floor"},
		"import of an unknown one": {"roof", "attic", "roof imports attic, which has no floor"},
		"test kit in the house":    {"roof", "hall/halltest", "roof imports hall/halltest, which is for tests"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := faults(plan, map[string][]string{tt.from: {tt.to}})
			switch {
			case tt.want == "" && len(got) > 0:
				t.Errorf("refused a good import: %v", got)
			case tt.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], tt.want)):
				t.Errorf("got %q, want one fault that starts with %q", got, tt.want)
			}
		})
	}
}

// faults lists the wrong imports between packages, one sentence each.
func faults(floors map[string]int, rooms map[string][]string) []string {
	var found []string
	for room, wanted := range rooms {
		floor, ok := floors[room]
		if !ok {
			found = append(found, room+" has no floor: give it one in floors_test.go and ARCHITECTURE.md")
			continue
		}
		for _, other := range wanted {
			below, ok := floors[other]
			// A package may import its own sub-packages on the same layer, but they may not import it.
			own := below == floor && strings.HasPrefix(other, room+"/")
			switch {
			case !ok:
				found = append(found, fmt.Sprintf("%s imports %s, which has no floor", room, other))
			case forTests(other) && !forTests(room):
				found = append(found, fmt.Sprintf("%s imports %s, which is for tests", room, other))
			case below >= floor && !own:
				found = append(found, fmt.Sprintf("%s (floor %d) imports %s (floor %d): imports go downstairs", room, floor, other, below))
			}
		}
	}
	slices.Sort(found)
	return found
}

// forTests reports whether a package may be imported only by tests.
func forTests(room string) bool {
	return strings.HasSuffix(path.Base(room), "test")
}

// source is one parsed Go file of this module that is not a test.
type source struct {
	room, path string
	syntax     *ast.File
	files      *token.FileSet
}

// sources parses the files itself, because with `go list` the test cache would use results of an older tree.
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
		all = append(all, source{room: roomOf(filepath.ToSlash(filepath.Dir(name))), path: filepath.ToSlash(name), syntax: syntax, files: files})
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

func roomOf(dir string) string {
	if dir == "." {
		return "main"
	}
	return dir
}

// imports maps each package to the packages of this module that it imports.
func imports(t *testing.T, files []source) map[string][]string {
	t.Helper()
	rooms := map[string][]string{}
	for _, file := range files {
		rooms[file.room] = append(rooms[file.room], roomsIn(file)...)
	}
	for room, wanted := range rooms {
		slices.Sort(wanted)
		rooms[room] = slices.Compact(wanted)
	}
	return rooms
}

func roomsIn(file source) []string {
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
