package policy_test

import (
	"slices"
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/policy"
)

// The pack and the runtimes have the same lists of modules and commands. Each rule that a runtime names in a denial
// exists in the pack.
func TestRestricted_SameListsAtRunTime(t *testing.T) {
	t.Parallel()
	s := stored{settings: policy.Defaults()}
	gate, err := policy.New(policy.Options{Store: s, Packs: s, Inspector: seen(nil), Rules: none{}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	packs, err := gate.List(t.Context(), registry.Actor{Workspace: registry.DefaultWorkspace})
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]policy.Rule{}
	for _, p := range packs {
		for _, r := range p.Rules {
			rules[p.Name+"/"+r.ID] = r
		}
	}
	for _, id := range []string{runtimes.RuleModules, runtimes.RuleCode, runtimes.RuleDynamic, runtimes.RuleCommands} {
		if _, known := rules[id]; !known {
			t.Errorf("the pack has no rule %s", id)
		}
	}
	if got := rules[runtimes.RuleModules].Match.Except; !slices.Equal(got, runtimes.RestrictedModules()) {
		t.Errorf("modules of the pack: %v", got)
	}
	devices := []string{"/dev/tcp", "/dev/udp"} // These names are devices and not commands.
	if got := rules[runtimes.RuleCommands].Match.Name; !slices.Equal(got, append(runtimes.RestrictedCommands(), devices...)) {
		t.Errorf("commands of the pack: %v", got)
	}
}
