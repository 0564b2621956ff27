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

// encode converts a value to the JSON text of a column. It does not escape HTML characters. It keeps the order of keys
// in raw JSON.
func encode(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return document(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// document returns a text that both databases accept. It replaces invalid UTF-8, which json.Valid accepts and
// PostgreSQL rejects.
func document(raw []byte) string {
	if utf8.Valid(raw) {
		return string(raw)
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}

// raw returns the JSON of a column that was written with document. It returns nil for "", which stands for NULL.
func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// encodeSpec encodes a spec without its files, which are stored in a separate column.
func encodeSpec(spec registry.Spec) (string, error) {
	spec.Files = nil
	return encode(spec)
}

// encodeDraft encodes a draft's spec, its tests and the sources of its schemas. It omits the package lock, which is
// stored separately for each list of packages.
func encodeDraft(d registry.Draft) (string, error) {
	d.Files, d.Lock = nil, nil
	return encode(draftSpec{d.Spec, aside{d.SchemaSources, d.Tests}})
}

// decodeDraft decodes the text of encodeDraft into a draft.
func decodeDraft(text string, draft *registry.Draft) error {
	var more aside
	err := json.Unmarshal([]byte(text), &more)
	if err != nil {
		return err
	}
	draft.Spec, err = decodeSpec(text)
	draft.SchemaSources, draft.Tests = more.SchemaSources, more.Tests
	return err
}

type draftSpec struct {
	registry.Spec
	aside
}

// aside holds the fields of a draft that are not part of its program.
type aside struct {
	SchemaSources *registry.SchemaSources `json:"schemaSources,omitempty"`
	Tests         []registry.Test         `json:"tests,omitempty"`
}

func decodeSpec(text string) (registry.Spec, error) {
	var spec registry.Spec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return spec, err
	}
	// A missing schema is stored as null.
	for _, schema := range []*json.RawMessage{&spec.InputSchema, &spec.OutputSchema} {
		if string(*schema) == "null" {
			*schema = nil
		}
	}
	return spec, nil
}

// instant returns a time in the precision of both databases: UTC, truncated to microseconds.
func instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func instantOrNil(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := instant(*t)
	return &u
}

// impossible reports whether one of the texts contains a character that no row can contain. Then no query is needed.
func impossible(texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.ContainsRune(text, 0) })
}
