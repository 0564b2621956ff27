package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

type replayCommand struct {
	Agent   string `arg:"" help:"Name or ID."`
	Against string `field:"version" help:"Version whose recorded inputs are used." default:"latest" placeholder:"VERSION"`
	Runs    int    `help:"Number of inputs, 1 to 100." default:"20"`
	seen
	remote
}

func (c *replayCommand) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error {
		type side struct {
			RunID, Status, Message string
			RunMs                  float64
		}
		var report struct {
			Version string
			Counts  map[string]int
			Items   []struct {
				Verdict       string
				Slower        bool
				Before, After side
			}
		}
		body := c.in(map[string]any{"version": c.Against, "runs": c.Runs})
		if err := server.call(ctx, http.MethodPost, "/api/v1/code-agents/"+url.PathEscape(c.Agent)+"/replay", body, &report); err != nil {
			return err
		}
		t := newTable(p.Stdout, "RUN", "VERDICT", "BEFORE", "DRAFT", "WHAT")
		for _, item := range report.Items {
			verdict := item.Verdict
			if item.Slower {
				verdict += ", slower"
			}
			t.row(item.Before.RunID, verdict, milliseconds(item.Before.RunMs), milliseconds(item.After.RunMs), item.After.Message)
		}
		if err := t.flush(); err != nil {
			return err
		}
		if n := report.Counts["changed"] + report.Counts["fails"] + report.Counts["refused"]; n > 0 {
			return fmt.Errorf("the draft answers %d of %d recorded inputs of %s differently", n, len(report.Items), report.Version)
		}
		_, _ = fmt.Fprintf(p.Stderr, "the draft gives the same answers to %d recorded inputs of %s\n", len(report.Items), report.Version)
		return nil
	})
}

func milliseconds(n float64) string { return strconv.FormatFloat(n, 'f', 1, 64) + " ms" }
