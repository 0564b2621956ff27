// Package llm gives workspaces access to the language model of the server. It counts the tokens that each workspace
// uses, and limits their number.
package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Asker is a language model.
type Asker interface {
	Ask(ctx context.Context, messages []Message, shape json.RawMessage) (Reply, error)
	// Fill returns the text for a gap. If the model has no fill-in endpoint, Fill sends it inWords, which are chat
	// messages that describe the gap.
	Fill(ctx context.Context, gap Gap, inWords []Message) (Reply, error)
}

// Embedder is a model that converts texts to vectors. Texts with similar meanings have vectors with similar directions.
type Embedder interface {
	// Embed returns one vector for each text, and the number of used tokens, or 0 if the model does not report them. After
	// an error it returns the vectors of the first texts, which the caller need not request again.
	Embed(ctx context.Context, texts []string) (vectors [][]float32, tokens int64, err error)
}

// Store stores for each workspace which model it uses, or that it uses none.
type Store interface {
	ModelChoice(ctx context.Context, workspace string) (registry.ModelChoice, error)
	ChooseModel(ctx context.Context, workspace string, c registry.ModelChoice) error
}

// Ledger stores the used tokens by workspace and month.
type Ledger interface {
	ModelUse(ctx context.Context, workspace, month string) (registry.Tokens, error)
	AddModelUse(ctx context.Context, workspace, month string, use registry.Tokens) error
}

// Workspaces finds a workspace by its name or ID.
type Workspaces interface {
	Workspace(ctx context.Context, nameOrID string) (registry.Workspace, error)
}

// Budgets rejects requests of workspaces whose budget is used up.
type Budgets interface {
	CheckTokens(ctx context.Context, workspace string) error
}

// Options configures a Service.
type Options struct {
	Model      Asker            // nil if the server has no language model
	Name       string           // name of the model in Model
	Others     map[string]Asker // other models that workspaces may choose, by name
	Programs   Asker            // model for programs that run; nil means the model of the workspace
	Completer  Asker            // model for suggestions while a person types; nil means the model of the workspace
	Embedder   Embedder         // nil if the server has no embedding model
	Vectors    string           // name of the model in Embedder
	Allowed    []string         // names of workspaces that may use a model; empty means all
	PerMonth   int64            // maximum tokens of a workspace in a calendar month; 0 means no limit
	Store      Store
	Ledger     Ledger
	Workspaces Workspaces
	Budgets    Budgets
	Now        func() time.Time
}

// Service gives workspaces access to language models. It is safe for concurrent use.
type Service struct{ Options }

// New returns the service.
func New(o Options) *Service { return &Service{Options: o} }

// State describes the language model for one workspace.
type State struct {
	Model   string          `json:"model,omitempty" doc:"Name of the model. Absent if the server offers none to this workspace."`
	Allowed bool            `json:"allowed" doc:"true if the operator of the server offers a model to this workspace."`
	Models  []string        `json:"models" doc:"Models that the workspace can choose. Empty if the server offers none."`
	On      bool            `json:"on" doc:"true if members and programs of the workspace may use the model."`
	Month   string          `json:"month" doc:"Calendar month in UTC of the counted tokens, such as 2026-11."`
	Used    registry.Tokens `json:"used" doc:"Tokens that the workspace used in the month."`
	Limit   int64           `json:"limit" doc:"Tokens of a workspace in a month. 0 means no limit."`
}

// Usable reports whether a workspace may send requests to the model now.
func (s State) Usable() bool { return s.Allowed && s.On }

// State returns the state of the language model for a workspace.
func (s *Service) State(ctx context.Context, workspace string) (State, error) {
	state := State{Month: s.month(), Limit: s.PerMonth, Models: []string{}}
	var err error
	if state.Allowed, err = s.allowed(ctx, workspace); err != nil {
		return state, err
	}
	choice, err := s.Store.ModelChoice(ctx, workspace)
	if err != nil {
		return state, err
	}
	state.On = !choice.Off
	if state.Allowed {
		state.Models = append([]string{s.Name}, slices.Sorted(maps.Keys(s.Others))...)
		state.Model = s.Name
		if s.Others[choice.Model] != nil { // Otherwise the server no longer offers the chosen model, so the default model applies.
			state.Model = choice.Model
		}
	}
	state.Used, err = s.Ledger.ModelUse(ctx, workspace, state.Month)
	return state, err
}

// Choose switches the model on or off for the actor's workspace, and selects a model. The name "" leaves the selected
// model unchanged. Error: InvalidInput.
func (s *Service) Choose(ctx context.Context, actor registry.Actor, on bool, model string) (State, error) {
	state, err := s.State(ctx, actor.Workspace)
	if err != nil {
		return state, err
	}
	if model == "" {
		model = state.Model
	} else if !slices.Contains(state.Models, model) {
		return state, fault.Invalid("/model", "must be one of the models that the operator of the server offers: %s.", cmp.Or(strings.Join(state.Models, ", "), "none"))
	}
	if model == s.Name { // Store no name for the default model, so that the workspace follows when the operator changes the default.
		model = ""
	}
	if err := s.Store.ChooseModel(ctx, actor.Workspace, registry.ModelChoice{Off: !on, Model: model}); err != nil {
		return state, err
	}
	return s.State(ctx, actor.Workspace)
}

// allowed reports whether the operator's settings let a workspace use a model.
func (s *Service) allowed(ctx context.Context, workspace string) (bool, error) {
	if s.Model == nil || len(s.Allowed) == 0 {
		return s.Model != nil, nil
	}
	found, err := s.Workspaces.Workspace(ctx, workspace)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return slices.Contains(s.Allowed, found.Name), err
}

// Check returns an error if a workspace may not use the model now. Errors: ModelUnavailable; QuotaExceeded;
// BudgetExceeded.
func (s *Service) Check(ctx context.Context, workspace string) error {
	_, err := s.model(ctx, workspace)
	return err
}

// model returns the model of a workspace. Errors: those of Check.
func (s *Service) model(ctx context.Context, workspace string) (Asker, error) {
	state, err := s.State(ctx, workspace)
	switch {
	case err != nil:
		return nil, err
	case !state.Allowed:
		return nil, fault.New(fault.ModelUnavailable, "No LLM provider configured. The operator of the server can set --llm-base-url and --llm-model, and allow this workspace with --llm-workspaces.")
	case !state.On:
		return nil, fault.New(fault.ModelUnavailable, "An administrator has switched the language model off for this workspace.")
	case s.PerMonth > 0 && state.Used.Total() >= s.PerMonth:
		until := s.nextMonth()
		return nil, &fault.Error{
			Code: fault.QuotaExceeded, RetryAfter: max(time.Second, until.Sub(s.Now())), Extra: map[string]any{"quota": "modelTokensPerMonth", "limit": s.PerMonth, "until": until},
			Message: fmt.Sprintf("The quota of %d tokens of the language model per month of this workspace is reached. Try again at %s, or ask the operator of the server to raise --llm-tokens-per-month.", s.PerMonth, until.Format(time.RFC3339)),
		}
	}
	chosen := s.Model
	if state.Model != s.Name {
		chosen = s.Others[state.Model]
	}
	return chosen, s.Budgets.CheckTokens(ctx, workspace)
}

// Ask sends messages to the model of a workspace and counts the tokens. Errors: those of Check and of the model.
func (s *Service) Ask(ctx context.Context, workspace string, messages []Message, shape json.RawMessage) (Reply, error) {
	model, err := s.model(ctx, workspace)
	if err != nil {
		return Reply{}, err
	}
	reply, err := model.Ask(ctx, messages, shape)
	return s.counted(ctx, workspace, messages, reply, err)
}

// AskProgram sends the messages of a running program to the model that is configured for programs. Errors: those of
// Check and of the model.
func (s *Service) AskProgram(ctx context.Context, workspace string, messages []Message) (Reply, error) {
	model, err := s.model(ctx, workspace)
	if err != nil {
		return Reply{}, err
	}
	if s.Programs != nil {
		model = s.Programs
	}
	reply, err := model.Ask(ctx, messages, nil)
	return s.counted(ctx, workspace, messages, reply, err)
}

// Fill requests the text for a gap from the model that is configured for suggestions. Errors: those of Check and of the
// model.
func (s *Service) Fill(ctx context.Context, workspace string, gap Gap, inWords []Message) (Reply, error) {
	model, err := s.model(ctx, workspace)
	if err != nil {
		return Reply{}, err
	}
	if s.Completer != nil {
		model = s.Completer
	}
	began := s.Now()
	reply, err := model.Fill(ctx, gap, inWords)
	if err != nil && reply.Sent && reply.Tokens.Total() == 0 { // The request was cancelled because the person typed on. The model has already written a part of the answer, so estimate its tokens.
		reply.Tokens = estimated(inWords, "")
		reply.Tokens.Output = 1 + min(fillTokens, int64(s.Now().Sub(began).Seconds()*tokensPerSecond))
	}
	return s.counted(ctx, workspace, inWords, reply, err)
}

// Embedding returns the name of the embedding model, or "" if the server has none.
func (s *Service) Embedding() string {
	if s.Embedder == nil {
		return ""
	}
	return s.Vectors
}

// Embed converts texts to vectors for a workspace and counts the tokens. After an error it returns the vectors of the
// first texts. Errors: those of Check and of the model.
func (s *Service) Embed(ctx context.Context, workspace string, texts []string) ([][]float32, error) {
	if err := s.Check(ctx, workspace); err != nil {
		return nil, err
	}
	vectors, tokens, err := s.Embedder.Embed(ctx, texts)
	if len(vectors) == 0 {
		return nil, err
	}
	if tokens == 0 {
		for _, text := range texts[:len(vectors)] {
			tokens += int64(len(text)/bytesPerToken) + 1
		}
	}
	if failed := s.Ledger.AddModelUse(context.WithoutCancel(ctx), workspace, s.month(), registry.Tokens{Input: tokens}); failed != nil && err == nil {
		err = failed
	}
	return vectors, err
}

// counted adds the tokens of a reply to the usage of a workspace. It also counts the tokens of a failed request if the
// model received the request.
func (s *Service) counted(ctx context.Context, workspace string, messages []Message, reply Reply, err error) (Reply, error) {
	if (err == nil || reply.Sent) && reply.Tokens.Total() == 0 {
		reply.Tokens = estimated(messages, reply.Text)
	}
	if reply.Tokens.Total() > 0 { // Answers that were cut, rejected or not waited for count too.
		if failed := s.Ledger.AddModelUse(context.WithoutCancel(ctx), workspace, s.month(), reply.Tokens); failed != nil && err == nil {
			err = failed
		}
	}
	return reply, err
}

// bytesPerToken is the typical size of a token in English text and code.
const bytesPerToken = 4

// tokensPerSecond is the typical speed of a model.
const tokensPerSecond = 50

// estimated returns an estimate of the tokens of a request. It is used for models that do not report tokens, so that
// the limits also apply to these models.
func estimated(messages []Message, answer string) registry.Tokens {
	asked := 0
	for _, m := range messages {
		asked += len(m.Content)
	}
	return registry.Tokens{Input: int64(asked/bytesPerToken) + 1, Output: int64(len(answer)/bytesPerToken) + 1}
}

func (s *Service) month() string { return s.Now().UTC().Format("2006-01") }

func (s *Service) nextMonth() time.Time {
	now := s.Now().UTC()
	return time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
}
