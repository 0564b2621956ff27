package gate

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry"
)

// Cookie is the name of the session cookie on a server whose address is not HTTPS.
const Cookie = "atelier_session"

// CookieName returns the name of the session cookie. With HTTPS and without a base path, the name has the prefix
// __Host-. Browsers accept such a cookie only over HTTPS and only from this host, so that another site of the same
// domain cannot set it.
func CookieName(publicURL, basePath string) string {
	if strings.HasPrefix(publicURL, "https://") && basePath == "" {
		return "__Host-" + Cookie
	}
	return Cookie
}

// WorkspaceHeader is the header with the name or ID of the workspace of a request. If it is missing, a session uses its
// user's first workspace, and a token uses the workspace of the token.
const WorkspaceHeader = "X-Workspace"

// WorkspaceParameter is the query parameter that has the same meaning as WorkspaceHeader. It is allowed in read-only
// requests.
const WorkspaceParameter = "workspace"

// maxWorkspace is the maximum length of a workspace name in characters.
const maxWorkspace = 100

// maxCredential is the maximum number of bytes of a credential that are hashed for one request. It is large because
// access tokens of an OpenID provider list groups and are therefore longer than tokens of the server.
const (
	maxCredential = 4096
	maxDelegated  = 16 << 10
)

type callerKey struct{}

// Caller is the person or token from which a request comes. Browser states whether the credential is a session of the
// Studio instead of a token.
type Caller struct {
	registry.Caller
	Browser bool
}

// CallerOf returns the caller of the request of ctx. Behind the gate, every request under /api has a caller, except for
// the routes for signing in.
func CallerOf(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(Caller)
	return c, ok
}

// identify finds the caller of a request. Under /api it rejects a request that has no caller or whose caller lacks the
// needed permission. A wrong credential is always rejected; it never counts as a missing one.
func (g *Gate) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !guarded(r) {
			next.ServeHTTP(w, r)
			return
		}
		caller, err := g.caller(r)
		if err != nil {
			g.challenge(w, r, err)
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

// guarded reports whether requests for a path need a caller. All routes of the API need one, except for the routes for
// signing in. The routes for existing clients need a caller too, except for the contracts, because editors read the
// contracts.
func guarded(r *http.Request) bool { return guardedPath(r.Method, r.URL.Path) }

// NeedsCaller reports whether requests for a route need a caller.
func NeedsCaller(method, pattern string) bool { return guardedPath(method, pattern) }

func guardedPath(method, path string) bool {
	contract := path == "/v1/contracts" || strings.HasPrefix(path, "/v1/contracts/")
	return strings.HasPrefix(path, "/api/") && !leadsIn(method, path) || strings.HasPrefix(path, "/skills/") || path == "/mcp" || strings.HasPrefix(path, "/mcp/") || strings.HasPrefix(path, "/v1/") && !contract
}

// leadsIn reports whether a route is part of signing in and therefore needs no credential.
func leadsIn(method, path string) bool {
	switch path {
	case "/api/v1/session", "/api/v1/invitations/read", "/api/v1/invitations/accept":
		return method == http.MethodPost
	case "/api/v1/session/methods":
		return true
	}
	return false
}

// caller identifies the caller of a request. It counts wrong tokens by the first characters of the token. A correct
// token is always accepted.
func (g *Gate) caller(r *http.Request) (Caller, error) {
	caller, secret, err := g.known(r)
	if secret == "" {
		return caller, err
	}
	return caller, g.Attempts.Checked(r, TokenName(secret), secret, err)
}

// TokenName returns the name by which failures of a token are counted. The name consists of the token's first
// characters or, for a JWT, of the first characters of its signature, because all JWTs begin alike. If all JWTs had the
// same name, failures of one JWT would delay the answer to the others that they must sign in again.
func TokenName(token string) string {
	token = token[strings.LastIndexByte(token, '.')+1:]
	return "token " + token[:min(len(token), 8)]
}

// known identifies the caller of a request. It also returns the token that the request contains.
func (g *Gate) known(r *http.Request) (caller Caller, secret string, err error) {
	workspace, err := workspaceOf(r)
	if err != nil {
		return Caller{}, "", err
	}
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, secret, _ := strings.Cut(header, " ")
		secret = strings.TrimSpace(secret)
		delegated := g.delegates(r, secret)
		if !strings.EqualFold(scheme, "Bearer") || secret == "" || len(secret) > maxCredential && (!delegated || len(secret) > maxDelegated) {
			return Caller{}, "", fault.New(fault.Unauthenticated, "The Authorization header must be: Bearer TOKEN.")
		}
		if delegated {
			found, err := g.Delegations.Delegated(r.Context(), secret, g.Resource(r), workspace)
			return Caller{Caller: found}, secret, err
		}
		found, ok := g.Access.Fixed(secret)
		if !ok {
			if found, err = g.Access.Issued(r.Context(), secret); err != nil {
				return Caller{}, secret, err
			}
		}
		return Caller{Caller: found}, secret, inWorkspace(found, workspace)
	}
	cookie, err := r.Cookie(CookieName(g.PublicURL, g.BasePath))
	if err != nil && g.anonymous(r) {
		return Caller{Caller: anonymous()}, "", inWorkspace(anonymous(), workspace)
	}
	if err != nil || cookie.Value == "" || len(cookie.Value) > maxCredential {
		return Caller{}, "", fault.New(fault.Unauthenticated, "Authentication is required. Send Authorization: Bearer TOKEN, or open the sign-in link that the server printed.")
	}
	found, err := g.Access.Session(r.Context(), cookie.Value, workspace)
	return Caller{Caller: found, Browser: true}, "", err
}

// workspaceOf returns the workspace that a request names, or "" if it names none. Read-only requests may name the
// workspace in the URL, because browsers send no custom headers with a WebSocket handshake or a file download.
func workspaceOf(r *http.Request) (string, error) {
	named := r.Header.Values(WorkspaceHeader)
	if r.Method == http.MethodGet && r.URL.RawQuery != "" {
		inURL := r.URL.Query()[WorkspaceParameter]
		if len(named) == 0 {
			named = inURL
		} else if err := checkNamed(inURL); err != nil { // The header takes precedence, but a malformed parameter is still an error.
			return "", err
		}
	}
	if err := checkNamed(named); err != nil || len(named) == 0 {
		return "", err
	}
	return named[0], nil
}

func checkNamed(named []string) error {
	if len(named) > 1 || len(named) == 1 && (named[0] == "" || utf8.RuneCountInString(named[0]) > maxWorkspace) {
		return fault.New(fault.BadRequest, "%s must be the name or ID of one workspace.", WorkspaceHeader)
	}
	return nil
}

// inWorkspace returns NotFound for a workspace the token does not belong to.
func inWorkspace(caller registry.Caller, workspace string) error {
	if workspace == "" || workspace == caller.Workspace.ID || workspace == caller.Workspace.Name {
		return nil
	}
	return registry.NoWorkspace(workspace)
}
