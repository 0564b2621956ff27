package remote_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/atelier-run/atelier/runtimes/remote"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

// TestMCP_IdempotentService_RepeatedWithTheSameKey checks that a repeated tool call has the same Idempotency-Key, and that
// the MCP requests before the call have none.
func TestMCP_IdempotentService_RepeatedWithTheSameKey(t *testing.T) {
	t.Parallel()
	server := mcp.NewServer(&mcp.Implementation{Name: "far", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "run", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: json.RawMessage(hello)}, nil
	})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	var mu sync.Mutex
	var keys []string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		called := bytes.Contains(body, []byte(`"tools/call"`))
		mu.Lock()
		if key := r.Header.Get("Idempotency-Key"); called {
			keys = append(keys, key)
		} else if key != "" && bytes.Contains(body, []byte(`"initialize"`)) {
			t.Errorf("%s has the key %s", body, key)
		}
		first := called && len(keys) == 1
		mu.Unlock()
		if first {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	outcome, _ := runtimetest.Run(t, newEngine(t, &clock{}), job(t, remote.Service{URL: web.URL, Protocol: remote.MCP, Tool: "run", Idempotent: true}, web.URL))
	mu.Lock()
	defer mu.Unlock()
	if outcome.Error != nil || len(keys) != 2 || keys[0] == "" || keys[0] != keys[1] {
		t.Errorf("%q, %+v", keys, outcome.Error)
	}
}
