package servertest_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/servertest"
)

const ourPack = "name: ours\nrules:\n  - id: no-print\n    title: Prints.\n    language: [python]\n    severity: medium\n    match: {fact: [call], name: [print]}\n    remedy: Use ctx.log.\n"

func TestTryRules(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	try := func(change map[string]any) []string {
		t.Helper()
		body := map[string]any{"language": "python", "code": "print(1)\neval(input())\n"}
		for name, value := range change {
			body[name] = value
		}
		var v registry.Verdict
		s.Want(t, 200, "POST", "/api/v1/gate/try", body).Into(t, &v)
		ids := []string{}
		for _, f := range v.Findings {
			ids = append(ids, f.RuleID)
		}
		return ids
	}
	setGate(t, s.Client, map[string]any{"disabledRules": []string{"standard/py-eval"}})
	for name, c := range map[string]struct {
		change map[string]any
		want   string
	}{
		"the active rules":              {nil, "standard/py-hidden-code standard/py-input"},
		"a rule that is turned off":     {map[string]any{"pack": "standard", "rule": "py-eval"}, "standard/py-eval"},
		"a pack that is not stored":     {map[string]any{"source": ourPack}, "ours/no-print"},
		"a rule that does not apply":    {map[string]any{"pack": "standard", "rule": "py-yaml"}, ""},
		"a program that cannot be read": {map[string]any{"code": "print(", "source": ourPack}, "syntax"},
	} {
		if got := strings.Join(try(c.change), " "); got != c.want {
			t.Errorf("%s found %q, not %q", name, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		body map[string]any
		want string
	}{
		"a language without rules": {map[string]any{"language": "wasm", "code": "x"}, "/language"},
		"a pack that is missing":   {map[string]any{"language": "python", "code": "x", "pack": "nowhere"}, "/pack"},
		"a rule that is missing":   {map[string]any{"language": "python", "code": "x", "pack": "standard", "rule": "nowhere"}, "/rule"},
		"a source that is wrong":   {map[string]any{"language": "python", "code": "x", "source": "name: ours\nrules:\n  - id: x\n"}, `"line":3`},
	} {
		if answer := s.Want(t, 422, "POST", "/api/v1/gate/try", c.body); !strings.Contains(string(answer.Body), c.want) {
			t.Errorf("%s is refused with %s", name, answer.Body)
		}
	}
	s.Want(t, 409, "POST", "/api/v1/gate/try", map[string]any{"language": "python", "code": "x", "source": strings.Replace(ourPack, "ours", "standard", 1)})
	if packs := s.Want(t, 200, "GET", "/api/v1/rule-packs", nil); strings.Contains(string(packs.Body), "no-print") {
		t.Error("a tried pack is stored")
	}
}
