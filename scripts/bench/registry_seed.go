package main

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // driver of PostgreSQL; floors.go imports the driver of SQLite
)

// history describes the size of a registry.
type history struct{ agents, runs int }

const versionsEach = 10

// seededFrom is the time of the oldest run. There is one run every half minute.
var seededFrom = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// These words form the names and descriptions of agents. The last word of the first list is also last in alphabetical
// order, so that the end of sorted lists can be measured.
var (
	first  = []string{"billing", "calendar", "delivery", "energy", "forecast", "invoice", "ledger", "market", "route", "zulu"}
	second = []string{"report", "import", "export", "check", "digest", "lookup", "split", "merge", "notify", "score"}
)

// nameOf returns the name of the nth agent.
func nameOf(n int) string {
	return fmt.Sprintf("%s-%s-%05d", first[n%len(first)], second[n/len(first)%len(second)], n)
}

// seed fills a database in which a server has created the first rows.
type seed struct{ driver, address string }

func (s seed) fill(ctx context.Context, h history) (err error) {
	db, err := sql.Open(s.driver, s.address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1) // a temporary table exists on one connection only
	for _, step := range []func(context.Context, *sql.DB, history) error{s.plan, s.copies, s.settle} {
		if err := step(ctx, db, h); err != nil {
			return err
		}
	}
	return nil
}

// plan creates a table with the names of the agents.
func (s seed) plan(ctx context.Context, db *sql.DB, h history) error {
	if _, err := db.ExecContext(ctx, "CREATE TEMPORARY TABLE plan (n BIGINT PRIMARY KEY, id TEXT, name TEXT, description TEXT, tags TEXT, search TEXT, language TEXT)"); err != nil {
		return err
	}
	const atOnce = 500
	for from := 0; from < h.agents; from += atOnce {
		var rows []string
		for n := from; n < min(from+atOnce, h.agents); n++ {
			rows = append(rows, planned(n, h.agents))
		}
		if _, err := db.ExecContext(ctx, "INSERT INTO plan VALUES "+strings.Join(rows, ", ")); err != nil {
			return err
		}
	}
	return nil
}

// planned returns the row of the nth agent. Three agents have special values, so that searches for rare values can be
// measured.
func planned(n, of int) string {
	name := nameOf(n)
	description := "Turns what the " + strings.ReplaceAll(name, "-", " ") + " service sends into rows that people can read, and says which of them it left out and why. Times are UTC."
	tags, language := `["`+first[n%len(first)]+`","team"]`, "javascript"
	if n%(of/3) == 1 {
		description, tags, language = "Counts every quokka. "+description, `["rare"]`, "bash"
	}
	search := strings.ToLower(name + "\n\n" + description + "\n" + tags)
	return fmt.Sprintf("(%d, '00000000-0000-7000-8000-%012d', '%s', '%s', '%s', '%s', '%s')", n, n, name, description, tags, search, language)
}

// copies returns statements that copy the agent, its draft, version and run. Columns that are not named keep their
// values.
func (s seed) copies(ctx context.Context, db *sql.DB, h history) error {
	json, series := "", fmt.Sprintf("WITH RECURSIVE series (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM series WHERE i < %d) ", h.runs-1)
	at := fmt.Sprintf("strftime('%%Y-%%m-%%d %%H:%%M:%%S+00:00', %d + 30 * i, 'unixepoch')", seededFrom.Unix())
	id := fmt.Sprintf("printf('%%08x-%%04x-7000-8000-%%012x', ((%[1]d + 30 * i) * 1000) / 65536, ((%[1]d + 30 * i) * 1000) %% 65536, i)", seededFrom.Unix())
	if s.driver == "pgx" {
		json, series = "::jsonb", fmt.Sprintf("WITH series AS (SELECT generate_series(0, %d)::bigint AS i) ", h.runs-1)
		at = fmt.Sprintf("to_timestamp(%d + 30 * i)", seededFrom.Unix())
		hex := func(width int, n string) string { return fmt.Sprintf("lpad(to_hex(%s), %d, '0')", n, width) }
		ms := fmt.Sprintf("((%d + 30 * i) * 1000)", seededFrom.Unix())
		id = hex(8, ms+" / 65536") + " || '-' || " + hex(4, ms+" % 65536") + " || '-7000-8000-' || " + hex(12, "i")
	}
	numbers := "(SELECT 0 AS k UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) AS numbers"
	digest := "'sha256:' || substr('000000000000000000000000000000000000000000000000000000000000' || (p.n * 10 + k), -64)"
	if s.driver == "pgx" {
		digest = "'sha256:' || lpad((p.n * 10 + k)::text, 64, '0')"
	}
	// One agent has a fifth of all runs. The runs of its first version, and all interrupted runs, are old. So a list of
	// such runs must search far back.
	agent := fmt.Sprintf("CASE WHEN i %% 5 = 0 THEN 0 ELSE (i * 7919 + i / 5) %% %d END", h.agents)
	for _, c := range []struct {
		table, from string
		columns     map[string]string
	}{
		{"agents", "plan AS p", map[string]string{"id": "p.id", "name": "p.name", "description": "p.description", "tags": "p.tags" + json, "search_text": "p.search",
			"listed": "p.n % 2 = 1", "language": "p.language", "listing_language": "p.language", "listing_text": "p.search", "latest_version": "'1.9.0'", "version_count": fmt.Sprint(versionsEach)}},
		{"agent_names", "plan AS p", map[string]string{"name_key": "replace(p.name, '-', '_')", "agent_id": "p.id"}},
		{"drafts", "plan AS p", map[string]string{"agent_id": "p.id", "language": "p.language"}},
		{"versions", "plan AS p, " + numbers, map[string]string{"id": "p.id || '-' || k", "agent_id": "p.id", "agent_name": "p.name", "version": "'1.' || k || '.0'", "digest": digest,
			"description": "p.description", "language": "p.language"}},
		{"runs", "series JOIN plan AS p ON p.n = " + agent, map[string]string{"id": id, "agent_id": "p.id", "agent_name": "p.name", "created_at": at, "started_at": at, "finished_at": at,
			"version": "CASE WHEN p.n > 0 THEN '1.' || (i % 10) || '.0' WHEN i < 1000 THEN '1.0.0' ELSE '1.9.0' END",
			"status":  "CASE WHEN i < 10000 AND i % 330 = 0 THEN 'interrupted' WHEN i % 20 = 5 THEN 'failed' WHEN i % 100 = 11 THEN 'timed_out' ELSE 'succeeded' END"}},
		{"agent_usage", "plan AS p", map[string]string{"agent_id": "p.id"}},
	} {
		columns, err := s.columns(ctx, db, c.table)
		if err != nil {
			return err
		}
		values := make([]string, len(columns))
		for i, name := range columns {
			if values[i] = "t." + name; c.columns[name] != "" {
				values[i] = c.columns[name]
			}
		}
		with := ""
		if c.table == "runs" {
			with = series
		}
		restore, err := s.withoutIndexes(ctx, db, c.table)
		if err != nil {
			return err
		}
		statement := with + "INSERT INTO " + c.table + " (" + strings.Join(columns, ", ") + ") SELECT " + strings.Join(values, ", ") +
			" FROM (SELECT * FROM " + c.table + " LIMIT 1) AS t, " + c.from
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("fill %s: %w", c.table, err)
		}
		if err := restore(); err != nil {
			return fmt.Errorf("index %s: %w", c.table, err)
		}
	}
	return nil
}

// withoutIndexes drops the indexes of a table and returns a function that creates them again. Inserting many rows is
// faster without indexes.
func (s seed) withoutIndexes(ctx context.Context, db *sql.DB, table string) (restore func() error, err error) {
	query := "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = '" + table + "'"
	if s.driver == "pgx" {
		query = "SELECT indexname, indexdef FROM pg_indexes WHERE indexdef NOT LIKE 'CREATE UNIQUE%' AND tablename = '" + table + "'"
	}
	made, err := pairs(ctx, db, query)
	if err != nil {
		return nil, err
	}
	for name := range made {
		if _, err := db.ExecContext(ctx, "DROP INDEX "+name); err != nil {
			return nil, err
		}
	}
	return func() error {
		for _, statement := range made {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// pairs executes a query and returns its rows, which have two columns.
func pairs(ctx context.Context, db *sql.DB, query string) (found map[string]string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	found = map[string]string{}
	for rows.Next() {
		var key, value string
		if err := rows.Scan(&key, &value); err != nil {
			return nil, err
		}
		found[key] = value
	}
	return found, rows.Err()
}

func (s seed) columns(ctx context.Context, db *sql.DB, table string) ([]string, error) {
	query := "SELECT name, name FROM pragma_table_info('" + table + "')"
	if s.driver == "pgx" {
		query = "SELECT column_name, column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = '" + table + "'"
	}
	found, err := pairs(ctx, db, query)
	return slices.Sorted(maps.Keys(found)), err
}

// settle finishes the background work of the database: the checkpoint of SQLite, or the statistics of PostgreSQL.
// Otherwise this work would happen during the measurement.
func (s seed) settle(ctx context.Context, db *sql.DB, _ history) error {
	statement := "PRAGMA wal_checkpoint(TRUNCATE)"
	if s.driver == "pgx" {
		statement = "VACUUM ANALYZE"
	}
	_, err := db.ExecContext(ctx, statement)
	return err
}

// encodeCursor creates a cursor in the format of the server, so that a request can start in the middle of a list.
func encodeCursor(key map[string]any) string {
	text, err := json.Marshal(key)
	if err != nil {
		panic(err) // the error is a bug in this package
	}
	return base64.RawURLEncoding.EncodeToString(text)
}
