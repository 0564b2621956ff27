package skillsapi_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/runtimes/inspect"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/server/problem"
	"github.com/atelier-run/atelier/server/skillsapi"
	"github.com/atelier-run/atelier/studio/access"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/agents/agentstest"
	"github.com/atelier-run/atelier/studio/skills"
)

// strict replaces the Python parser. It accepts a draft and rejects a version.
type strict struct{}

func (strict) Check(_ context.Context, r inspect.Request) (inspect.Report, error) {
	return inspect.Report{Errors: []fault.Detail{{File: r.Entrypoint, Line: 3, Message: "is no version."}}}, nil
}

func (strict) CheckAll(_ context.Context, programs []inspect.Request) []inspect.Result {
	results := make([]inspect.Result, len(programs))
	for n := range results {
		results[n].Report = inspect.Report{Names: []string{"run"}}
	}
	return results
}

func (strict) Format(context.Context, string, int) (string, []fault.Detail, error) {
	return "", nil, nil
}

// administrator grants access to every caller.
type administrator struct{ gate.Access }

func (administrator) Fixed(string) (caller registry.Caller, ok bool) { return caller, false }

func (administrator) Issued(context.Context, string) (registry.Caller, error) {
	return registry.Caller{Actor: access.Administrator(), Scopes: []registry.Scope{registry.AdminScope}}, nil
}

// withStrict returns the API over a service with a strict parser, behind a gate.
func withStrict(t *testing.T) http.Handler {
	t.Helper()
	s, log := storetest.Open(t, storetest.SQLite), slog.New(slog.DiscardHandler)
	made := agents.New(agentstest.Options(s))
	made.Inspector = strict{}
	service, err := skills.New(skills.Options{Store: s, Agents: made, Dir: t.TempDir(), Log: log, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var watching sync.WaitGroup
	watching.Go(func() { service.Watch(ctx) })
	t.Cleanup(func() {
		stop()
		watching.Wait()
		if err := service.Close(); err != nil {
			t.Error(err)
		}
	})
	traces, err := telemetry.NewTraces(t.Context(), "test", false)
	if err != nil {
		t.Fatal(err)
	}
	router, problems := chi.NewRouter(), problem.Writer{Log: log}
	skillsapi.New(skillsapi.Options{Skills: service, Agents: made, Problems: problems, BodyBytes: 1 << 20, Now: time.Now}).Hang(router)
	return gate.New(gate.Options{
		Access: administrator{}, Routes: router, Refuse: problems, Meter: telemetry.NewMetrics("test"), Tracer: traces.Tracer("test"),
		Propagate: traces.Propagator(), Log: log, NewID: made.NewID,
	}).Guard(router)
}

// TestADraftThatIsNotPromoted checks that the draft is stored, and that the answer gives the reason with positions.
func TestADraftThatIsNotPromoted(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/skills/create",
		strings.NewReader(`{"name": "adder", "description": "Adds numbers up.", "code": "def run(action, args):\n    return 1\n", "auto_promote": true}`))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer mine")
	w := httptest.NewRecorder()
	withStrict(t).ServeHTTP(w, r)
	var answer struct {
		Action, Reason   string
		Passed, Promoted bool
		Errors           []fault.Detail
		Installation     struct{ Name, State string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s, %v", w.Code, w.Body, err)
	}
	if answer.Action != "warn" || answer.Passed || answer.Promoted || len(answer.Errors) != 1 || answer.Errors[0].Line != 3 {
		t.Errorf("the answer is %+v", answer)
	}
	if !strings.HasPrefix(answer.Reason, "The draft was saved but not promoted. ") || !strings.HasSuffix(answer.Reason, ":3: is no version.") {
		t.Errorf("the reason is %q", answer.Reason)
	}
	if answer.Installation.Name != "adder" || answer.Installation.State != "draft" {
		t.Errorf("there is %+v", answer.Installation)
	}
}
