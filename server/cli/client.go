package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

// client speaks to a server, over the network or within this process.
type client struct {
	base    string
	token   string
	version string
	http    *http.Client
}

// most bounds what is read of one answer.
const most = 64 << 20

func (c *client) request(ctx context.Context, method, path string, body any, headers map[string]string) (*http.Response, error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, sent)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("User-Agent", "atelier-cli/"+c.version)
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("ask the server: %w", err)
	}
	if answer.StatusCode < 400 {
		return answer, nil
	}
	defer func() { _ = answer.Body.Close() }() // reading is over
	return nil, refusal(answer)
}

// refusal turns a problem document back into the fault that it was.
func refusal(answer *http.Response) error {
	var problem struct {
		Code   fault.Code     `json:"code"`
		Detail string         `json:"detail"`
		Remedy string         `json:"remedy"`
		Errors []fault.Detail `json:"errors"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, most)).Decode(&problem); err != nil || problem.Detail == "" {
		return fmt.Errorf("the server answered %s", answer.Status)
	}
	if problem.Remedy != "" {
		problem.Detail += " " + problem.Remedy
	}
	return &fault.Error{Code: problem.Code, Message: problem.Detail, Details: problem.Errors}
}

// call asks and reads the answer into out, which may be nil.
func (c *client) call(ctx context.Context, method, path string, body, out any) error {
	answer, err := c.request(ctx, method, path, body, nil)
	if err != nil {
		return err
	}
	return decode(answer, out)
}

func decode(answer *http.Response, out any) error {
	defer func() { _ = answer.Body.Close() }() // reading is over
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, most)).Decode(out); err != nil {
		return fmt.Errorf("read the server's answer: %w", err)
	}
	return nil
}

// events reads a stream of server-sent events until it ends.
func (c *client) events(ctx context.Context, run string, each func(runtimes.Event) error) error {
	answer, err := c.request(ctx, http.MethodGet, "/api/v1/runs/"+url.PathEscape(run)+"/events", nil, map[string]string{"Accept": "text/event-stream"})
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // reading is over
	in := bufio.NewReaderSize(answer.Body, 64<<10)
	for {
		line, err := in.ReadString('\n')
		if data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: "); ok {
			var event runtimes.Event
			if err := json.Unmarshal([]byte(data), &event); err != nil {
				return fmt.Errorf("read the run's events: %w", err)
			}
			if err := each(event); err != nil {
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
}
