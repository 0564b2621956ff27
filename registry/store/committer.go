package store

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

const (
	// A transaction takes what waits, up to so many writes and about so many bytes.
	batchWrites = 256
	batchBytes  = 8 << 20
	// attempts at a transaction that PostgreSQL gave up for another's sake.
	attempts = 5
)

// committer is the group commit of runs: callers that come while a transaction is being synced share the next one, so
// that the price of a sync is paid once for all of them. Nobody is made to wait for company: an idle committer commits
// a single write at once.
type committer struct {
	db         *sql.DB
	log        *slog.Logger
	statements *statements

	mu     sync.RWMutex // guards closing the queue against sending
	closed bool
	queue  chan *write
	done   sync.WaitGroup
}

// write is one caller's part of a transaction. It is repeatable: it may be applied, rolled back and applied again.
type write struct {
	workspace, runID string
	row              []any            // of a run that began or ended, nil for none
	used             use              // of an agent, by a run that ended
	events           []runtimes.Event // of the run
	bytes            int
	err              chan error
}

func newCommitter(db *sql.DB, d dialect, log *slog.Logger) *committer {
	c := &committer{db: db, log: log, statements: newStatements(db, d), queue: make(chan *write, batchWrites)}
	for range d.writers() {
		c.done.Go(c.loop)
	}
	return c
}

// commit returns when the write is durable or refused. Once accepted, a write is not given up: a caller whose context
// ends would otherwise not know whether its run is recorded.
func (c *committer) commit(w *write) error {
	w.err = make(chan error, 1)
	if err := c.enqueue(w); err != nil {
		return err
	}
	return <-w.err
}

func (c *committer) enqueue(w *write) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed {
		return fault.New(fault.ShuttingDown, "The server is shutting down.")
	}
	c.queue <- w
	return nil
}

// close commits what was accepted and ends the loops.
func (c *committer) close() error {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.queue)
	}
	c.mu.Unlock()
	c.done.Wait()
	return c.statements.close()
}

func (c *committer) loop() {
	writes := make([]*write, 0, batchWrites)
	for first := range c.queue {
		writes = c.gather(append(writes[:0], first))
		c.settle(writes)
		clear(writes)
	}
}

// gather adds what waits already.
func (c *committer) gather(writes []*write) []*write {
	for bytes := writes[0].bytes; len(writes) < batchWrites && bytes < batchBytes; {
		select {
		case next, ok := <-c.queue:
			if !ok {
				return writes
			}
			bytes += next.bytes
			writes = append(writes, next)
		default:
			return writes
		}
	}
	return writes
}

// settle commits the writes and tells each caller. If the transaction fails, each write gets one of its own, so that
// only the one at fault fails.
func (c *committer) settle(writes []*write) {
	err := c.transact(writes)
	if err != nil && len(writes) > 1 {
		if !errors.Is(err, errApart) {
			c.log.LogAttrs(context.Background(), slog.LevelWarn, "shared transaction failed, committing one by one",
				slog.Int("writes", len(writes)), slog.Any("error", err))
		}
		for _, w := range writes {
			w.err <- c.transact([]*write{w})
		}
		return
	}
	for _, w := range writes {
		w.err <- err
	}
}

func (c *committer) transact(writes []*write) error {
	for attempt := 1; ; attempt++ {
		err := c.try(writes)
		if !transient(err) || attempt == attempts {
			return err
		}
	}
}

func (c *committer) try(writes []*write) (err error) {
	ctx := context.Background()
	if err := c.statements.prepare(ctx); err != nil {
		return err
	}
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	b := &batch{ctx: ctx, tx: tx, statements: c.statements, writes: writes}
	if err := b.apply(); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// errApart says that writes cannot share a transaction, because what becomes of one depends on what is there.
var errApart = errors.New("these writes do not go together")

var useColumns = []string{"agent_id", "workspace_id", "run_count", "last_used_at"}

// batch is a shared transaction at work.
type batch struct {
	ctx        context.Context
	tx         *sql.Tx
	statements *statements
	writes     []*write
}

// use is how often an agent ran, and when last.
type use struct {
	workspace, agentID string
	count              int64
	last               time.Time
}

// apply writes the rows of all writes table by table, as many at once as there are statements for: on PostgreSQL each
// statement is a round trip.
func (b *batch) apply() error {
	written, err := b.putRuns()
	if err != nil || !written {
		return err
	}
	if err := b.addEvents(); err != nil {
		return err
	}
	return b.countUses()
}

// putRuns inserts runs or replaces those that have not ended. Where a run has ended already nothing of its write counts:
// false, if the write is alone.
func (b *batch) putRuns() (bool, error) {
	rows := make([][]any, 0, len(b.writes))
	seen := make(map[string]struct{}, len(b.writes))
	for _, w := range b.writes {
		if w.row == nil {
			continue
		}
		if _, twice := seen[w.runID]; twice {
			return false, errApart
		}
		seen[w.runID] = struct{}{}
		rows = append(rows, w.row)
	}
	affected, err := b.insert(putRuns, runChunks[:], rows)
	if err != nil || affected == int64(len(rows)) {
		return true, err
	}
	if len(b.writes) > 1 {
		return false, errApart
	}
	return false, b.ended(b.writes[0])
}

// ended makes sure that a run which was not written is there and has ended.
func (b *batch) ended(w *write) error {
	var status string
	err := b.statement(getStatus).QueryRowContext(b.ctx, w.runID, w.workspace).Scan(&status)
	if errors.Is(err, sql.ErrNoRows) {
		return fault.New(fault.Conflict, "The run ID %s is taken.", w.runID)
	}
	return err
}

func (b *batch) addEvents() error {
	var rows [][]any
	for _, w := range b.writes {
		for _, e := range w.events {
			rows = append(rows, eventArgs(w.workspace, w.runID, e))
		}
	}
	_, err := b.insert(addEvents, eventChunks[:], rows)
	return err
}

// insert inserts rows in chunks of these sizes, the last of which is 1, and says how many were written.
func (b *batch) insert(key string, chunks []int, rows [][]any) (int64, error) {
	var written int64
	var args []any
	for _, size := range chunks {
		for len(rows) >= size {
			args = args[:0]
			for _, row := range rows[:size] {
				args = append(args, row...)
			}
			n, err := b.exec(key+strconv.Itoa(size), args...)
			if err != nil {
				return written, err
			}
			written += n
			rows = rows[size:]
		}
	}
	return written, nil
}

func (b *batch) statement(key string) *sql.Stmt {
	return b.tx.StmtContext(b.ctx, b.statements.get(key))
}

func (b *batch) exec(key string, args ...any) (int64, error) {
	result, err := b.statement(key).ExecContext(b.ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// countUses adds uses up and writes them in the order of their keys: transactions that lock the same agents in different
// orders would wait for each other forever.
func (b *batch) countUses() error {
	var uses []use
	for _, w := range b.writes {
		if w.used.count == 0 {
			continue
		}
		at := slices.IndexFunc(uses, func(u use) bool { return u.agentID == w.used.agentID && u.workspace == w.used.workspace })
		if at < 0 {
			uses = append(uses, w.used)
			continue
		}
		uses[at].count += w.used.count
		if w.used.last.After(uses[at].last) {
			uses[at].last = w.used.last
		}
	}
	slices.SortFunc(uses, func(x, y use) int { return strings.Compare(x.agentID, y.agentID) })
	for _, u := range uses {
		if _, err := b.exec(addUse, u.agentID, u.workspace, u.count, u.last); err != nil {
			return err
		}
	}
	return nil
}
