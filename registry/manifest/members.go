package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/atelier-run/atelier/internal/fault"
)

// members is a JSON object that keeps the order and the text of its members. So an exported schema differs from the
// author's schema only in the members that the exporter sets.
type members []memberOf

type memberOf struct {
	name  string
	value json.RawMessage
}

// readMembers reads the members of an object. For any other value, such as the schema true, it returns an empty list.
func readMembers(raw json.RawMessage) (members, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil, err
	}
	var all members
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		text, _ := name.(string) // a member name is always a string
		all = append(all, memberOf{text, value})
	}
	_, err := decoder.Token()
	return all, err
}

func (m members) get(name string) json.RawMessage {
	for _, other := range m {
		if other.name == name {
			return other.value
		}
	}
	return nil
}

// set replaces the value of a member. It adds a missing member at the beginning.
func (m *members) set(name string, value json.RawMessage) {
	for i := range *m {
		if (*m)[i].name == name {
			(*m)[i].value = value
			return
		}
	}
	*m = slices.Insert(*m, 0, memberOf{name, value})
}

// MarshalJSON implements json.Marshaler.
func (m members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, other := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := encode(other.name)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(other.value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// parameters returns an input schema in the form that clients expect: an object with type and properties at its root.
// It adds the two members if they are missing. The meaning stays the same, because an input is always an object and
// empty properties are no constraint.
func parameters(m Manifest) (members, error) {
	if string(m.InputSchema) == "false" {
		return nil, notAnObject()
	}
	all, err := readMembers(m.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("read the input schema of %s: %w", m.Reference, err)
	}
	if all.get("properties") == nil {
		all.set("properties", json.RawMessage("{}"))
	}
	switch t := typesIn(all.get("type")); {
	case len(t) == 0, len(t) == 1 && t[0] == "object":
		all.set("type", json.RawMessage(`"object"`))
	default:
		return nil, notAnObject()
	}
	return all, nil
}

func typesIn(raw json.RawMessage) []string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return nil
	}
	return typesOf(value)
}

func notAnObject() error {
	return fault.Invalid("/format", "requires an object as input; the input schema of this version describes something else.")
}
