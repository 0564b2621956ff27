package load_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/atelier-run/atelier/scripts/load"
)

// TestPost checks that sequential calls use one connection, whatever their content, until the server closes it.
func TestPost(t *testing.T) {
	t.Parallel()
	var opened atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/refused":
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusTooManyRequests)
		case "/last":
			w.Header().Set("Connection", "close")
		}
		_, _ = io.Copy(w, r.Body)
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	client := load.NewClient(server.URL)
	for at, step := range []struct {
		path   string
		opened int64
	}{{"/", 1}, {"/refused", 1}, {"/last", 1}, {"/", 2}} {
		answer, err := client.Post(t.Context(), step.path, []byte(`{"n":1}`))
		var refused *load.Refusal
		if errors.As(err, &refused) != (step.path == "/refused") || refused == nil && err != nil || string(answer) != `{"n":1}` {
			t.Errorf("%s: %s, %v", step.path, answer, err)
		}
		if refused != nil && (refused.Status != http.StatusTooManyRequests || refused.RetryAfter != "3") {
			t.Errorf("refused is %+v", refused)
		}
		if n := opened.Load(); n != step.opened {
			t.Errorf("after call %d there were %d connections", at, n)
		}
	}
}
