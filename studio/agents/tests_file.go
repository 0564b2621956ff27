package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// checkTests checks the tests of a draft, including the schemas in them.
func (s *Service) checkTests(tests []registry.Test) ([]registry.Test, error) {
	checked, err := registry.CheckTests(tests)
	if err != nil {
		return nil, err
	}
	refused := &fault.Error{Code: fault.InvalidInput, Message: "The tests are not valid."}
	for i, t := range checked {
		if len(t.Expect.Matches) == 0 {
			continue
		}
		if err := s.Validator.Check(t.Expect.Matches); err != nil {
			var wrong *fault.Error
			if !errors.As(err, &wrong) || wrong.Code != fault.InvalidInput {
				return nil, err
			}
			for _, d := range wrong.Details {
				d.Pointer = fmt.Sprintf("/tests/%d/expect/matches", i) + d.Pointer
				refused.Details = append(refused.Details, d)
			}
		}
	}
	if len(refused.Details) > 0 {
		return nil, refused
	}
	return checked, nil
}

// writeTests writes tests as tests.yaml. readTests reads the same tests back.
func writeTests(tests []registry.Test) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(tests); err != nil {
		return nil, fmt.Errorf("write %s: %w", registry.TestsFile, err)
	}
	return toYAML(registry.TestsFile, text.Bytes())
}

// readTests reads tests.yaml, which is a list of tests. A folder without this file has no tests.
func readTests(folder fs.FS) ([]registry.Test, error) {
	text, err := fs.ReadFile(folder, registry.TestsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return []registry.Test{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read tests: %w", err)
	}
	return parseTests(text)
}

func parseTests(text []byte) ([]registry.Test, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, badTests(0, "", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(document.Content) == 0 {
		return []registry.Test{}, nil
	}
	list := document.Content[0]
	if list.Kind != yaml.SequenceNode {
		return nil, badTests(list.Line, "", "must be a list of tests.")
	}
	tests := make([]registry.Test, 0, len(list.Content))
	for i, n := range list.Content {
		t, err := parseTest(n, i)
		if err != nil {
			return nil, err
		}
		tests = append(tests, t)
	}
	checked, err := registry.CheckTests(tests)
	var refused *fault.Error
	if errors.As(err, &refused) {
		for i := range refused.Details { // Replace the pointers by lines of the file.
			d, at := &refused.Details[i], 0
			d.File, d.Message = registry.TestsFile, strings.TrimSpace(d.Pointer+" "+d.Message)
			if _, err := fmt.Sscanf(d.Pointer, "/tests/%d", &at); err == nil && at < len(list.Content) {
				d.Line = list.Content[at].Line
			}
			d.Pointer = ""
		}
	}
	return checked, err
}

// parseTest reads one test. Unknown fields are rejected, with their line.
func parseTest(n *yaml.Node, at int) (registry.Test, error) {
	pointer := fmt.Sprintf("/tests/%d", at)
	if n.Kind != yaml.MappingNode {
		return registry.Test{}, badTests(n.Line, pointer, "must have name, input and expect.")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		if fields := []string{"name", "input", "expect", "ignore", "source", "tags"}; !slices.Contains(fields, name.Value) {
			return registry.Test{}, badTests(name.Line, pointer+"/"+name.Value, "is not a field of a test; the fields are "+strings.Join(fields, ", ")+".")
		}
		if name.Value != "expect" {
			continue
		}
		expect := n.Content[i+1]
		for j := 0; expect.Kind == yaml.MappingNode && j+1 < len(expect.Content); j += 2 {
			if fields := []string{"output", "schema", "errorType", "matches"}; !slices.Contains(fields, expect.Content[j].Value) {
				return registry.Test{}, badTests(expect.Content[j].Line, pointer+"/expect/"+expect.Content[j].Value, "is not an expectation; the expectations are "+strings.Join(fields, ", ")+".")
			}
		}
	}
	var text bytes.Buffer
	if err := writeJSON(&text, n, 0); err != nil {
		return registry.Test{}, badTests(n.Line, pointer, err.Error())
	}
	var t registry.Test
	if err := json.Unmarshal(text.Bytes(), &t); err != nil {
		return registry.Test{}, badTests(n.Line, pointer, strings.TrimPrefix(err.Error(), "json: "))
	}
	return t, nil
}

// badTests returns the error for an invalid tests.yaml, with the line.
func badTests(line int, pointer, message string) error {
	return &fault.Error{
		Code: fault.InvalidInput, Message: registry.TestsFile + " is not valid.",
		Details: []fault.Detail{{File: registry.TestsFile, Line: line, Message: strings.TrimSpace(pointer + " " + message)}},
	}
}
