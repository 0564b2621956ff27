package agents

import (
	"context"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

// FormatReport holds formatted code. With errors it holds the unchanged code.
type FormatReport struct {
	Code   string         `json:"code"`
	Errors []fault.Detail `json:"errors"`
}

// defaultIndent is the default number of spaces per indentation level.
const defaultIndent = 2

// Format formats code, which is parsed in the sandbox. For languages that it does not support, editors have formatters.
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
