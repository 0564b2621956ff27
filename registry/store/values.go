package store

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/atelier-run/atelier/registry"
)

// encode turns a value into the JSON of a column. Raw messages in it keep their characters and the order of their keys.
func encode(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return document(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// document is JSON text as both databases take it. PostgreSQL refuses invalid UTF-8, which json.Valid lets pass.
func document(raw []byte) string {
	if utf8.Valid(raw) {
		return string(raw)
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}

// raw is the reverse of document for a column that may be NULL.
func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// encodeSpec leaves the files out; they have a column of their own.
func encodeSpec(spec registry.Spec) (string, error) {
	spec.Files = nil
	return encode(spec)
}

func decodeSpec(text string) (registry.Spec, error) {
	var spec registry.Spec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return spec, err
	}
	// A schema that is not there is written as null.
	for _, schema := range []*json.RawMessage{&spec.InputSchema, &spec.OutputSchema} {
		if string(*schema) == "null" {
			*schema = nil
		}
	}
	return spec, nil
}

// instant is a time as both databases keep it: UTC, to the microsecond.
func instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func instantOrNil(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := instant(*t)
	return &u
}

// impossible reports whether one of the texts cannot be in any row, so that nothing need be asked.
func impossible(texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.ContainsRune(text, 0) })
}
