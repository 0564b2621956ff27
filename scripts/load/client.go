package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Client calls a server with the rights of its administrator.
type Client struct {
	Base string
	http *http.Client
	wire *wire
}

// NewClient returns a client for a server URL such as http://127.0.0.1:8002.
func NewClient(base string) Client {
	return Client{Base: base, http: newTransport(), wire: newWire(base)}
}

// newTransport returns an HTTP client that keeps up to 256 idle connections. Go's default of two is too small for many
// concurrent requests.
func newTransport() *http.Client {
	return &http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}}
}

// Refusal is the error for an answer whose status is not 2xx.
type Refusal struct {
	Status     int
	RetryAfter string
	Body       string
}

func (r *Refusal) Error() string { return fmt.Sprintf("%d: %s", r.Status, r.Body) }

// Call sends a request. It returns a *Refusal for any status other than 2xx.
func (c Client) Call(ctx context.Context, method, path string, body []byte, headers map[string]string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.Base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 300 {
		err = &Refusal{Status: response.StatusCode, RetryAfter: response.Header.Get("Retry-After"), Body: string(answer)}
	}
	return answer, err
}

// Get requests a path and decodes the JSON of the answer into a value.
func (c Client) Get(ctx context.Context, path string, into any) error {
	answer, err := c.Call(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(answer, into)
}

// Run holds the fields that the answer to a run and the run's record have in common.
type Run struct {
	RunID   string
	Status  string
	Output  json.RawMessage
	Metrics struct{ QueuedMs, StartMs, RunMs, TotalMs, CPUMs float64 }
	Error   *struct{ Type, Message string }
}

// Publish creates an agent and its first version.
func (c Client) Publish(ctx context.Context, p Program) error {
	fields := map[string]any{
		"name": p.Name, "language": p.Language, "files": map[string]string{p.Entrypoint: p.Code}, "entrypoint": p.Entrypoint,
		"inputSchema": p.Takes, "outputSchema": p.Gives,
	}
	if p.Runtime != "" {
		fields["runtime"] = p.Runtime
	}
	if p.Packages != nil {
		fields["packages"] = p.Packages
	}
	if p.Limits != nil {
		fields["limits"] = p.Limits
	}
	draft, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	if _, err := c.Call(ctx, http.MethodPost, "/api/v1/code-agents", draft, nil); err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	_, err = c.Call(ctx, http.MethodPost, "/api/v1/code-agents/"+p.Name+"/versions", []byte(`{"version":"1.0.0","changelog":"first"}`), nil)
	return err
}

// Ensure publishes a program, unless the program is already published.
func (c Client) Ensure(ctx context.Context, p Program) error {
	err := c.Publish(ctx, p)
	var refused *Refusal
	if errors.As(err, &refused) && refused.Status == http.StatusConflict {
		return nil
	}
	return err
}

// Execute runs the published version of a program with the nth input.
func (c Client) Execute(ctx context.Context, p Program, n int) (Run, error) {
	answer, err := c.Call(ctx, http.MethodPost, p.path(), p.body(n), nil)
	if err != nil {
		return Run{}, err
	}
	var run Run
	return run, json.Unmarshal(answer, &run)
}

// path returns the URL path that runs the program.
func (p Program) path() string { return "/api/v1/code-agents/" + p.Name + "/execute" }

// body returns the request body for a run of the published version with the nth input.
func (p Program) body(n int) []byte {
	return append(append([]byte(`{"version":"1.0.0","input":`), p.Input(n)...), '}')
}

// Checked returns a Call that runs a program. The Call returns an error if the answer is wrong.
func (c Client) Checked(p Program) Call {
	return func(ctx context.Context, n int) error {
		answer, err := c.Post(ctx, p.path(), p.body(n))
		if err != nil {
			return err
		}
		var run Run
		if err := json.Unmarshal(answer, &run); err != nil {
			return err
		}
		return p.Check(run, n)
	}
}
