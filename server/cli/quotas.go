package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/atelier-run/atelier/registry"
)

type quotasCommand struct {
	Show quotasShow `cmd:"" default:"withargs" help:"Show quotas and usage of a workspace."`
	Set  quotasSet  `cmd:"" help:"Set the quotas of a workspace. Quotas that are not given return to the server's defaults."`
}

type quotasShow struct {
	Workspace string `arg:"" optional:"" help:"Name or ID of the workspace (default: the token's workspace)."`
	asked
}

func (c *quotasShow) run(ctx context.Context, p Process) error {
	path := "/api/v1/quotas"
	if c.Workspace != "" {
		path += "/" + url.PathEscape(c.Workspace)
	}
	return c.ask(ctx, p, http.MethodGet, path, nil, quotaTable(p))
}

type quotasSet struct {
	Workspace        string `arg:"" help:"Name or ID of the workspace."`
	ConcurrentRuns   *int64 `help:"Maximum concurrent runs. 0 means no limit." placeholder:"N"`
	RunsPerDay       *int64 `help:"Maximum runs per day." placeholder:"N"`
	CPUSecondsPerDay *int64 `name:"cpu-seconds-per-day" help:"Maximum CPU time per day, in seconds." placeholder:"SECONDS"`
	StorageBytes     *int64 `help:"Maximum storage, in bytes." placeholder:"BYTES"`
	asked
}

func (c *quotasSet) run(ctx context.Context, p Process) error {
	body := registry.OwnQuota{ConcurrentRuns: c.ConcurrentRuns, RunsPerDay: c.RunsPerDay, CPUSecondsPerDay: c.CPUSecondsPerDay, StorageBytes: c.StorageBytes}
	return c.ask(ctx, p, http.MethodPut, "/api/v1/quotas/"+url.PathEscape(c.Workspace), body, quotaTable(p))
}

func quotaTable(p Process) func(json.RawMessage) error {
	return func(answer json.RawMessage) error {
		var q struct {
			Limits registry.Quota
			Own    registry.OwnQuota
			Used   registry.QuotaUse
			Until  string
		}
		if err := read(answer, &q); err != nil {
			return err
		}
		t := newTable(p.Stdout, "QUOTA", "USED", "LIMIT", "FROM", "UNTIL")
		for _, row := range []struct {
			name  string
			used  float64
			limit int64
			own   *int64
			until string
		}{
			{"concurrent runs", float64(q.Used.ConcurrentRuns), q.Limits.ConcurrentRuns, q.Own.ConcurrentRuns, ""},
			{"runs per day", float64(q.Used.RunsPerDay), q.Limits.RunsPerDay, q.Own.RunsPerDay, q.Until},
			{"cpu seconds per day", q.Used.CPUSecondsPerDay, q.Limits.CPUSecondsPerDay, q.Own.CPUSecondsPerDay, q.Until},
			{"storage bytes", float64(q.Used.StorageBytes), q.Limits.StorageBytes, q.Own.StorageBytes, ""},
		} {
			limit, from := "none", "the server"
			if row.limit > 0 {
				limit = strconv.FormatInt(row.limit, 10)
			}
			if row.own != nil {
				from = "this workspace"
			}
			t.row(row.name, strconv.FormatFloat(row.used, 'f', -1, 64), limit, from, row.until)
		}
		return t.flush()
	}
}
