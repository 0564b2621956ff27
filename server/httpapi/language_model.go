package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/studio/llm"
)

// ModelSwitchBody switches the language model on or off, and selects a model.
type ModelSwitchBody struct {
	On    bool   `json:"on"`
	Model string `json:"model,omitempty" maxLength:"200" doc:"One of the models that the server offers (default: the current model of the workspace)."`
}

// languageModel adds the endpoints for the language model settings of a workspace.
func (a *API) languageModel() {
	type out struct{ Body llm.State }
	add(a, endpoint{
		id: "getLanguageModel", method: http.MethodGet, path: Base + "/language-model", tag: "assist", summary: "Read the language model of the workspace",
		about: "Whether the workspace may use a language model, and the tokens that it used this month.",
	}, func(ctx context.Context, _ *none) (*out, error) {
		state, err := a.Models.State(ctx, actor(ctx).Workspace)
		return &out{Body: state}, err
	})
	type in struct{ Body ModelSwitchBody }
	add(a, endpoint{
		id: "switchLanguageModel", method: http.MethodPut, path: Base + "/language-model", tag: "assist", summary: "Switch the language model of the workspace on or off, and choose one",
		about:    "While it is off, no data of the workspace is sent to a language model, neither for members nor for programs. The workspace can choose from the models that the operator of the server offers with --llm-models.",
		refusals: []fault.Code{fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*out, error) {
		state, err := a.Models.Choose(ctx, actor(ctx), q.Body.On, q.Body.Model)
		return &out{Body: state}, err
	})
}
