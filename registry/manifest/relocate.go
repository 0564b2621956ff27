package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/atelier-run/atelier/internal/jcs"
)

// relocated returns a schema for the location at in another document. It rewrites local references so that they still
// resolve, and converts a draft-07 schema to 2020-12. It changes nothing else. It returns a warning for each reference
// that it cannot keep.
func relocated(raw json.RawMessage, at string) (json.RawMessage, []string, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	tree, err := readTree(decoder)
	if err != nil {
		return nil, nil, fmt.Errorf("read a schema: %w", err)
	}
	modernized(tree)
	var why reasons
	relocate(tree, "", at, &why)
	var moved bytes.Buffer
	err = writeTree(&moved, tree)
	return moved.Bytes(), why, err
}

// branch is a JSON object that preserves the order of its members.
type branch []twig

type twig struct {
	name  string
	value any
}

// writeTree writes the JSON of a value that readTree returned. It appends to one buffer, so nested values are not
// copied again.
func writeTree(b *bytes.Buffer, value any) error {
	switch v := value.(type) {
	case *branch:
		b.WriteByte('{')
		for i, t := range *v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeTree(b, t.name); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := writeTree(b, t.value); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return nil
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeTree(b, item); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	text, err := encode(value)
	b.Write(text)
	return err
}

// readTree reads a value and preserves the order of members in objects.
func readTree(decoder *json.Decoder) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		object := &branch{}
		for decoder.More() {
			name, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			value, err := readTree(decoder)
			if err != nil {
				return nil, err
			}
			text, _ := name.(string) // a member name is always a string
			*object = append(*object, twig{text, value})
		}
		_, err := decoder.Token()
		return object, err
	case json.Delim('['):
		list := []any{}
		for decoder.More() {
			value, err := readTree(decoder)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err := decoder.Token()
		return list, err
	}
	return token, nil
}

func relocate(schema any, pointer, at string, why *reasons) {
	object, ok := schema.(*branch)
	if !ok {
		return
	}
	for _, t := range *object {
		if t.name == "$id" {
			why.add(pointer+"/$id", "changes the base of references, which not every OpenAPI reader supports")
			return
		}
	}
	for i := range *object {
		t := &(*object)[i]
		here := pointer + "/" + jcs.EscapePointer(t.name)
		switch t.name {
		case "$ref":
			t.value = moved(t.value, here, at, why)
		case "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$recursiveAnchor":
			why.add(here, "is not supported by every OpenAPI reader")
		}
		switch value := t.value.(type) {
		case *branch:
			relocateHeld(t.name, value, here, at, why)
		case []any:
			if holds(t.name) == noSchema {
				continue
			}
			for j, item := range value {
				relocate(item, fmt.Sprintf("%s/%d", here, j), at, why)
			}
		}
	}
}

func relocateHeld(keyword string, value *branch, pointer, at string, why *reasons) {
	switch holds(keyword) {
	case oneSchema:
		relocate(value, pointer, at, why)
	case namedSchemas:
		for _, t := range *value {
			relocate(t.value, pointer+"/"+jcs.EscapePointer(t.name), at, why)
		}
	case noSchema, schemaList:
	}
}

func moved(target any, here, at string, why *reasons) any {
	text, _ := target.(string)
	switch {
	case text == "#":
		return at
	case strings.HasPrefix(text, "#/"):
		return at + text[1:]
	}
	why.add(here, "refers to an anchor or outside the schema, which not every OpenAPI reader supports")
	return target
}
