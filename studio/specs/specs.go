// Package specs completes and checks the spec of a draft, a version or an inline program before it is saved or run.
// Every error has the JSON pointer of its field and says how to fix it.
package specs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// These are the limits of a spec.
const (
	MaxFiles            = 500
	MaxFilesBytes       = 4 << 20
	MaxModuleBytes      = 32 << 20 // maximum total size in bytes of all files if the program is a WebAssembly module
	MaxEnvironment      = 64
	MaxEnvironmentBytes = 32 << 10
	MaxNames            = 64 // maximum number of secrets, of host functions and of hosts
)

// Checker completes and checks specs. It is safe for concurrent use.
type Checker struct {
	schemas  *Validator
	defaults runtimes.Limits
	ceilings runtimes.Limits
	// restricted lists the workspaces whose programs must all follow the rules of the pack "restricted". * means every
	// workspace.
	restricted []string
	ceiling    func(workspace string) hostpattern.Ceiling // returns the hosts that may be granted in a workspace; nil means no limit
	// lacks returns the reason why this server cannot install packages of an ecosystem, or "" if it can. If lacks is nil,
	// the server can install no packages.
	lacks func(runtimes.Ecosystem) string
	// features returns the features of a runtime, and whether they are known. If features is nil, features are not
	// checked.
	features func(runtimes.Name) ([]runtimes.Feature, bool)
}

// New returns a checker. The checker allows limits up to the ceilings, and uses the defaults for limits that are not
// set. Programs of the restricted workspaces must follow the rule pack "restricted"; * means every workspace.
func New(schemas *Validator, defaults, ceilings runtimes.Limits, restricted ...string) *Checker {
	return &Checker{schemas: schemas, defaults: defaults, ceilings: ceilings, restricted: restricted}
}

// language describes a language: its default entry file, its file extensions and its runtimes. The first runtime is the
// default.
type language struct {
	entry    string
	suffixes []string
	runtimes []runtimes.Name
}

// known returns the description of a language, and whether the language exists. It uses no map, because every run calls
// it.
func known(name runtimes.Language) (language, bool) {
	switch name {
	case runtimes.JavaScript:
		return language{"main.js", []string{".js", ".mjs", ".cjs", ".jsx"}, []runtimes.Name{runtimes.Goja, runtimes.NodeEngine, runtimes.E2BEngine, runtimes.Bacalhau, runtimes.RemoteEngine, runtimes.Script}}, true
	case runtimes.TypeScript:
		return language{"main.ts", []string{".ts", ".mts", ".cts", ".tsx"}, []runtimes.Name{runtimes.Goja, runtimes.NodeEngine, runtimes.E2BEngine, runtimes.Bacalhau, runtimes.RemoteEngine, runtimes.Script}}, true
	case runtimes.Python:
		return language{"main.py", []string{".py"}, []runtimes.Name{runtimes.PythonEngine, runtimes.MontyEngine, runtimes.E2BEngine, runtimes.Bacalhau, runtimes.RemoteEngine, runtimes.Script}}, true
	case runtimes.Bash:
		return language{"main.sh", []string{".sh", ".bash"}, []runtimes.Name{runtimes.BashEngine, runtimes.E2BEngine, runtimes.Bacalhau, runtimes.RemoteEngine, runtimes.Script}}, true
	case runtimes.WASM:
		return language{"main.wasm", []string{".wasm"}, []runtimes.Name{runtimes.WASMEngine, runtimes.WasmEdge, runtimes.Bacalhau, runtimes.RemoteEngine, runtimes.Script}}, true
	}
	return language{}, false
}

// Entrypoint returns the default entry file of a language.
func Entrypoint(name runtimes.Language) string {
	l, _ := known(name)
	return l.entry
}

// Runtimes lists the runtimes of a language, the default runtime first. It omits the test runtime "script".
func Runtimes(name runtimes.Language) []runtimes.Name {
	l, _ := known(name)
	return slices.DeleteFunc(l.runtimes, func(n runtimes.Name) bool { return n == runtimes.Script })
}

// Languages lists the languages in display order.
func Languages() []runtimes.Language {
	return []runtimes.Language{runtimes.TypeScript, runtimes.JavaScript, runtimes.Python, runtimes.Bash, runtimes.WASM}
}

// Runtime returns the runtime of a spec. If the spec says auto, this is the default runtime of the language.
func (c *Checker) Runtime(spec registry.Spec) (runtimes.Name, error) {
	l, ok := known(spec.Language)
	if !ok {
		return "", unknownLanguage()
	}
	name := canonical(spec.Runtime, l.runtimes[0])
	if !slices.Contains(l.runtimes, name) {
		return "", fault.Invalid("/runtime", "must be auto or one of %s for this language.", join(Runtimes(spec.Language)))
	}
	return name, nil
}

// canonical converts auto, and runtime names that existing clients use, to the name of a runtime of this server.
func canonical(name, auto runtimes.Name) runtimes.Name {
	switch name {
	case "", runtimes.Auto, "vm2", "subprocess":
		return auto
	}
	return name
}

func unknownLanguage() error {
	return fault.Invalid("/language", "must be one of %s.", join(Languages()))
}

func join[T ~string](names []T) string {
	s := make([]string, len(names))
	for i, n := range names {
		s[i] = string(n)
	}
	return strings.Join(s, ", ")
}

// Complete sets defaults, and runs all checks that need no parser.
func (c *Checker) Complete(spec registry.Spec) (registry.Spec, error) {
	l, ok := known(spec.Language)
	if !ok {
		return spec, unknownLanguage()
	}
	if spec.Entrypoint == "" {
		spec.Entrypoint = l.entry
	}
	switch spec.Runtime {
	case "":
		spec.Runtime = runtimes.Auto
	case "vm2", "subprocess":
		spec.Runtime = l.runtimes[0]
	}
	spec = c.withDefaults(spec)
	faults := &faults{}
	name, err := c.Runtime(spec)
	faults.add(err)
	checkIsolation(faults, spec)
	checkFiles(faults, spec, l.suffixes)
	faults.add(at("/inputSchema", c.schemas.CheckInput(spec.InputSchema)))
	faults.add(at("/outputSchema", c.schemas.Check(spec.OutputSchema)))
	checkEnvironment(faults, spec)
	checkCapabilities(faults, spec)
	c.checkLimits(faults, spec.Limits)
	spec.Rules = checkRules(faults, spec)
	faults.add(c.checkPackages(spec))
	if err == nil {
		c.checkFeatures(faults, spec, name)
		checkRemote(faults, spec, name)
		if name == runtimes.WasmEdge && len(spec.Secrets) > 0 {
			faults.addf("/secrets", "must be empty, because WasmEdge takes the environment as arguments, which other users of the host can read; choose the runtime %s.", runtimes.WASMEngine)
		}
		checkNames(faults, spec, name)
	}
	if spec.Deterministic {
		faults.addf("/deterministic", "must be false, because this server does not support the replay of runs yet.")
	}
	return spec, faults.err()
}

// Limits returns the limits of a run. The server's default applies to each limit that the program does not set.
func (c *Checker) Limits(l runtimes.Limits) runtimes.Limits { return l.Or(c.defaults) }

// withDefaults sets defaults for absent values, so that equal content has equal digests. Absent limits are not set.
func (c *Checker) withDefaults(s registry.Spec) registry.Spec {
	if len(s.InputSchema) == 0 || string(s.InputSchema) == "null" {
		s.InputSchema = json.RawMessage(`{"type":"object"}`)
	}
	if len(s.OutputSchema) == 0 || string(s.OutputSchema) == "null" {
		s.OutputSchema = json.RawMessage(`{}`)
	}
	s.Packages, s.Secrets, s.SafetyFlags = orEmpty(s.Packages), orEmpty(s.Secrets), orEmpty(s.SafetyFlags)
	s.Capabilities.Hosts, s.Capabilities.HostFunctions = orEmpty(s.Capabilities.Hosts), orEmpty(s.Capabilities.HostFunctions)
	s.Capabilities.Pinned = nil // Pinned tools are set only when a version is published.
	if s.Environment == nil {
		s.Environment = map[string]string{}
	}
	if s.Files == nil {
		s.Files = map[string]registry.File{}
	}
	return s
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

func checkIsolation(faults *faults, spec registry.Spec) {
	switch spec.Isolation {
	case runtimes.Pooled, runtimes.Strict:
	default:
		faults.addf("/isolation", "must be %s or absent; reuse was removed, because runs that share a V8 process cannot be isolated from each other.", runtimes.Strict)
	}
}

func checkFiles(faults *faults, spec registry.Spec, suffixes []string) {
	if len(spec.Files) == 0 {
		faults.addf("/files", "must contain at least the entry file %s; give code or files.", spec.Entrypoint)
		return
	}
	if len(spec.Files) > MaxFiles {
		faults.addf("/files", "must have at most %d files.", MaxFiles)
	}
	total := 0
	for _, content := range spec.Files {
		total += len(content)
	}
	for _, wrong := range registry.CheckPaths(spec.Files) {
		faults.addf("/files/"+escape(wrong.Path), "%s", wrong.Problem)
	}
	most := MaxFilesBytes
	if spec.Language == runtimes.WASM {
		most = MaxModuleBytes
	}
	if total > most {
		faults.addf("/files", "must have a total size of at most %s.", bytesize.Text(most))
	}
	if _, ok := spec.Files[spec.Entrypoint]; !ok {
		faults.addf("/entrypoint", "must be one of the files; %s does not exist.", spec.Entrypoint)
	} else if !slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(spec.Entrypoint, s) }) {
		faults.addf("/entrypoint", "must end in %s for this language.", strings.Join(suffixes, ", "))
	}
}

func checkEnvironment(faults *faults, spec registry.Spec) {
	if len(spec.Environment) > MaxEnvironment {
		faults.addf("/environment", "must have at most %d names.", MaxEnvironment)
	}
	total := 0
	for _, name := range slices.Sorted(maps.Keys(spec.Environment)) {
		value := spec.Environment[name]
		total += len(name) + len(value) + 2
		faults.add(checkVariable("/environment/"+escape(name), name))
		if strings.ContainsRune(value, 0) {
			faults.addf("/environment/"+escape(name), "must not contain a NUL character.")
		}
	}
	if total > MaxEnvironmentBytes {
		faults.addf("/environment", "must have a total size of at most %s.", bytesize.Text(MaxEnvironmentBytes))
	}
	if len(spec.Secrets) > MaxNames {
		faults.addf("/secrets", "must have at most %d names.", MaxNames)
	}
	for i, name := range spec.Secrets {
		pointer := fmt.Sprintf("/secrets/%d", i)
		faults.add(checkVariable(pointer, name))
		if _, twice := spec.Environment[name]; twice {
			faults.addf(pointer, "must not also be in the environment.")
		}
	}
}

func checkVariable(pointer, name string) error {
	if problem := registry.CheckVariable(name); problem != "" {
		return fault.Invalid(pointer, "%s", problem)
	}
	return nil
}

// AskFunction is the host function with which a program calls the language model.
const AskFunction = "askLLM"

// HostFunctions lists the host functions of this server.
func HostFunctions() []string { return []string{AskFunction, "fetch", "log", "progress"} }

func checkCapabilities(faults *faults, spec registry.Spec) {
	if len(spec.Capabilities.Hosts) > MaxNames {
		faults.addf("/capabilities/hosts", "must have at most %d entries.", MaxNames)
	}
	for i, host := range spec.Capabilities.Hosts {
		if _, err := hostpattern.ParseGrant(host); err != nil {
			faults.addf(fmt.Sprintf("/capabilities/hosts/%d", i), "%s.", err)
		}
	}
	if len(spec.Capabilities.HostFunctions) > MaxNames {
		faults.addf("/capabilities/hostFunctions", "must have at most %d names.", MaxNames)
	}
	for i, name := range spec.Capabilities.HostFunctions {
		if !slices.Contains(HostFunctions(), name) {
			faults.addf(fmt.Sprintf("/capabilities/hostFunctions/%d", i), "must be one of %s.", strings.Join(HostFunctions(), ", "))
		}
	}
	if at := slices.Index(spec.Capabilities.HostFunctions, AskFunction); at >= 0 {
		pointer := fmt.Sprintf("/capabilities/hostFunctions/%d", at)
		switch {
		case spec.Language == runtimes.WASM:
			faults.addf(pointer, "must be absent, because a WebAssembly module cannot call the language model.")
		case spec.Runtime.Remote():
			faults.addf(pointer, "must be absent, because a program of the runtime %s cannot call the language model of this server.", spec.Runtime)
		}
	}
	checkTools(faults, spec)
	checkProject(faults, spec)
	flags := []string{"none", "pii_risk", "external_call", "side_effect", "file_system", "network_access"}
	for i, flag := range spec.SafetyFlags {
		if !slices.Contains(flags, flag) {
			faults.addf(fmt.Sprintf("/safetyFlags/%d", i), "must be one of %s.", strings.Join(flags, ", "))
		}
	}
}

func (c *Checker) checkLimits(faults *faults, l runtimes.Limits) {
	least, most := runtimes.LeastLimits(), c.ceilings
	for i, f := range l.Fields() {
		if least, most := *least.Fields()[i].Value, *most.Fields()[i].Value; *f.Value != 0 && (*f.Value < least || *f.Value > most) {
			faults.addf("/limits/"+f.Name, "must be between %d and %d, the maximum of this server.", least, most)
		}
	}
}
