package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
)

// mcp executes the program with a tool of an MCP server. The tool accepts the same arguments as POST /api/v1/execute.
// It returns the same answer, as structured content or as text.
func (c *call) mcp(ctx context.Context) runtimes.Outcome {
	body, err := c.program()
	if err != nil {
		return runtimes.Failed(runtimes.RuntimeError, "The input is not valid JSON.")
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "atelier", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(ctx context.Context, r *mcp.ProgressNotificationClientRequest) { c.progressed(ctx, r.Params) },
	})
	transport := &mcp.StreamableClientTransport{
		Endpoint: c.service.URL, DisableStandaloneSSE: true, MaxRetries: -1, MaxEventSize: int(c.mostAnswer()),
		HTTPClient: &http.Client{Transport: bounded{c.client.Transport, c}, CheckRedirect: c.client.CheckRedirect},
	}
	var session *mcp.ClientSession
	for attempt := 1; ; attempt++ { // may be repeated, because only the call of the tool starts the program
		if session, err = client.Connect(ctx, transport, nil); err == nil {
			break
		}
		if failure, final := c.broken(ctx, err); final || attempt == maxAttempts {
			return failure
		}
		if !c.pause(ctx, attempt, 0) {
			return c.ended(ctx)
		}
	}
	c.engine.breaker.report(c.key, true)
	defer session.Close()
	c.started()
	params := &mcp.CallToolParams{Name: c.service.Tool, Arguments: json.RawMessage(body)}
	params.SetProgressToken(c.job.RunID)
	for attempt := 1; ; attempt++ {
		result, err := session.CallTool(ctx, params)
		if err == nil {
			return c.answered(result)
		}
		failure, final := c.broken(ctx, err)
		if final || !c.service.Idempotent || attempt == maxAttempts {
			return failure
		}
		if !c.pause(ctx, attempt, 0) {
			return c.ended(ctx)
		}
	}
}

// broken returns the outcome for an error of the connection. If final is true, repeating the call cannot help.
func (c *call) broken(ctx context.Context, err error) (failure runtimes.Outcome, final bool) {
	if denied := egress.Denial(err); denied != nil {
		return runtimes.Outcome{Error: denied}, true
	}
	if ctx.Err() != nil {
		return c.ended(ctx), true
	}
	var answer *refusal
	switch {
	case errors.As(err, &answer):
		failure, again, _ := c.refused(answer.Response, true)
		c.engine.breaker.report(c.key, answer.StatusCode < 500)
		return failure, !again
	case c.large.Load():
		return c.relay.TooLarge(), true
	}
	c.engine.breaker.report(c.key, false)
	return c.failed("is unreachable, or does not answer as an MCP server: "+firstLine(err.Error())+".", "Check the url and the tool in "+File+"."), false
}

// answered returns the outcome in the result of a tool.
func (c *call) answered(result *mcp.CallToolResult) runtimes.Outcome {
	var text strings.Builder
	for _, part := range result.Content {
		if t, ok := part.(*mcp.TextContent); ok {
			text.WriteString(t.Text)
		}
	}
	if result.IsError {
		return c.failed("answered that the tool failed: "+text.String(), "Check the service.")
	}
	if result.StructuredContent == nil {
		return c.whole([]byte(text.String()))
	}
	data, err := json.Marshal(result.StructuredContent)
	if err != nil {
		return c.failed("sent an answer that is not JSON.", "Check the service.")
	}
	return c.whole(data)
}

// progressed forwards progress that the tool reports.
func (c *call) progressed(ctx context.Context, p *mcp.ProgressNotificationParams) {
	data, err := json.Marshal(runtimes.ProgressData{Done: p.Progress, Total: p.Total, Message: p.Message})
	if err == nil && ctx.Err() == nil && c.notes.Add(1) <= maxNotes {
		_, _ = c.host.Call(ctx, "progress", data) // invalid progress is dropped
	}
}

// refusal is the error for an answer with an error status. Without it, the MCP client would report that the connection
// is broken.
type refusal struct{ *http.Response }

func (r *refusal) Error() string { return r.Status }

// bounded is a transport that limits the size of each answer. If the service is idempotent, it also adds the
// Idempotency-Key to calls of the tool.
type bounded struct {
	http.RoundTripper
	call *call
}

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	if b.call.service.Idempotent && b.call.running.Load() && request.Method == http.MethodPost {
		request = request.Clone(request.Context())
		request.Header.Set("Idempotency-Key", key(b.call.job))
	}
	answer, err := b.RoundTripper.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	// Not an error here, because the MCP client handles these three statuses itself.
	if answer.StatusCode >= 300 && !slices.Contains([]int{400, 404, 405}, answer.StatusCode) {
		return nil, &refusal{answer}
	}
	answer.Body = &limited{answer.Body, b.call, b.call.mostAnswer()}
	return answer, nil
}

type limited struct {
	io.ReadCloser
	call *call
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if l.left -= int64(n); l.left < 0 {
		l.call.large.Store(true)
		return 0, errTooLarge
	}
	return n, err
}

func firstLine(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	return text
}
