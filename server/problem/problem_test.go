package problem_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/server/problem"
)

func TestInternalErrorsStayInTheLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ctx := telemetry.WithRequest(t.Context(), &telemetry.Request{ID: "req-1"})
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/", nil)
	problem.Writer{Log: telemetry.NewLog(&log, "text", slog.LevelInfo)}.Write(w, r, fmt.Errorf("open /var/secret: %w", errors.New("denied")))
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"type": "about:blank", "title": "Internal Server Error", "status": 500.0, "code": "internal", "detail": "Internal error.", "requestId": "req-1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(log.String(), "/var/secret: denied") || !strings.Contains(log.String(), "req-1") {
		t.Errorf("the log has %s", log.String())
	}
}

func TestInternalFaultsShowNothingEither(t *testing.T) {
	t.Parallel()
	doc := problem.Of(&fault.Error{Code: fault.Internal, Message: "disk 7 is broken", Extra: map[string]any{"disk": 7}, Err: errors.New("x")})
	if doc.Detail != "Internal error." || doc.Extra != nil {
		t.Errorf("got %+v", doc)
	}
}

func TestFaultsBecomeProblems(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		err     error
		status  int
		code    string
		headers map[string]string
		member  string
	}{
		"validation": {fault.Invalid("/city", "is required"), 422, "invalid_input", nil, `"errors":[{"pointer":"/city","message":"is required"}]`},
		"stale": {&fault.Error{Code: fault.StaleDraft, Message: "Somebody saved.", Extra: map[string]any{"currentRevision": 8, "status": 1}},
			409, "stale_draft", nil, `"currentRevision":8`},
		"queue": {&fault.Error{Code: fault.QueueFull, Message: "Full.", RetryAfter: 1500 * time.Millisecond}, 429, "queue_full",
			map[string]string{"Retry-After": "2"}, ""},
		"queue without a time": {fault.New(fault.QueueFull, "Full."), 429, "queue_full", map[string]string{"Retry-After": "1"}, ""},
		"no token":             {fault.New(fault.Unauthenticated, "Sign in."), 401, "unauthenticated", map[string]string{"WWW-Authenticate": `Bearer realm="atelier"`}, ""},
		"wrapped":              {fmt.Errorf("look: %w", fault.New(fault.NotFound, "No such run.")), 404, "not_found", nil, `"detail":"No such run."`},
		"client gone":          {fmt.Errorf("wait: %w", context.Canceled), 499, "cancelled", nil, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			problem.Writer{Log: slog.New(slog.DiscardHandler)}.Write(w, httptest.NewRequest("POST", "/", nil), tt.err)
			if w.Code != tt.status || w.Header().Get("Content-Type") != problem.MediaType {
				t.Errorf("status %d, type %s", w.Code, w.Header().Get("Content-Type"))
			}
			for header, want := range tt.headers {
				if got := w.Header().Get(header); got != want {
					t.Errorf("%s is %q, want %q", header, got, want)
				}
			}
			body := w.Body.String()
			if !strings.Contains(body, fmt.Sprintf(`"status":%d`, tt.status)) || !strings.Contains(body, `"code":"`+tt.code+`"`) || !strings.Contains(body, tt.member) {
				t.Errorf("got %s", body)
			}
		})
	}
}

func TestEveryCodeHasAStatus(t *testing.T) {
	t.Parallel()
	for _, code := range []fault.Code{fault.BadRequest, fault.Unauthenticated, fault.Forbidden, fault.BadHost, fault.BadOrigin, fault.NotFound, fault.NoWorkspace,
		fault.MethodNotAllowed, fault.InvalidInput, fault.VersionRequired, fault.UnsupportedMediaType, fault.BodyTooLarge, fault.PreconditionRequired, fault.UpgradeRequired,
		fault.StaleDraft, fault.VersionExists, fault.NameTaken, fault.NoVersion, fault.BumpTooSmall, fault.Conflict, fault.IdempotencyMismatch, fault.QueueFull,
		fault.TooManyRequests, fault.SandboxUnavailable, fault.RuntimeUnavailable, fault.ProviderUnavailable, fault.IndexUnavailable, fault.ModelUnavailable, fault.ContentChanged, fault.StorageUnavailable, fault.RunInterrupted, fault.ShuttingDown, fault.Cancelled} {
		if problem.Status(code) == 500 {
			t.Errorf("%s is answered as if it were ours", code)
		}
	}
}
