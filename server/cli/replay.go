package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

type replayCommand struct {
	Agent   string `arg:"" help:"Name or ID of the agent."`
	Against string `field:"version" help:"Version whose recorded inputs are used." default:"latest" placeholder:"VERSION"`
	Runs    int    `help:"Number of inputs, 1 to 100." default:"20"`
	seen
	asked
}

func (c *replayCommand) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error {
		body := c.in(map[string]any{"version": c.Against, "runs": c.Runs})
		var answer json.RawMessage
		if err := server.call(ctx, http.MethodPost, agentPath(c.Agent)+"/replay", body, &answer); err != nil {
			return err
		}
		var report replayReport
		if err := read(answer, &report); err != nil {
			return err
		}
		if err := c.print(p, answer, func(json.RawMessage) error { return report.tell(p) }); err != nil {
			return err
		}
		if n := report.Counts["changed"] + report.Counts["fails"] + report.Counts["refused"]; n > 0 {
			return fmt.Errorf("the draft returns different outputs for %d of %d recorded inputs of %s", n, len(report.Items), report.Version)
		}
		return p.say("the draft returns the same outputs for %d recorded inputs of %s", len(report.Items), report.Version)
	})
}

// replayReport is the server's answer to a replay.
type replayReport struct {
	Version string
	Counts  map[string]int
	Items   []struct {
		Verdict       string
		Slower        bool
		Before, After struct {
			RunID, Status, Message string
			RunMs                  float64
		}
	}
}

func (report replayReport) tell(p Process) error {
	t := newTable(p.Stdout, "RUN", "VERDICT", "BEFORE", "DRAFT", "WHAT")
	for _, item := range report.Items {
		verdict := item.Verdict
		if item.Slower {
			verdict += ", slower"
		}
		t.row(item.Before.RunID, verdict, milliseconds(item.Before.RunMs), milliseconds(item.After.RunMs), item.After.Message)
	}
	return t.flush()
}

func milliseconds(n float64) string { return strconv.FormatFloat(n, 'f', 1, 64) + " ms" }
