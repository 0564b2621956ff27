package llm_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/studio/llm"
)

// embedder returns a model whose server answers with a fixed status and text.
func embedder(t *testing.T, status int, text string) *llm.Model {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/embeddings" {
			status = http.StatusNotFound
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	model := llm.NewModel(llm.ModelOptions{BaseURL: server.URL, Name: "m", Timeout: 10 * time.Second})
	t.Cleanup(model.Close)
	return model
}

// The vectors must have length 1 and the order of the texts, even if the answer has another order.
func TestModel_Embed_VectorsInOrderOfTexts(t *testing.T) {
	t.Parallel()
	vectors, tokens, err := embedder(t, 200, `{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}],"usage":{"prompt_tokens":7}}`).Embed(t.Context(), []string{"a", "b"})
	if err != nil || tokens != 7 || len(vectors) != 2 || vectors[0][0] != 0.6 || vectors[0][1] != 0.8 || vectors[1][1] != 1 {
		t.Errorf("%v, %d tokens, %v", vectors, tokens, err)
	}
}

func TestModel_Embed_BadAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status     int
		text, part string
	}{
		"busy":              {429, "", "busy"},
		"no such operation": {404, "", "404"},
		"prose":             {200, "Hello.", "does not have the form of the Embeddings API"},
		"too few":           {200, `{"data":[{"index":0,"embedding":[1]}]}`, "1 vectors for 2 texts"},
		"twice":             {200, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, "belongs to another text"},
		"out of range":      {200, `{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`, "belongs to another text"},
		"empty":             {200, `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[1]}]}`, "empty"},
		"zero":              {200, `{"data":[{"index":0,"embedding":[0,0]},{"index":1,"embedding":[1,0]}]}`, "zero"},
		"lengths":           {200, `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[1]}]}`, "different lengths"},
	} {
		vectors, _, err := embedder(t, tt.status, tt.text).Embed(t.Context(), []string{"a", "b"})
		if !fault.Is(err, fault.ModelUnavailable) || !strings.Contains(err.Error(), tt.part) || vectors != nil {
			t.Errorf("%s: %v, %v", name, vectors, err)
		}
	}
}

// Long vectors are requested in several small requests, so that the answers are not too large. After a failure the
// vectors of the earlier requests are returned.
func TestModel_Embed_LongVectors(t *testing.T) {
	t.Parallel()
	numbers := strings.Repeat("-0.012345678901234567,", 4095) + "1"
	requests, fails := 0, 4
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		if requests++; requests == fails {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		var data []string
		for i := range asked.Input {
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[%s]}`, i, numbers))
		}
		_, _ = fmt.Fprintf(w, `{"data":[%s],"usage":{"prompt_tokens":5}}`, strings.Join(data, ","))
	}))
	t.Cleanup(server.Close)
	model := llm.NewModel(llm.ModelOptions{BaseURL: server.URL, Name: "m", Timeout: 10 * time.Second})
	t.Cleanup(model.Close)
	texts := make([]string, 20)
	if vectors, tokens, err := model.Embed(t.Context(), texts); err != nil || len(vectors) != 20 || len(vectors[19]) != 4096 || tokens != 15 {
		t.Errorf("%d vectors, %d tokens, %v", len(vectors), tokens, err)
	}
	fails = 6
	if vectors, tokens, err := model.Embed(t.Context(), texts); !fault.Is(err, fault.ModelUnavailable) || len(vectors) != 16 || tokens != 10 {
		t.Errorf("after a failure: %d vectors, %d tokens, %v", len(vectors), tokens, err)
	}
}

// A completion request must limit the length of the answer, and an answer that was cut at this limit must be used. If a
// model rejects the limit, the request must be repeated without the limit.
func TestModel_FillInWords_AnswerIsBounded(t *testing.T) {
	t.Parallel()
	for _, refuses := range []bool{false, true} {
		bounded, asked := 0, 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			bound := strings.Contains(string(body), `"max_tokens":160`)
			switch {
			case r.URL.Path == "/completions":
				w.WriteHeader(http.StatusNotFound)
				return
			case bound && refuses:
				bounded++
				w.WriteHeader(http.StatusBadRequest)
				return
			case bound:
				bounded++
			}
			asked++
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"text"},"finish_reason":"length"}]}`)
		}))
		model := llm.NewModel(llm.ModelOptions{BaseURL: server.URL, Name: "m", Timeout: 10 * time.Second})
		for range 2 {
			if reply, err := model.Fill(t.Context(), llm.Gap{}, []llm.Message{{Role: "user", Content: "hi"}}); err != nil || reply.Text != "text" {
				t.Errorf("%+v, %v", reply, err)
			}
		}
		if want := map[bool]int{false: 2, true: 1}[refuses]; bounded != want || asked != 2 {
			t.Errorf("%d requests with a bound, want %d; %d answers", bounded, want, asked)
		}
		model.Close()
		server.Close()
	}
}
