package agents

import (
	"context"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

// FormatReport is code laid out anew. With errors it is the code as it came.
type FormatReport struct {
	Code   string         `json:"code"`
	Errors []fault.Detail `json:"errors"`
}

// defaultIndent is how many spaces a step has that nobody chose.
const defaultIndent = 2

// Format lays code out anew; it is parsed in the jail. Editors have what other languages need.
func (s *Service) Format(ctx context.Context, language runtimes.Language, code string, indent int) (FormatReport, error) {
	if language != runtimes.Bash {
		return FormatReport{}, fault.Invalid("/language", "must be bash; editors format other languages themselves.")
	}
	if indent == 0 {
		indent = defaultIndent
	}
	formatted, errors, err := s.Inspector.Format(ctx, code, indent)
	if err != nil || len(errors) > 0 {
		return FormatReport{Code: code, Errors: errors}, err
	}
	return FormatReport{Code: formatted}, nil
}
