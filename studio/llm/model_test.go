package llm_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/llm"
)

const hello = `{"choices":[{"message":{"content":"hello"}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`

func ask(t *testing.T, handle http.HandlerFunc) (llm.Reply, error) {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	model := llm.NewModel(llm.ModelOptions{BaseURL: server.URL, Name: "m", Key: "model-key", Timeout: 10 * time.Second, Delay: time.Millisecond, LongDelay: 5 * time.Second})
	t.Cleanup(model.Close)
	return model.Ask(t.Context(), []llm.Message{{Role: "user", Content: "hi"}}, json.RawMessage(`{"type":"object"}`))
}

func TestModel_Ask(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	reply, err := ask(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch n := calls.Add(1); {
		case n == 1 && strings.Contains(string(body), "response_format"): // The test server behaves like a server without structured output.
			w.WriteHeader(http.StatusBadRequest)
		case n == 2 && !strings.Contains(string(body), "response_format"):
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			_, _ = io.WriteString(w, hello)
		}
	})
	if err != nil || reply.Text != "hello" || reply.Tokens != (registry.Tokens{Input: 3, Output: 1}) || calls.Load() != 3 {
		t.Errorf("reply %+v after %d calls, error %v", reply, calls.Load(), err)
	}
}

func TestModel_Refusals(t *testing.T) {
	t.Parallel()
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	text := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
	}
	tests := map[string]struct {
		handle http.HandlerFunc
		want   string
	}{
		"wrong key":     {status(401), "ATELIER_LLM_API_KEY"},
		"no such model": {status(404), "ATELIER_LLM_MODEL"},
		"busy":          {status(503), "is busy"},
		"long Retry-After": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(429)
		}, "is busy"},
		"429 without Retry-After": {status(429), "is busy"},
		"prose":                   {text("hello"), "does not have the form of the Chat Completions API"},
		"half an answer":          {text(hello[:30]), "does not have the form of the Chat Completions API"},
		"nothing":                 {text(`{"choices":[]}`), "no choices"},
		"refusal":                 {text(`{"choices":[{"message":{"refusal":"I must not"}}]}`), "the model refused to answer: I must not"},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := io.WriteString(w, strings.Repeat("x", 1<<16)); err != nil {
					return
				}
			}
		}, "larger than 1 MiB"},
		"cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "{")
		}, "did not answer"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ask(t, tt.handle)
			if !fault.Is(err, fault.ModelUnavailable) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "model-key") {
				t.Errorf("error is %v, want one with %q", err, tt.want)
			}
		})
	}
}

// If the model calls a tool that was not offered, the result must be an empty text, so that the caller asks again.
func TestModel_UnknownToolCall_NoText(t *testing.T) {
	t.Parallel()
	reply, err := ask(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"rm","arguments":"{}"}}]}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`)
	})
	if err != nil || reply.Text != "" || reply.Tokens.Input != 3 {
		t.Errorf("reply %+v, error %v", reply, err)
	}
}

// The key must not be sent to another server after a redirect.
func TestModel_Redirect(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	t.Cleanup(other.Close)
	_, err := ask(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	if !fault.Is(err, fault.ModelUnavailable) || reached.Load() {
		t.Errorf("the redirect was followed: %v, error %v", reached.Load(), err)
	}
}
