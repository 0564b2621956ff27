package servertest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

// Client sends requests to a server, as any program would.
type Client struct {
	URL   string
	Token string

	once sync.Once
	http *http.Client
}

// Headers are the headers of one request. The value "" removes a header that is sent by default. The key Host sets the
// Host header.
type Headers map[string]string

// Answer is a complete answer.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Run is the answer about a run. Its JSON field names are those of the API.
type Run struct {
	RunID      string                 `json:"runId"`
	Status     string                 `json:"status"`
	Success    bool                   `json:"success"`
	Output     json.RawMessage        `json:"output"`
	Error      *runtimes.ProgramError `json:"error"`
	Stdout     string                 `json:"stdout"`
	Stderr     string                 `json:"stderr"`
	Trigger    string                 `json:"trigger"`
	Parent     string                 `json:"parentRunId"`
	Validation struct{ Input, Output string }
	Metrics    struct{ QueuedMs, StartMs, RunMs, TotalMs float64 }
	Provenance struct{ Agent, Version, Digest, CodeDigest, InputsHash, OutputsHash, Runtime, Isolation string }
}

// Problem is an error answer.
type Problem struct {
	Status int
	Code   fault.Code
	Detail string
	Remedy string
	Errors []fault.Detail

	CurrentRevision int64
	Needs           []string
	Role            string
}

func (c *Client) client() *http.Client {
	c.once.Do(func() {
		c.http = &http.Client{
			Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	})
	return c.http
}

// CloseIdle closes idle connections.
func (c *Client) CloseIdle() { c.client().CloseIdleConnections() }

// Try sends one request. The body is JSON text or a value to encode; nil means no body.
func (c *Client) Try(ctx context.Context, method, path string, body any, headers ...Headers) (Answer, error) {
	r, err := c.request(ctx, method, path, body, headers)
	if err != nil {
		return Answer{}, err
	}
	answer, err := c.client().Do(r)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = answer.Body.Close() }() // The body was read, so an error of Close has no effect.
	text, err := io.ReadAll(answer.Body)
	return Answer{Status: answer.StatusCode, Header: answer.Header, Body: text}, err
}

// Request returns the request that Try would send. It is for tests that do not read the answer.
func (c *Client) Request(ctx context.Context, method, path string, body any, headers ...Headers) (*http.Request, error) {
	return c.request(ctx, method, path, body, headers)
}

func (c *Client) request(ctx context.Context, method, path string, body any, headers []Headers) (*http.Request, error) {
	var sent io.Reader
	switch body := body.(type) {
	case nil:
	case string:
		sent = strings.NewReader(body)
	default:
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.URL+path, sent)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.Token)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, more := range headers {
		for name, value := range more {
			switch {
			case name == "Host":
				r.Host = value
			case value == "":
				r.Header.Del(name)
			default:
				r.Header.Set(name, value)
			}
		}
	}
	return r, nil
}

// Do sends one request. If there is no answer, the test fails.
func (c *Client) Do(t testing.TB, method, path string, body any, headers ...Headers) Answer {
	t.Helper()
	answer, err := c.Try(t.Context(), method, path, body, headers...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer
}

// Want sends one request and returns the answer. If the answer does not have the given status, the test fails.
func (c *Client) Want(t testing.TB, status int, method, path string, body any, headers ...Headers) Answer {
	t.Helper()
	answer := c.Do(t, method, path, body, headers...)
	if answer.Status != status {
		t.Fatalf("%s %s: %d, want %d: %s", method, path, answer.Status, status, answer.Body)
	}
	return answer
}

// Into decodes the answer's JSON.
func (a Answer) Into(t testing.TB, out any) {
	t.Helper()
	if err := json.Unmarshal(a.Body, out); err != nil {
		t.Fatalf("%v in %s", err, a.Body)
	}
}

// Run decodes the answer as a run.
func (a Answer) Run(t testing.TB) Run {
	t.Helper()
	var run Run
	a.Into(t, &run)
	return run
}

// Problem decodes the answer as a problem.
func (a Answer) Problem(t testing.TB) Problem {
	t.Helper()
	if got := a.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("an error of type %s: %s", got, a.Body)
	}
	var p Problem
	a.Into(t, &p)
	return p
}

// Create creates an agent.
func (c *Client) Create(t testing.TB, agent any) {
	t.Helper()
	c.Want(t, http.StatusCreated, http.MethodPost, "/api/v1/code-agents", agent)
}

// Publish publishes a version of an agent. If the draft is unchanged since the last version, Publish first changes the
// description of the agent.
func (c *Client) Publish(t testing.TB, agent, version string) {
	t.Helper()
	path, body := "/api/v1/code-agents/"+agent, map[string]string{"version": version}
	answer := c.Do(t, http.MethodPost, path+"/versions", body)
	if answer.Status == http.StatusConflict {
		c.Want(t, http.StatusOK, http.MethodPatch, path, map[string]string{"description": "As in " + version + "."})
		answer = c.Do(t, http.MethodPost, path+"/versions", body)
	}
	if answer.Status != http.StatusCreated {
		t.Fatalf("publish %s@%s: %d: %s", agent, version, answer.Status, answer.Body)
	}
}

// Execute runs a version and waits for the result.
func (c *Client) Execute(t testing.TB, agent, version string, input any) Run {
	t.Helper()
	return c.Want(t, 200, http.MethodPost, "/api/v1/code-agents/"+agent+"/execute", map[string]any{"version": version, "input": input}).Run(t)
}

// Script executes a script with the runtime "script" and waits for the result.
func (c *Client) Script(t testing.TB, script string, headers ...Headers) Answer {
	t.Helper()
	return c.Do(t, http.MethodPost, "/api/v1/execute", ScriptBody(script), headers...)
}

// ScriptBody returns the request body with which a script is run.
func ScriptBody(script string) map[string]any {
	return map[string]any{"language": "bash", "runtime": "script", "code": script}
}

// Start runs a script without waiting and returns the run's ID.
func (c *Client) Start(t testing.TB, script string) string {
	t.Helper()
	answer := c.Script(t, script, Headers{"Prefer": "respond-async"})
	if answer.Status != 202 {
		t.Fatalf("got %d: %s", answer.Status, answer.Body)
	}
	return answer.Run(t).RunID
}

// Get reads a run.
func (c *Client) Get(t testing.TB, run string) Run {
	t.Helper()
	return c.Want(t, 200, http.MethodGet, "/api/v1/runs/"+run, nil).Run(t)
}

// Wait waits until a run has ended.
func (c *Client) Wait(t testing.TB, id string) Run {
	t.Helper()
	var run Run
	Eventually(t, "run "+id+" ends", func() bool {
		run = c.Get(t, id)
		return run.Status != "queued" && run.Status != "running"
	})
	return run
}

// Stream opens the WebSocket of a run.
func (c *Client) Stream(t testing.TB, run, query string) *Socket {
	t.Helper()
	dialer := websocket.Dialer{HandshakeTimeout: 10 * time.Second}
	conn, _, err := dialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(c.URL, "http")+"/api/v1/runs/"+run+"/stream"+query,
		http.Header{"Authorization": {"Bearer " + c.Token}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // Most tests have closed the socket by then.
	return &Socket{conn}
}

// Socket reads events.
type Socket struct{ *websocket.Conn }

// Next reads one event. If there is none, it returns the error of the connection.
func (s *Socket) Next(t testing.TB) (runtimes.Event, error) {
	t.Helper()
	var e runtimes.Event
	if err := s.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	err := s.ReadJSON(&e)
	return e, err
}

// Rest reads all events until the socket is closed.
func (s *Socket) Rest(t testing.TB) ([]runtimes.Event, error) {
	t.Helper()
	var events []runtimes.Event
	for {
		e, err := s.Next(t)
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
}

// Handshake requests a WebSocket and returns the status of the answer. It ignores all frames that follow.
func (c *Client) Handshake(t testing.TB, path string, headers ...Headers) int {
	t.Helper()
	r, err := c.request(t.Context(), http.MethodGet, path, nil, headers)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close() // Close the connection without a closing handshake.
	return answer.StatusCode
}

// ComponentState is the state of a component of a server.
type ComponentState struct{ Component, State, Reason string }

// Component returns the state of a component that the answer of /ready lists.
func (c *Client) Component(t testing.TB, name string) ComponentState {
	t.Helper()
	var ready struct{ Components []ComponentState }
	answer := c.Want(t, http.StatusOK, http.MethodGet, "/ready", nil)
	answer.Into(t, &ready)
	for _, one := range ready.Components {
		if one.Component == name {
			return one
		}
	}
	t.Fatalf("/ready does not list %s: %s", name, answer.Body)
	return ComponentState{}
}
