package gate

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry"
)

// Cookie is the name of the session cookie.
const Cookie = "atelier_session"

// maxCredential bounds what is hashed for one request.
const maxCredential = 4096

type callerKey struct{}

// Caller is who a request comes from. Browser tells a session of the Studio from a token.
type Caller struct {
	registry.Caller
	Browser bool
}

// CallerOf returns who the request of ctx comes from. Behind the gate every route under /api has one, except login.
func CallerOf(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(Caller)
	return c, ok
}

// identify finds the caller of a request, and refuses one under /api that has none or may not do what it asks for. A wrong
// credential is refused on any route that looks at it, never taken for its absence.
func (g *Gate) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !guarded(r) {
			next.ServeHTTP(w, r)
			return
		}
		caller, err := g.caller(r)
		if err != nil {
			g.Refuse.Write(w, r, err)
			return
		}
		telemetry.Note(r.Context(), slog.String("actor", caller.Actor.ID), slog.String("workspace", caller.Actor.Workspace))
		if err := g.permit(r, caller.Caller); err != nil {
			g.Refuse.Write(w, r, err)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, caller)))
	})
}

// guarded says whether a path needs an actor: the whole API, except for logging in, and the doors of existing clients,
// except for the contracts, which editors read.
func guarded(r *http.Request) bool { return guardedPath(r.Method, r.URL.Path) }

func guardedPath(method, path string) bool {
	login := path == "/api/v1/session" && method == http.MethodPost
	contract := path == "/v1/contracts" || strings.HasPrefix(path, "/v1/contracts/")
	return strings.HasPrefix(path, "/api/") && !login || strings.HasPrefix(path, "/skills/") || strings.HasPrefix(path, "/v1/") && !contract
}

func (g *Gate) caller(r *http.Request) (Caller, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, secret, _ := strings.Cut(header, " ")
		secret = strings.TrimSpace(secret)
		if !strings.EqualFold(scheme, "Bearer") || secret == "" || len(secret) > maxCredential {
			return Caller{}, fault.New(fault.Unauthenticated, "The Authorization header must be: Bearer TOKEN.")
		}
		caller, err := g.bearer(r, secret)
		return Caller{Caller: caller}, err
	}
	cookie, err := r.Cookie(Cookie)
	if err != nil && g.anonymous(r) {
		return Caller{Caller: anonymous()}, nil
	}
	if err != nil || cookie.Value == "" || len(cookie.Value) > maxCredential {
		return Caller{}, fault.New(fault.Unauthenticated, "This needs a token or a session: send Authorization: Bearer TOKEN, or open the login link that the server printed.")
	}
	caller, err := g.Access.Session(r.Context(), cookie.Value)
	return Caller{Caller: caller, Browser: true}, err
}

// bearer finds the caller of a token. Tokens that were made here cannot be guessed and are never kept waiting; the fixed
// one was chosen by a person, and waits with all others of its source when too many were wrong.
func (g *Gate) bearer(r *http.Request, secret string) (registry.Caller, error) {
	if caller, ok := g.Access.Fixed(secret); ok {
		return caller, g.Attempts.Blocked(r)
	}
	caller, err := g.Access.Issued(r.Context(), secret)
	if fault.Is(err, fault.Unauthenticated) {
		err = g.Attempts.Wrong(r, secret, err)
	}
	return caller, err
}
