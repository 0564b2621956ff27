package store

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
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
	apply func(*batch) error
	bytes int
	err   chan error
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
func (c *committer) commit(bytes int, apply func(*batch) error) error {
	w := &write{apply: apply, bytes: bytes, err: make(chan error, 1)}
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
		c.log.LogAttrs(context.Background(), slog.LevelWarn, "shared transaction failed, committing one by one",
			slog.Int("writes", len(writes)), slog.Any("error", err))
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
	b := &batch{ctx: ctx, tx: tx, statements: c.statements}
	for _, w := range writes {
		if err := w.apply(b); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	if err := b.countUses(); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

var useColumns = []string{"agent_id", "workspace_id", "run_count", "last_used_at"}

// batch is a shared transaction at work.
type batch struct {
	ctx        context.Context
	tx         *sql.Tx
	statements *statements
	uses       []use
}

// use is how often an agent ran within a batch, and when last.
type use struct {
	workspace, agentID string
	count              int64
	last               time.Time
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

// used notes a use. Uses are added up and written at the end in the order of their keys: transactions that lock the
// same agents in different orders would wait for each other forever.
func (b *batch) used(workspace, agentID string, at time.Time) {
	for i := range b.uses {
		if u := &b.uses[i]; u.agentID == agentID && u.workspace == workspace {
			u.count++
			if at.After(u.last) {
				u.last = at
			}
			return
		}
	}
	b.uses = append(b.uses, use{workspace: workspace, agentID: agentID, count: 1, last: at})
}

func (b *batch) countUses() error {
	slices.SortFunc(b.uses, func(x, y use) int { return strings.Compare(x.agentID, y.agentID) })
	for _, u := range b.uses {
		if _, err := b.exec(addUse, u.agentID, u.workspace, u.count, u.last); err != nil {
			return err
		}
	}
	return nil
}
