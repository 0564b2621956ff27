package policy

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/invopop/jsonschema"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/specs"
)

// MaxPack is the maximum size of a pack in bytes.
const MaxPack = 256 << 10

// Schema returns the JSON Schema of a rule pack.
func Schema() ([]byte, error) {
	r := jsonschema.Reflector{ExpandedStruct: true, DoNotReference: true}
	s := r.Reflect(&Pack{})
	s.ID, s.Title = "https://atelier.run/schemas/rule-pack.json", "Atelier rule pack"
	kinds := make([]any, 0, len(runtimes.FactKinds()))
	for _, kind := range runtimes.FactKinds() {
		kinds = append(kinds, kind)
	}
	rules, _ := s.Properties.Get("rules")
	match, _ := rules.Items.Properties.Get("match")
	facts, _ := match.Properties.Get("fact")
	facts.Items.Enum = kinds
	languages, _ := rules.Items.Properties.Get("language")
	for _, language := range specs.Languages() {
		languages.Items.Enum = append(languages.Items.Enum, language)
	}
	return json.MarshalIndent(s, "", "  ")
}

var packSchema = sync.OnceValues(func() (*schema.Schema, error) {
	text, err := Schema()
	if err != nil {
		return nil, err
	}
	return schema.Compile(text)
})

// Parse reads a rule pack and validates it against the published schema. Every error has the line and the reason.
func Parse(text []byte) (Pack, error) {
	if len(text) > MaxPack {
		return Pack{}, refused(0, "must have at most 256 KiB.")
	}
	document, wrong := schema.ReadYAML(text)
	if wrong != nil {
		return Pack{}, refused(wrong.Line, "%s", wrong.Message)
	}
	checked, err := packSchema()
	if err != nil {
		return Pack{}, err
	}
	problem := &fault.Error{Code: fault.InvalidInput, Message: "The rule pack is not valid and was not saved."}
	for _, d := range document.Problems(checked) {
		problem.Details = append(problem.Details, fault.Detail{Pointer: "/source", Line: d.Line, Message: strings.TrimSpace(d.Pointer + " " + d.Message)})
	}
	if len(problem.Details) > 0 {
		return Pack{}, problem
	}
	var pack Pack
	if err := json.Unmarshal(document.JSON, &pack); err != nil {
		return Pack{}, refused(0, "is not valid: %s", err)
	}
	seen := map[string]bool{}
	for n, r := range pack.Rules {
		if seen[r.ID] {
			return Pack{}, refused(document.Line(fmt.Sprintf("/rules/%d/id", n)), "has the rule %s twice.", r.ID)
		}
		seen[r.ID] = true
	}
	return pack, nil
}

func refused(line int, format string, args ...any) error {
	return &fault.Error{Code: fault.InvalidInput, Message: "The rule pack is not valid and was not saved.",
		Details: []fault.Detail{{Pointer: "/source", Line: line, Message: fmt.Sprintf(format, args...)}}}
}
