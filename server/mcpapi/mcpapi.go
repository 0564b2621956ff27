// Package mcpapi serves published versions as tools over the Model Context Protocol. The same addresses support both
// the stateless protocol revision 2026-07-28 and the earlier revisions with sessions.
package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/server/problem"
	"github.com/atelier-run/atelier/studio/runs"
	"github.com/atelier-run/atelier/studio/tools"
)

// Path is the path of the address with all tools. The addresses of single references and of tool sets are below it.
const Path = "/mcp"

// Runs executes programs.
type Runs interface {
	Execute(ctx context.Context, actor registry.Actor, req runs.Request) (runs.Result, error)
	Get(ctx context.Context, actor registry.Actor, id string) (registry.Run, error)
	Follow(ctx context.Context, actor registry.Actor, id string, from int64) (*runs.Follower, error)
	Cancel(ctx context.Context, actor registry.Actor, id string) (registry.Run, error)
}

// Options configures an API.
type Options struct {
	Tools     *tools.Service
	Runs      Runs
	Approvals Approvals
	Refuse    problem.Writer
	Log       *slog.Logger
	Version   string
	PublicURL string // public URL of the server; "" means the address of the request
	BasePath  string
	BodyBytes int64
	// Issuer is the URL of the OpenID provider whose access tokens are accepted, or "" if none are. Scopes are the scopes
	// that clients request from this provider.
	Issuer string
	Scopes []string
	Now    func() time.Time
}

// API serves MCP. It is safe for concurrent use.
type API struct {
	Options
	servers    *servers
	withState  http.Handler
	stateless  http.Handler
	authorised func(http.Handler) http.Handler
}

// sessionTimeout is the time without requests after which a session is closed. It is needed because many clients
// disconnect without ending their session.
const sessionTimeout = 30 * time.Minute

// New returns the API.
func New(o Options) *API {
	a := &API{Options: o}
	a.servers = newServers(a)
	options := func(stateless bool) *mcp.StreamableHTTPOptions {
		return &mcp.StreamableHTTPOptions{
			Stateless: stateless, SessionTimeout: sessionTimeout, MaxRequestBodyBytes: o.BodyBytes, PropagateRequestCancellation: true,
			DisableLocalhostProtection: true, // Package server/gate checks the Host header of every request.
		}
	}
	a.withState = mcp.NewStreamableHTTPHandler(serverOf, options(false))
	a.stateless = mcp.NewStreamableHTTPHandler(serverOf, options(true))
	a.authorised = auth.RequireBearerToken(a.verify, nil)
	return a
}

// Register adds the routes.
func (a *API) Register(router chi.Router) {
	for _, path := range []string{Path, Path + "/{reference}", Path + "/sets/{set}"} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			router.Method(method, path, http.HandlerFunc(a.serve))
		}
		router.Get(gate.MetadataPath+path, a.describe)
	}
	router.Get(gate.MetadataPath, a.describe)
}

// Close ends the sessions and waits until they have ended.
func (a *API) Close() { a.servers.close() }

type serverKey struct{}

func (a *API) serve(w http.ResponseWriter, r *http.Request) {
	server, err := a.find(r)
	if err == nil {
		err = a.readBody(w, r)
	}
	if err != nil {
		a.Refuse.Write(w, r, err)
		return
	}
	handler := a.withState
	if modern(r) {
		handler = a.stateless
	}
	a.authorised(handler).ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), serverKey{}, server)))
}

// readBody reads the body of a request with the same limits and memory budget as every API. The SDK then reads the
// checked body.
func (a *API) readBody(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodPost {
		return nil
	}
	body, err := gate.Body(w, r, a.BodyBytes)
	if err != nil {
		return err
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return nil
}

// find returns the SDK server for a request, after it has updated the tools of the server. Error: NotFound for an
// unknown tool set or version.
func (a *API) find(r *http.Request) (*mcp.Server, error) {
	caller, _ := gate.CallerOf(r.Context())
	at, err := addressOf(r)
	if err != nil {
		return nil, err
	}
	if at.code && !runsCode(caller.Caller) {
		return nil, fault.New(fault.Forbidden, "Code mode runs programs of the client. It requires a token with the scope run that is not restricted to agents.")
	}
	server, err := a.servers.refreshed(r.Context(), caller.Caller, at)
	if err == nil && caller.Browser {
		return nil, fault.New(fault.Unauthenticated, "MCP clients send a token: Authorization: Bearer TOKEN.")
	}
	return server, err
}

func serverOf(r *http.Request) *mcp.Server {
	server, _ := r.Context().Value(serverKey{}).(*mcp.Server)
	return server
}

// modern reports whether a request uses the protocol revision without sessions. In this revision, clients send the
// revision with every request. Older clients do not send a revision with their first request.
func modern(r *http.Request) bool {
	return r.Header.Get("Mcp-Session-Id") == "" && r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28"
}

// address contains the tools and the mode that the URL of a request selects.
type address struct {
	tools.Selection
	code bool // whether the request uses code mode
}

func (a address) instructions() string {
	if a.code {
		return "Find tools with search_tools. Then write one program for run_code that calls them, so that intermediate results stay out of the conversation."
	}
	return "Each tool is one published version of a code agent that runs in a sandbox. Results name the version and the run."
}

func addressOf(r *http.Request) (at address, err error) {
	if at.Selection, err = selectionOf(r); err != nil {
		return at, err
	}
	at.code, err = codeMode(r)
	return at, err
}

// selectionOf returns the selection of tools that the path of an MCP address names.
func selectionOf(r *http.Request) (tools.Selection, error) {
	if set := chi.URLParam(r, "set"); set != "" {
		return tools.Selection{Set: set}, nil
	}
	text := chi.URLParam(r, "reference")
	if text == "" {
		return tools.Selection{}, nil
	}
	if !strings.Contains(text, "@") {
		text += "@" + registry.Latest
	}
	ref, err := registry.ParseReference(text)
	if err != nil {
		return tools.Selection{}, err
	}
	return tools.Selection{Reference: ref}, nil
}

// callerName is the key of the caller in the extra values of the SDK's TokenInfo.
const callerName = "caller"

// verify passes the caller that server/gate has identified to the SDK. It also binds a session to its token and its
// address. The SDK then refuses the session's ID with another token, or at another address, which may have other tools.
func (a *API) verify(ctx context.Context, _ string, r *http.Request) (*auth.TokenInfo, error) {
	caller, ok := gate.CallerOf(ctx)
	if !ok {
		return nil, auth.ErrInvalidToken
	}
	id := strings.Join([]string{caller.Actor.Workspace, string(caller.Actor.Type), caller.Actor.ID, r.URL.Path, r.URL.Query().Get("mode")}, " ")
	return &auth.TokenInfo{UserID: id, Expiration: a.Now().Add(24 * time.Hour), Extra: map[string]any{callerName: caller.Caller}}, nil
}

func callerOf(extra *mcp.RequestExtra) (registry.Caller, bool) {
	if extra == nil || extra.TokenInfo == nil {
		return registry.Caller{}, false
	}
	caller, ok := extra.TokenInfo.Extra[callerName].(registry.Caller)
	return caller, ok
}

// encode returns the JSON of v for a tool result, without escaping <, > and &.
func encode(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "null" // This cannot happen: the values are plain values of this package.
	}
	return strings.TrimSuffix(b.String(), "\n")
}
