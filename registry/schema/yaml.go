package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
)

// maxYAMLDepth is the maximum nesting of a YAML document.
const maxYAMLDepth = 20

// Document is a YAML document that was converted to JSON, with the line of each value.
type Document struct {
	JSON  json.RawMessage
	lines map[string]int
}

// ReadYAML reads a text that contains a single YAML document. If the text is invalid, the returned problem has a line,
// and a message that is a predicate for the name of the file. ReadYAML rejects aliases, which could expand to unlimited
// size.
func ReadYAML(text []byte) (Document, *fault.Detail) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil {
		return Document{}, notYAML(err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return Document{}, atLine(0, "must contain only one document.")
	}
	d, value := Document{lines: map[string]int{}}, any(nil)
	if problem := d.walk(&document, "", 0); problem != nil {
		return Document{}, problem
	}
	err := document.Decode(&value)
	if err != nil {
		return Document{}, notYAML(err)
	}
	if d.JSON, err = json.Marshal(value); err != nil {
		return Document{}, atLine(0, "must have only keys that are text.")
	}
	return d, nil
}

// Problems checks the document against a schema. Each problem has a pointer and a line.
func (d Document) Problems(s *Schema) []fault.Detail {
	details := s.Validate(d.JSON)
	for i := range details {
		details[i].Line = d.Line(details[i].Pointer)
	}
	return details
}

// Line returns the line of the value at a pointer, or of the closest enclosing value that has a line.
func (d Document) Line(pointer string) int {
	for {
		if line, ok := d.lines[pointer]; ok {
			return line
		}
		at := strings.LastIndexByte(pointer, '/')
		if at < 0 {
			return 0
		}
		pointer = pointer[:at]
	}
}

func atLine(line int, format string, args ...any) *fault.Detail {
	return &fault.Detail{Line: line, Message: fmt.Sprintf(format, args...)}
}

var yamlLine = regexp.MustCompile(`line (\d+)`)

func notYAML(err error) *fault.Detail {
	line := 0
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1]) // the match contains only digits
	}
	return atLine(line, "is not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
}

// walk records the lines of all values. It rejects aliases, anchors and deep nesting.
func (d Document) walk(n *yaml.Node, pointer string, depth int) *fault.Detail {
	d.lines[pointer] = n.Line
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return atLine(n.Line, "must not use anchors and aliases.")
	case depth > maxYAMLDepth:
		return atLine(n.Line, "is nested too deeply.")
	}
	switch n.Kind {
	case yaml.DocumentNode:
		for _, child := range n.Content {
			if problem := d.walk(child, "", depth+1); problem != nil {
				return problem
			}
		}
	case yaml.SequenceNode:
		for i, child := range n.Content {
			if problem := d.walk(child, pointer+"/"+strconv.Itoa(i), depth+1); problem != nil {
				return problem
			}
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			at := pointer + "/" + jcs.EscapePointer(n.Content[i].Value)
			if problem := d.walk(n.Content[i+1], at, depth+1); problem != nil {
				return problem
			}
			d.lines[at] = n.Content[i].Line
		}
	case yaml.ScalarNode, yaml.AliasNode:
	}
	return nil
}
