package app

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Only a refusal may make a node download its input from this server. A failure is an error, because a later request
// may succeed.
func TestAnswersHead(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]struct{ answers, fails bool }{
		200: {true, false}, 403: {false, false}, 405: {false, false}, 501: {false, false},
		408: {false, true}, 429: {false, true}, 500: {false, true}, 503: {false, true},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "3")
			w.WriteHeader(code)
		}))
		answers, err := answersHead(t.Context(), server.URL)
		if answers != want.answers || (err != nil) != want.fails {
			t.Errorf("%d: %v, %v", code, answers, err)
		}
		server.Close()
	}
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		fails  bool
	}{
		"an answer without a length": {func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() }, false},
		"no answer":                  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true},
	} {
		server := httptest.NewServer(tt.answer)
		if answers, err := answersHead(t.Context(), server.URL); answers || (err != nil) != tt.fails {
			t.Errorf("%s: %v, %v", name, answers, err)
		}
		server.Close()
	}
}
