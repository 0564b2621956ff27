package skills

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

	"go.yaml.in/yaml/v3"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/runtimes"
)

const maxDepth = 64 // maximum nesting of values in skill.yaml and manifest.yaml

// settingsSchema returns the compiled schema of skill.yaml. It compiles the schema at the first call.
var settingsSchema = sync.OnceValues(func() (*schema.Schema, error) {
	text, err := Schema()
	if err != nil {
		return nil, err
	}
	return schema.Compile(text)
})

// readSettings reads skill.yaml and checks it against the published schema, so that the server reports the same
// problems as an editor.
func (s *Skill) readSettings(text []byte, all *faults) {
	if len(text) > MaxSettings {
		all.addf(SettingsFile, 0, "must have at most %s.", bytesize.Text(MaxSettings))
		return
	}
	document, problem := parseYAML(text)
	if problem != nil {
		all.add(*problem)
		return
	}
	w := &yamlWriter{lines: map[string]int{}}
	if err := w.write(document, "", 0); err != nil {
		all.addf(SettingsFile, w.line, "%s", err)
		return
	}
	s.settings = w.lines
	compiled, err := settingsSchema()
	if err != nil {
		all.addf(SettingsFile, 0, "%s", err) // cannot happen, because a test compiles this schema
		return
	}
	for _, d := range compiled.Validate(w.out.Bytes()) {
		all.addf(SettingsFile, s.lineOf(s.settings, d.Pointer), "%s", about(d))
	}
	s.noteUnknown(document, all)
	if len(all.details) > 0 {
		return
	}
	if err := json.Unmarshal(w.out.Bytes(), &s.Settings); err != nil {
		all.addf(SettingsFile, 1, "has a value of the wrong type.")
		return
	}
	s.settle()
}

// settle copies the settings to the spec.
func (s *Skill) settle() {
	in := s.Settings
	s.Spec = registry.Spec{
		Packages: in.Dependencies, Environment: in.Environment, Secrets: in.Secrets, SafetyFlags: in.SafetyFlags,
		RequiresApproval: in.RequiresApproval, Deterministic: in.Deterministic,
		Capabilities: runtimes.Capabilities{Hosts: in.Capabilities.Hosts, HostFunctions: in.Capabilities.HostFunctions, Subprocess: in.Capabilities.Subprocess, Tools: in.Capabilities.Tools, Files: (*runtimes.Files)(in.Capabilities.Files)},
		Limits:       runtimes.Limits(in.Limits),
	}
	if in.Rules != nil {
		s.Spec.Rules = &runtimes.Rules{Pack: in.Rules.Pack, Imports: in.Rules.Imports}
	}
}

// noteUnknown rejects an unknown member whose name is similar to a known name. Ignoring a misspelt safety flag would be
// dangerous. For all other unknown members it adds a warning.
func (s *Skill) noteUnknown(document *yaml.Node, all *faults) {
	if document.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(document.Content); i += 2 {
		key := document.Content[i]
		switch meant := misspelt(key.Value); {
		case meant != "":
			all.addf(SettingsFile, key.Line, "has the unknown field %s; did you mean %s?", shown(key.Value), meant)
		case s.isUnknown(key.Value):
			s.Warnings = append(s.Warnings, fault.Detail{File: SettingsFile, Line: key.Line, Message: shown(key.Value) + " is ignored."})
		}
	}
}

func (s *Skill) isUnknown(name string) bool {
	for _, k := range known() {
		if k == name {
			return false
		}
	}
	return true
}

var yamlLine = regexp.MustCompile(`^yaml: line ([0-9]+): (.*)$`)

// parseYAML returns the nodes of a text that contains a single YAML document. It never expands aliases.
func parseYAML(text []byte) (document *yaml.Node, problem *fault.Detail) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var first, second yaml.Node
	if err := decoder.Decode(&first); err != nil || len(first.Content) != 1 {
		return nil, yamlProblem(err)
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, &fault.Detail{File: SettingsFile, Line: max(second.Line, 1), Message: "must contain only one document."}
	}
	if first.Content[0].Kind != yaml.MappingNode {
		return nil, &fault.Detail{File: SettingsFile, Line: 1, Message: "must be a list of NAME: VALUE."}
	}
	return first.Content[0], nil
}

func yamlProblem(err error) *fault.Detail {
	d := &fault.Detail{File: SettingsFile, Line: 1, Message: "must not be empty."}
	if err == nil || errors.Is(err, io.EOF) {
		return d
	}
	d.Message = "is not valid YAML."
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		d.Line, _ = strconv.Atoi(m[1]) // the match contains only digits
		d.Message = "is not valid YAML: " + m[2] + "."
	}
	return d
}

// yamlWriter writes YAML nodes as JSON and records the line of each value.
type yamlWriter struct {
	out   bytes.Buffer
	lines map[string]int
	line  int // line of the current node, for error messages
}

func (w *yamlWriter) write(n *yaml.Node, pointer string, depth int) error {
	w.line = n.Line
	w.lines[pointer] = n.Line
	switch {
	case depth > maxDepth:
		return fmt.Errorf("must be nested at most %d levels deep", maxDepth)
	case n.Anchor != "" || n.Kind == yaml.AliasNode:
		return errors.New("must not have anchors or aliases")
	case n.Kind == yaml.MappingNode:
		return w.mapping(n, pointer, depth)
	case n.Kind == yaml.SequenceNode:
		w.out.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				w.out.WriteByte(',')
			}
			if err := w.write(item, pointer+"/"+strconv.Itoa(i), depth+1); err != nil {
				return err
			}
		}
		w.out.WriteByte(']')
		return nil
	}
	return w.scalar(n)
}

func (w *yamlWriter) mapping(n *yaml.Node, pointer string, depth int) error {
	seen := map[string]bool{}
	w.out.WriteByte('{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		w.line = key.Line
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge":
			return errors.New("must have plain strings as names")
		case seen[key.Value]:
			return fmt.Errorf("has the duplicate name %s", shown(key.Value))
		}
		seen[key.Value] = true
		if i > 0 {
			w.out.WriteByte(',')
		}
		if err := w.json(key.Value); err != nil {
			return err
		}
		w.out.WriteByte(':')
		if err := w.write(n.Content[i+1], pointer+"/"+jcs.EscapePointer(key.Value), depth+1); err != nil {
			return err
		}
	}
	w.out.WriteByte('}')
	return nil
}

func (w *yamlWriter) scalar(n *yaml.Node) error {
	switch tag := n.ShortTag(); tag {
	case "!!str", "!!timestamp":
		return w.json(n.Value)
	case "!!null":
		return w.json(nil)
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			w.out.WriteString(n.Value) // numbers stay text, so that no digits are lost
			return nil
		}
		return errors.New("has a number that JSON cannot represent; write it as a decimal number")
	case "!!bool":
		return w.json(strings.EqualFold(n.Value, "true") || strings.EqualFold(n.Value, "yes") || strings.EqualFold(n.Value, "on"))
	default:
		return fmt.Errorf("has a value of the unsupported type %s", shown(tag))
	}
}

func (w *yamlWriter) json(v any) error {
	text, err := json.Marshal(v)
	w.out.Write(text)
	return err
}
