package gate_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// connection is a writer that remembers until when its client may take to send.
type connection struct {
	*httptest.ResponseRecorder
	read time.Time
}

func (c *connection) SetReadDeadline(t time.Time) error {
	c.read = t
	return nil
}

// A client without a credential announced a body and sent none: the refusal was never sent, and the connection never
// closed, because the server first reads what nobody has read.
func TestABodyThatIsRefusedUnreadIsNotWaitedForInVain(t *testing.T) {
	t.Parallel()
	for body, waits := range map[string]bool{"{}": true, "": false} {
		w := &connection{ResponseRecorder: httptest.NewRecorder()}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/things/1", strings.NewReader(body))
		r.Host = "localhost"
		open(t).ServeHTTP(w, r)
		if w.Code != http.StatusUnauthorized || w.read.IsZero() == waits {
			t.Errorf("body %q: status %d, deadline %v", body, w.Code, w.read)
		}
	}
}
