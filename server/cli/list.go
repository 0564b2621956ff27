package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// page is one page of a list.
type page[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"nextCursor"`
}

// all reads the pages of a list until it has limit items or the list ends.
func all[T any](ctx context.Context, c *client, path string, query url.Values, limit int) ([]T, error) {
	var items []T
	for {
		query.Set("limit", strconv.Itoa(min(limit-len(items), 200)))
		var next page[T]
		if err := c.call(ctx, http.MethodGet, path+"?"+query.Encode(), nil, &next); err != nil {
			return nil, err
		}
		items = append(items, next.Items...)
		if next.NextCursor == "" || len(items) >= limit {
			return items, nil
		}
		query.Set("cursor", next.NextCursor)
	}
}

type agentsCommand struct {
	Query     string        `arg:"" optional:"" help:"Search text in name, title, description or tags."`
	Code      bool          `help:"Search the code of drafts, too."`
	State     string        `help:"Only agents in this state: draft (never published), published or deleted." placeholder:"STATE"`
	Tag       string        `help:"Only agents with this tag." placeholder:"TAG"`
	UnusedFor time.Duration `field:"unusedSince" help:"Only agents that were not run for this time, for example 720h." placeholder:"DURATION"`
	asked
}

func (c *agentsCommand) run(ctx context.Context, p Process) error {
	query := said(map[string]string{"q": c.Query, "state": c.State, "tag": c.Tag})
	if c.Code {
		query.Set("code", "true")
	}
	if c.UnusedFor < 0 {
		return misusedf("--unused-for must be positive")
	}
	if c.UnusedFor > 0 {
		query.Set("unusedSince", time.Now().Add(-c.UnusedFor).UTC().Format(time.RFC3339))
	}
	type agent struct {
		Name, Title, Language, LatestVersion string
		LatestDeprecated                     bool
		UsageCount                           int64
		LastUsedAt                           *time.Time
	}
	return list(ctx, p, c.asked, "/api/v1/code-agents", query, 10_000, func(agents []agent) error {
		t := newTable(p.Stdout, "NAME", "LANGUAGE", "LATEST", "RUNS", "LAST RUN", "TITLE")
		for _, a := range agents {
			last := "never"
			if a.LastUsedAt != nil {
				last = a.LastUsedAt.UTC().Format(time.RFC3339)
			}
			t.row(a.Name, a.Language, latest(or(a.LatestVersion, "draft"), a.LatestDeprecated), strconv.FormatInt(a.UsageCount, 10), last, a.Title)
		}
		return t.flush()
	})
}

// latest returns the latest version for display, with a mark if it is deprecated.
func latest(version string, deprecated bool) string {
	if deprecated {
		return version + " (deprecated)"
	}
	return version
}

type versionsCommand struct {
	Agent string `arg:"" help:"Name or ID of the agent."`
	asked
}

func (c *versionsCommand) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodGet, agentPath(c.Agent)+"/versions", nil, func(answer json.RawMessage) error {
		var versions page[struct {
			Version, Digest, Changelog string
			PublishedAt                time.Time
			Deprecated                 bool
		}]
		if err := read(answer, &versions); err != nil {
			return err
		}
		t := newTable(p.Stdout, "VERSION", "PUBLISHED", "DIGEST", "CHANGES")
		for _, v := range versions.Items {
			changes := v.Changelog
			if v.Deprecated {
				changes = "(deprecated) " + changes
			}
			t.row(v.Version, v.PublishedAt.UTC().Format(time.RFC3339), v.Digest[:min(len(v.Digest), 19)], changes)
		}
		return t.flush()
	})
}

type runsCommand struct {
	Agent  string `help:"Only runs of this agent." placeholder:"NAME"`
	Status string `help:"Only runs in this state." placeholder:"STATUS"`
	Limit  int    `help:"Maximum number of runs." default:"20"`
	asked
}

func (c *runsCommand) run(ctx context.Context, p Process) error {
	if c.Limit < 1 || c.Limit > 10_000 {
		return misusedf("--limit must be from 1 to 10000")
	}
	query := said(map[string]string{"agent": c.Agent, "status": c.Status})
	type run struct {
		RunID, Agent, Version, Status string
		CreatedAt                     time.Time
		TotalMs                       float64
	}
	return list(ctx, p, c.asked, "/api/v1/runs", query, c.Limit, func(runs []run) error {
		t := newTable(p.Stdout, "RUN", "REFERENCE", "STATUS", "STARTED", "TOOK")
		for _, r := range runs {
			reference := "(inline)"
			if r.Agent != "" {
				reference = r.Agent + "@" + r.Version
			}
			t.row(r.RunID, reference, r.Status, r.CreatedAt.UTC().Format(time.RFC3339), strconv.FormatFloat(r.TotalMs, 'f', 1, 64)+" ms")
		}
		return t.flush()
	})
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
