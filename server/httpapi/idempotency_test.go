package httpapi_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/httpapi"
	"github.com/atelier-run/atelier/server/problem"
)

// forgetful is a key store in which storing an answer always fails.
type forgetful struct{ held map[string]bool }

func (f forgetful) ReserveKey(_ context.Context, k registry.IdempotencyKey) (*registry.IdempotencyKey, error) {
	if f.held[k.Key] {
		return &k, nil
	}
	f.held[k.Key] = true
	return nil, nil
}

func (f forgetful) CompleteKey(context.Context, string, string, int, []byte) error {
	return errors.New("the disk is full")
}

func (f forgetful) ReleaseKey(_ context.Context, _, key string) error {
	delete(f.held, key)
	return nil
}

// Regression: if an answer could not be stored, its key stayed reserved until the server was restarted.
func TestAnAnswerThatCannotBeStoredCanBeAskedForAgain(t *testing.T) {
	t.Parallel()
	keys := forgetful{held: map[string]bool{}}
	api := httpapi.New(httpapi.Options{Keys: keys, Problems: problem.Writer{Log: slog.New(slog.DiscardHandler)}, BodyBytes: 1 << 20, Now: time.Now})
	for range 2 {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/api/v1/code-agents/x", strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "k")
		r.Header.Set("If-Match", `"x"`) // The operation refuses this request, and its answer is stored.
		w := httptest.NewRecorder()
		api.Router().ServeHTTP(w, r)
		if w.Code != http.StatusInternalServerError || len(keys.held) != 0 {
			t.Fatalf("status %d, held %v", w.Code, keys.held)
		}
	}
}
