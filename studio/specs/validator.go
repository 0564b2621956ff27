package specs

import (
	"encoding/json"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/schema"
)

// Validator compiles each schema once and checks documents against schemas. It is safe for concurrent use.
type Validator struct{ cache *schema.Cache }

// NewValidator returns a validator that uses a cache of compiled schemas.
func NewValidator(cache *schema.Cache) *Validator { return &Validator{cache} }

// Check returns the problems of a schema, with pointers into the schema.
func (v *Validator) Check(raw json.RawMessage) error {
	_, err := v.cache.Get(raw)
	return err
}

// CheckInput does the same as Check, and also rejects a schema that does not require an object.
func (v *Validator) CheckInput(raw json.RawMessage) error {
	compiled, err := v.cache.Get(raw)
	if err != nil {
		return err
	}
	return compiled.CheckInput()
}

// Validate lists the places where a document violates a schema, with pointers into the document. The error is about the
// schema, not about the document.
func (v *Validator) Validate(raw, document json.RawMessage) ([]fault.Detail, error) {
	compiled, err := v.cache.Get(raw)
	if err != nil {
		return nil, err
	}
	return compiled.Validate(document), nil
}

// ValidateValue does the same as Validate for a document that package jcs has decoded.
func (v *Validator) ValidateValue(raw json.RawMessage, value any) ([]fault.Detail, error) {
	compiled, err := v.cache.Get(raw)
	if err != nil {
		return nil, err
	}
	return compiled.ValidateValue(value), nil
}
