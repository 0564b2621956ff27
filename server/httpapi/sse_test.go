package httpapi_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/server/httpapi"
)

// quiet is a run that has no event for the first three reads and ends with the fourth.
type quiet struct {
	asked int
	end   error
}

func (f *quiet) Next(ctx context.Context) (runtimes.Event, error) {
	if f.asked++; f.asked > 3 {
		return runtimes.Event{}, f.end
	}
	<-ctx.Done()
	return runtimes.Event{}, context.Cause(ctx)
}

// A reader that reconnects to a quiet run must receive the start of the answer, because proxies close a connection on
// which no answer begins.
func TestQuietStreamBegins(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	if err := httpapi.SendEvents(w, r, &quiet{end: io.EOF}, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") || w.Body.String() != strings.Repeat(": still here\n\n", 3) {
		t.Errorf("%d %v %q", w.Code, w.Header(), w.Body)
	}
}

// The server must report the end of a stream only if the reader has all events, because an EventSource does not
// reconnect afterwards.
func TestStreamThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	broken := errors.New("the database is away")
	for name, want := range map[string]error{"end": nil, "error": broken} {
		end := io.EOF
		if want != nil {
			end = want
		}
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		err := httpapi.SendEvents(w, r, &quiet{asked: 3, end: end}, time.Hour)
		if !errors.Is(err, want) || (want == nil) != (w.Code == http.StatusNoContent) {
			t.Errorf("%s: %v, status %d", name, err, w.Code)
		}
	}
}
