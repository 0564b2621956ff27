package mcpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/manifest"
)

const (
	// freshFor is the maximum time until clients of the whole catalogue see a new version.
	freshFor = time.Second
	// maxServers is the maximum number of SDK servers in memory. Callers with access to the same tools share one SDK
	// server.
	maxServers = 256
	// maxSessions is the maximum number of open sessions of a workspace. It is needed because many clients disconnect
	// without closing their session, and a session uses about 17 kB until it times out.
	maxSessions = 256
	pageSize    = 250
)

// servers contains one SDK server for each different set of tools that callers may see.
type servers struct {
	api  *API
	stop chan struct{}
	done chan struct{}

	mu     sync.Mutex
	all    map[string]*server
	open   map[string][]session // sessions by workspace, the oldest one first; some may have ended already
	joined sync.WaitGroup       // counts the sessions that are being closed
}

// session is an open session of an SDK server.
type session struct {
	*mcp.ServerSession
	server *server
}

type server struct {
	sdk     *mcp.Server
	caller  registry.Caller // one of the callers who share this server; it is used to list the tools, but never to run them
	address address
	used    time.Time // guarded by mu of the type servers

	mu     sync.Mutex
	read   time.Time
	inside map[string]string // digests of the offered tools, by name
	levels sync.Map          // IDs of the sessions that requested log messages
}

func newServers(a *API) *servers {
	s := &servers{api: a, stop: make(chan struct{}), done: make(chan struct{}), all: map[string]*server{}, open: map[string][]session{}}
	go s.watch()
	return s
}

// watch regularly updates the tools of servers that have open sessions, so that their clients are notified of new
// versions.
func (s *servers) watch() {
	defer close(s.done)
	tick := time.NewTicker(freshFor)
	defer tick.Stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		for _, one := range s.listening() {
			if err := s.refresh(ctx, one); err != nil && !fault.Is(err, fault.NotFound) {
				s.api.Log.LogAttrs(ctx, slog.LevelWarn, "refresh the tools of MCP clients", slog.Any("error", err))
			}
		}
	}
}

func (s *servers) listening() []*server {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*server
	for _, one := range s.all {
		for range one.sdk.Sessions() {
			found = append(found, one)
			break
		}
	}
	return found
}

func (s *servers) close() {
	close(s.stop)
	<-s.done
	s.joined.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.all {
		for session := range one.sdk.Sessions() {
			_ = session.Close() // The client of the session has disconnected.
		}
	}
}

// refreshed returns the SDK server for a caller and an address. Its list of tools is at most freshFor old.
func (s *servers) refreshed(ctx context.Context, caller registry.Caller, at address) (*mcp.Server, error) {
	one := s.get(caller, at)
	if err := s.refresh(ctx, one); err != nil {
		return nil, err
	}
	return one.sdk, nil
}

func (s *servers) get(caller registry.Caller, at address) *server {
	key := encode([]any{caller.Actor.Workspace, caller.Agents, runsCode(caller), at.code, at.Selection})
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.api.Now()
	one := s.all[key]
	if one == nil {
		if len(s.all) >= maxServers {
			s.evict()
		}
		one = s.api.newServer(caller, at)
		s.all[key] = one
	}
	one.used = now
	return one
}

// evict removes an SDK server of the workspace that has the most servers, so that one workspace cannot end the sessions
// of others. It removes the least recently used one. The sessions of the removed server end; their clients start new
// sessions.
func (s *servers) evict() {
	count := map[string]int{}
	for _, one := range s.all {
		count[one.caller.Actor.Workspace]++
	}
	var oldest string
	for key, one := range s.all {
		if oldest == "" {
			oldest = key
			continue
		}
		other := s.all[oldest]
		if by := cmp.Compare(count[one.caller.Actor.Workspace], count[other.caller.Actor.Workspace]); by > 0 || by == 0 && one.used.Before(other.used) {
			oldest = key
		}
	}
	for session := range s.all[oldest].sdk.Sessions() {
		_ = session.Close() // The client starts a new session.
	}
	delete(s.all, oldest)
}

// began records a new session. If the workspace has too many sessions, its oldest session ends; the client of that
// session can start a new one.
func (s *servers) began(one *server, new *mcp.ServerSession) {
	workspace := one.caller.Actor.Workspace
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[workspace] = append(s.open[workspace], session{new, one})
	if len(s.open[workspace]) <= maxSessions {
		return
	}
	oldest := s.open[workspace][0]
	s.open[workspace] = slices.Delete(s.open[workspace], 0, 1)
	oldest.server.levels.Delete(oldest.ID())
	s.joined.Go(func() { _ = oldest.Close() }) // The session may have ended already.
}

// runsCode reports whether a caller may run programs that the caller sends. The required permission is the same as for
// POST /execute.
func runsCode(caller registry.Caller) bool {
	return caller.May(registry.RunScope) && len(caller.Agents) == 0
}

func (a *API) newServer(caller registry.Caller, at address) *server {
	one := &server{caller: caller, address: at, inside: map[string]string{}}
	one.sdk = mcp.NewServer(&mcp.Implementation{Name: "atelier", Title: "Atelier", Version: a.Version}, &mcp.ServerOptions{
		Instructions: at.instructions(),
		PageSize:     pageSize,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}, Logging: &mcp.LoggingCapabilities{}},
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
			c.TTLMs, c.CacheScope = int(freshFor.Milliseconds()), "private"
		},
	})
	one.sdk.AddReceivingMiddleware(one.noteLevel, a.servers.noteSession(one))
	switch {
	case at.code:
		a.offerCodeMode(one)
	case at.All() && runsCode(caller):
		one.sdk.AddTool(codeTool(), func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return a.executeCode(ctx, one, req)
		})
	}
	return one
}

// noteSession returns middleware that records new sessions. Requests of the protocol revision without sessions have no
// session ID, so they are not recorded.
func (s *servers) noteSession(one *server) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if begun, ok := req.GetSession().(*mcp.ServerSession); ok && method == "initialize" && begun.ID() != "" {
				s.began(one, begun)
			}
			return next(ctx, method, req)
		}
	}
}

// noteLevel returns middleware that records which sessions requested log messages. Runs of other sessions need not be
// followed.
func (one *server) noteLevel(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method == "logging/setLevel" {
			one.levels.Store(req.GetSession().ID(), true)
		}
		return next(ctx, method, req)
	}
}

// refresh adds, replaces and removes tools of a server until they match the server's selection.
func (s *servers) refresh(ctx context.Context, one *server) error {
	one.mu.Lock()
	defer one.mu.Unlock()
	now := s.api.Now()
	if one.address.All() && now.Sub(one.read) < freshFor {
		return nil
	}
	versions, err := s.api.Tools.Select(ctx, one.caller, one.address.Selection)
	if err != nil {
		return err
	}
	if one.address.code { // The two tools of code mode never change.
		one.read = now
		return nil
	}
	there := make(map[string]bool, len(versions))
	for _, v := range versions {
		there[v.Agent] = true
		mark := v.Digest + deprecation(v)
		if one.inside[v.Agent] == mark {
			continue
		}
		if err := s.api.addTool(one, v); err != nil {
			// Omit a version whose schema cannot be expressed in MCP. The export of this version reports the reason.
			s.api.Log.LogAttrs(ctx, slog.LevelInfo, "version left out of MCP", slog.String("reference", v.Reference()), slog.Any("error", err))
			one.sdk.RemoveTools(v.Agent)
		}
		one.inside[v.Agent] = mark
	}
	for name := range one.inside {
		if !there[name] {
			one.sdk.RemoveTools(name)
			delete(one.inside, name)
		}
	}
	one.read = now
	return nil
}

func deprecation(v registry.Version) string {
	if v.Deprecated {
		return " deprecated"
	}
	return ""
}

// addTool offers a version as a tool with the name of its agent.
func (a *API) addTool(one *server, v registry.Version) (err error) {
	result, err := manifest.Export(manifest.MCP, v, cmp.Or(a.PublicURL, a.BasePath))
	if err != nil {
		return err
	}
	var tool mcp.Tool
	if err := json.Unmarshal(result.Manifest, &tool); err != nil {
		return err
	}
	// Schemas are not decoded, because this makes the listing of tools about 20% faster.
	var schemas struct{ InputSchema, OutputSchema json.RawMessage }
	if err := json.Unmarshal(result.Manifest, &schemas); err != nil {
		return err
	}
	tool.InputSchema = schemas.InputSchema
	if schemas.OutputSchema != nil {
		tool.OutputSchema = schemas.OutputSchema
	}
	defer func() { // The SDK panics if it does not accept a schema, and the authors of agents write the schemas.
		if r := recover(); r != nil {
			err = fmt.Errorf("the MCP library refuses the tool: %v", r)
		}
	}()
	one.sdk.AddTool(&tool, a.caller(v, one))
	return nil
}
