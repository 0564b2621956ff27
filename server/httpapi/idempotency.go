package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/runs"
)

const (
	keyHeader = "Idempotency-Key"
	keyFor    = 24 * time.Hour
	keyLength = 200
)

// once serves a request with an Idempotency-Key. It processes the first request and stores the answer. A repeated
// request gets the stored answer. Processing continues even if the client disconnects, because the client can repeat
// the request to get the answer.
func (a *API) once(w http.ResponseWriter, r *http.Request, key string, body []byte, work func(http.ResponseWriter, *http.Request)) {
	if len(key) > keyLength {
		a.Problems.Write(w, r, fault.New(fault.BadRequest, "Idempotency-Key must have at most %d characters.", keyLength))
		return
	}
	ctx := context.WithoutCancel(r.Context())
	who := actor(ctx)
	reserved := registry.IdempotencyKey{Workspace: who.Workspace, Owner: who.Workspace + "/" + who.ID, Key: key, BodyHash: requestHash(r, body), ExpiresAt: a.Now().Add(keyFor)}
	existing, err := a.Keys.ReserveKey(ctx, reserved)
	if err != nil {
		a.Problems.Write(w, r, err)
		return
	}
	if existing != nil {
		a.repeat(w, r, *existing, reserved.BodyHash)
		return
	}
	ref := registry.KeyRef{Owner: reserved.Owner, Key: reserved.Key}
	ctx = context.WithValue(context.WithValue(ctx, reservedKey{}, ref), insteadKey{}, new(instead))
	a.keep(w, r.WithContext(ctx), reserved, work)
}

// instead is the answer to a repeated request if it must differ from the first answer. It is nil if both are the same.
type instead struct{ body any }

type insteadKey struct{}

// storeInstead stores another body for repeated requests, because the answer contains values that must not be stored.
// It does nothing if the request has no idempotency key.
func storeInstead(ctx context.Context, body any) {
	if other, ok := ctx.Value(insteadKey{}).(*instead); ok {
		other.body = body
	}
}

type reservedKey struct{}

// keyOf returns the idempotency key that a request has reserved, or nil if it has none.
func keyOf(ctx context.Context) *registry.KeyRef {
	if ref, ok := ctx.Value(reservedKey{}).(registry.KeyRef); ok {
		return &ref
	}
	return nil
}

// keyed returns a context with the request's idempotency key, if the request has one. With this key, the store records
// which resource the request creates.
func keyed(ctx context.Context) context.Context {
	if ref := keyOf(ctx); ref != nil {
		return registry.WithKey(ctx, *ref)
	}
	return ctx
}

// repeatMade answers a repeated request whose first request created a resource but has no stored answer. In this case
// the server was killed, or the first request is still in progress.
func (a *API) repeatMade(w http.ResponseWriter, r *http.Request, made registry.Made) {
	path, status := Base+"/code-agents/"+made.ID, http.StatusCreated
	switch made.Kind {
	case registry.MadeRun:
		run, err := a.Runs.Get(r.Context(), actor(r.Context()), made.ID)
		async := wantsAsync(r.Header.Get("Prefer"))
		switch {
		case err != nil:
			a.Problems.Write(w, r, err)
			return
		case async:
			a.replay(w, r, http.StatusAccepted, a.BasePath+Base+"/runs/"+run.ID, Accepted{RunID: run.ID, Status: run.Status, DraftRevision: run.DraftRevision})
			return
		case run.Status.Final():
			a.replay(w, r, http.StatusOK, "", runs.AnswerOf(run))
			return
		}
		a.Problems.Write(w, r, inProgress())
		return
	case registry.MadeVersion:
		agent, version, _ := strings.Cut(made.ID, "/")
		path = Base + "/code-agents/" + agent + "/versions/" + version
	case registry.MadeTask:
		path = Base + "/tasks/" + made.ID
	case registry.MadeAgent:
	}
	// Call the route that reads the resource, because it returns the same body as the route that creates the resource. The
	// inner request needs its own routing context.
	get, err := http.NewRequestWithContext(context.WithValue(r.Context(), chi.RouteCtxKey, nil), http.MethodGet, path, nil)
	if err != nil {
		a.Problems.Write(w, r, err)
		return
	}
	held := &heldAnswer{header: w.Header()}
	a.router.ServeHTTP(held, get)
	if held.code() != http.StatusOK {
		status = held.code()
	} else {
		w.Header().Set("Location", a.BasePath+path)
		w.Header().Set("Idempotency-Replayed", "true")
	}
	w.WriteHeader(status)
	_, _ = w.Write(held.body.Bytes()) // The client may have disconnected.
}

// replay sends an answer that was created again from the stored resource.
func (a *API) replay(w http.ResponseWriter, r *http.Request, status int, location string, body any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		a.Problems.Write(w, r, err)
		return
	}
	if location != "" {
		w.Header().Set("Location", location)
		w.Header().Set("Preference-Applied", "respond-async")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Idempotency-Replayed", "true")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // The client may have disconnected.
}

func inProgress() error {
	return &fault.Error{Code: fault.Conflict, Message: "The first request with this Idempotency-Key is still in progress. Try again in a second.", RetryAfter: time.Second}
}

// repeat answers a repeated request. It sends the stored answer, or an error if the request differs from the first one.
func (a *API) repeat(w http.ResponseWriter, r *http.Request, known registry.IdempotencyKey, hash string) {
	switch {
	case known.BodyHash != hash:
		a.Problems.Write(w, r, fault.New(fault.IdempotencyMismatch, "This Idempotency-Key was used for a different request. Choose a new one."))
	case known.Body == nil && known.Made.ID != "":
		a.repeatMade(w, r, known.Made)
	case known.Body == nil:
		a.Problems.Write(w, r, inProgress())
	default:
		var stored storedAnswer
		if err := json.Unmarshal(known.Body, &stored); err != nil {
			a.Problems.Write(w, r, err)
			return
		}
		for name, values := range stored.Header {
			w.Header()[name] = values
		}
		w.Header().Set("Idempotency-Replayed", "true")
		w.WriteHeader(known.Status)
		_, _ = w.Write(stored.Body) // The client may have disconnected again.
	}
}

// keep processes a request, stores the answer, and then sends it. It does not store an answer after which the client
// should retry.
func (a *API) keep(w http.ResponseWriter, r *http.Request, key registry.IdempotencyKey, work func(http.ResponseWriter, *http.Request)) {
	held := &heldAnswer{header: w.Header()}
	kept := false
	defer func() {
		if !kept { // Release the key, so that a retry is processed. This also happens after a panic, or if the answer could not be stored.
			a.release(r.Context(), key)
		}
	}()
	work(held, r)
	status := held.code()
	if status < 500 && len(held.Header()["Retry-After"]) == 0 {
		if err := a.complete(r.Context(), key, held); err != nil {
			a.Problems.Write(w, r, err)
			return
		}
		kept = true
	}
	w.WriteHeader(status)
	_, _ = w.Write(held.body.Bytes()) // The client may have disconnected; it gets the stored answer when it retries.
}

func (a *API) complete(ctx context.Context, key registry.IdempotencyKey, held *heldAnswer) error {
	body := held.body.Bytes()
	if other, ok := ctx.Value(insteadKey{}).(*instead); ok && other.body != nil {
		var err error
		if body, err = json.Marshal(other.body); err != nil {
			return err
		}
	}
	stored, err := json.Marshal(storedAnswer{Header: held.lasting(), Body: body})
	if err != nil {
		return err
	}
	return a.Keys.CompleteKey(ctx, key.Owner, key.Key, held.code(), stored)
}

func (a *API) release(ctx context.Context, key registry.IdempotencyKey) {
	if err := a.Keys.ReleaseKey(ctx, key.Owner, key.Key); err != nil {
		a.Problems.Log.LogAttrs(ctx, slog.LevelError, "release idempotency key",
			slog.String("request_id", telemetry.RequestID(ctx)), slog.Any("error", err))
	}
}

// requestHash returns a hash of a request. The hash shows whether an Idempotency-Key is used for a different request.
func requestHash(r *http.Request, body []byte) string {
	h := sha256.New()
	for _, part := range []string{r.Method, r.URL.RequestURI(), r.Header.Get("If-Match"), r.Header.Get("Prefer")} {
		h.Write([]byte(part + "\n"))
	}
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// storedAnswer is the answer that repeated requests get.
type storedAnswer struct {
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
}

// heldAnswer buffers an answer until it is stored.
type heldAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (h *heldAnswer) Header() http.Header { return h.header }

func (h *heldAnswer) Write(p []byte) (int, error) { return h.body.Write(p) }

func (h *heldAnswer) WriteHeader(status int) {
	if h.status == 0 {
		h.status = status
	}
}

func (h *heldAnswer) code() int {
	if h.status == 0 {
		return http.StatusOK
	}
	return h.status
}

// lasting returns the headers that are stored with the answer. It omits headers that differ for each request, such as
// the request ID.
func (h *heldAnswer) lasting() http.Header {
	kept := http.Header{}
	for _, name := range []string{"Content-Type", "Etag", "Location", "Preference-Applied", "Atelier-Deprecated", "Atelier-Draft-Revision", "Atelier-Renamed", "Atelier-Warning"} {
		if values := h.header[name]; len(values) > 0 {
			kept[name] = values
		}
	}
	return kept
}
