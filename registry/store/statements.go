package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// ledger runs the shared transactions of a committer. Tests replace it to count transactions or to make them fail.
type ledger interface {
	transact(ctx context.Context, apply func(exec) error) error
	close() error
}

// exec executes the statement with a key and returns the number of rows that it wrote.
type exec func(key string, args ...any) (int64, error)

// errNotBegun reports that no transaction could start: another process has locked the database, or the database cannot
// be written.
var errNotBegun = errors.New("no transaction could start")

// statements holds the prepared statements that store runs. All are prepared once, before the first transaction.
type statements struct {
	db   *sql.DB
	text map[string]string // text of each statement, by the keys below

	mu       sync.Mutex
	prepared map[string]*sql.Stmt
}

// transact runs apply in a transaction. It implements ledger.
func (s *statements) transact(ctx context.Context, apply func(exec) error) error {
	if err := s.prepare(ctx); err != nil {
		return fmt.Errorf("%w: %w", errNotBegun, err)
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotBegun, err)
	}
	defer func() { _ = tx.Rollback() }() // ends the transaction if apply panics; it has no effect after a commit
	err = apply(func(key string, args ...any) (int64, error) {
		result, err := tx.StmtContext(ctx, s.get(key)).ExecContext(ctx, args...)
		if err != nil {
			return 0, err
		}
		return result.RowsAffected()
	})
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

const (
	putRuns     = "put runs "     // the number of rows follows
	reserveKeys = "reserve keys " // the number of rows follows
	addEvents   = "add events "   // the number of rows follows
	findRun     = "find run"
	findEnded   = "find ended run"
	findOwn     = "find own run"
	markKey     = "mark key"
	addUse      = "add use "   // the number of rows follows
	addUsage    = "add usage " // the number of rows follows
)

// runChunks, eventChunks and usageChunks list the possible numbers of rows in one insert statement. The committer
// splits rows into the largest chunks that fit.
var (
	runChunks   = [...]int{16, 8, 4, 2, 1}
	eventChunks = [...]int{64, 16, 4, 3, 2, 1}
	usageChunks = [...]int{16, 6, 5, 4, 3, 2, 1}
)

// ownRun is the SQL condition that this server may replace a run: the run belongs to this server, or the run waits for
// an approval. Any server may continue a run that waits.
const ownRun = "runs.server_id = excluded.server_id AND runs.epoch = excluded.epoch OR runs.status = 'awaiting_approval'"

// texts returns the SQL of the statements that store runs, by their keys.
func texts(d dialect) map[string]string {
	found := "UPDATE runs SET status = status WHERE id = " + d.place(1) + " AND workspace_id = " + d.place(2)
	own := found + " AND server_id = " + d.place(3) + " AND epoch = " + d.place(4)
	text := map[string]string{
		findRun:   found,
		findEnded: own + " AND status NOT IN (" + unfinished + ")",
		markKey: "UPDATE idempotency_keys SET made_kind = " + d.place(1) + ", made_id = " + d.place(2) + " WHERE owner = " + d.place(3) +
			" AND key = " + d.place(4) + " AND server_id = " + d.place(5) + " AND epoch = " + d.place(6) + " AND status = 0",
		findOwn: own + " AND status IN (" + unfinished + ")",
	}
	for _, n := range runChunks {
		text[putRuns+strconv.Itoa(n)] = insert(d, "runs", runColumns, n) + " ON CONFLICT (id) DO UPDATE SET " + excluded(runColumns[2:]) +
			" WHERE runs.workspace_id = excluded.workspace_id AND runs.status IN (" + unfinished + ") AND (" + ownRun + ")"
	}
	for _, n := range runChunks {
		text[reserveKeys+strconv.Itoa(n)] = insert(d, "idempotency_keys", keyColumns, n) + " ON CONFLICT (owner, key) DO UPDATE SET " + excluded(keyColumns[2:]) +
			", body = NULL WHERE idempotency_keys.expires_at <= " + d.place(n*len(keyColumns)+1) + " OR idempotency_keys.made_id = excluded.made_id AND idempotency_keys.server_id = excluded.server_id AND idempotency_keys.epoch = excluded.epoch" // the second condition allows its server to store the same run again
	}
	for _, n := range eventChunks {
		text[addEvents+strconv.Itoa(n)] = insert(d, "run_events", eventColumns, n) + " ON CONFLICT (run_id, seq) DO NOTHING"
	}
	for _, n := range usageChunks {
		text[addUse+strconv.Itoa(n)] = insert(d, "agent_usage", useColumns, n) +
			" ON CONFLICT (agent_id) DO UPDATE SET run_count = agent_usage.run_count + excluded.run_count, last_used_at = " +
			"CASE WHEN excluded.last_used_at > agent_usage.last_used_at THEN excluded.last_used_at ELSE agent_usage.last_used_at END"
		text[addUsage+strconv.Itoa(n)] = insert(d, "usage", usageColumns, n) + " ON CONFLICT (workspace_id, month, meter) DO UPDATE SET amount = usage.amount + excluded.amount"
	}
	return text
}

// prepare prepares the statements that were not prepared before.
func (s *statements) prepare(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, text := range s.text {
		if s.prepared[key] != nil {
			continue
		}
		made, err := s.db.PrepareContext(ctx, text)
		if err != nil {
			return err
		}
		s.prepared[key] = made
	}
	return nil
}

// get returns a prepared statement.
func (s *statements) get(key string) *sql.Stmt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prepared[key]
}

func (s *statements) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, one := range s.prepared {
		errs = append(errs, one.Close())
	}
	clear(s.prepared)
	return errors.Join(errs...)
}

// insert returns the statement that inserts the given number of rows.
func insert(d dialect, table string, columns []string, rows int) string {
	var b strings.Builder
	b.WriteString("INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES ")
	places := make([]string, len(columns))
	for row := range rows {
		if row > 0 {
			b.WriteString(", ")
		}
		for i := range columns {
			places[i] = d.place(row*len(columns) + i + 1)
		}
		b.WriteString("(" + strings.Join(places, ", ") + ")")
	}
	return b.String()
}

// excluded returns SQL assignments. They set columns to the values that an upsert tried to insert.
func excluded(columns []string) string {
	set := make([]string, len(columns))
	for i, name := range columns {
		set[i] = name + " = excluded." + name
	}
	return strings.Join(set, ", ")
}
