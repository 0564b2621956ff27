package schema

import "github.com/atelier-run/atelier/internal/fault"

// MaxWork is the bound of one check in steps.
const MaxWork = maxWork

// ValidateWithin is Validate with another bound, for tests that the race detector makes a hundred times slower.
func (s *Schema) ValidateWithin(raw []byte, work int) []fault.Detail { return s.validate(raw, work) }
