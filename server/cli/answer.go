package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// printed is embedded in every command that prints a result. It adds the flag --json.
type printed struct {
	JSON bool `name:"json" help:"Print JSON: an array for lists, one object for all other results."`
}

// result prints the value as JSON if --json is set. Otherwise it calls tell, which prints the value as text.
func (o printed) result(p Process, value any, tell func() error) error {
	if !o.JSON {
		return tell()
	}
	return p.encode(value)
}

// encode prints a value as one line of JSON.
func (p Process) encode(value any) error {
	encoder := json.NewEncoder(p.Stdout)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// asked is embedded in every command that sends requests to a server and prints the answer.
type asked struct {
	printed
	remote
}

// ask connects to a server, sends the request and prints the answer. With --json it prints the answer's JSON, or null
// if the answer has no body. Otherwise it calls tell with the answer.
func (a asked) ask(ctx context.Context, p Process, method, path string, body any, tell func(answer json.RawMessage) error) error {
	return a.with(ctx, p, func(c *client) error {
		answer := json.RawMessage("null")
		if err := c.call(ctx, method, path, body, optional(&answer, method)); err != nil {
			return err
		}
		return a.print(p, answer, tell)
	})
}

// change connects to a server and sends a change whose answer is empty. With --json it prints null.
func (a asked) change(ctx context.Context, p Process, method, path string, body any) error {
	return a.with(ctx, p, func(c *client) error { return a.changed(ctx, p, c, method, path, body) })
}

func (a asked) changed(ctx context.Context, p Process, c *client, method, path string, body any) error {
	if err := c.call(ctx, method, path, body, nil); err != nil {
		return err
	}
	return a.result(p, nil, func() error { return nil })
}

// optional returns where to decode an answer. For a deletion it returns nil, because the answer has no body.
func optional(answer *json.RawMessage, method string) any {
	if method == http.MethodDelete {
		return nil
	}
	return answer
}

func (a printed) print(p Process, answer json.RawMessage, tell func(answer json.RawMessage) error) error {
	if !a.JSON {
		return tell(answer)
	}
	_, err := fmt.Fprintln(p.Stdout, strings.TrimSpace(string(itemsOf(answer))))
	return err
}

// itemsOf returns the array items if an answer is a list; it returns any other answer unchanged. This way --json prints
// every list as one array. Lists with several pages are read with the function list instead.
func itemsOf(answer json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(answer, &members) != nil || !strings.HasPrefix(string(members["items"]), "[") {
		return answer
	}
	for name := range members {
		if name != "items" && name != "nextCursor" {
			return answer
		}
	}
	return members["items"]
}

// list reads all pages of a list, up to limit items. If --json is set, it prints the items as one JSON array; otherwise
// it calls tell.
func list[T any](ctx context.Context, p Process, a asked, path string, query url.Values, limit int, tell func(items []T) error) error {
	return a.with(ctx, p, func(c *client) error {
		items, err := all[json.RawMessage](ctx, c, path, query, limit)
		if err != nil {
			return err
		}
		text, err := json.Marshal(append([]json.RawMessage{}, items...))
		if err != nil {
			return err
		}
		return a.print(p, text, func(json.RawMessage) error {
			var typed []T
			if err := json.Unmarshal(text, &typed); err != nil {
				return fmt.Errorf("read the server's answer: %w", err)
			}
			return tell(typed)
		})
	})
}

// with connects to a server and calls work. Afterwards it closes everything that was opened to connect.
func (r remote) with(ctx context.Context, p Process, work func(c *client) error) (err error) {
	return r.withFolder(ctx, p, "", work)
}

// withFolder does the same as with, for a command that works on a folder. The folder's agent.yaml may name a server.
func (r remote) withFolder(ctx context.Context, p Process, folder string, work func(c *client) error) (err error) {
	server, closing, err := r.connect(ctx, p, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	return work(server)
}

// read decodes the JSON of an answer.
func read(answer json.RawMessage, into any) error {
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("read the server's answer: %w", err)
	}
	return nil
}

func agentPath(agent string) string { return "/api/v1/code-agents/" + url.PathEscape(agent) }

// counted is a number with its noun: 1 file, 2 files.
func counted[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// say prints a message for people to stderr.
func (p Process) say(format string, args ...any) error {
	_, err := fmt.Fprintln(p.Stderr, lines(fmt.Sprintf(format, args...)))
	return err
}

// print prints a result to stdout. Programs may read the result.
func (p Process) print(text string) error {
	_, err := fmt.Fprintln(p.Stdout, lines(text))
	return err
}
