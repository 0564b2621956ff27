package llm_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/llm"
)

// ledger stores used tokens in memory. It lets every workspace use the model.
type ledger struct{ used registry.Tokens }

func (l *ledger) ModelUse(context.Context, string, string) (registry.Tokens, error) {
	return l.used, nil
}

func (l *ledger) AddModelUse(_ context.Context, _, _ string, use registry.Tokens) error {
	l.used.Input, l.used.Output = l.used.Input+use.Input, l.used.Output+use.Output
	return nil
}

func (*ledger) ModelChoice(context.Context, string) (registry.ModelChoice, error) {
	return registry.ModelChoice{}, nil
}

func (*ledger) ChooseModel(context.Context, string, registry.ModelChoice) error { return nil }

func (*ledger) CheckTokens(context.Context, string) error { return nil }

// A request that reached the model counts, even if the run ended before the answer. A request that the model rejected
// does not count.
func TestAskProgram_NoAnswer_PromptCounted(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request, cancel func())
		code   fault.Code
		want   registry.Tokens
	}{
		"cancelled": {func(_ http.ResponseWriter, r *http.Request, cancel func()) {
			cancel()
			<-r.Context().Done()
		}, fault.Cancelled, registry.Tokens{Input: 101, Output: 1}},
		"refused": {func(w http.ResponseWriter, _ *http.Request, _ func()) {
			w.WriteHeader(http.StatusUnauthorized)
		}, fault.ModelUnavailable, registry.Tokens{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				tt.answer(w, r, cancel)
			}))
			t.Cleanup(server.Close)
			model := llm.NewModel(llm.ModelOptions{BaseURL: server.URL, Name: "m", Timeout: 10 * time.Second, Delay: time.Millisecond, LongDelay: time.Second})
			t.Cleanup(model.Close)
			l := &ledger{}
			service := llm.New(llm.Options{Model: model, Name: "m", Store: l, Ledger: l, Budgets: l, Now: time.Now})
			_, err := service.AskProgram(ctx, "w", []llm.Message{{Role: "user", Content: strings.Repeat("word", 100)}})
			if !fault.Is(err, tt.code) || l.used != tt.want {
				t.Errorf("%v, counted %+v, want %s and %+v", err, l.used, tt.code, tt.want)
			}
		})
	}
}
