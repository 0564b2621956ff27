package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/server/gate"
)

// client sends requests to a server, over the network or within this process.
type client struct {
	base      string
	token     string
	workspace string // name of the workspace; "" means the workspace of the token
	version   string
	http      *http.Client
}

// newHTTP returns the HTTP client of a command. It does not follow redirects, because it would send the token to the
// other address. If transport is nil, the client uses the default one.
func newHTTP(transport http.RoundTripper) *http.Client {
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// redirects reports whether the status of an answer is a redirect.
func redirects(answer *http.Response) bool {
	return answer.StatusCode >= 300 && answer.StatusCode < 400
}

// redirected returns the error for a server that answers with a redirect.
func (c *client) redirected() error {
	return unreachable{fmt.Errorf("the server %s redirects to another address; the token is not sent there; set the server's final address with --server or in the profile", c.base)}
}

// most is the maximum number of bytes that are read from one answer.
const most = 64 << 20

// exchange sends a request with a JSON body. If the request succeeds, it calls read with the answer. Otherwise it
// returns the error in the answer as a fault.
func (c *client) exchange(ctx context.Context, method, path string, body any, headers map[string]string, read func(http.Header, io.Reader) error) error {
	if body == nil {
		return c.transfer(ctx, method, path, nil, headers, read)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	sent := map[string]string{"Content-Type": "application/json"}
	maps.Copy(sent, headers)
	return c.transfer(ctx, method, path, bytes.NewReader(text), sent, read)
}

// transfer does the same as exchange, but sends the body unchanged instead of encoding it as JSON.
func (c *client) transfer(ctx context.Context, method, path string, body io.Reader, headers map[string]string, read func(http.Header, io.Reader) error) error {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("User-Agent", "atelier-cli/"+c.version)
	r.Header.Set("Accept", "application/json")
	if c.workspace != "" {
		r.Header.Set(gate.WorkspaceHeader, c.workspace)
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("send the request to the server: %w", err)
		}
		return unreachable{fmt.Errorf("send the request to the server: %w", err)}
	}
	defer func() { _ = answer.Body.Close() }() // The answer was read, so an error of Close has no effect.
	if redirects(answer) {
		return c.redirected()
	}
	if answer.StatusCode >= 400 {
		return refusal(answer)
	}
	return read(answer.Header, answer.Body)
}

// inFlags replaces JSON fields in error messages of the server by the flags of the command.
var inFlags = strings.NewReplacer(
	`With "ifChanged": true the answer is that version.`, `With --if-changed the command prints that version and exits with 0.`,
	`send "acceptRegressions": true with a comment`, `add --accept-regressions with --comment`,
	`Publish with "bump": "auto", or send "force": true with a comment that gives the reason.`, `Leave out the version, or add --force with --comment and the reason.`,
	`send "publish": true`, `add --publish`,
)

// refusal converts the problem document in an answer to a fault.
func refusal(answer *http.Response) error {
	var problem struct {
		Code   fault.Code     `json:"code"`
		Detail string         `json:"detail"`
		Remedy string         `json:"remedy"`
		Errors []fault.Detail `json:"errors"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, most)).Decode(&problem); err != nil || problem.Detail == "" {
		return unreachable{fmt.Errorf("the server answered %s, which is not an answer of an Atelier server; check its address", answer.Status)}
	}
	if problem.Remedy != "" {
		problem.Detail += " " + inFlags.Replace(problem.Remedy)
	}
	if len(problem.Errors) > 0 && strings.Contains(problem.Detail, problem.Errors[0].Message) {
		problem.Errors = nil // The skills API repeats the errors in the detail.
	}
	return &fault.Error{Code: problem.Code, Message: problem.Detail, Details: problem.Errors}
}

// call sends a request and decodes the answer into out. If out is nil, the answer is ignored.
func (c *client) call(ctx context.Context, method, path string, body, out any) error {
	return c.exchange(ctx, method, path, body, nil, into(out))
}

// into decodes an answer's JSON.
func into(out any) func(http.Header, io.Reader) error {
	return func(_ http.Header, body io.Reader) error {
		if out == nil {
			return nil
		}
		if err := json.NewDecoder(io.LimitReader(body, most)).Decode(out); err != nil {
			return fmt.Errorf("read the server's answer: %w", err)
		}
		return nil
	}
}

// events reads a stream of server-sent events until it ends.
func (c *client) events(ctx context.Context, run string, each func(runtimes.Event) error) error {
	accept := map[string]string{"Accept": "text/event-stream"}
	return c.exchange(ctx, http.MethodGet, "/api/v1/runs/"+url.PathEscape(run)+"/events", nil, accept, func(_ http.Header, body io.Reader) error {
		in := bufio.NewReaderSize(body, 64<<10)
		for {
			line, err := in.ReadString('\n')
			if data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: "); ok {
				if err := readEvent(data, each); err != nil {
					return err
				}
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("read the run's events: %w", err)
			}
		}
	})
}

func readEvent(data string, each func(runtimes.Event) error) error {
	var event runtimes.Event
	if err := json.Unmarshal([]byte(data), &event); err != nil {
		return fmt.Errorf("read the run's events: %w", err)
	}
	return each(event)
}
