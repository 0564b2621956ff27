package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/atelier-run/atelier/internal/jcs"
)

// maxDifferences is the maximum number of differences in a result.
const maxDifferences = 50

// maxPart is the maximum size in bytes of a value in a difference.
const maxPart = 2000

// Difference is a position at which an output differs from the expected one. Expected and Actual are absent if there is
// no value or if the value is large.
type Difference struct {
	Pointer  string          `json:"pointer"`
	Expected json.RawMessage `json:"expected,omitempty"`
	Actual   json.RawMessage `json:"actual,omitempty"`
	Message  string          `json:"message"`
}

// Compare returns the differences between two JSON documents. It skips the ignored pointers. Numbers with the same
// value are equal. The order of properties does not matter.
func Compare(expected, actual json.RawMessage, ignore []string) ([]Difference, error) {
	is, err := decode(expected)
	if err != nil {
		return nil, fmt.Errorf("read the expected output: %w", err)
	}
	got, err := decode(actual)
	if err != nil {
		return nil, fmt.Errorf("read the output: %w", err)
	}
	c := comparison{}
	c.values("", is, got, patterns(ignore))
	return c.found, nil
}

// decode returns the value of a document in canonical form. In this form, equal numbers have equal digits.
func decode(raw json.RawMessage) (any, error) {
	canonical, err := jcs.JSON(raw)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(canonical))
	decoder.UseNumber()
	var value any
	return value, decoder.Decode(&value)
}

// patterns splits JSON pointers into segments.
func patterns(pointers []string) [][]string {
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	var all [][]string
	for _, pointer := range pointers {
		segments := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
		for i := range segments {
			segments[i] = unescape.Replace(segments[i])
		}
		all = append(all, segments)
	}
	return all
}

// below returns those patterns that match a segment, without their first segment. ignored is true if one of the
// patterns ends at this segment, so that the value is not compared.
func below(all [][]string, segment string, element bool) (rest [][]string, ignored bool) {
	for _, pattern := range all {
		if pattern[0] != segment && (!element || pattern[0] != "*") {
			continue
		}
		if len(pattern) == 1 {
			return nil, true
		}
		rest = append(rest, pattern[1:])
	}
	return rest, false
}

type comparison struct{ found []Difference }

func (c *comparison) add(pointer string, expected, actual any, hasExpected, hasActual bool) {
	if len(c.found) >= maxDifferences {
		return
	}
	d := Difference{Pointer: pointer}
	if hasExpected {
		d.Expected = shown(expected)
	}
	if hasActual {
		d.Actual = shown(actual)
	}
	switch {
	case !hasActual:
		d.Message = "is missing."
	case !hasExpected:
		d.Message = "is not expected."
	case d.Expected != nil && d.Actual != nil && len(d.Expected)+len(d.Actual) < 200:
		d.Message = fmt.Sprintf("is %s instead of %s.", d.Actual, d.Expected)
	default:
		d.Message = "is different."
	}
	c.found = append(c.found, d)
}

// shown returns the JSON of a value, or nil if the JSON is larger than maxPart.
func shown(value any) json.RawMessage {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil || text.Len() > maxPart {
		return nil
	}
	return bytes.TrimSpace(text.Bytes())
}

func (c *comparison) values(pointer string, expected, actual any, ignore [][]string) {
	switch is := expected.(type) {
	case map[string]any:
		if got, ok := actual.(map[string]any); ok {
			c.objects(pointer, is, got, ignore)
			return
		}
	case []any:
		if got, ok := actual.([]any); ok {
			c.arrays(pointer, is, got, ignore)
			return
		}
	default:
		switch actual.(type) {
		case map[string]any, []any:
		default:
			if expected == actual {
				return
			}
		}
	}
	c.add(pointer, expected, actual, true, true)
}

func (c *comparison) objects(pointer string, expected, actual map[string]any, ignore [][]string) {
	names := slices.Collect(maps.Keys(expected))
	for name := range actual {
		if _, is := expected[name]; !is {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		rest, ignored := below(ignore, name, false)
		if ignored {
			continue
		}
		is, hasExpected := expected[name]
		got, hasActual := actual[name]
		at := pointer + "/" + jcs.EscapePointer(name)
		if hasExpected && hasActual {
			c.values(at, is, got, rest)
			continue
		}
		c.add(at, is, got, hasExpected, hasActual)
	}
}

func (c *comparison) arrays(pointer string, expected, actual []any, ignore [][]string) {
	for i := range max(len(expected), len(actual)) {
		segment := strconv.Itoa(i)
		rest, ignored := below(ignore, segment, true)
		if ignored {
			continue
		}
		at := pointer + "/" + segment
		switch {
		case i >= len(actual):
			c.add(at, expected[i], nil, true, false)
		case i >= len(expected):
			c.add(at, nil, actual[i], false, true)
		default:
			c.values(at, expected[i], actual[i], rest)
		}
	}
}
