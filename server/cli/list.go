package cli

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// page is one page of any list.
type page[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"nextCursor"`
}

// all reads up to limit items of a list.
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
	Query string `arg:"" optional:"" help:"Only agents with this in name, title or description."`
	remote
}

func (c *agentsCommand) run(ctx context.Context, p Process) (err error) {
	server, closing, err := c.connect(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	type agent struct{ Name, Title, Language, LatestVersion string }
	query := url.Values{}
	if c.Query != "" {
		query.Set("q", c.Query)
	}
	agents, err := all[agent](ctx, server, "/api/v1/code-agents", query, 10_000)
	if err != nil {
		return err
	}
	t := newTable(p.Stdout, "NAME", "LANGUAGE", "LATEST", "TITLE")
	for _, a := range agents {
		t.row(a.Name, a.Language, or(a.LatestVersion, "draft"), a.Title)
	}
	return t.flush()
}

type versionsCommand struct {
	Agent string `arg:"" help:"Name or ID."`
	remote
}

func (c *versionsCommand) run(ctx context.Context, p Process) (err error) {
	server, closing, err := c.connect(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	var versions page[struct {
		Version, Digest, Changelog string
		PublishedAt                time.Time
		Deprecated                 bool
	}]
	if err := server.call(ctx, http.MethodGet, "/api/v1/code-agents/"+url.PathEscape(c.Agent)+"/versions", nil, &versions); err != nil {
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
}

type runsCommand struct {
	Agent  string `help:"Only runs of this agent." placeholder:"NAME"`
	Status string `help:"Only runs in this state." placeholder:"STATUS"`
	Limit  int    `help:"How many." default:"20"`
	remote
}

func (c *runsCommand) run(ctx context.Context, p Process) (err error) {
	if c.Limit < 1 || c.Limit > 10_000 {
		return misusedf("--limit must be from 1 to 10000")
	}
	server, closing, err := c.connect(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	query := url.Values{}
	for name, value := range map[string]string{"agent": c.Agent, "status": c.Status} {
		if value != "" {
			query.Set(name, value)
		}
	}
	type run struct {
		RunID, Agent, Version, Status string
		CreatedAt                     time.Time
		TotalMs                       float64
	}
	runs, err := all[run](ctx, server, "/api/v1/runs", query, c.Limit)
	if err != nil {
		return err
	}
	t := newTable(p.Stdout, "RUN", "REFERENCE", "STATUS", "STARTED", "TOOK")
	for _, r := range runs {
		reference := "(inline)"
		if r.Agent != "" {
			reference = r.Agent + "@" + r.Version
		}
		t.row(r.RunID, reference, r.Status, r.CreatedAt.UTC().Format(time.RFC3339), strconv.FormatFloat(r.TotalMs, 'f', 1, 64)+" ms")
	}
	return t.flush()
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
