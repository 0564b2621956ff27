package main_test

import (
	"encoding/json"
	"go/ast"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// restricted lists packages, and the only packages that may import them. The reasons are laws 2 and 3: parsers and engines
// of user code run only in the sandbox, and only one package each uses SQL and starts processes.
var restricted = map[string]struct {
	packages []string
	allowed  []string
}{
	"processes are started in runtimes/sandbox": {
		packages: []string{"os/exec"},
		allowed:  []string{"runtimes/sandbox"},
	},
	"goja runs in the jailed guest": {
		packages: []string{"github.com/dop251/goja", "github.com/dop251/goja_nodejs"},
		allowed:  []string{"runtimes/goja/guest", "runtimes/inspect/guest"},
	},
	"modules are compiled and run in the jail": {
		packages: []string{"github.com/tetratelabs/wazero"},
		allowed:  []string{"runtimes/wasm/guest", "runtimes/wasm/module", "runtimes/inspect/guest"},
	},
	"esbuild runs in the jailed bundler": {
		packages: []string{"github.com/evanw/esbuild"},
		allowed:  []string{"runtimes/bundle"},
	},
	"shell is parsed in the jail": {
		packages: []string{"mvdan.cc/sh"},
		allowed:  []string{"runtimes/inspect/guest"},
	},
	"only the server's side of the sandbox starts jails": {
		packages: []string{module + "/runtimes/sandbox/launcher"},
		allowed:  []string{"runtimes/sandbox/program", "runtimes/guests", "runtimes/doctor/guest"},
	},
	"SQL lives in the store": {
		packages: []string{"database/sql", "github.com/uptrace/bun", "modernc.org/sqlite", "github.com/jackc/pgx"},
		allowed:  []string{"registry/store", "migrations"},
	},
}

func TestRestrictedImports(t *testing.T) {
	t.Parallel()
	files := sources(t)
	for law, rule := range restricted {
		t.Run(law, func(t *testing.T) {
			t.Parallel()
			for _, file := range files {
				if outside(file.pkg) || within(file.pkg, rule.allowed) {
					continue
				}
				for _, name := range packagesIn(file) {
					if within(name, rule.packages) {
						t.Errorf("%s imports %s", file.path, name)
					}
				}
			}
		})
	}
}

// jailed lists the packages that run inside of a jail, each with all packages of the product that it may import. They never
// import packages that run in the server process.
var jailed = map[string][]string{
	"runtimes/sandbox/wire":     {"runtimes/sandbox/seccomp"},
	"runtimes/sandbox/child":    {"runtimes/sandbox/wire", "runtimes/sandbox/seccomp"},
	"runtimes/sandbox/launcher": {"runtimes/sandbox/wire", "runtimes/sandbox/child", "runtimes/sandbox/seccomp", "runtimes/frames"},
}

func TestJailedSideImportsNoServer(t *testing.T) {
	t.Parallel()
	found := imports(t, sources(t))
	for pkg, allowed := range jailed {
		wanted, ok := found[pkg]
		if !ok {
			t.Errorf("%s is gone", pkg)
		}
		for _, name := range wanted {
			if !slices.Contains(allowed, name) {
				t.Errorf("%s imports %s", pkg, name)
			}
		}
	}
}

// calls lists identifiers of the standard library, as package.Name, and the only packages that may use them.
var calls = map[string]struct {
	names   func(pkg, name string) bool
	allowed []string
}{
	"the environment is read in internal/config": {
		names: func(pkg, name string) bool {
			return pkg == "os" && slices.Contains([]string{"Getenv", "LookupEnv", "Environ", "ExpandEnv"}, name)
		},
		allowed: []string{"internal/config"},
	},
	"error statuses are known to server/problem": {
		names: func(pkg, name string) bool {
			return pkg == "http" && (name == "Error" || name == "NotFound" || name == "NotFoundHandler" || errorStatus(name))
		},
		allowed: []string{"server/problem"},
	},
}

// errorStatus reports whether a name is an error status. Only server/problem may use those; other statuses are allowed
// everywhere.
func errorStatus(name string) bool {
	fine := []string{
		"StatusText", "StatusOK", "StatusCreated", "StatusAccepted", "StatusNoContent", "StatusPartialContent",
		"StatusSwitchingProtocols", "StatusNotModified", "StatusFound", "StatusSeeOther", "StatusPermanentRedirect",
	}
	return strings.HasPrefix(name, "Status") && !slices.Contains(fine, name)
}

func TestRestrictedCalls(t *testing.T) {
	t.Parallel()
	files := sources(t)
	for law, rule := range calls {
		t.Run(law, func(t *testing.T) {
			t.Parallel()
			for _, file := range files {
				if outside(file.pkg) || within(file.pkg, rule.allowed) {
					continue
				}
				ast.Inspect(file.syntax, func(node ast.Node) bool {
					selector, ok := node.(*ast.SelectorExpr)
					if !ok {
						return true
					}
					if pkg, ok := selector.X.(*ast.Ident); ok && rule.names(pkg.Name, selector.Sel.Name) {
						t.Errorf("%s mentions %s.%s", file.files.Position(selector.Pos()), pkg.Name, selector.Sel.Name)
					}
					return true
				})
			}
		})
	}
}

// outside reports whether a package is not part of the product, because it is a test helper or a tool of this repository.
func outside(pkg string) bool {
	return forTests(pkg) || within(pkg, []string{"scripts"})
}

// within reports whether name equals one of roots or lies under one of them.
func within(name string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return name == root || strings.HasPrefix(name, root+"/")
	})
}

// TestRationaleNamesEveryDependency checks that RATIONALE explains each dependency in a paragraph.
func TestRationaleNamesEveryDependency(t *testing.T) {
	t.Parallel()
	rationale := read(t, "docs/RATIONALE.md")
	var modules []string
	for line := range strings.Lines(read(t, "go.mod")) {
		if fields := strings.Fields(line); len(fields) == 2 && strings.HasPrefix(fields[1], "v") {
			modules = append(modules, fields[0])
		}
	}
	var web struct {
		Dependencies    map[string]string `json:"dependencies"`
		DevDependencies map[string]string `json:"devDependencies"`
	}
	if err := json.Unmarshal([]byte(read(t, "package.json")), &web); err != nil {
		t.Fatal(err)
	}
	modules = slices.AppendSeq(modules, maps.Keys(web.Dependencies))
	modules = slices.AppendSeq(modules, maps.Keys(web.DevDependencies))
	for _, module := range modules {
		if !strings.Contains(strings.ToLower(rationale), strings.ToLower(known(module))) {
			t.Errorf("docs/RATIONALE.md does not say why %s is here (looked for %q)", module, known(module))
		}
	}
}

// known returns the name by which RATIONALE mentions a module: the last element of its path that is not a version, or a
// common name for modules that belong together.
func known(module string) string {
	for _, house := range []string{"go.opentelemetry.io/otel", "uptrace/bun", "@types/", "@fontsource-variable/", "eslint", "@vitejs/"} {
		if strings.Contains(module, house) {
			return map[string]string{
				"go.opentelemetry.io/otel": "OpenTelemetry", "uptrace/bun": "*bun*", "@types/": "types", "@fontsource-variable/": "fonts",
				"eslint": "eslint", "@vitejs/": "Vite",
			}[house]
		}
	}
	if strings.HasPrefix(module, "golang.org/x/") {
		return module
	}
	base := path.Base(module)
	if strings.HasPrefix(base, "v") && len(base) == 2 {
		base = path.Base(path.Dir(module))
	}
	return base
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// draftReaders lists the functions that may read the content of a draft without DraftAt, with the reason. All other code must
// use DraftAt with the revision that the caller has seen, so that nobody acts on an unseen change.
var draftReaders = map[string]string{
	"studio/agents.apply":       "lays a save over the draft; the store compares the revision",
	"studio/agents.Redraft":     "replaces the draft; the store compares the revision",
	"studio/agents.RestoreSave": "replaces the draft; the store compares the revision",
	"studio/agents.Release":     "replaces the draft that it has read under the lock",
	"studio/agents.untouched":   "compares the draft for Release",
	"studio/archives.agent":     "an archive holds whatever the draft is",
	"studio/assist.checkFix":    "proposes a change and names the revision that it is for",
	"studio/assist.Change":      "proposes a change and names the revision that it is for",
	"studio/assist.checkChange": "proposes a change and names the revision that it is for",
	"studio/assist.Review":      "an opinion about whatever the draft is; it names the revision",
	"studio/skills.draft":       "writes the draft that it has just saved into its folder",
}

// TestDraftsAreReadByRevision checks that code which runs, publishes, compares or copies a draft uses DraftAt with the
// revision that the caller has seen.
func TestDraftsAreReadByRevision(t *testing.T) {
	t.Parallel()
	for _, file := range sources(t) {
		if outside(file.pkg) || within(file.pkg, []string{"registry"}) { // rows and archives
			continue
		}
		for _, decl := range file.syntax.Decls {
			function, ok := decl.(*ast.FuncDecl)
			if !ok || draftReaders[file.pkg+"."+function.Name.Name] != "" {
				continue
			}
			ast.Inspect(function, func(node ast.Node) bool {
				content, ok := node.(*ast.SelectorExpr)
				if !ok || content.Sel.Name != "Spec" && content.Sel.Name != "Files" {
					return true
				}
				if draft, ok := content.X.(*ast.SelectorExpr); ok && draft.Sel.Name == "Draft" {
					t.Errorf("%s: %s reads a draft without DraftAt", file.files.Position(content.Pos()), function.Name.Name)
				}
				return true
			})
		}
	}
}

// TestSecurityPage checks that every topic of SECURITY.md names tests that exist, and that its paragraphs are short.
func TestSecurityPage(t *testing.T) {
	t.Parallel()
	declared := map[string]bool{}
	for _, file := range testSources(t) {
		for _, found := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllStringSubmatch(read(t, file), -1) {
			declared[found[1]] = true
		}
	}
	named, seen := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`"), map[string]bool{}
	for _, topic := range strings.Split(read(t, "SECURITY.md"), "\n## ")[1:] {
		title, text, _ := strings.Cut(topic, "\n")
		if seen[title] {
			t.Errorf("%s has two headings", title)
		}
		seen[title] = true
		tests := named.FindAllStringSubmatch(text, -1)
		if len(tests) == 0 && title != "Report a vulnerability" {
			t.Errorf("%s names no test", title)
		}
		for _, test := range tests {
			if !declared[test[1]] {
				t.Errorf("%s names %s, which does not exist", title, test[1])
			}
		}
		for paragraph := range strings.SplitSeq(text, "\n\n") {
			paragraph = strings.TrimSpace(paragraph)
			if words := len(strings.Fields(paragraph)); words > 100 && !strings.HasPrefix(paragraph, "|") && !strings.HasPrefix(paragraph, "- ") {
				t.Errorf("%s has a paragraph of %d words: %.60s…", title, words, paragraph)
			}
		}
	}
}

// TestPackagesRunNoScripts checks that every command which installs npm packages disables their install scripts.
func TestPackagesRunNoScripts(t *testing.T) {
	t.Parallel()
	installs := 0
	for _, file := range []string{"Makefile", "scripts/test.sh", "scripts/dev.sh", "scripts/need.sh", "scripts/chromium.sh", ".ci/run", "README.md", "CONTRIBUTING.md"} {
		for line := range strings.Lines(read(t, file)) {
			if !strings.Contains(line, "npm ci") && !strings.Contains(line, "npm install ") || strings.HasPrefix(line, "#") {
				continue
			}
			installs++
			if !strings.Contains(line, "--ignore-scripts") {
				t.Errorf("%s: %s", file, line)
			}
		}
	}
	if installs == 0 {
		t.Error("nothing installs packages, so the search is wrong")
	}
}

// testSources lists the files of Go tests.
func testSources(t *testing.T) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && slices.Contains([]string{"node_modules", ".git", "web"}, name) {
			return fs.SkipDir
		}
		if strings.HasSuffix(name, "_test.go") {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
