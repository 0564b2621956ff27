package skillsapi_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/server/problem"
	"github.com/atelier-run/atelier/server/skillsapi"
	"github.com/atelier-run/atelier/studio/assist"
	"github.com/atelier-run/atelier/studio/toolmaker"
)

// counting is a service with a registry of one published agent, a validator that accepts every document, and a model
// that gives no answer.
type counting struct{}

func (counting) List(_ context.Context, _ registry.Actor, f registry.AgentFilter) (registry.AgentPage, error) {
	if f.State != "published" {
		return registry.AgentPage{}, nil
	}
	return registry.AgentPage{Items: []registry.Agent{{ID: "id", Name: "word-count", Description: "Counts words."}}}, nil
}

func (counting) Get(context.Context, registry.Actor, string) (registry.Agent, error) {
	return registry.Agent{}, fault.New(fault.NotFound, "none")
}

func (counting) Resolve(context.Context, string, registry.Reference) (registry.Version, error) {
	return registry.Version{Version: "1.0.0"}, nil
}

func (counting) Browse(context.Context, registry.AgentFilter) (registry.AgentPage, error) {
	return registry.AgentPage{}, nil
}

func (counting) Version(context.Context, string, string, string) (registry.Version, error) {
	return registry.Version{}, fault.New(fault.NotFound, "none")
}

func (counting) Validate(_, _ json.RawMessage) ([]fault.Detail, error) { return nil, nil }

func (counting) Generate(context.Context, registry.Actor, assist.Wish, func(assist.Attempt)) (assist.Program, error) {
	return assist.Program{}, fault.New(fault.ModelUnavailable, "No LLM provider configured.")
}

func (counting) Embedding() string { return "" }

func (counting) Check(context.Context, string) error { return nil }

func (counting) Embed(context.Context, string, []string) ([][]float32, error) { return nil, nil }

// TestAutonomousSkillTask checks that the endpoint returns a suitable tool, and otherwise the reason why it found none.
func TestAutonomousSkillTask(t *testing.T) {
	t.Parallel()
	one, log := counting{}, slog.New(slog.DiscardHandler)
	tools := toolmaker.New(toolmaker.Options{Agents: one, Catalog: one, Versions: one, Validator: one, Writer: one, Meaning: one, Log: log})
	traces, err := telemetry.NewTraces(t.Context(), "test", false)
	if err != nil {
		t.Fatal(err)
	}
	router, problems := chi.NewRouter(), problem.Writer{Log: log}
	skillsapi.New(skillsapi.Options{Toolmaker: tools, Problems: problems, BodyBytes: 1 << 20, Now: time.Now}).Hang(router)
	api := gate.New(gate.Options{
		Access: administrator{}, Routes: router, Refuse: problems, Meter: telemetry.NewMetrics("test"), Tracer: traces.Tracer("test"),
		Propagate: traces.Propagator(), Log: log, NewID: func() string { return "id" },
	}).Guard(router)
	for body, want := range map[string]struct {
		status int
		part   string
	}{
		`{"user_text":"Count the words.","input_example":null,"other":1}`: {200, `"success":true,"outcome":"found","name":"word-count","agent_id":"id","version":"1.0.0","state":"active"`},
		`{"user_text":"Count","intent":"the words"}`:                      {200, `"outcome":"found"`},
		`{"user_text":"Translate a poem."}`:                               {200, `"error_type":"model_unavailable"`},
		`{"user_text":"of the"}`:                                          {400, `"detail":"Contract Violation: /task`},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/skills/autonomous_skill_task", strings.NewReader(body))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer mine")
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		if w.Code != want.status || !strings.Contains(w.Body.String(), want.part) {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
}
