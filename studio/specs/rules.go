package specs

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/python/rules"
)

// maxImports is the maximum number of modules that a program may import.
const maxImports = 200

var moduleName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}(\.[A-Za-z_][A-Za-z0-9_]{0,63}){0,7}$`)

// checkRules checks the rules of a spec. It returns them in the form in which they are stored, or nil if there are
// none.
func checkRules(faults *faults, spec registry.Spec) *runtimes.Rules {
	r := spec.Rules
	if r == nil || (r.Pack == "" || r.Pack == "none") && len(r.Imports) == 0 {
		return nil
	}
	if r.Pack != runtimes.Restricted {
		faults.addf("/rules/pack", "must be %s or none.", runtimes.Restricted)
	}
	if spec.Language == runtimes.WASM {
		faults.addf("/rules/pack", "must be absent for WebAssembly, whose imports the gate checks anyway.")
	}
	if spec.Language != runtimes.Python && len(r.Imports) > 0 {
		faults.addf("/rules/imports", "must be absent for languages other than Python.")
	}
	if len(r.Imports) > maxImports {
		faults.addf("/rules/imports", "must have at most %d modules.", maxImports)
		return r
	}
	for i, name := range r.Imports {
		if !moduleName.MatchString(name) {
			faults.addf(fmt.Sprintf("/rules/imports/%d", i), "must be the name of a module, for example json or urllib.parse.")
		}
	}
	return r
}

// Restricted reports whether the gate applies the pack "restricted" to a program. This is so if the program has rules,
// or if its workspace is restricted.
func (c *Checker) Restricted(workspace string, spec registry.Spec) bool {
	return spec.Rules != nil || slices.Contains(c.restricted, workspace) || slices.Contains(c.restricted, "*")
}

// Rules returns the rules that restrict a program while it runs. In a restricted workspace these are the rules of the
// pack "restricted", and the program's own list of modules can only shorten the list of the pack. Elsewhere they are
// the program's own rules. A WebAssembly module has no rules, because it can only use its checked imports.
func (c *Checker) Rules(workspace string, spec registry.Spec) *runtimes.Rules {
	if spec.Language == runtimes.WASM {
		return nil
	}
	if !slices.Contains(c.restricted, workspace) && !slices.Contains(c.restricted, "*") {
		return spec.Rules
	}
	pack := runtimes.Rules{Pack: runtimes.Restricted}
	if own := spec.Rules; own != nil && !slices.ContainsFunc(own.Imports, func(name string) bool { return !slices.Contains(rules.Imports(pack), name) }) {
		return own
	}
	return &pack
}
