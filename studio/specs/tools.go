package specs

import (
	"fmt"
	"strings"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// MaxTools is the maximum number of agents that a program may call.
const MaxTools = 64

// checkTools checks the form of references to other agents. Whether the agents exist is checked when a version is
// published and when a program calls them.
func checkTools(faults *faults, spec registry.Spec) {
	tools := spec.Capabilities.Tools
	if len(tools) > MaxTools {
		faults.addf("/capabilities/tools", "must have at most %d references.", MaxTools)
		return
	}
	if len(tools) > 0 && spec.Language == runtimes.WASM {
		faults.addf("/capabilities/tools", "must be empty, because a WebAssembly module cannot call other agents.")
	}
	seen := map[string]int{}
	for i, text := range tools {
		pointer := fmt.Sprintf("/capabilities/tools/%d", i)
		ref, err := registry.ParseReference(text)
		switch {
		case err != nil, ref.Version == "", registry.KindOf(ref.Version) == registry.ByDraft, registry.CheckName(ref.Agent) != nil:
			faults.addf(pointer, "must be a reference with the agent's name and a version, such as summarise@^1 or summarise@1.2.0.")
			continue
		}
		if first, twice := seen[registry.NameKey(ref.Agent)]; twice {
			faults.addf(pointer, "must not name the same agent as /capabilities/tools/%d.", first)
		}
		seen[registry.NameKey(ref.Agent)] = i
	}
}

// ToolOf returns the declared reference for the agent that a program wants to call. The program may pass the declared
// reference, the name of the agent, or this name in the form of an identifier of its language.
func ToolOf(tools []string, wanted string) (string, bool) {
	for _, declared := range tools {
		if declared == wanted {
			return declared, true
		}
	}
	for _, key := range []string{registry.NameKey(wanted), strings.TrimSuffix(registry.NameKey(wanted), "_")} { // For example, the identifier class_ stands for the agent class, because class is a keyword in Python.
		for _, declared := range tools {
			if agent, _, _ := strings.Cut(declared, "@"); registry.NameKey(agent) == key {
				return declared, true
			}
		}
	}
	return "", false
}
