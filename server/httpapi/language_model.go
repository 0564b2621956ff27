package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/studio/llm"
)

// ModelSwitchBody switches the language model.
type ModelSwitchBody struct {
	On bool `json:"on"`
}

// languageModel adds the endpoints of the language model of a workspace.
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
		id: "switchLanguageModel", method: http.MethodPut, path: Base + "/language-model", tag: "assist", summary: "Switch the language model of the workspace on or off",
		about: "Switched off, nothing of the workspace is sent to a language model, for members or for programs.",
	}, func(ctx context.Context, q *in) (*out, error) {
		state, err := a.Models.Switch(ctx, actor(ctx), q.Body.On)
		return &out{Body: state}, err
	})
}
