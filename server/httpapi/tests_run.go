package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/tests"
)

// TestsBody selects the tests to run.
type TestsBody struct {
	Version  string          `json:"version,omitempty" doc:"draft (default), 1.2.0, ^1, latest or a digest."`
	Revision int64           `json:"revision,omitempty" minimum:"1" doc:"With version draft: the same as If-Match."`
	Names    []string        `json:"names,omitempty" maxItems:"200" doc:"Names of the tests to run (default: all)."`
	Tests    []registry.Test `json:"tests,omitempty" maxItems:"200" doc:"Tests to run instead of those of the draft or version. They are not saved."`
}

// TestsReport is the result of all tests.
type TestsReport struct {
	tests.Report
	Results []tests.Result `json:"results" doc:"In the order in which the tests ended."`
}

// streamAnswer is an answer whose body a function writes.
type streamAnswer struct{ Body func(huma.Context) }

func (a *API) runTests() {
	type in struct {
		AgentRef
		DraftMatch
		PreferOptions
		Accept string `header:"Accept" doc:"text/event-stream sends each result as an event."`
		Body   TestsBody
	}
	add(a, endpoint{
		id: "runTests", method: http.MethodPost, path: Base + "/code-agents/{agent}/tests/run", tag: "tests", summary: "Run the tests of a draft or version",
		about: "Runs the program with the input of each test and compares the answer with the expected one. The runs are recorded. A failed test is not an error of the request. " +
			"With Accept: text/event-stream, the answer is a stream of server-sent events: result (the result of one test), report (the totals, at the end) and problem (a problem document, if the tests could not be finished).",
		refusals: append(runRefusals(), fault.StaleDraft), answers: map[string]*huma.Response{"200": {Description: "The results.", Content: map[string]*huma.MediaType{
			"application/json":  {Schema: a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[TestsReport](), true, "")},
			"text/event-stream": {},
		}}},
	}, func(ctx context.Context, q *in) (*streamAnswer, error) {
		seen, err := q.seen(q.Body.Revision)
		if err != nil {
			return nil, err
		}
		plan, err := a.Tests.Prepare(ctx, actor(ctx), tests.Request{
			Agent: q.Agent, Version: q.Body.Version, Seen: seen, Names: q.Body.Names, Tests: q.Body.Tests, Trigger: trigger(ctx, q.PreferOptions),
		})
		if err != nil {
			return nil, err
		}
		if strings.Contains(q.Accept, "text/event-stream") {
			return &streamAnswer{Body: func(c huma.Context) { a.streamTests(c, plan) }}, nil
		}
		return &streamAnswer{Body: func(c huma.Context) { a.sendTests(c, plan) }}, nil
	})
}

// GenerateBody selects the program from whose input schema test inputs are generated.
type GenerateBody struct {
	Version  string `json:"version,omitempty" doc:"draft (default), 1.2.0, ^1, latest or a digest."`
	Revision int64  `json:"revision,omitempty" minimum:"1" doc:"With version draft: the same as If-Match."`
	Count    int    `json:"count,omitempty" minimum:"1" maximum:"100" doc:"Maximum number of tests (default: 24)."`
	Seed     uint64 `json:"seed,omitempty" minimum:"1" maximum:"9007199254740991" doc:"The same seed gives the same inputs (default: a new one)."`
}

func (a *API) generateTests() {
	type in struct {
		AgentRef
		DraftMatch
		PreferOptions
		Body GenerateBody
	}
	type out struct{ Body tests.Generation }
	add(a, endpoint{
		id: "generateTests", method: http.MethodPost, path: Base + "/code-agents/{agent}/tests/generate", tag: "tests", summary: "Generate tests from the input schema",
		about: "Creates valid, invalid and boundary inputs and runs the program with them. For a valid input, the output must match the output schema. An invalid input must be refused. " +
			"Inputs of failed tests are reduced to smaller ones. Nothing is stored: add the tests that you want to keep to the draft.",
		idempotent: true, refusals: append(runRefusals(), fault.StaleDraft),
	}, func(ctx context.Context, q *in) (*out, error) {
		seen, err := q.seen(q.Body.Revision)
		if err != nil {
			return nil, err
		}
		found, err := a.Tests.Generate(ctx, actor(ctx), tests.GenerateRequest{
			Request: tests.Request{Agent: q.Agent, Version: q.Body.Version, Seen: seen, Trigger: trigger(ctx, q.PreferOptions)}, Count: q.Body.Count, Seed: q.Body.Seed,
		})
		return &out{Body: found}, err
	})
}

// sendTests sends all results in one answer.
func (a *API) sendTests(c huma.Context, plan *tests.Plan) {
	r, w := humachi.Unwrap(c)
	answer := TestsReport{Results: []tests.Result{}}
	var err error
	if answer.Report, err = plan.Run(r.Context(), func(result tests.Result) { answer.Results = append(answer.Results, result) }); err != nil {
		a.Problems.Write(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(answer) // The client may have disconnected.
}

// streamTests sends each result as an event.
func (a *API) streamTests(c huma.Context, plan *tests.Plan) {
	r, w := humachi.Unwrap(c)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	s := eventStream{w: w, control: http.NewResponseController(w), beat: heartbeat}
	send := func(name string, value any) {
		if err := s.sendNamed(name, value); err != nil {
			cancel() // The reader has disconnected, so the other tests need not run.
		}
	}
	report, err := plan.Run(ctx, func(result tests.Result) { send("result", result) })
	switch {
	case ctx.Err() != nil:
	case err != nil:
		send("problem", a.Problems.Describe(ctx, err))
	default:
		send("report", report)
	}
}
