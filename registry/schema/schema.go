// Package schema compiles JSON Schemas that strangers wrote and checks documents against them, in bounded time and
// memory: JSON Schema 2020-12, or draft-07 where $schema says so, without references to other documents.
//
// santhosh-tekuri/jsonschema resolves references and compiles; this package walks the compiled graph itself. The
// library's own walk visits {"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]} twice per level, so that 24 levels
// take minutes, doubles again with each level of the document where a schema recurses, dies of numbers such as
// 1e9999999, and collects errors without end. Here a schema whose expansion in place is too large is refused when it
// is compiled, and a check that would still take too long ends with a sentence that says so.
package schema

import (
	"encoding/json"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
)

// The bounds of a schema. Those that a schema exceeds are named in the error.
const (
	MaxBytes     = 256 << 10 // of the schema's text
	MaxDepth     = 64        // nesting of the schema's text
	MaxExpansion = 10_000    // schemas that apply to one value, with every reference written out
	maxChain     = 128       // of those, how many may be nested
	maxValues    = 4_000     // JSON values in the schema's text; the library compares each schema with all others, so this is the square root of its time
	maxEnum      = 1_000     // values of one enum
	maxNames     = 256       // $id, $anchor and $dynamicAnchor together
	maxNumber    = 400       // characters of a number, and its decimal exponent
	maxStrayRefs = 64        // references to places that hold no schema by themselves
)

// MaxDocument bounds a document that is checked, in bytes.
const MaxDocument = 48 << 20

// TooComplex is the code of a detail about a schema, or a document, whose check would take too long.
const TooComplex = "schema_too_complex"

// Schema is a compiled schema. It does not change and may be used by many goroutines.
type Schema struct {
	root *node // nil accepts anything
}

// Anything reports whether the schema is absent or empty, so that it accepts every document.
func (s *Schema) Anything() bool { return s.root == nil || s.root.always }

// Validate lists what is wrong with a document, at most MaxDetails things; none means that it fits. Pointers are into
// the document, in the order of sorted keys. Messages name properties and what the schema wants, never values.
func (s *Schema) Validate(raw []byte) []fault.Detail { return s.validate(raw, maxWork) }

func (s *Schema) validate(raw []byte, work int) []fault.Detail {
	if err := jcs.Check(raw, jcs.Limits{Bytes: MaxDocument}); err != nil {
		return []fault.Detail{detailOf(err)}
	}
	if s.Anything() {
		return nil
	}
	doc, err := decode(raw)
	if err != nil {
		return []fault.Detail{{Code: string(jcs.Syntax), Message: "is not valid JSON"}}
	}
	return evaluate(s.root, doc, work)
}

// absent reports whether there is no schema: a draft without one has no bytes or null.
func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
