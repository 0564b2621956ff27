package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/studio/assist"
	"github.com/atelier-run/atelier/studio/toolmaker"
)

// FixBody selects the failed run that a proposal must fix.
type FixBody struct {
	RunID string `json:"runId" minLength:"1" maxLength:"100" doc:"A run of an agent that failed."`
}

// WishBody describes the program that the model must write.
type WishBody struct {
	Description  string            `json:"description" minLength:"1" maxLength:"20000"`
	Language     runtimes.Language `json:"language" enum:"javascript,typescript,python,bash"`
	InputExample json.RawMessage   `json:"inputExample,omitempty" doc:"A valid input. The proposed program is run with it."`
}

// ToolTaskBody describes the task for which a tool is needed.
type ToolTaskBody struct {
	Task         string            `json:"task" minLength:"1" maxLength:"20000" doc:"Description of the task that the tool must solve."`
	InputExample json.RawMessage   `json:"inputExample,omitempty" doc:"A valid input. Tools that refuse it are not used, and a new tool is run with it."`
	Language     runtimes.Language `json:"language,omitempty" enum:"javascript,typescript,python,bash" default:"python" doc:"Language of a new tool."`
	AutoPromote  bool              `json:"autoPromote,omitempty" doc:"Publish a new tool if the gate approves it or only warns, and the caller has the scope approve."`
}

// ChangeBody asks for a change of a draft.
type ChangeBody struct {
	Agent       string      `json:"agent" minLength:"1" maxLength:"100" doc:"Name or identifier."`
	Task        assist.Task `json:"task" enum:"change,tests,document,schemas" doc:"change: change the program as described. tests: write tests. document: write comments. schemas: write the input and output schemas."`
	Description string      `json:"description,omitempty" maxLength:"20000" doc:"Required for the task change."`
}

// SpotBody is the cursor position in a file of a draft, at which code is completed.
type SpotBody struct {
	Agent  string `json:"agent" minLength:"1" maxLength:"100" doc:"Name or identifier."`
	File   string `json:"file" minLength:"1" maxLength:"300" doc:"Path of the file. Its text may differ from the saved draft."`
	Before string `json:"before" maxLength:"65536" doc:"Text before the cursor. The model receives the last 8 KiB."`
	After  string `json:"after" maxLength:"65536" doc:"Text after the cursor. The model receives the first 2 KiB."`
}

// DraftRefBody selects the agent whose draft the model reads.
type DraftRefBody struct {
	Agent string `json:"agent" minLength:"1" maxLength:"100"`
}

const proposing = " The model's answer is checked: it must be valid, the gate must not block it, and it must run. Otherwise the model gets the error and tries again. Nothing is saved. " +
	"With Accept: text/event-stream, the answer is a stream of server-sent events: attempt (an answer that failed its checks, with the error and the delay), proposal (the result, at the end) and problem (a problem document). " +
	"503 model_unavailable means that no model is configured, or that its answers are not usable."

func (a *API) assist() {
	a.assistFix()
	a.assistGenerate()
	a.assistChange()
	a.assistTool()
	a.assistComplete()
	a.assistOpinion("assistExplain", "/assist/explain", "Explain a draft", "Describes in words what the draft of an agent does.", func(ctx context.Context, agent string) (assist.Opinion, error) {
		return a.Assist.Explain(ctx, actor(ctx), agent)
	})
	a.assistOpinion("assistReview", "/assist/review", "Review a draft", "Lists faults of the draft of an agent. They are opinions of the model and change no verdict.", func(ctx context.Context, agent string) (assist.Opinion, error) {
		return a.Assist.Review(ctx, actor(ctx), agent)
	})
}

func (a *API) assistFix() {
	type in struct {
		Accept string `header:"Accept" doc:"text/event-stream sends each failed attempt as an event."`
		Body   FixBody
	}
	add(a, endpoint{
		id: "assistFix", method: http.MethodPost, path: Base + "/assist/fix", tag: "assist", summary: "Propose a fix for a failed run",
		about:    "Sends the draft, the error and the input of the run to the configured language model. Values of secrets are removed; with the safety flag pii_risk, only the type and the place of the error are sent." + proposing,
		refusals: append(runRefusals(), fault.ModelUnavailable), answers: a.proposalOf(reflect.TypeFor[assist.Proposal]()),
	}, func(ctx context.Context, q *in) (*streamAnswer, error) {
		return a.propose(ctx, q.Accept, func(ctx context.Context, watch func(assist.Attempt)) (any, error) {
			return a.Assist.Fix(ctx, actor(ctx), q.Body.RunID, watch)
		})
	})
}

func (a *API) assistGenerate() {
	type in struct {
		Accept string `header:"Accept" doc:"text/event-stream sends each failed attempt as an event."`
		Body   WishBody
	}
	add(a, endpoint{
		id: "assistGenerate", method: http.MethodPost, path: Base + "/assist/generate", tag: "assist", summary: "Propose an agent for a description",
		about:    "Asks the configured language model for a plan, code, schemas, a sample input and tests." + proposing,
		refusals: append(runRefusals(), fault.ModelUnavailable), answers: a.proposalOf(reflect.TypeFor[assist.Program]()),
	}, func(ctx context.Context, q *in) (*streamAnswer, error) {
		wish := assist.Wish{Description: q.Body.Description, Language: q.Body.Language, InputExample: q.Body.InputExample}
		return a.propose(ctx, q.Accept, func(ctx context.Context, watch func(assist.Attempt)) (any, error) {
			return a.Assist.Generate(ctx, actor(ctx), wish, watch)
		})
	})
}

func (a *API) assistTool() {
	type in struct {
		Accept string `header:"Accept" doc:"text/event-stream sends each failed attempt as an event."`
		Body   ToolTaskBody
	}
	add(a, endpoint{
		id: "assistTool", method: http.MethodPost, path: Base + "/assist/tools", tag: "assist", summary: "Find a tool for a task, or create one",
		about: "Searches the published agents of the workspace and the public registry by the words of the task, in name, title, description, tags and schemas, and returns the best match with the reason. " +
			"If no agent fits, the configured language model writes one. It is checked and run like a proposal, and saved as a draft that waits for review. The same request finds that draft again. " +
			"With Accept: text/event-stream, the answer is a stream of server-sent events: attempt (an answer of the model that failed its checks), proposal (the tool, at the end) and problem (a problem document). " +
			"503 model_unavailable means that no tool fits, and that no model is configured or its answers are not usable.",
		refusals: append(runRefusals(), fault.ModelUnavailable), answers: a.proposalOf(reflect.TypeFor[toolmaker.Tool]()),
	}, func(ctx context.Context, q *in) (*streamAnswer, error) {
		wanted := toolmaker.Request{
			Task: q.Body.Task, InputExample: q.Body.InputExample, Language: q.Body.Language, Promote: q.Body.AutoPromote && gate.Require(ctx, registry.ApproveScope) == nil,
		}
		return a.propose(ctx, q.Accept, func(ctx context.Context, watch func(assist.Attempt)) (any, error) {
			return a.Toolmaker.Find(ctx, actor(ctx), wanted, watch)
		})
	})
}

func (a *API) assistChange() {
	type in struct {
		Accept string `header:"Accept" doc:"text/event-stream sends each failed attempt as an event."`
		Body   ChangeBody
	}
	add(a, endpoint{
		id: "assistChange", method: http.MethodPost, path: Base + "/assist/change", tag: "assist", summary: "Propose a change of a draft",
		about:    "Sends the draft to the configured language model, without values of secrets, and asks for a change, for tests, comments or schemas." + proposing,
		refusals: append(runRefusals(), fault.ModelUnavailable), answers: a.proposalOf(reflect.TypeFor[assist.Proposal]()),
	}, func(ctx context.Context, q *in) (*streamAnswer, error) {
		return a.propose(ctx, q.Accept, func(ctx context.Context, watch func(assist.Attempt)) (any, error) {
			return a.Assist.Change(ctx, actor(ctx), assist.Request(q.Body), watch)
		})
	})
}

func (a *API) assistOpinion(id, path, summary, about string, ask func(context.Context, string) (assist.Opinion, error)) {
	type in struct{ Body DraftRefBody }
	type out struct{ Body assist.Opinion }
	add(a, endpoint{
		id: id, method: http.MethodPost, path: Base + path, tag: "assist", summary: summary,
		about:    about + " The draft is sent to the configured language model, without values of secrets. 503 model_unavailable means that no model is configured, or that its answers are not usable.",
		refusals: []fault.Code{fault.NotFound, fault.ModelUnavailable},
	}, func(ctx context.Context, q *in) (*out, error) {
		found, err := ask(ctx, q.Body.Agent)
		return &out{Body: found}, err
	})
}

func (a *API) assistComplete() {
	type in struct{ Body SpotBody }
	type out struct{ Body assist.Suggestion }
	add(a, endpoint{
		id: "assistComplete", method: http.MethodPost, path: Base + "/assist/complete", tag: "assist", summary: "Suggest code at the cursor",
		about: "Requests text for the cursor position from the configured language model. Values of secrets are removed. The model fills in the middle if it can, through the Completions API; otherwise it receives a prompt. " +
			"The text is neither checked nor run. A request that the client closes is cancelled. 503 model_unavailable means that no model is configured, or that it does not answer within ten seconds.",
		refusals: []fault.Code{fault.NotFound, fault.ModelUnavailable},
	}, func(ctx context.Context, q *in) (*out, error) {
		found, err := a.Assist.Complete(ctx, actor(ctx), assist.Spot(q.Body))
		return &out{Body: found}, err
	})
}

func (a *API) proposalOf(shape reflect.Type) map[string]*huma.Response {
	return map[string]*huma.Response{"200": {Description: "The proposal.", Content: map[string]*huma.MediaType{
		"application/json":  {Schema: a.huma.OpenAPI().Components.Schemas.Schema(shape, true, "")},
		"text/event-stream": {},
	}}}
}

// propose answers with a proposal of the language model. If the client accepts an event stream, it sends an event for
// each failed attempt, and then the proposal.
func (a *API) propose(ctx context.Context, accept string, ask func(context.Context, func(assist.Attempt)) (any, error)) (*streamAnswer, error) {
	if err := gate.Require(ctx, registry.RunScope); err != nil { // The proposed program is run, so the caller needs the scope run.
		return nil, err
	}
	if strings.Contains(accept, "text/event-stream") {
		return &streamAnswer{Body: func(c huma.Context) { a.streamProposal(c, ask) }}, nil
	}
	return &streamAnswer{Body: func(c huma.Context) {
		r, w := humachi.Unwrap(c)
		answer, err := ask(r.Context(), func(assist.Attempt) {})
		if err != nil {
			a.Problems.Write(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(answer) // The client may have disconnected.
	}}, nil
}

func (a *API) streamProposal(c huma.Context, ask func(context.Context, func(assist.Attempt)) (any, error)) {
	r, w := humachi.Unwrap(c)
	ctx, cancel := context.WithCancel(r.Context())
	s := eventStream{w: w, control: http.NewResponseController(w)}
	var writing sync.Mutex
	write := func(name string, value any) {
		writing.Lock()
		defer writing.Unlock()
		if err := s.sendNamed(name, value); err != nil {
			cancel() // The reader has disconnected.
		}
	}
	beating := make(chan struct{})
	go func() {
		defer close(beating)
		tick := time.NewTicker(heartbeat)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			writing.Lock()
			err := s.write([]byte(": still here\n\n"))
			writing.Unlock()
			if err != nil {
				cancel()
			}
		}
	}()
	defer func() { cancel(); <-beating }()
	answer, err := ask(ctx, func(attempt assist.Attempt) { write("attempt", attempt) })
	switch {
	case ctx.Err() != nil:
	case err != nil:
		write("problem", a.Problems.Describe(ctx, err))
	default:
		write("proposal", answer)
	}
}
