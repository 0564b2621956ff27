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
	// freshFor bounds how long a new version stays unknown to clients of the whole catalogue.
	freshFor = time.Second
	// maxServers bounds the servers in memory. Callers with access to the same tools share one.
	maxServers = 256
	// maxSessions bounds the open sessions of a workspace. Many clients leave theirs open when they go, and each takes
	// about 17 kB until it times out.
	maxSessions = 256
	pageSize    = 250
)

// servers holds one SDK server for each set of tools that callers may see.
type servers struct {
	api  *API
	stop chan struct{}
	done chan struct{}

	mu     sync.Mutex
	all    map[string]*server
	open   map[string][]session // by workspace, the oldest first; some may have ended already
	joined sync.WaitGroup       // waits for sessions that are being closed
}

// session is a session of a server.
type session struct {
	*mcp.ServerSession
	server *server
}

type server struct {
	sdk     *mcp.Server
	caller  registry.Caller // one of the callers who share the server; decides which tools exist, but never who runs them
	address address
	used    time.Time // guarded by servers.mu

	mu     sync.Mutex
	read   time.Time
	inside map[string]string // the tools: name to digest
	levels sync.Map          // sessions that asked for log messages
}

func newServers(a *API) *servers {
	s := &servers{api: a, stop: make(chan struct{}), done: make(chan struct{}), all: map[string]*server{}, open: map[string][]session{}}
	go s.watch()
	return s
}

// watch tells clients with open sessions about new versions.
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
			_ = session.Close() // its client has gone
		}
	}
}

// refreshed returns the server of a caller's selection with tools that are at most a second old.
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

// evict drops the server that was used longest ago, of the workspace that has most, so that one workspace does not end
// the sessions of others. Its sessions end; their clients begin new ones.
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
		_ = session.Close() // its client begins a new one
	}
	delete(s.all, oldest)
}

// began remembers a new session. Beyond the limit of a workspace its oldest session ends; the client begins a new one.
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
	s.joined.Go(func() { _ = oldest.Close() }) // it may have ended already
}

// runsCode reports whether a caller may run programs of its own: the right that POST /execute needs.
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

// noteSession records the sessions that clients begin. The revision without sessions has none with an ID.
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

// noteLevel records which sessions want log messages, because following a run takes time.
func (one *server) noteLevel(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method == "logging/setLevel" {
			one.levels.Store(req.GetSession().ID(), true)
		}
		return next(ctx, method, req)
	}
}

// refresh adds, replaces and removes tools until they are those of the selection.
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
	if one.address.code { // its two tools stay the same
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
			// A version whose schema MCP cannot express is left out; its export says why.
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

// addTool offers a version under the name of its agent.
func (a *API) addTool(one *server, v registry.Version) (err error) {
	result, err := manifest.Export(manifest.MCP, v, cmp.Or(a.PublicURL, a.BasePath))
	if err != nil {
		return err
	}
	var tool mcp.Tool
	if err := json.Unmarshal(result.Manifest, &tool); err != nil {
		return err
	}
	// Schemas stay text, so that a list of tools takes a fifth less time.
	var schemas struct{ InputSchema, OutputSchema json.RawMessage }
	if err := json.Unmarshal(result.Manifest, &schemas); err != nil {
		return err
	}
	tool.InputSchema = schemas.InputSchema
	if schemas.OutputSchema != nil {
		tool.OutputSchema = schemas.OutputSchema
	}
	defer func() { // the SDK panics on schemas that it does not accept, and authors write the schemas
		if r := recover(); r != nil {
			err = fmt.Errorf("the MCP library refuses the tool: %v", r)
		}
	}()
	one.sdk.AddTool(&tool, a.caller(v, one))
	return nil
}
