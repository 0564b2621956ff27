package specs

import (
	"encoding/json"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/schema"
)

// Validator compiles schemas once and checks documents against them. It is safe for concurrent use.
type Validator struct{ cache *schema.Cache }

// NewValidator returns a validator over a cache of compiled schemas.
func NewValidator(cache *schema.Cache) *Validator { return &Validator{cache} }

// Check returns the problems of a schema, with pointers into it.
func (v *Validator) Check(raw json.RawMessage) error {
	_, err := v.cache.Get(raw)
	return err
}

// CheckInput is Check for the schema of an input, which describes an object.
func (v *Validator) CheckInput(raw json.RawMessage) error {
	compiled, err := v.cache.Get(raw)
	if err != nil {
		return err
	}
	return compiled.CheckInput()
}

// Validate lists every violation of a document, with pointers into it. The error concerns the schema.
func (v *Validator) Validate(raw, document json.RawMessage) ([]fault.Detail, error) {
	compiled, err := v.cache.Get(raw)
	if err != nil {
		return nil, err
	}
	return compiled.Validate(document), nil
}

// ValidateValue is Validate for the value of a document that package jcs has read.
func (v *Validator) ValidateValue(raw json.RawMessage, value any) ([]fault.Detail, error) {
	compiled, err := v.cache.Get(raw)
	if err != nil {
		return nil, err
	}
	return compiled.ValidateValue(value), nil
}
