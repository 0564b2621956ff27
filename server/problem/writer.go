package problem

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/telemetry"
)

// Writer sends problem documents and logs errors that callers may not see.
type Writer struct {
	Log *slog.Logger
}

// Describe creates the problem document for an error. If the error is internal, the log contains the whole error, and
// the document contains only the request ID.
func (p Writer) Describe(ctx context.Context, err error) *Document {
	doc := Of(err)
	telemetry.Note(ctx, slog.String("code", string(doc.Code)))
	if doc.Code != fault.Internal {
		return doc
	}
	id := telemetry.RequestID(ctx)
	p.Log.LogAttrs(ctx, slog.LevelError, "internal error", slog.String("request_id", id), slog.Any("error", err))
	doc.Extra = map[string]any{"requestId": id}
	return doc
}

// Write answers a request with the problem document of err.
func (p Writer) Write(w http.ResponseWriter, r *http.Request, err error) {
	doc := p.Describe(r.Context(), err)
	body, err := doc.MarshalJSON()
	if err != nil { // An extra member cannot be encoded, so send the document without these members.
		p.Log.LogAttrs(r.Context(), slog.LevelError, "encode problem", slog.Any("error", err))
		doc.Extra = nil
		body, _ = doc.MarshalJSON() // The error is impossible: the document now contains only strings and numbers.
	}
	for name, values := range doc.GetHeaders() {
		if len(w.Header()[name]) == 0 { // Do not replace a header that the calling code has set, such as a challenge, because it is more specific.
			w.Header()[name] = values
		}
	}
	w.Header().Set("Content-Type", MediaType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(doc.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(append(body, '\n')) // The client may have disconnected.
	}
}
