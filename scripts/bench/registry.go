package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/atelier-run/atelier/scripts/load"
)

// slowest is the maximum allowed 99th percentile of every list, search and resolution, in milliseconds.
const slowest = 20

// registry measures a server with a large registry on each database. The server creates one agent, one version and one
// run, and SQL statements copy these rows.
func (b *bench) registry(ctx context.Context) (section, error) {
	s := section{title: fmt.Sprintf("Registry: %d agents, %d versions, %d runs", b.history.agents, b.history.agents*versionsEach, b.history.runs)}
	for _, database := range []struct {
		name string
		open func(ctx context.Context, dir string) (home, error)
	}{{"SQLite", sqliteHome}, {"PostgreSQL", postgresHome}} {
		rows, err := b.longHistory(ctx, database.name, database.open)
		if err != nil {
			return s, fmt.Errorf("%s: %w", database.name, err)
		}
		s.rows = append(s.rows, rows...)
	}
	return s, ctx.Err()
}

// home is the database that one measurement uses.
type home struct {
	seed  seed
	flags []string // command line flags of the server
	close func() error
}

func (b *bench) longHistory(ctx context.Context, name string, open func(context.Context, string) (home, error)) (rows []row, err error) {
	dir, err := os.MkdirTemp("/tmp", "atelier-bench") // not under TMPDIR, because the path of a socket has at most 107 bytes
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	h, err := open(ctx, dir)
	if errors.Is(err, errors.ErrUnsupported) {
		return []row{{what: name, measured: "not here"}}, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	began := time.Now()
	if err := b.fill(ctx, dir, h); err != nil {
		return nil, err
	}
	rows = append(rows, row{what: name + ", filled", measured: fmt.Sprintf("in %.0f s", time.Since(began).Seconds())})
	// The seeded runs are older than the default retention time, so the server must keep them longer.
	server, err := load.Start(ctx, load.Options{Binary: b.binary, Data: filepath.Join(dir, "data"), Flags: append([]string{"--keep-runs", "0s"}, h.flags...)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	for _, q := range questions(b.history) {
		call := func(ctx context.Context, n int) error { return q.ask(ctx, server.Client, n) }
		load.Closed(ctx, 1, b.span/8, call) // not counted, because a newly opened database has an empty cache
		c := b.observeOf(server, func() *load.Sample { return load.Closed(ctx, 1, b.span, call) })
		r := row{what: name + ", " + q.what, measured: fmt.Sprintf("p50 %.2f  p99 %.2f ms", c.At(0.5), c.At(0.99))}
		if q.free {
			r.verdict = "no bar"
		} else {
			r = bar{must: slowest, aim: slowest / 4, unit: "ms p99"}.judge(r, c.At(0.99), fmt.Sprintf("%.2f ms CPU of the server a call, others with the database used %.1f cores", c.cpu, c.others))
		}
		rows = append(rows, r)
	}
	return rows, ctx.Err()
}

// fill starts a server, which creates the schema, an agent, a version and a run. It then copies these rows many times.
func (b *bench) fill(ctx context.Context, dir string, h home) error {
	server, err := load.Start(ctx, load.Options{Binary: b.binary, Data: filepath.Join(dir, "data"), Flags: h.flags})
	if err != nil {
		return err
	}
	p := helloIn("javascript")
	err = server.Publish(ctx, p)
	if err == nil {
		err = server.Checked(p)(ctx, 1)
	}
	if err := errors.Join(err, server.Stop()); err != nil {
		return err
	}
	return h.seed.fill(ctx, b.history)
}

func sqliteHome(ctx context.Context, dir string) (home, error) {
	s := seed{driver: "sqlite", address: "file:" + filepath.Join(dir, "data", "atelier.db") + "?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)&_pragma=cache_size(-400000)"}
	return home{seed: s, close: func() error { return nil }}, ctx.Err()
}

// postgresHome starts a separate PostgreSQL server. The server does not sync commits. That makes filling faster and
// does not affect reads.
func postgresHome(ctx context.Context, dir string) (home, error) {
	const script = "scripts/postgres.sh"
	if where, err := exec.CommandContext(ctx, script, "where").Output(); err != nil || len(strings.TrimSpace(string(where))) == 0 {
		return home{}, errors.ErrUnsupported
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		return home{}, err
	}
	cluster := filepath.Join(dir, "pg")
	output, err := exec.CommandContext(ctx, script, "start", cluster).Output()
	if err != nil {
		return home{}, fmt.Errorf("start PostgreSQL: %w", err)
	}
	address := strings.TrimSpace(string(output))
	return home{
		seed: seed{driver: "pgx", address: address}, flags: []string{"--database", address},
		close: func() error { return exec.CommandContext(context.WithoutCancel(ctx), script, "stop", cluster).Run() },
	}, nil
}

// question is a request that depends on n and checks the size of the answer.
type question struct {
	what string
	ask  func(ctx context.Context, c load.Client, n int) error
	free bool // the request has no required time
}

const api = "/api/v1"

// questions lists usual requests of people and programs. It includes rare, old and nonexistent values, which reveal a
// missing index.
func questions(h history) []question {
	agent := func(n int) string { return nameOf(n * 7919 % h.agents) }
	page := func(path string, least int) func(context.Context, load.Client, int) error {
		return func(ctx context.Context, c load.Client, _ int) error { return atLeast(ctx, c, api+path, least) }
	}
	runs := func(of string, least int) question {
		return question{what: "runs" + of, ask: page("/runs?"+of[min(1, len(of)):], least)}
	}
	return []question{
		{what: "agents", ask: page("/code-agents?limit=50", 50)},
		{what: "agents, page by page", ask: paged(api + "/code-agents?limit=50")},
		{what: "agents in a rare language", ask: page("/code-agents?language=bash", 3)},
		{what: "agents with a rare tag", ask: page("/code-agents?tag=rare", 3)},
		{what: "agents that are drafts", ask: page("/code-agents?state=draft", 0)},
		{what: "agents without runs since a date", ask: page("/code-agents?unusedSince=2025-06-01T00:00:00Z", 0)},
		{what: "the public registry", ask: page("/code-agents/registry", 50)},
		{what: "search, a word that many have", ask: page("/code-agents?q=report", 50)},
		{what: "search, a word that the last in the alphabet have", ask: page("/code-agents?q=zulu", 50)},
		{what: "search, three agents of all", ask: page("/code-agents?q=quokka", 3)},
		{what: "search, part of a word", ask: page("/code-agents?q=uokk", 3)},
		{what: "search, two signs", ask: page("/code-agents?q=qq", 0)},
		{what: "search, nothing found", ask: page("/code-agents?q=nothing+here", 0)},
		{what: "search of the public registry", ask: page("/code-agents/registry?q=quokka", 1)},
		{what: "search in code", ask: page("/code-agents?q=nothingatall&code=true", 0), free: true},
		{what: "an agent", ask: func(ctx context.Context, c load.Client, n int) error {
			_, err := c.Call(ctx, http.MethodGet, api+"/code-agents/"+agent(n), nil, nil)
			return err
		}},
		{what: "versions of an agent", ask: func(ctx context.Context, c load.Client, n int) error {
			return atLeast(ctx, c, api+"/code-agents/"+agent(n)+"/versions", versionsEach)
		}},
		{what: "resolve ^1 and latest, 20 at once", ask: func(ctx context.Context, c load.Client, n int) error {
			return resolve(ctx, c, n, func(k int) string { return agent(20*n+k) + []string{"@^1", "@latest"}[k%2] })
		}},
		{what: "resolve exact versions, 20 at once", ask: func(ctx context.Context, c load.Client, n int) error {
			return resolve(ctx, c, n, func(k int) string { return agent(20*n+k) + "@1.3.0" })
		}},
		runs("", 50), runs("?status=failed", 50), runs("?status=interrupted", 20), runs("?status=blocked", 0),
		{what: "runs, page by page", ask: paged(api + "/runs?limit=50")},
		{what: "runs of an agent", ask: func(ctx context.Context, c load.Client, n int) error {
			return atLeast(ctx, c, api+"/runs?agent="+agent(n), 10)
		}},
		runs("?agent="+nameOf(0), 50), runs("?agent="+nameOf(0)+"&status=interrupted", 1), runs("?agent="+nameOf(0)+"&status=blocked", 0),
		runs("?agent="+nameOf(0)+"&version=1.0.0", 50), runs("?agent="+nameOf(0)+"&version=1.0.0&status=failed", 1),
		runs("?since="+seededFrom.Add(time.Duration(h.runs)*15*time.Second).Format(time.RFC3339), 50), runs("?version=draft", 0),
		{what: "runs of an agent at the end of its history", ask: page("/runs?agent="+nameOf(0)+"&cursor="+cursorAt(seededFrom.Add(time.Minute)), 1)},
	}
}

func cursorAt(at time.Time) string {
	return encodeCursor(map[string]any{"list": "runs", "key": map[string]any{"t": at, "i": ""}})
}

// atLeast returns a function that requests a page and checks that the page has enough entries.
func atLeast(ctx context.Context, c load.Client, path string, least int) error {
	var got struct{ Items []json.RawMessage }
	if err := c.Get(ctx, path, &got); err != nil {
		return err
	}
	if len(got.Items) < least {
		return fmt.Errorf("%s: %d items, not %d", path, len(got.Items), least)
	}
	return nil
}

// paged returns a function that requests the next page at each call. After the last page it starts again.
func paged(path string) func(context.Context, load.Client, int) error {
	cursor := ""
	return func(ctx context.Context, c load.Client, _ int) error {
		var got struct {
			Items      []json.RawMessage
			NextCursor string
		}
		at := path
		if cursor != "" {
			at += "&cursor=" + url.QueryEscape(cursor)
		}
		if err := c.Get(ctx, at, &got); err != nil {
			return err
		}
		if cursor = got.NextCursor; cursor != "" && len(got.Items) != 50 {
			return fmt.Errorf("%s: %d items on a full page", at, len(got.Items))
		}
		return nil
	}
}

func resolve(ctx context.Context, c load.Client, n int, reference func(k int) string) error {
	var asked struct {
		References []string `json:"references"`
	}
	for k := range 20 {
		asked.References = append(asked.References, reference(k))
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	answer, err := c.Call(ctx, http.MethodPost, api+"/references/resolve", body, nil)
	if err != nil {
		return err
	}
	var got struct{ Items []struct{ Pinned string } }
	if err := json.Unmarshal(answer, &got); err != nil {
		return err
	}
	for k, item := range got.Items {
		if item.Pinned == "" {
			return fmt.Errorf("the reference %s does not resolve to a version", asked.References[k])
		}
	}
	return nil
}
