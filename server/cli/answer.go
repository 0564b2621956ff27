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

// asked is a command that asks a server once and tells what it answered.
type asked struct {
	JSON bool `name:"json" help:"Print the server's answer as JSON."`
	remote
}

// ask connects, asks, and prints the answer as it is or what tell makes of it; an answer without a body is null.
func (a asked) ask(ctx context.Context, p Process, method, path string, body any, tell func(answer json.RawMessage) error) error {
	return a.with(ctx, p, func(c *client) error {
		answer := json.RawMessage("null")
		if err := c.call(ctx, method, path, body, optional(&answer, method)); err != nil {
			return err
		}
		return a.print(p, answer, tell)
	})
}

// optional is where an answer goes: a deletion has none.
func optional(answer *json.RawMessage, method string) any {
	if method == http.MethodDelete {
		return nil
	}
	return answer
}

func (a asked) print(p Process, answer json.RawMessage, tell func(answer json.RawMessage) error) error {
	if !a.JSON {
		return tell(answer)
	}
	_, err := fmt.Fprintln(p.Stdout, strings.TrimSpace(string(answer)))
	return err
}

// list reads a whole list in pages, and prints it as one JSON array or what tell makes of it.
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

// with connects for a piece of work, and closes what connecting opened.
func (r remote) with(ctx context.Context, p Process, work func(c *client) error) (err error) {
	server, closing, err := r.connect(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	return work(server)
}

// read takes an answer apart.
func read(answer json.RawMessage, into any) error {
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("read the server's answer: %w", err)
	}
	return nil
}

func agentPath(agent string) string { return "/api/v1/code-agents/" + url.PathEscape(agent) }

// say prints a line on stderr: what was done, for a person.
func (p Process) say(format string, args ...any) error {
	_, err := fmt.Fprintln(p.Stderr, lines(fmt.Sprintf(format, args...)))
	return err
}

// print prints a line on stdout: what was made, for a program.
func (p Process) print(text string) error {
	_, err := fmt.Fprintln(p.Stdout, lines(text))
	return err
}
