package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// runReference runs a version on a server. It starts the run asynchronously and follows the run's events, so that
// output appears while the program runs. If this process is interrupted, it cancels the run.
func (c *runCommand) runReference(ctx context.Context, p Process, out *console, input json.RawMessage) (err error) {
	ref, err := referenceOf(c.Target)
	if err != nil {
		return err
	}
	return c.with(ctx, p, func(server *client) error {
		body := c.in(map[string]any{"version": ref.Version, "input": input})
		if hints := c.hints(); hints != nil {
			body["hints"] = hints
		}
		var accepted struct {
			RunID      string          `json:"runId"`
			Status     registry.Status `json:"status"`
			ApprovalID string          `json:"approvalId"`
			Reasons    []string        `json:"reasons"`
			Approvers  []string        `json:"approvers"`
		}
		err := server.exchange(ctx, http.MethodPost, "/api/v1/code-agents/"+url.PathEscape(ref.Agent)+"/execute", body,
			map[string]string{"Prefer": "respond-async"}, func(header http.Header, text io.Reader) error {
				var note string
				if json.Unmarshal([]byte(header.Get("Atelier-Deprecated")), &note) == nil {
					_, _ = fmt.Fprintln(p.Stderr, "note: "+lines(note))
				}
				return into(&accepted)(header, text)
			})
		if err != nil {
			return err
		}
		if accepted.Status == registry.AwaitingApproval {
			if err := p.say("the run %s waits for %s: %s\napprove it at %s", accepted.RunID, approvers(accepted.Approvers), strings.Join(accepted.Reasons, " "), approvalLink(server, accepted.ApprovalID)); err != nil {
				return err
			}
			if c.NoWait {
				return exit{waits}
			}
			if err := awaitApproval(ctx, server, accepted.RunID); err != nil {
				return fmt.Errorf("%w; the run %s still waits; show its state with `atelier runs`", err, accepted.RunID)
			}
		}
		follow := context.WithoutCancel(ctx)
		stop := context.AfterFunc(ctx, func() {
			_ = server.call(follow, http.MethodPost, "/api/v1/runs/"+url.PathEscape(accepted.RunID)+"/cancel", nil, nil) // Ignore an error: the last event of the run shows how it ended.
		})
		defer stop()
		ended := false
		err = server.events(follow, accepted.RunID, func(e runtimes.Event) (err error) {
			var last bool
			last, err = out.show(e)
			ended = ended || last
			return err
		})
		if ended {
			return err
		}
		return recorded(follow, server, accepted.RunID, out, err)
	})
}

// recorded prints the result of a run from the server's record. It is called if the event stream ended without a
// result.
func recorded(ctx context.Context, server *client, id string, out *console, broken error) error {
	var record json.RawMessage
	if err := server.call(ctx, http.MethodGet, "/api/v1/runs/"+url.PathEscape(id), nil, &record); err != nil {
		return errors.Join(broken, err)
	}
	var run struct{ Status registry.Status }
	if err := json.Unmarshal(record, &run); err != nil {
		return fmt.Errorf("read the server's answer: %w", err)
	}
	if !run.Status.Final() {
		return errors.Join(broken, fmt.Errorf("the connection closed while the run %s was %s; show its state with `atelier runs`", id, run.Status))
	}
	_, err := out.show(runtimes.Event{Kind: runtimes.KindResult, Data: record})
	return err
}
