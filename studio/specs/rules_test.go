package specs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/specs"
)

func TestRulesOfASpec(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rules    *runtimes.Rules
		language runtimes.Language
		want     *runtimes.Rules
		fault    string // pointer of the expected error
	}{
		"none":             {nil, runtimes.Python, nil, ""},
		"taken away":       {&runtimes.Rules{Pack: "none"}, runtimes.Python, nil, ""},
		"the pack":         {&runtimes.Rules{Pack: "restricted"}, runtimes.Python, &runtimes.Rules{Pack: "restricted"}, ""},
		"a list":           {&runtimes.Rules{Pack: "restricted", Imports: []string{"os.path"}}, runtimes.Python, &runtimes.Rules{Pack: "restricted", Imports: []string{"os.path"}}, ""},
		"another pack":     {&runtimes.Rules{Pack: "strict"}, runtimes.Python, nil, "/rules/pack"},
		"a list of none":   {&runtimes.Rules{Pack: "none", Imports: []string{"os"}}, runtimes.Python, nil, "/rules/pack"},
		"no module":        {&runtimes.Rules{Pack: "restricted", Imports: []string{"json", "a-b"}}, runtimes.Python, nil, "/rules/imports/1"},
		"too many":         {&runtimes.Rules{Pack: "restricted", Imports: strings.Fields(strings.Repeat("a ", 201))}, runtimes.Python, nil, "/rules/imports"},
		"another language": {&runtimes.Rules{Pack: "restricted"}, runtimes.Bash, &runtimes.Rules{Pack: "restricted"}, ""},
		"a list for Bash":  {&runtimes.Rules{Pack: "restricted", Imports: []string{"os"}}, runtimes.Bash, nil, "/rules/imports"},
		"a module":         {&runtimes.Rules{Pack: "restricted"}, runtimes.WASM, nil, "/rules/pack"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := registry.Spec{Language: tt.language, Rules: tt.rules, Files: map[string]registry.File{specs.Entrypoint(tt.language): nil}}
			spec, err := checker().Complete(spec)
			var refused *fault.Error
			switch {
			case tt.fault == "" && err != nil:
				t.Error(err)
			case tt.fault != "" && (!errors.As(err, &refused) || refused.Details[0].Pointer != tt.fault):
				t.Errorf("got %v, want a fault at %s", err, tt.fault)
			case tt.fault == "":
				if diff := cmp.Diff(tt.want, spec.Rules); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// The operator's rules apply to every program except WebAssembly modules. A program's own list of modules can only be
// shorter.
func TestRulesOfAWorkspace(t *testing.T) {
	t.Parallel()
	pack := &runtimes.Rules{Pack: runtimes.Restricted}
	shorter := &runtimes.Rules{Pack: runtimes.Restricted, Imports: []string{"json"}}
	longer := &runtimes.Rules{Pack: runtimes.Restricted, Imports: []string{"json", "os"}}
	for _, tt := range []struct {
		restricted string
		language   runtimes.Language
		own, want  *runtimes.Rules
	}{
		{"default", runtimes.Python, nil, pack},
		{"*", runtimes.Python, nil, pack},
		{"other", runtimes.Python, nil, nil},
		{"default", runtimes.Bash, nil, pack},
		{"other", runtimes.JavaScript, pack, pack},
		{"other", runtimes.JavaScript, nil, nil},
		{"*", runtimes.WASM, nil, nil},
		{"default", runtimes.Python, pack, pack},
		{"default", runtimes.Python, shorter, shorter},
		{"default", runtimes.Python, longer, pack},
		{"other", runtimes.Python, longer, longer},
	} {
		checker := specs.New(specs.NewValidator(schema.NewCache(16)), runtimes.DefaultLimits(), runtimes.DefaultCeilings(), tt.restricted)
		if diff := cmp.Diff(tt.want, checker.Rules("default", registry.Spec{Language: tt.language, Rules: tt.own})); diff != "" {
			t.Errorf("%+v: %s", tt, diff)
		}
	}
}
