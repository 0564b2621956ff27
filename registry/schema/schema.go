// Package schema compiles untrusted JSON Schemas and checks documents against them, in bounded time and memory. It
// supports JSON Schema 2020-12, and draft-07 if $schema names it. It does not support references to other documents.
//
// santhosh-tekuri/jsonschema resolves references and compiles. This package evaluates the compiled graph itself,
// because the library's own evaluation has four problems. It visits
// {"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]} twice per level, so that 24 levels take minutes. For recursive
// schemas the time doubles again with each level of the document. Numbers such as 1e9999999 crash it. It collects an
// unlimited number of errors.
//
// Compile rejects a schema if too many schemas would apply to one value. A check that would still take too long ends
// with an error that explains this.
package schema

import (
	"encoding/json"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
)

// These constants limit a schema. The error names the limit that a schema exceeds.
const (
	MaxBytes     = 256 << 10 // bytes of the schema's text
	MaxDepth     = 64        // nesting of the schema's text
	MaxExpansion = 10_000    // schemas that apply to one value, with all references expanded
	maxChain     = 128       // nesting of the references and combinations among these schemas
	maxValues    = 4_000     // JSON values in the schema; the library compares all pairs, so compile time is quadratic
	maxEnum      = 1_000     // values of one enum
	maxNames     = 256       // total number of $id, $anchor and $dynamicAnchor
	maxNumber    = 400       // characters of a number, and its decimal exponent
	maxStrayRefs = 64        // references to locations that do not contain a schema
)

// MaxDocument is the maximum size of a checked document in bytes.
const MaxDocument = 48 << 20

// TooComplex is the code of the error detail for a schema or a document whose check would take too long.
const TooComplex = "schema_too_complex"

// Schema is a compiled schema. It is immutable and safe for concurrent use.
type Schema struct {
	root *node // nil accepts every document
}

// Anything reports whether the schema is absent or empty. Such a schema accepts every document.
func (s *Schema) Anything() bool { return s.root == nil || s.root.always }

// Validate returns the problems of a document, at most MaxDetails. It returns none if the document fits. The pointers
// refer to the document and are in the order of sorted keys. Messages contain property names and the requirements of
// the schema, but no values.
func (s *Schema) Validate(raw []byte) []fault.Detail { return s.validate(raw, maxWork) }

func (s *Schema) validate(raw []byte, work int) []fault.Detail {
	if s.Anything() {
		if err := jcs.Check(raw, jcs.Limits{Bytes: MaxDocument}); err != nil {
			return []fault.Detail{detailOf(err)}
		}
		return nil
	}
	doc, err := jcs.Decode(raw, jcs.Limits{Bytes: MaxDocument})
	if err != nil {
		return []fault.Detail{detailOf(err)}
	}
	return evaluate(s.root, doc, work)
}

// ValidateValue is like Validate, for a document that package jcs has already parsed.
func (s *Schema) ValidateValue(value any) []fault.Detail {
	if s.Anything() {
		return nil
	}
	return evaluate(s.root, value, maxWork)
}

// absent reports whether there is no schema. In a draft, a missing schema is either no bytes or null.
func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
