package schema

import "github.com/atelier-run/atelier/internal/fault"

// MaxWork is the limit of one check in steps.
const MaxWork = maxWork

// ValidateWithin is Validate with another limit of steps, because the race detector makes some tests a hundred times
// slower.
func (s *Schema) ValidateWithin(raw []byte, work int) []fault.Detail { return s.validate(raw, work) }
