package policy_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect"
	"github.com/atelier-run/atelier/studio/policy"
)

// stored is a store with settings and packs.
type stored struct {
	none
	settings registry.GateSettings
	packs    []registry.RulePack
}

func (s stored) GateSettings(context.Context, string) (registry.GateSettings, bool, error) {
	return s.settings, true, nil
}
func (s stored) RulePacks(context.Context, string) ([]registry.RulePack, error) { return s.packs, nil }

// seen replaces the inspector. It returns the same facts for every program.
type seen []runtimes.Fact

func (f seen) Facts(context.Context, inspect.Request) (inspect.Facts, error) {
	return inspect.Facts{Facts: f}, nil
}

// verdictOf returns the verdict about facts, with a pack and changed settings.
func verdictOf(t *testing.T, pack string, change func(*registry.GateSettings), spec registry.Spec, facts ...runtimes.Fact) registry.Verdict {
	t.Helper()
	s := stored{settings: policy.Defaults()}
	if pack != "" {
		p, err := policy.Parse([]byte(pack))
		if err != nil {
			t.Fatal(err)
		}
		s.packs, s.settings.Packs = []registry.RulePack{{Name: p.Name, Source: pack}}, []string{p.Name}
	}
	if change != nil {
		change(&s.settings)
	}
	gate, err := policy.New(policy.Options{Store: s, Packs: s, Inspector: seen(facts), Rules: none{}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	v, err := gate.Judge(t.Context(), "default", spec, &spec)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func called(name string, line int) runtimes.Fact {
	return runtimes.Fact{Kind: runtimes.CallFact, Name: name, File: "main.py", Line: line, Column: 1}
}

func decided(t *testing.T, v registry.Verdict, decision registry.Decision, score float64, rules ...string) {
	t.Helper()
	var ids []string
	for _, f := range v.Findings {
		ids = append(ids, f.RuleID)
	}
	if v.Decision != decision || v.Score != score || !slices.Equal(ids, rules) {
		t.Errorf("decided %s with score %v and %q, want %s, %v and %q", v.Decision, v.Score, ids, decision, score, rules)
	}
}

const severities = `name: team
rules:
  - {id: low, title: Low., severity: low, match: {fact: [call], name: [low]}, remedy: None.}
  - {id: medium, title: Medium., severity: medium, match: {fact: [call], name: [medium]}, remedy: None.}
  - {id: high, title: High., severity: high, match: {fact: [call], name: [high]}, remedy: None.}
  - {id: critical, title: Critical., severity: critical, match: {fact: [call], name: [critical]}, remedy: None.}
`

// The score is 1 minus the weights of the matching rules, each counted once. The strictest finding decides.
func TestJudge_ScoreAndDecision_BySeverity(t *testing.T) {
	t.Parallel()
	spec := specOf(runtimes.Python, "pass\n")
	decided(t, verdictOf(t, severities, nil, spec), registry.Approve, 1)
	decided(t, verdictOf(t, severities, nil, spec, called("low", 1)), registry.Warn, 0.9, "team/low")
	decided(t, verdictOf(t, severities, nil, spec, called("low", 1), called("low", 2)), registry.Warn, 0.9, "team/low", "team/low")
	decided(t, verdictOf(t, severities, nil, spec, called("medium", 1), called("low", 2)), registry.Warn, 0.65, "team/medium", "team/low")
	decided(t, verdictOf(t, severities, nil, spec, called("high", 1), called("medium", 2)), registry.Escalate, 0.25, "team/high", "team/medium")
	decided(t, verdictOf(t, severities, nil, spec, called("critical", 1), called("high", 2)), registry.Block, 0, "team/critical", "team/high")
}

func TestJudge_Thresholds_AreSettings(t *testing.T) {
	t.Parallel()
	spec := specOf(runtimes.Python, "pass\n")
	cases := map[string]struct {
		block, escalate registry.Severity
		fact            string
		want            registry.Decision
	}{
		"a medium one blocks":          {registry.Medium, registry.Low, "medium", registry.Block},
		"a low one escalates":          {registry.Critical, registry.Low, "low", registry.Escalate},
		"a high one only warns":        {registry.Critical, registry.Critical, "high", registry.Warn},
		"both thresholds are the same": {registry.High, registry.High, "high", registry.Block},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := verdictOf(t, severities, func(s *registry.GateSettings) { s.BlockAt, s.EscalateAt = c.block, c.escalate }, spec, called(c.fact, 1))
			if v.Decision != c.want {
				t.Errorf("decided %s, want %s", v.Decision, c.want)
			}
		})
	}
}

// A pack can set the weight of a rule, and can require a call.
func TestJudge_Pack_WeightAndRequire(t *testing.T) {
	t.Parallel()
	const pack = `name: team
rules:
  - {id: free, title: Free., severity: high, weight: 0, match: {fact: [call], name: [free]}, remedy: None.}
  - {id: dear, title: Dear., severity: low, weight: 0.75, match: {fact: [call], name: [dear]}, remedy: None.}
  - {id: logs, title: Reports nothing., severity: medium, require: true, match: {fact: [call], name: [ctx.log]}, remedy: Call ctx.log.}
`
	spec := specOf(runtimes.Python, "pass\n")
	decided(t, verdictOf(t, pack, nil, spec, called("free", 1), called("ctx.log", 2)), registry.Escalate, 1, "team/free")
	decided(t, verdictOf(t, pack, nil, spec, called("dear", 1), called("ctx.log", 2)), registry.Warn, 0.25, "team/dear")
	v := verdictOf(t, pack, nil, spec, called("print", 1))
	decided(t, v, registry.Warn, 0.75, "team/logs")
	if v.Findings[0].File != spec.Entrypoint || v.Findings[0].Remedy != "Call ctx.log." {
		t.Errorf("the finding is %+v", v.Findings[0])
	}
}

// A grant without its safety flag must block publishing in every mode of the gate.
func TestJudge_GrantWithoutItsFlag_Blocks(t *testing.T) {
	t.Parallel()
	posts := runtimes.Fact{Kind: runtimes.CallFact, Name: "requests.post", File: "main.py", Line: 1, Column: 1}
	cases := map[string]struct {
		grant runtimes.Capabilities
		flags []string
		facts []runtimes.Fact
		want  []string
	}{
		"hosts":                       {runtimes.Capabilities{Hosts: []string{"a.example.com:443"}}, nil, nil, []string{"network_access"}},
		"hosts with a flag":           {runtimes.Capabilities{Hosts: []string{"a.example.com:443"}}, []string{"external_call"}, nil, nil},
		"a change elsewhere":          {runtimes.Capabilities{Hosts: []string{"a.example.com:443"}}, []string{"network_access"}, []runtimes.Fact{posts}, []string{"side_effect"}},
		"a call without a grant":      {runtimes.Capabilities{}, nil, []runtimes.Fact{posts}, nil},
		"a project that it reads":     {runtimes.Capabilities{Files: &runtimes.Files{Project: "docs"}}, nil, nil, nil},
		"a project that it writes":    {runtimes.Capabilities{Files: &runtimes.Files{Project: "docs", Write: true}}, nil, nil, []string{"file_system"}},
		"writes, and says so":         {runtimes.Capabilities{Files: &runtimes.Files{Project: "docs", Write: true}}, []string{"file_system"}, nil, nil},
		"a question to a model":       {runtimes.Capabilities{HostFunctions: []string{"askLLM"}}, nil, nil, []string{"external_call"}},
		"a question, and says so":     {runtimes.Capabilities{HostFunctions: []string{"askLLM"}}, []string{"external_call"}, nil, nil},
		"one flag, two disagreements": {runtimes.Capabilities{Hosts: []string{"a.example.com:443"}, Files: &runtimes.Files{Project: "docs", Write: true}}, nil, nil, []string{"network_access", "file_system"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := specOf(runtimes.Python, "pass\n")
			spec.Capabilities, spec.SafetyFlags = c.grant, c.flags
			for _, mode := range []registry.GateMode{registry.GateAdvise, registry.GateEnforce} {
				v := verdictOf(t, "", func(s *registry.GateSettings) { s.Gate = mode }, spec, c.facts...)
				if !slices.Equal(v.MissingFlags, c.want) || len(v.Findings) != len(c.want) || (v.Decision == registry.Block) != (len(c.want) > 0) {
					t.Errorf("%s: %s, missing %q, %+v", mode, v.Decision, v.MissingFlags, v.Findings)
				}
			}
		})
	}
}

// Findings have the position of the call. Columns are UTF-16 units starting at 1, as in an editor.
func TestJudge_Columns_PointAtTheCall(t *testing.T) {
	t.Parallel()
	gate := newGate(t)
	for language, text := range map[runtimes.Language]string{
		runtimes.Python:     "def main(input, ctx):\n    x = '😀é'; return eval('1')\n",
		runtimes.JavaScript: "export default () => {\n  const x = '😀é'; return eval('1')\n}\n",
		runtimes.TypeScript: "export default (): unknown => {\n  const x: string = '😀é'; return eval('1')\n}\n",
		runtimes.Bash:       "set -e\nx='😀é'; eval \"$INPUT\"\n",
	} {
		v, err := gate.Judge(t.Context(), "default", specOf(language, text), nil)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(v.Findings, func(f registry.Finding) bool { return strings.Contains(f.RuleID, "eval") })
		if at < 0 {
			t.Errorf("%s: the findings are %+v", language, v.Findings)
			continue
		}
		f := v.Findings[at]
		before, _, _ := strings.Cut(strings.Split(text, "\n")[1], "eval")
		if want := len(utf16.Encode([]rune(before))) + 1; f.Line != 2 || f.Column != want {
			t.Errorf("%s: the finding is at %d:%d, want 2:%d", language, f.Line, f.Column, want)
		}
	}
}

// A reference to another agent is a capability, with the position of its first call.
func TestJudge_NewlyCalledAgents_AreCapabilities(t *testing.T) {
	t.Parallel()
	gate := newGate(t)
	for language, text := range map[runtimes.Language]string{
		runtimes.Python:     "from agents import shout\ndef main(input, ctx):\n    return shout(input)\n",
		runtimes.JavaScript: "import { shout } from 'agents'\nexport default (input) =>\n  shout(input)\n",
		runtimes.TypeScript: "\nexport default (input: unknown, ctx: any) =>\n  ctx.callTool('shout@^1', input)\n",
		runtimes.Bash:       "set -e\n\natelier call shout \"$INPUT\"\n",
	} {
		before := specOf(language, text)
		after := specOf(language, text)
		before.Capabilities.Tools = []string{"count@1.0.0"}
		after.Capabilities.Tools = []string{"count@1.0.0", "shout@^1"}
		v, err := gate.Judge(t.Context(), "default", after, &before)
		want := "newly calls the agent shout@^1 (" + after.Entrypoint + ":3)"
		if err != nil || len(v.CapabilityChanges) != 1 || v.CapabilityChanges[0].Kind != "tool" || v.CapabilityChanges[0].Message != want {
			t.Errorf("%s: %+v, %v, want %s", language, v.CapabilityChanges, err, want)
		}
	}
}
