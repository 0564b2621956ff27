package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/studio/garbage"
)

type gcCommand struct {
	Older  time.Duration `field:"olderThanHours" help:"Age of the data to remove, at least 1h, in whole hours." default:"720h" placeholder:"DURATION"`
	DryRun bool          `field:"dryRun" help:"Only count the data to remove."`
	asked
}

// Help returns the text above the flags.
func (*gcCommand) Help() string {
	return "Removes data of the workspace: ended tasks, rejected and expired overlays, unreferenced files of projects, old saves of drafts without a label, and unused packages. In the workspace default it also removes unreferenced files of large versions. " +
		"The server can continue to run."
}

// wholeHours converts an age to hours. It rounds up, so that no younger data is removed. However, an age of less than
// an hour becomes 0, which the server refuses.
func wholeHours(d time.Duration) int64 {
	if d < time.Hour {
		return 0
	}
	return int64((d + time.Hour - 1) / time.Hour)
}

func (c *gcCommand) run(ctx context.Context, p Process) error {
	body := map[string]any{"olderThanHours": wholeHours(c.Older), "dryRun": c.DryRun}
	return c.ask(ctx, p, http.MethodPost, "/api/v1/gc", body, func(answer json.RawMessage) error {
		var done garbage.Cleanup
		if err := read(answer, &done); err != nil {
			return err
		}
		t := newTable(p.Stdout, "KIND", "COUNT", "SIZE")
		for _, one := range done.Items {
			t.row(string(one.Kind), strconv.Itoa(one.Count), bytesize.Text(one.Bytes))
		}
		if err := t.flush(); err != nil {
			return err
		}
		verb := "removed"
		if done.DryRun {
			verb = "would remove"
		}
		return p.say("%s %s", verb, bytesize.Text(done.Bytes))
	})
}
