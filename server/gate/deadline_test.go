package gate_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/server/gate/gatetest"
)

// Regression: a client without a credential announced a body and sent none. Before its answer, the server tried to read
// the body, so the rejection was never sent and the connection was never closed.
func TestABodyThatIsRefusedUnreadIsNotWaitedForInVain(t *testing.T) {
	t.Parallel()
	for body, waits := range map[string]bool{"{}": true, "": false} {
		w := gatetest.Connect()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/things/1", strings.NewReader(body))
		r.Host = "localhost"
		open(t).ServeHTTP(w, r)
		if w.Code != http.StatusUnauthorized || w.Until.IsZero() == waits {
			t.Errorf("body %q: status %d, deadline %v", body, w.Code, w.Until)
		}
	}
}

// Regression: a client with a credential sent only half of a body. The server removed the expired deadline and then
// waited without limit for the other half before it answered.
func TestHalfABodyKeepsItsDeadline(t *testing.T) {
	t.Parallel()
	for name, whole := range map[string]bool{"half": false, "whole": true} {
		w := gatetest.Connect()
		body := io.Reader(strings.NewReader("{}"))
		if !whole {
			body = io.MultiReader(strings.NewReader("{"), broken{})
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", body)
		r.ContentLength = 2
		r.Header.Set("Content-Type", "application/json")
		_, err := gate.Body(w, r, 100)
		if fault.Is(err, fault.BadRequest) == whole || w.Until.IsZero() != whole {
			t.Errorf("%s: %v, deadline %v", name, err, w.Until)
		}
	}
}

// broken is a body whose rest never arrives.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// Regression: the deadline of the body stayed set after an archive was read. When it expired, the server treated the client
// as disconnected and cancelled long installations.
func TestBytesThatArrivedHaveNoDeadline(t *testing.T) {
	t.Parallel()
	w := gatetest.Connect()
	w.Until = time.Now()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("bytes"))
	if body, err := gate.Whole(w, r, 5); err != nil || string(body) != "bytes" || !w.Until.IsZero() {
		t.Errorf("%q, %v, deadline %v", body, err, w.Until)
	}
	r = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", io.MultiReader(strings.NewReader("bytes and more")))
	if _, err := gate.Whole(w, r, 5); !fault.Is(err, fault.BodyTooLarge) {
		t.Errorf("more than it takes: %v", err)
	}
}
