package policy

import (
	"slices"
	"strings"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/specs"
)

// flagsRule is the ID of findings about safety flags.
const flagsRule = "flags"

// isFlagFinding reports whether a finding is about a missing safety flag.
func isFlagFinding(f registry.Finding) bool { return strings.HasPrefix(f.RuleID, flagsRule+"/") }

// missingFlags returns the safety flags that a program must declare. A flag grants nothing; it informs callers about
// effects.
func missingFlags(spec registry.Spec, facts []runtimes.Fact) []string {
	has := func(flags ...string) bool {
		return slices.ContainsFunc(spec.SafetyFlags, func(flag string) bool { return slices.Contains(flags, flag) })
	}
	var missing []string
	if len(spec.Capabilities.Hosts) > 0 && !has("network_access", "external_call") {
		missing = append(missing, "network_access")
	}
	if len(spec.Capabilities.Hosts) > 0 && !has("side_effect") && slices.ContainsFunc(facts, changesRemotely) {
		missing = append(missing, "side_effect")
	}
	if files := spec.Capabilities.Files; files != nil && files.Write && !has("file_system") {
		missing = append(missing, "file_system")
	}
	if slices.Contains(spec.Capabilities.HostFunctions, specs.AskFunction) && !has("external_call") {
		missing = append(missing, "external_call")
	}
	return missing
}

// changesRemotely reports whether a call sends data in a way that usually changes something at a remote service.
func changesRemotely(f runtimes.Fact) bool {
	if f.Kind != runtimes.CallFact {
		return false
	}
	method := strings.ToUpper(f.With["method"])
	if slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE"}, method) {
		return true
	}
	name := f.Name[strings.LastIndexByte(f.Name, '.')+1:]
	root, _, _ := strings.Cut(f.Name, ".")
	if slices.Contains([]string{"requests", "httpx", "axios", "got"}, root) && slices.Contains([]string{"post", "put", "patch", "delete"}, name) {
		return true
	}
	if f.Name != "curl" {
		return false
	}
	for _, key := range []string{"-d", "--data", "--data-raw", "--data-binary", "--json", "-F", "-T"} {
		if _, sends := f.With[key]; sends {
			return true
		}
	}
	return slices.ContainsFunc([]string{"0", "1", "2", "3", "4", "5"}, func(at string) bool {
		return slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE"}, f.With[at])
	})
}

// flagFindings adds a finding for each missing flag.
func flagFindings(missing []string) []registry.Finding {
	titles := map[string]string{
		"network_access": "The program may reach hosts, but has neither the flag network_access nor external_call.",
		"external_call":  "The program uses a language model, but does not have the flag external_call.",
		"file_system":    "The program proposes changes of project files, but does not have the flag file_system.",
		"side_effect":    "The program sends requests that change data elsewhere, but does not have the flag side_effect.",
	}
	var all []registry.Finding
	for _, flag := range missing {
		all = append(all, registry.Finding{RuleID: flagsRule + "/" + flag, Severity: registry.Medium, Weight: weightOf(registry.Medium), Message: titles[flag], Remedy: "Add " + flag + " to safetyFlags."})
	}
	return all
}
