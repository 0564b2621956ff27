package httpapi

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/problem"
)

// refuse converts error answers of the framework to problem documents. These errors are about parameters, because
// bodies are checked earlier.
func refuse(_ huma.Context, _ string, answer any) (any, error) {
	model, ok := answer.(*huma.ErrorModel)
	if !ok {
		return answer, nil
	}
	var details []fault.Detail
	for _, e := range model.Errors {
		if e != nil {
			details = append(details, detail(*e))
		}
	}
	if len(details) == 0 && model.Detail != "" {
		details = []fault.Detail{{Message: model.Detail}}
	}
	return problem.Of(problem.FromStatus(model.Status, details)), nil
}

// detail describes the error of one parameter. The location comes from the framework and is, for example, query.limit
// or path.run. If the error is about the body, detail replaces the message of the decoder, because that message would
// repeat values.
func detail(e huma.ErrorDetail) fault.Detail {
	where, name, _ := strings.Cut(e.Location, ".")
	if where == "body" && strings.HasPrefix(e.Message, "/") {
		return fault.Detail{Pointer: e.Message, Message: "must be a whole number of at most 64 bits, for example 1000."}
	}
	if where == "body" {
		return fault.Detail{Message: "The body has a value of the wrong type."}
	}
	return fault.Detail{Message: strings.TrimSpace(where + " parameter " + name + ": " + e.Message)}
}
