package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect"
)

// maxFindings is the maximum number of findings in a verdict. Further findings are only counted.
const maxFindings = 200

// ruleSet holds the rules and thresholds that apply to a program.
type ruleSet struct {
	rules    []rule
	names    []string
	version  string
	settings registry.GateSettings
}

// judge applies rules to the facts about a program. A rule gives one finding for each place that matches, but its
// weight counts only once in the score.
func (set ruleSet) judge(spec registry.Spec, found inspect.Facts, before []capability) registry.Verdict {
	v := registry.Verdict{Findings: []registry.Finding{}, RulePack: strings.Join(set.names, "+"), PolicyVersion: set.version}
	v.CapabilityChanges = newCapabilities(capabilities(spec, found.Facts), before)
	cost := 0.0
	for _, e := range found.Errors {
		f := registry.Finding{
			RuleID: "syntax", Severity: registry.Critical, Weight: 1, File: e.File, Line: e.Line, Column: e.Column, Message: e.Message, Remedy: "Fix the syntax, so that the program can be analysed.",
		}
		if e.Code == undecided {
			f.RuleID, f.Severity, f.Weight, f.Remedy = undecided, registry.High, 0.5, "Write this part in another way, so that the program can be analysed."
		}
		v.Findings = append(v.Findings, f)
		cost += f.Weight
	}
	if found.Cut > 0 {
		v.Findings = append(v.Findings, registry.Finding{
			RuleID: undecided, Severity: registry.High, Weight: 0.5, Message: fmt.Sprintf("The program is too large to be analysed completely; %d facts were omitted.", found.Cut), Remedy: "Split the program into smaller agents.",
		})
		cost += 0.5
	}
	for _, r := range set.rules {
		if r.appliesTo(spec.Language) && (len(found.Errors) == 0 || !r.Require) {
			cost += set.apply(r, spec, found.Facts, &v)
		}
	}
	v.MissingFlags = missingFlags(spec, found.Facts)
	for _, f := range flagFindings(v.MissingFlags) {
		v.Findings = append(v.Findings, f)
		cost += f.Weight
	}
	v.Score = max(0, float64(int((1-cost)*1000+0.5))/1000)
	v.Decision = set.decide(v) // Decide before order cuts the list of findings.
	set.order(&v)
	return v
}

// undecided is the ID of findings about a program that the gate cannot judge.
const undecided = "undecided"

// apply adds the findings of one rule and returns the amount by which they lower the score.
func (set ruleSet) apply(r rule, spec registry.Spec, facts []runtimes.Fact, v *registry.Verdict) float64 {
	finding := registry.Finding{RuleID: r.id(), Severity: r.Severity, Weight: r.weight(), Message: r.Title, Remedy: r.Remedy}
	seen := map[[2]any]bool{}
	found := false
	for _, f := range facts {
		if !r.matches(f) || seen[[2]any{f.File, f.Line}] {
			continue
		}
		found = true
		if r.Require {
			return 0
		}
		seen[[2]any{f.File, f.Line}] = true
		finding.File, finding.Line, finding.Column = f.File, f.Line, f.Column
		finding.Message = r.Title
		if f.Name != "" && !strings.Contains(r.Title, f.Name) {
			finding.Message = strings.TrimSuffix(r.Title, ".") + ": " + f.Name + "."
		}
		v.Findings = append(v.Findings, finding)
	}
	switch {
	case r.Require && !found:
		finding.File = spec.Entrypoint
		v.Findings = append(v.Findings, finding)
		return finding.Weight
	case found:
		return finding.Weight
	}
	return 0
}

// order sorts findings by severity and position, and cuts the list after maxFindings.
func (set ruleSet) order(v *registry.Verdict) {
	rank := func(s registry.Severity) int { return slices.Index(registry.Severities(), s) }
	slices.SortStableFunc(v.Findings, func(a, b registry.Finding) int {
		if c := rank(b.Severity) - rank(a.Severity); c != 0 {
			return c
		}
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		return a.Line - b.Line
	})
	if more := len(v.Findings) - maxFindings; more > 0 {
		v.Findings, v.MoreFindings = v.Findings[:maxFindings], more
	}
}

// decide returns the strictest decision that a finding or a capability change requires.
func (set ruleSet) decide(v registry.Verdict) registry.Decision {
	decision := registry.Approve
	if len(v.CapabilityChanges) > 0 {
		decision = registry.Warn
		if set.settings.NewCapability == "escalate" {
			decision = registry.Escalate
		}
	}
	rank := func(s registry.Severity) int { return slices.Index(registry.Severities(), s) }
	for _, f := range v.Findings {
		switch {
		case isFlagFinding(f):
			return registry.Block
		case rank(f.Severity) >= rank(set.settings.BlockAt) && f.RuleID != undecided || f.RuleID == "syntax":
			return registry.Block
		case rank(f.Severity) >= rank(set.settings.EscalateAt) || f.RuleID == undecided:
			decision = registry.Escalate
		case decision == registry.Approve:
			decision = registry.Warn
		}
	}
	return decision
}
