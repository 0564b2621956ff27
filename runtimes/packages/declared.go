package packages

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

// Files in which a program may list its packages. They must be in the program's root folder.
const (
	RequirementsFile = "requirements.txt"
	PyprojectFile    = "pyproject.toml"
	ManifestFile     = "package.json"
	LockFile         = "package-lock.json"
)

// maxDeclaration is the maximum size in bytes of a file that lists packages. It does not apply to package-lock.json.
const maxDeclaration = 256 << 10

// Declaration is a program's list of packages, and the place of the list.
type Declaration struct {
	Ecosystem    runtimes.Ecosystem // "" if the language has no packages
	File         string             // name of the file with the list; "" if the list is in the field packages
	Requirements []Requirement
	Lock         []byte // content of package-lock.json; nil if there is none
}

// Declared returns the packages that a program lists in the field packages or in one of its files. It ignores a file
// that lists no packages. Its errors contain the entry of the field, or the file and line.
func Declared[F ~[]byte](language runtimes.Language, list []string, files map[string]F) (Declaration, error) {
	ecosystem, ok := EcosystemOf(language)
	if !ok {
		if len(list) > 0 {
			return Declaration{}, fault.Invalid("/packages", "must be empty, because %s does not support packages. Add the code to the files.", language)
		}
		return Declaration{}, nil
	}
	found := Declaration{Ecosystem: ecosystem}
	for _, name := range declaring(ecosystem) {
		content, exists := files[name]
		if !exists {
			continue
		}
		all, err := readDeclaration(name, content)
		if err != nil {
			return found, err
		}
		switch {
		case len(all) == 0:
			continue
		case len(list) > 0:
			return found, fault.Invalid("/packages", "must be empty, because %s lists packages, too; list all of them in one of the two.", name)
		case found.File != "":
			return found, refusedAt(name, 1, fmt.Sprintf("lists packages, and %s does, too; keep one of the two files, or remove the packages from one.", found.File))
		}
		found.File, found.Requirements = name, all
	}
	if found.File == "" {
		all, err := Parse(ecosystem, list)
		found.Requirements = all
		return found, err
	}
	return found, found.addLock(files[LockFile], func(name string) bool { _, exists := files[name]; return exists })
}

// declaring returns the names of the files in which packages of an ecosystem may be listed.
func declaring(ecosystem runtimes.Ecosystem) []string {
	if ecosystem == runtimes.NPM {
		return []string{ManifestFile}
	}
	return []string{RequirementsFile, PyprojectFile}
}

// foreignLocks are the names of lock files of other tools. The server does not read these files. It refuses a program
// with such a file, because the program expects the exact versions in that file.
var foreignLocks = map[runtimes.Ecosystem][]string{
	runtimes.PyPI: {"uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "Pipfile.lock"},
	runtimes.NPM:  {"npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"},
}

// foreignSettings are the names of files with settings of resolvers. The server refuses a program with such a file,
// because the file may contain passwords. Workspaces set indexes and passwords with secrets instead.
var foreignSettings = map[runtimes.Ecosystem][]string{
	runtimes.PyPI: {"uv.toml", "pip.conf"},
	runtimes.NPM:  {".npmrc", ".yarnrc.yml", "bunfig.toml"},
}

// addLock adds package-lock.json to a declaration. If there are lock files or settings of other tools next to the file
// with the list, it refuses the program. It allows them next to a requirements.txt, because a requirements.txt can
// contain exact versions itself.
func (d *Declaration) addLock(lock []byte, exists func(name string) bool) error {
	if d.File == RequirementsFile {
		return nil
	}
	for _, name := range foreignLocks[d.Ecosystem] {
		if exists(name) {
			remedy := "npm install --package-lock-only, which writes package-lock.json"
			if d.Ecosystem == runtimes.PyPI {
				remedy = "uv export or pip freeze, and store its output in requirements.txt instead of " + d.File
			}
			return refusedAt(name, 1, "is not supported, so its exact versions would be lost; use "+remedy+".")
		}
	}
	for _, name := range foreignSettings[d.Ecosystem] {
		if exists(name) {
			return refusedAt(name, 1, "is not supported; remove it, and set the index of the workspace with a secret, as docs/packages.md describes.")
		}
	}
	if d.Ecosystem == runtimes.NPM && exists(LockFile) {
		d.Lock = lock
	}
	return nil
}

func readDeclaration(name string, content []byte) ([]Requirement, error) {
	if len(content) > maxDeclaration {
		return nil, refusedAt(name, 1, fmt.Sprintf("must have at most %s.", bytesize.Text(maxDeclaration)))
	}
	var entries []entry
	var err error
	switch name {
	case RequirementsFile:
		entries, err = readRequirements(string(content))
	case PyprojectFile:
		entries, err = readPyproject(string(content))
	default:
		entries, err = readManifestFile(string(content))
	}
	if err != nil {
		return nil, err
	}
	return parseEntries(name, entries)
}

// entry is one requirement in a file.
type entry struct {
	text   string
	hashes []string
	line   int
}

// refusedAt returns the error for a line of a file. Its pointer also contains the name of the file, for clients that
// show errors by field.
func refusedAt(file string, line int, message string) *fault.Error {
	pointer := "/files/" + strings.ReplaceAll(strings.ReplaceAll(file, "~", "~0"), "/", "~1")
	return &fault.Error{
		Code: fault.InvalidInput, Message: "The packages are not valid.",
		Details: []fault.Detail{{Pointer: pointer, File: file, Line: line, Message: message}},
	}
}

func tooMany(file string, line int) *fault.Error {
	return refusedAt(file, line, fmt.Sprintf("has too many packages; at most %d are allowed.", maxLocked))
}

// parseEntries checks the requirements in a file and sorts them by name. A name may occur twice if the two conditions
// exclude each other; the resolver checks that.
func parseEntries(file string, entries []entry) ([]Requirement, error) {
	refused := &fault.Error{Code: fault.InvalidInput, Message: "The packages are not valid."}
	if len(entries) > maxLocked {
		return nil, tooMany(file, entries[maxLocked].line)
	}
	all, seen := make([]Requirement, 0, len(entries)), map[string]bool{}
	for _, e := range entries {
		one, problem := parseEntry(file, e)
		if problem == "" && seen[one.Name] && !strings.Contains(one.text, ";") {
			problem = fmt.Sprintf("contains %s twice; put all versions into one line.", one.Name)
		}
		if problem != "" {
			refused.Details = append(refused.Details, refusedAt(file, e.line, problem).Details...)
			continue
		}
		seen[one.Name] = true
		all = append(all, one)
	}
	if len(refused.Details) > 0 {
		return nil, refused
	}
	slices.SortFunc(all, func(a, b Requirement) int { return strings.Compare(a.text, b.text) })
	return all, nil
}

func parseEntry(file string, e entry) (Requirement, string) {
	var one Requirement
	var problem string
	if file == ManifestFile {
		one, problem = parse(runtimes.NPM, e.text)
	} else {
		text, condition, conditional := strings.Cut(e.text, ";")
		one, problem = parse(runtimes.PyPI, text)
		if conditional && problem == "" {
			one.text, problem = one.text+" ; "+strings.Join(strings.Fields(condition), " "), checkCondition(condition)
		}
	}
	one.Hashes, one.Line = e.hashes, e.line
	return one, problem
}

// readManifestFile reads the dependencies in a package.json. It ignores dependencies for development, because they are
// not installed.
func readManifestFile(text string) ([]entry, error) {
	var manifest map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &manifest); err != nil {
		return nil, refusedAt(ManifestFile, lineOfJSON(text, err), "must be a JSON object: "+shorten(err.Error(), 200)+".")
	}
	var dependencies map[string]string
	if content, ok := manifest["dependencies"]; ok {
		if err := json.Unmarshal(content, &dependencies); err != nil {
			return nil, refusedAt(ManifestFile, lineOf(text, `"dependencies"`), "must have an object of names and ranges as dependencies.")
		}
	}
	if len(dependencies) == 0 {
		return nil, nil
	}
	if len(dependencies) > maxLocked {
		return nil, tooMany(ManifestFile, lineOf(text, `"dependencies"`))
	}
	for _, field := range []string{"optionalDependencies", "peerDependencies", "bundleDependencies", "bundledDependencies", "overrides", "resolutions", "workspaces"} {
		if content, ok := manifest[field]; ok && !slices.Contains([]string{"{}", "[]", "null", "false"}, strings.Join(strings.Fields(string(content)), "")) {
			return nil, refusedAt(ManifestFile, lineOf(text, `"`+field+`"`), field+" is not supported; only dependencies are installed. Remove it.")
		}
	}
	entries := make([]entry, 0, len(dependencies))
	from := max(strings.Index(text, `"dependencies"`), 0)
	above := strings.Count(text[:from], "\n")
	for _, name := range slices.Sorted(maps.Keys(dependencies)) {
		e := entry{text: name + "@" + dependencies[name], line: above + lineOf(text[from:], `"`+name+`"`)}
		if strings.TrimSpace(dependencies[name]) == "" {
			e.text = name
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// lineOf returns the number of the first line that contains a text, or 1.
func lineOf(text, part string) int {
	return 1 + strings.Count(text[:max(strings.Index(text, part), 0)], "\n")
}

func lineOfJSON(text string, err error) int {
	if syntax, ok := err.(*json.SyntaxError); ok { //nolint:errorlint // json.Unmarshal does not wrap this error
		return 1 + strings.Count(text[:min(max(int(syntax.Offset)-1, 0), len(text))], "\n")
	}
	return 1
}

// At returns the position of a package in the list: its entry or its line. For a dependency that the list does not name,
// it returns the position of the whole list.
func (d Declaration) At(name string) fault.Detail {
	at := slices.IndexFunc(d.Requirements, func(r Requirement) bool { return r.Name == name })
	switch {
	case d.File != "" && at >= 0:
		return refusedAt(d.File, d.Requirements[at].Line, "").Details[0]
	case d.File != "":
		return refusedAt(d.File, 1, "").Details[0]
	case at >= 0:
		return fault.Detail{Pointer: fmt.Sprintf("/packages/%d", at)}
	}
	return fault.Detail{Pointer: "/packages"}
}

// in returns those packages of the list whose names occur in a text, sorted.
func (d Declaration) in(text string) []string {
	words := map[string]bool{}
	for _, word := range strings.FieldsFunc(text, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("-_.@/", c)
	}) {
		word = strings.TrimRight(word, ".")
		words[word] = true
		if at := strings.LastIndex(word, "@"); at > 0 { // npm writes a package with its version as name@version
			words[word[:at]] = true
		}
	}
	var found []string
	for _, r := range d.Requirements {
		if words[r.Name] {
			found = append(found, r.Name)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
