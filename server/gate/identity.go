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

// WorkspaceHeader names the workspace, by name or ID, that a request is about. Without it a session is in the first of its
// user's, a token in its own.
const WorkspaceHeader = "X-Workspace"

// maxWorkspace bounds the name of a workspace in bytes.
const maxWorkspace = 100

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
		ctx, done := context.WithValue(r.Context(), callerKey{}, caller), func() {}
		if lasts(r) {
			ctx, done = g.watch(ctx, r)
		}
		defer done()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// guarded says whether a path needs an actor: the whole API, except for what leads in, and the doors of existing clients,
// except for the contracts, which editors read.
func guarded(r *http.Request) bool { return guardedPath(r.Method, r.URL.Path) }

func guardedPath(method, path string) bool {
	contract := path == "/v1/contracts" || strings.HasPrefix(path, "/v1/contracts/")
	return strings.HasPrefix(path, "/api/") && !leadsIn(method, path) || strings.HasPrefix(path, "/skills/") || path == "/mcp" || strings.HasPrefix(path, "/mcp/") || strings.HasPrefix(path, "/v1/") && !contract
}

// leadsIn says whether a request is one by which somebody without a credential gets one.
func leadsIn(method, path string) bool {
	switch path {
	case "/api/v1/session", "/api/v1/invitations/read", "/api/v1/invitations/accept":
		return method == http.MethodPost
	case "/api/v1/session/ways":
		return true
	}
	return false
}

// caller finds who asks, and counts wrong tokens. Tokens that were made here cannot be guessed and are never kept waiting;
// the fixed one was chosen by a person, and waits with all others of its source when too many were wrong.
func (g *Gate) caller(r *http.Request) (Caller, error) {
	caller, secret, err := g.known(r)
	if secret == "" {
		return caller, err
	}
	if _, fixed := g.Access.Fixed(secret); fixed && err == nil {
		err = g.Attempts.Blocked(r)
	}
	if fault.Is(err, fault.Unauthenticated) {
		err = g.Attempts.Wrong(r, secret, err)
	}
	return caller, err
}

// known finds who asks, and returns the token that was shown.
func (g *Gate) known(r *http.Request) (caller Caller, secret string, err error) {
	workspace, err := workspaceOf(r)
	if err != nil {
		return Caller{}, "", err
	}
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, secret, _ := strings.Cut(header, " ")
		secret = strings.TrimSpace(secret)
		if !strings.EqualFold(scheme, "Bearer") || secret == "" || len(secret) > maxCredential {
			return Caller{}, "", fault.New(fault.Unauthenticated, "The Authorization header must be: Bearer TOKEN.")
		}
		found, ok := g.Access.Fixed(secret)
		if !ok {
			if found, err = g.Access.Issued(r.Context(), secret); err != nil {
				return Caller{}, secret, err
			}
		}
		return Caller{Caller: found}, secret, inWorkspace(found, workspace)
	}
	cookie, err := r.Cookie(Cookie)
	if err != nil && g.anonymous(r) {
		return Caller{Caller: anonymous()}, "", inWorkspace(anonymous(), workspace)
	}
	if err != nil || cookie.Value == "" || len(cookie.Value) > maxCredential {
		return Caller{}, "", fault.New(fault.Unauthenticated, "Authentication is required. Send Authorization: Bearer TOKEN, or open the sign-in link that the server printed.")
	}
	found, err := g.Access.Session(r.Context(), cookie.Value, workspace)
	return Caller{Caller: found, Browser: true}, "", err
}

// workspaceOf is the workspace that a request names, "" for none. Browsers send no headers of a page's own with the
// handshake of a WebSocket or when they save a file, so that what only reads may name it in its address.
func workspaceOf(r *http.Request) (string, error) {
	named := r.Header.Values(WorkspaceHeader)
	if len(named) == 0 && r.Method == http.MethodGet && r.URL.RawQuery != "" {
		named = r.URL.Query()["workspace"]
	}
	switch {
	case len(named) == 0:
		return "", nil
	case len(named) > 1 || named[0] == "" || len(named[0]) > maxWorkspace:
		return "", fault.New(fault.BadRequest, "%s must be the name or ID of one workspace.", WorkspaceHeader)
	}
	return named[0], nil
}

// inWorkspace refuses a workspace that a token does not belong to as one that is not there.
func inWorkspace(caller registry.Caller, workspace string) error {
	if workspace == "" || workspace == caller.Workspace.ID || workspace == caller.Workspace.Name {
		return nil
	}
	return registry.NoWorkspace(workspace)
}
