package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v3"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/runtimes"
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
	languages.Items.Enum = []any{runtimes.JavaScript, runtimes.TypeScript, runtimes.Python, runtimes.Bash, runtimes.WASM}
	return json.MarshalIndent(s, "", "  ")
}

var packSchema = sync.OnceValues(func() (*schema.Schema, error) {
	text, err := Schema()
	if err != nil {
		return nil, err
	}
	return schema.Compile(text)
})

// Parse reads a rule pack. It validates it against the published schema. Every error has the line and the reason.
func Parse(text []byte) (Pack, error) {
	if len(text) > MaxPack {
		return Pack{}, refused(0, "must have at most 256 KiB.")
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil {
		return Pack{}, refused(lineOf(err), "is not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return Pack{}, refused(0, "must have one document.")
	}
	lines, value := map[string]int{}, any(nil)
	if err := walk(&document, "", lines, 0); err != nil {
		return Pack{}, err
	}
	if err := document.Decode(&value); err != nil {
		return Pack{}, refused(lineOf(err), "is not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return Pack{}, refused(0, "must have text keys only.")
	}
	checked, err := packSchema()
	if err != nil {
		return Pack{}, err
	}
	problem := &fault.Error{Code: fault.InvalidInput, Message: "The rule pack is not valid. The previous one stays."}
	for _, d := range checked.Validate(raw) {
		problem.Details = append(problem.Details, fault.Detail{Pointer: "/source", Line: nearest(lines, d.Pointer), Message: strings.TrimSpace(d.Pointer + " " + d.Message)})
	}
	if len(problem.Details) > 0 {
		return Pack{}, problem
	}
	var pack Pack
	if err := json.Unmarshal(raw, &pack); err != nil {
		return Pack{}, refused(0, "is not valid: %s", err)
	}
	seen := map[string]bool{}
	for n, r := range pack.Rules {
		if seen[r.ID] {
			return Pack{}, refused(nearest(lines, fmt.Sprintf("/rules/%d/id", n)), "has the rule %s twice.", r.ID)
		}
		seen[r.ID] = true
	}
	return pack, nil
}

func refused(line int, format string, args ...any) error {
	return &fault.Error{Code: fault.InvalidInput, Message: "The rule pack is not valid. The previous one stays.",
		Details: []fault.Detail{{Pointer: "/source", Line: line, Message: fmt.Sprintf(format, args...)}}}
}

var yamlLine = regexp.MustCompile(`line (\d+)`)

func lineOf(err error) int {
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		line, _ := strconv.Atoi(m[1])
		return line
	}
	return 0
}

// walk notes the lines of all values. It rejects aliases, which could expand without a bound.
func walk(n *yaml.Node, pointer string, lines map[string]int, depth int) error {
	lines[pointer] = n.Line
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return refused(n.Line, "must not use anchors and aliases.")
	case depth > 20:
		return refused(n.Line, "is nested too deeply.")
	}
	switch n.Kind {
	case yaml.DocumentNode:
		for _, child := range n.Content {
			if err := walk(child, "", lines, depth+1); err != nil {
				return err
			}
		}
	case yaml.SequenceNode:
		for i, child := range n.Content {
			if err := walk(child, pointer+"/"+strconv.Itoa(i), lines, depth+1); err != nil {
				return err
			}
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := strings.NewReplacer("~", "~0", "/", "~1").Replace(n.Content[i].Value)
			if err := walk(n.Content[i+1], pointer+"/"+key, lines, depth+1); err != nil {
				return err
			}
			lines[pointer+"/"+key] = n.Content[i].Line
		}
	case yaml.ScalarNode, yaml.AliasNode:
	}
	return nil
}

// nearest returns the line of a value, or of the closest value around it.
func nearest(lines map[string]int, pointer string) int {
	for {
		if line, ok := lines[pointer]; ok {
			return line
		}
		at := strings.LastIndexByte(pointer, '/')
		if at < 0 {
			return 0
		}
		pointer = pointer[:at]
	}
}
