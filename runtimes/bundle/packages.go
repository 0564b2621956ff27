package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// PackagesDir is the folder of a source that contains its packages, in the layout of npm.
const PackagesDir = "node_modules"

// absent is the esbuild namespace of packages that are missing while a program is only checked.
const absent = "absent"

func isPackaged(name string) bool { return strings.HasPrefix(name, PackagesDir+"/") }

// bare reports whether an import names a package.
func bare(wanted string) bool {
	return wanted != "" && !relative(wanted) && wanted[0] != '/' && !strings.Contains(wanted, ":")
}

// splitBare splits the import of a package into the name of the package and the path within it, which begins with a
// dot.
func splitBare(wanted string) (name, rest string) {
	parts := strings.SplitN(wanted, "/", 3)
	count := 1
	if strings.HasPrefix(wanted, "@") && len(parts) > 1 {
		count = 2
	}
	name = strings.Join(parts[:count], "/")
	return name, "." + strings.TrimPrefix(wanted, name)
}

// manifest holds the members of a package.json that affect how its files are resolved.
type manifest struct {
	Main        string          `json:"main"`
	Module      string          `json:"module"`
	Browser     json.RawMessage `json:"browser"`
	Exports     json.RawMessage `json:"exports"`
	Imports     json.RawMessage `json:"imports"`
	SideEffects json.RawMessage `json:"sideEffects"`
}

// manifest returns the package.json of a folder.
func (f *sources) manifest(dir string) (*manifest, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known, ok := f.manifests[dir]; ok {
		return known, known != nil
	}
	var found *manifest
	if text, ok := f.Files[path.Join(dir, "package.json")]; ok {
		found = &manifest{}
		if json.Unmarshal(text, found) != nil {
			found = &manifest{}
		}
	}
	f.manifests[dir] = found
	return found, found != nil
}

// packaged resolves an import of a package by the rules of Node: it uses the package in the nearest node_modules
// folder, and the exports or main of its package.json.
func (f *sources) packaged(importer, wanted string, kind api.ResolveKind) (name string, pure, ok bool) {
	if strings.HasPrefix(wanted, "#") {
		if dir, m := f.owner(importer); m != nil {
			if to, ok := f.conditional(m.Imports, wanted, kind); ok {
				if bare(to) {
					return f.packaged(importer, to, kind)
				}
				name, ok = f.file(path.Join(dir, to))
				return name, isPure(m), ok
			}
		}
		return "", false, false
	}
	pkg, rest := splitBare(wanted)
	for dir := path.Dir(importer); ; dir = path.Dir(dir) {
		at := path.Join(dir, PackagesDir, pkg)
		if m, found := f.manifest(at); found {
			name, ok = f.within(at, m, rest, kind)
			return name, isPure(m), ok
		}
		if dir == "." || dir == "/" {
			return "", false, false
		}
	}
}

// owner returns the folder and the package.json of the package that contains a file.
func (f *sources) owner(name string) (string, *manifest) {
	for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if m, ok := f.manifest(dir); ok {
			return dir, m
		}
	}
	return "", nil
}

func isPure(m *manifest) bool { return string(m.SideEffects) == "false" }

// within resolves the path of an import within a package.
func (f *sources) within(dir string, m *manifest, rest string, kind api.ResolveKind) (string, bool) {
	if len(m.Exports) > 0 && string(m.Exports) != "null" {
		to, ok := f.conditional(m.Exports, rest, kind)
		if !ok {
			return "", false
		}
		return f.replaced(dir, m, path.Join(dir, to))
	}
	if rest != "." {
		return f.replaced(dir, m, path.Join(dir, rest))
	}
	for _, main := range f.mains(m) {
		if main != "" {
			if name, ok := f.replaced(dir, m, path.Join(dir, main)); ok {
				return name, true
			}
		}
	}
	return f.replaced(dir, m, path.Join(dir, "index"))
}

// mains returns the possible main files of a package, in order of preference.
func (f *sources) mains(m *manifest) []string {
	if f.Node {
		return []string{m.Main, m.Module}
	}
	var browser string
	_ = json.Unmarshal(m.Browser, &browser) // the member browser may also be a table of replacements
	return []string{browser, m.Module, m.Main}
}

// replaced returns the file at a path, or the file with which the package replaces it in browsers.
func (f *sources) replaced(dir string, m *manifest, at string) (string, bool) {
	name, ok := f.file(at)
	if !ok || f.Node || len(m.Browser) == 0 {
		return name, ok
	}
	var table map[string]json.RawMessage
	if json.Unmarshal(m.Browser, &table) != nil {
		return name, ok
	}
	own := "./" + strings.TrimPrefix(name, dir+"/")
	for _, key := range []string{own, strings.TrimSuffix(own, ".js"), strings.TrimPrefix(own, "./")} {
		var to string
		if raw, found := table[key]; found && json.Unmarshal(raw, &to) == nil {
			return f.file(path.Join(dir, to))
		}
	}
	return name, ok
}

// excluded reports whether the importing file's package excludes an import in browsers.
func (f *sources) excluded(importer, wanted string) bool {
	if f.Node || !isPackaged(importer) {
		return false
	}
	_, m := f.owner(importer)
	if m == nil {
		return false
	}
	var table map[string]json.RawMessage
	return json.Unmarshal(m.Browser, &table) == nil && string(table[wanted]) == "false"
}

// file returns the file at a path of a package. If the path does not name a file, it adds an extension or the name of
// an index file.
func (f *sources) file(at string) (string, bool) {
	for _, candidate := range []string{at, at + ".js", at + ".json", at + ".cjs", at + ".mjs"} {
		if _, ok := f.Files[candidate]; ok {
			return candidate, true
		}
	}
	if m, ok := f.manifest(at); ok && at != path.Dir(at) {
		for _, main := range f.mains(m) {
			if main != "" && path.Join(at, main) != at {
				if name, ok := f.file(path.Join(at, main)); ok {
					return name, true
				}
			}
		}
	}
	for _, candidate := range []string{"index.js", "index.json", "index.cjs", "index.mjs"} {
		if _, ok := f.Files[path.Join(at, candidate)]; ok {
			return path.Join(at, candidate), true
		}
	}
	return "", false
}

// conditions returns the conditions in exports and imports of a package.json that are true for a kind of import.
func (f *sources) conditions(kind api.ResolveKind) map[string]bool {
	held := map[string]bool{"default": true, "module": true}
	if kind == api.ResolveJSRequireCall || kind == api.ResolveJSRequireResolve {
		held["require"] = true
	} else {
		held["import"] = true
	}
	if f.Node {
		held["node"] = true
	} else {
		held["workerd"], held["browser"] = true, true
	}
	return held
}

// conditional resolves a key of exports or imports to a path. It uses the conditions that are true for this kind of
// import.
func (f *sources) conditional(raw json.RawMessage, key string, kind api.ResolveKind) (string, bool) {
	held := f.conditions(kind)
	entries, isObject := members(raw)
	if !isObject || len(entries) > 0 && entries[0].key != "" && entries[0].key[0] != '.' && entries[0].key[0] != '#' {
		if key != "." {
			return "", false
		}
		return target(raw, "", held, 0)
	}
	best, star := -1, ""
	for i, e := range entries {
		if e.key == key {
			return target(e.value, "", held, 0)
		}
		before, after, pattern := strings.Cut(e.key, "*")
		if pattern && len(key) >= len(before)+len(after) && strings.HasPrefix(key, before) && strings.HasSuffix(key, after) {
			if best < 0 || len(e.key) > len(entries[best].key) {
				best, star = i, key[len(before):len(key)-len(after)]
			}
		}
	}
	if best < 0 {
		return "", false
	}
	return target(entries[best].value, star, held, 0)
}

// maxTargets is the maximum nesting of conditions.
const maxTargets = 16

// target returns the path for the first condition that is true.
func target(raw json.RawMessage, star string, held map[string]bool, depth int) (string, bool) {
	if depth > maxTargets {
		return "", false
	}
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		return strings.ReplaceAll(text, "*", star), true
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, one := range list {
			if to, ok := target(one, star, held, depth+1); ok {
				return to, true
			}
		}
		return "", false
	}
	entries, _ := members(raw)
	for _, e := range entries {
		if held[e.key] {
			if to, ok := target(e.value, star, held, depth+1); ok {
				return to, true
			}
		}
	}
	return "", false
}

// member is one member of a JSON object. exports and imports are read as lists of members, because their order matters.
type member struct {
	key   string
	value json.RawMessage
}

func members(raw json.RawMessage) ([]member, bool) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, false
	}
	var all []member
	for decoder.More() {
		token, err := decoder.Token()
		key, ok := token.(string)
		var value json.RawMessage
		if err != nil || !ok || decoder.Decode(&value) != nil {
			return nil, false
		}
		all = append(all, member{key, value})
	}
	return all, true
}

// forOneRun returns the content of a file of a package, adapted to a VM that is used for one run. It sets Zod's option
// jitless. Without this option, Zod compiles a function for each schema, which takes longer than a hundred checks.
func forOneRun(name, contents string) string {
	if strings.HasSuffix(name, PackagesDir+"/zod/v4/core/core.js") || strings.HasSuffix(name, PackagesDir+"/zod/v4/core/core.cjs") {
		return strings.Replace(contents, "globalConfig = {}", "globalConfig = { jitless: true }", 1)
	}
	return contents
}

// loadAbsent returns an empty module. It stands for a package that is missing while a program is only checked, or that
// another package excludes in browsers.
func loadAbsent(api.OnLoadArgs) (api.OnLoadResult, error) {
	contents := "module.exports = {}"
	return api.OnLoadResult{Contents: &contents, Loader: api.LoaderJS}, nil
}

// missingPackage returns the error message for an import of a package that the program does not have.
func missingPackage(wanted, importer string) string {
	name, _ := splitBare(wanted)
	if isPackaged(importer) {
		owner, _ := splitBare(strings.TrimPrefix(importer[strings.LastIndex(importer, PackagesDir+"/"):], PackagesDir+"/"))
		return fmt.Sprintf("The package %q imports %q, which is not installed or not exported.", owner, wanted)
	}
	return fmt.Sprintf("The package %q is not installed or does not export %q: add %q to the packages of the agent.", name, wanted, name)
}
