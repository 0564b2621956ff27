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

// encode converts a value to the JSON of a column. Raw messages in it keep their characters and the order of their
// keys.
func encode(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return document(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// document returns JSON text that both databases accept. PostgreSQL rejects invalid UTF-8, which json.Valid accepts.
func document(raw []byte) string {
	if utf8.Valid(raw) {
		return string(raw)
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}

// raw reverses document for a column that may be NULL.
func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// encodeSpec omits the files, which have a column of their own.
func encodeSpec(spec registry.Spec) (string, error) {
	spec.Files = nil
	return encode(spec)
}

// encodeDraft encodes a draft's spec and the sources of its schemas, which versions do not have.
func encodeDraft(d registry.Draft) (string, error) {
	d.Files = nil
	return encode(draftSpec{d.Spec, d.SchemaSources})
}

func decodeDraft(text string) (registry.Spec, *registry.SchemaSources, error) {
	var more struct {
		SchemaSources *registry.SchemaSources `json:"schemaSources"`
	}
	if err := json.Unmarshal([]byte(text), &more); err != nil {
		return registry.Spec{}, nil, err
	}
	spec, err := decodeSpec(text)
	return spec, more.SchemaSources, err
}

type draftSpec struct {
	registry.Spec
	SchemaSources *registry.SchemaSources `json:"schemaSources,omitempty"`
}

func decodeSpec(text string) (registry.Spec, error) {
	var spec registry.Spec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return spec, err
	}
	// A missing schema is written as null.
	for _, schema := range []*json.RawMessage{&spec.InputSchema, &spec.OutputSchema} {
		if string(*schema) == "null" {
			*schema = nil
		}
	}
	return spec, nil
}

// instant returns a time in the precision of both databases: UTC, to the microsecond.
func instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func instantOrNil(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := instant(*t)
	return &u
}

// impossible reports whether one of the texts cannot occur in any row, so that no query is needed.
func impossible(texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.ContainsRune(text, 0) })
}
