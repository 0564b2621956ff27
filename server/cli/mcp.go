package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/server/mcpapi"
)

type mcpCommand struct {
	Reference string `arg:"" optional:"" help:"Version to offer, such as weather@1.2.0 or weather@^1 (default: the newest version of each agent)." placeholder:"REF"`
	Set       string `help:"Offer the versions of a tool set." placeholder:"NAME"`
	CodeMode  bool   `help:"Offer the tools search_tools and run_code instead of one tool per version."`
	remote
}

// run serves MCP on stdin and stdout until stdin ends. It forwards every call to the server.
func (c *mcpCommand) run(ctx context.Context, p Process) (err error) {
	path := mcpapi.Path
	switch {
	case c.Reference != "" && c.Set != "":
		return misusedf("use either a reference or --set, not both")
	case c.Reference != "":
		path += "/" + c.Reference
	case c.Set != "":
		path += "/sets/" + c.Set
	}
	if c.CodeMode {
		path += "?mode=code"
	}
	server, closeServer, err := c.connect(ctx, p, "")
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := closeServer(); err == nil {
			err = closeErr
		}
	}()
	bridge := &mcpBridge{calls: map[string]*mcp.CallToolRequest{}, there: map[string]bool{}}
	client := mcp.NewClient(&mcp.Implementation{Name: "atelier-cli", Version: p.Version}, &mcp.ClientOptions{
		ToolListChangedHandler: func(ctx context.Context, r *mcp.ToolListChangedRequest) {
			_ = bridge.sync(ctx, r.Session) // If this fails, the next change of the tools repeats it.
		},
		ProgressNotificationHandler: bridge.progress,
		LoggingMessageHandler:       bridge.log,
	})
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: server.base + path, HTTPClient: newHTTP(authorised{server}),
	}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"}) // Servers of this protocol version report changes without a subscription.
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer func() { _ = session.Close() }() // If Close fails, the server ends the session itself.
	bridge.server = mcp.NewServer(&mcp.Implementation{Name: "atelier", Title: "Atelier", Version: p.Version}, &mcp.ServerOptions{
		Instructions: session.InitializeResult().Instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}, Logging: &mcp.LoggingCapabilities{}},
	})
	if err := bridge.sync(ctx, session); err != nil {
		return fmt.Errorf("list tools: %w", err)
	}
	return bridge.server.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(p.Stdin), Writer: nopWriteCloser{p.Stdout}})
}

// authorised is an HTTP transport that adds the client's token and workspace to each request.
type authorised struct{ client *client }

func (a authorised) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+a.client.token)
	r.Header.Set("User-Agent", "atelier-cli/"+a.client.version)
	if a.client.workspace != "" {
		r.Header.Set(gate.WorkspaceHeader, a.client.workspace)
	}
	transport := a.client.http.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	answer, err := transport.RoundTrip(r)
	if err == nil && redirects(answer) {
		_ = answer.Body.Close() // The body is not needed.
		return nil, a.client.redirected()
	}
	return answer, err
}

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

// mcpBridge offers the tools of a remote server on stdio.
type mcpBridge struct {
	server *mcp.Server

	mu    sync.Mutex
	there map[string]bool                 // names of the offered tools
	calls map[string]*mcp.CallToolRequest // calls whose client wants progress reports, by the token that is forwarded to the server
	last  int
}

// sync adds and removes offered tools until they match the tools of the remote server.
func (b *mcpBridge) sync(ctx context.Context, session *mcp.ClientSession) error {
	found := map[string]*mcp.Tool{}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		found[tool.Name] = tool
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for name := range b.there {
		if found[name] == nil {
			b.server.RemoveTools(name)
			delete(b.there, name)
		}
	}
	for name, tool := range found {
		b.server.AddTool(tool, b.forward(session))
		b.there[name] = true
	}
	return nil
}

func (b *mcpBridge) forward(session *mcp.ClientSession) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		params := &mcp.CallToolParams{Name: req.Params.Name, Arguments: req.Params.Arguments}
		if req.Params.GetProgressToken() != nil {
			token := b.remember(req)
			defer b.forget(token)
			params.SetProgressToken(token)
		}
		return session.CallTool(ctx, params)
	}
}

func (b *mcpBridge) remember(req *mcp.CallToolRequest) (token string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	token = strconv.Itoa(b.last)
	b.calls[token] = req
	return token
}

func (b *mcpBridge) forget(token string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.calls, token)
}

func (b *mcpBridge) progress(ctx context.Context, r *mcp.ProgressNotificationClientRequest) {
	b.mu.Lock()
	call := b.calls[strings.TrimSpace(fmt.Sprint(r.Params.ProgressToken))]
	b.mu.Unlock()
	if call == nil {
		return
	}
	params := *r.Params
	params.ProgressToken = call.Params.GetProgressToken()
	_ = call.Session.NotifyProgress(ctx, &params) // Ignore the error: the client may have disconnected.
}

func (b *mcpBridge) log(ctx context.Context, r *mcp.LoggingMessageRequest) {
	for session := range b.server.Sessions() {
		_ = session.Log(ctx, r.Params) // Ignore the error: the client may have disconnected.
	}
}
