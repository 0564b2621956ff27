package httpapi_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/atelier-run/atelier/server/gate/gatetest"
	"github.com/atelier-run/atelier/server/httpapi"
	"github.com/atelier-run/atelier/server/problem"
	"github.com/atelier-run/atelier/studio/archives"
)

// If a client sends only half of an archive, the deadline must stay set. Otherwise the server would wait without limit,
// because it reads the rest of the body before it answers.
func TestHalfAnArchiveIsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	api := httpapi.New(httpapi.Options{Archives: archives.New(archives.Options{}), Problems: problem.Writer{Log: slog.New(slog.DiscardHandler)}, Now: time.Now})
	body := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(errors.New("the line is dead")))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/archive?dryRun=true", body)
	r.Header.Set("Content-Type", "application/gzip")
	w := gatetest.Connect()
	api.Router().ServeHTTP(w, r)
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"bad_request"`) || w.Until.IsZero() {
		t.Errorf("status %d, and the rest may come until %v: %s", w.Code, w.Until, w.Body)
	}
}
