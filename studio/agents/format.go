package agents

import (
	"context"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

// FormatReport holds the formatted code. If the code has errors, it is unchanged.
type FormatReport struct {
	Code   string         `json:"code"`
	Errors []fault.Detail `json:"errors"`
}

// defaultIndent is the default number of spaces per indentation level.
const defaultIndent = 2

// Format parses code in the sandbox and returns it formatted. It supports Bash only, because editors have formatters
// for the other languages.
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
