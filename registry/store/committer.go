package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

const (
	// batchWrites and batchBytes limit one transaction: the number of writes and their approximate size in bytes.
	batchWrites = 256
	batchBytes  = 8 << 20
	// attempts is the maximum number of attempts for a transaction. PostgreSQL may abort a transaction because of another
	// one.
	attempts = 5
	// enough is the number of waiting writes from which a transaction starts at once. With fewer writes it may wait up to
	// maxWait.
	enough  = 16
	maxWait = time.Millisecond
	// For every deep waiting writes one more transaction may run at the same time, up to writers. With fewer waiting
	// writes one transaction after the other is faster: concurrent transactions of all servers wait for each other,
	// because runs of one agent or workspace change the same rows of usage.
	deep = 64
)

// committer combines the commits of runs and of reserved idempotency keys into shared transactions. Callers that arrive
// while a transaction syncs the disk share the next transaction, and so share the cost of its sync.
//
// A transaction also waits a moment for the callers that shared the previous transaction, because their next writes are
// likely to follow soon. After a transaction with a single write, the next transaction does not wait. One of the
// callers commits for all; a separate goroutine would cost two more switches between goroutines.
type committer struct {
	ledger  ledger
	refuse  func(context.Context) error  // returns an error while the database is unavailable; then no transaction starts
	noticed func(context.Context, error) // receives the errors of transactions
	log     *slog.Logger
	writers int // maximum number of concurrent transactions
	// patience is the time after which a waiting write may start another transaction. Otherwise one transaction whose
	// connection hangs would stop all others.
	patience time.Duration

	mu     sync.Mutex
	closed bool
	queue  []*write // writes of waiting callers, oldest first
	busy   int      // number of callers that are committing
	idle   *sync.Cond
	batch  int           // number of callers present when the last transaction ended
	missed int           // queue length for which a committing caller waits; 0 if no caller waits
	whole  chan struct{} // signals that the queue has the length missed; has capacity 1
}

// write is one caller's part of a transaction. It can be applied, rolled back and applied again.
type write struct {
	workspace, runID string
	by               identity         // identity of the writing server
	row              []any            // row of a run that started or ended; nil if there is none
	key              *registry.KeyRef // idempotency key of the request that creates the run; nil if there is none
	reservation      *reservation     // reservation of an idempotency key; nil if there is none
	used             use              // count of the agent's runs, for a run that ended
	metered          []metered        // amounts on the meters of the workspace, for a run that ended
	events           []runtimes.Event // events of the run
	bytes            int
	turn             chan turn // has capacity 1
}

// turn is the message that ends the wait of a caller.
type turn struct {
	leader bool  // the caller commits the waiting writes, its own first
	err    error // if leader is false: the result of the caller's write
}

func newCommitter(db *sql.DB, text map[string]string, writers int, refuse func(context.Context) error, noticed func(context.Context, error), log *slog.Logger) *committer {
	c := &committer{
		ledger: &statements{db: db, text: text, prepared: map[string]*sql.Stmt{}},
		refuse: refuse, noticed: noticed, log: log, writers: writers, patience: 250 * time.Millisecond,
	}
	c.idle = sync.NewCond(&c.mu)
	c.whole = make(chan struct{}, 1)
	return c
}

// commit returns when the write is durable or rejected. It does not cancel an accepted write when the caller's context
// ends. Otherwise the caller would not know whether its run is recorded.
func (c *committer) commit(w *write) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return fault.New(fault.ShuttingDown, "The server is shutting down.")
	}
	w.turn = make(chan turn, 1)
	if c.busy >= c.allowed() || c.missed > 0 {
		c.queue = append(c.queue, w)
		if len(c.queue) == c.missed {
			select {
			case c.whole <- struct{}{}:
			default: // whole already has a signal from the last time that the queue had this length
			}
		}
		c.mu.Unlock()
		if t := c.awaitTurn(w); !t.leader {
			return t.err
		}
		c.mu.Lock()
	} else {
		c.busy++
	}
	c.awaitBatch()
	writes := c.gather(w)
	c.mu.Unlock()
	defer c.pass()
	c.settle(writes)
	return (<-w.turn).err
}

// awaitTurn returns the turn of a waiting write. After patience it gives the write a turn itself if another transaction
// may run.
func (c *committer) awaitTurn(w *write) turn {
	late := time.NewTimer(c.patience)
	defer late.Stop()
	select {
	case t := <-w.turn:
		return t
	case <-late.C:
	}
	c.mu.Lock()
	if at := slices.Index(c.queue, w); at >= 0 && c.busy < c.writers && c.missed == 0 {
		c.queue = slices.Delete(c.queue, at, at+1)
		c.busy++
		w.turn <- turn{leader: true}
	}
	c.mu.Unlock()
	return <-w.turn
}

// allowed returns the number of transactions that may run at the same time. Only a write that arrives uses a higher
// number.
func (c *committer) allowed() int { return min(c.writers, 1+len(c.queue)/deep) }

// awaitBatch waits for callers that shared the last transaction or arrived during it. It unlocks mu while it waits.
func (c *committer) awaitBatch() {
	others := min(c.batch, enough) - 1
	if c.missed > 0 || len(c.queue) >= others {
		return
	}
	c.missed = others
	c.mu.Unlock()
	late := time.NewTimer(maxWait)
	select {
	case <-c.whole:
	case <-late.C:
	}
	late.Stop()
	c.mu.Lock()
	c.missed = 0
	select { // the last caller may have sent its signal after the timeout
	case <-c.whole:
	default:
	}
}

// count stores the number of callers that were present when a transaction with the given number of writes ended. It
// runs before these callers get their results, because they are likely to write again.
func (c *committer) count(writes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batch = writes + len(c.queue) + c.busy - 1
}

// gather combines a write with waiting writes, up to the limits of a transaction.
func (c *committer) gather(first *write) []*write {
	n, bytes := 0, first.bytes
	for n < len(c.queue) && n+1 < batchWrites && bytes < batchBytes {
		bytes += c.queue[n].bytes
		n++
	}
	writes := append([]*write{first}, c.queue[:n]...)
	c.queue = slices.Delete(c.queue, 0, n)
	return writes
}

// pass lets the first waiting caller commit. It does nothing if a committing caller waits in awaitBatch, because that
// caller commits the waiting writes. It also does nothing if more transactions run than allowed, because the last of
// them lets the next caller commit.
func (c *committer) pass() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 || c.missed > 0 || c.busy > c.allowed() {
		c.busy--
		c.idle.Broadcast()
		return
	}
	next := c.queue[0]
	c.queue = slices.Delete(c.queue, 0, 1)
	next.turn <- turn{leader: true}
}

// close commits the accepted writes and rejects all further writes.
func (c *committer) close() error {
	c.mu.Lock()
	c.closed = true
	for c.busy > 0 {
		c.idle.Wait()
	}
	c.mu.Unlock()
	return c.ledger.close()
}

// errPanic is the result of the writes of a transaction that panicked. Only the committing caller gets the panic
// itself.
var errPanic = errors.New("the transaction ended in a panic")

// settle commits the writes and sends each caller its result. If the transaction fails, settle repeats each write in a
// separate transaction, so that only the faulty write fails. It does not repeat writes if the database itself failed.
// Then each write would fail in the same way, or wait for the same lock.
func (c *committer) settle(writes []*write) {
	report := func(err error) {
		writes[0].turn <- turn{err: err}
		writes = writes[1:]
	}
	defer func() {
		for len(writes) > 0 {
			report(errPanic)
		}
	}()
	err := c.transact(writes)
	c.count(len(writes))
	if err != nil && len(writes) > 1 && !errors.Is(err, errNotBegun) && outageOf(err) == "" {
		if !errors.Is(err, errApart) {
			c.log.LogAttrs(context.Background(), slog.LevelWarn, "shared transaction failed, committing one by one",
				slog.Int("writes", len(writes)), slog.Any("error", err))
		}
		for len(writes) > 0 {
			report(c.transact(writes[:1]))
		}
		return
	}
	for len(writes) > 0 {
		report(err)
	}
}

func (c *committer) transact(writes []*write) error {
	for attempt := 1; ; attempt++ {
		err := c.try(writes)
		if err != nil {
			c.noticed(context.Background(), err)
		}
		if !transient(err) || attempt == attempts {
			return err
		}
	}
}

// try makes one attempt to commit the writes. While the database is unavailable it fails at once, because the probe may
// need the only connection.
func (c *committer) try(writes []*write) error {
	if err := c.refuse(context.Background()); err != nil {
		return fmt.Errorf("%w: %w", errNotBegun, err)
	}
	return c.ledger.transact(context.Background(), func(run exec) error {
		return (&batch{exec: run, writes: writes}).apply()
	})
}

// errApart reports that writes cannot share a transaction, because the result of one write depends on rows that exist
// already.
var errApart = errors.New("these writes cannot share a transaction")

var useColumns = []string{"agent_id", "workspace_id", "run_count", "last_used_at"}

// batch is a shared transaction in progress.
type batch struct {
	exec   exec
	writes []*write
}

// use counts runs of an agent. It also holds the time of the last of these runs.
type use struct {
	workspace, agentID string
	count              int64
	last               time.Time
}

// apply writes the rows of all writes, table by table. It puts as many rows as possible into one statement, because on
// PostgreSQL each statement is a round trip.
func (b *batch) apply() error {
	written, err := b.putRuns()
	if err != nil || !written {
		return err
	}
	if err := b.checkOwners(); err != nil {
		return err
	}
	if err := b.reserveKeys(); err != nil {
		return err
	}
	if err := b.markKeys(); err != nil {
		return err
	}
	if err := b.addEvents(); err != nil {
		return err
	}
	if err := b.countUses(); err != nil {
		return err
	}
	return b.addUsage()
}

// putRuns inserts runs, and replaces runs that have not ended. The write of a run that has already ended has no effect.
// If it is the only write, putRuns returns false.
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

// ended checks a run that the statement did not write: the run must exist and must have ended.
func (b *batch) ended(w *write) error {
	found, err := b.exec(findEnded, w.runID, w.workspace, w.by.server, w.by.epoch)
	if err != nil || found > 0 {
		return err
	}
	if found, err = b.exec(findRun, w.runID, w.workspace); err != nil {
		return err
	}
	if found == 0 {
		return fault.New(fault.Conflict, "The run ID %s already exists.", w.runID)
	}
	return interrupted(w.runID)
}

// checkOwners checks the runs for which only events are written. Each must be unfinished and must belong to the writing
// server.
func (b *batch) checkOwners() error {
	for _, w := range b.writes {
		if w.row != nil || len(w.events) == 0 {
			continue
		}
		found, err := b.exec(findOwn, w.runID, w.workspace, w.by.server, w.by.epoch)
		if err != nil {
			return err
		}
		if found > 0 {
			continue
		}
		if len(b.writes) > 1 {
			return errApart
		}
		if found, err = b.exec(findRun, w.runID, w.workspace); err != nil {
			return err
		}
		if found == 0 {
			return noRun(w.runID)
		}
		return interrupted(w.runID)
	}
	return nil
}

// markKeys stores the IDs of runs with the idempotency keys of their requests, in the same way as Store.markKey.
func (b *batch) markKeys() error {
	for _, w := range b.writes {
		if w.key == nil {
			continue
		}
		marked, err := b.exec(markKey, string(registry.MadeRun), w.runID, w.key.Owner, w.key.Key, w.by.server, w.by.epoch)
		if err != nil {
			return err
		}
		if marked == 0 && len(b.writes) > 1 {
			return errApart
		}
		if marked == 0 {
			return keyTaken()
		}
	}
	return nil
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

// insert inserts rows in chunks of the given sizes, of which the last is 1. It returns the number of rows that were
// written.
func (b *batch) insert(key string, chunks []int, rows [][]any) (int64, error) {
	var written int64
	for _, size := range chunks {
		for len(rows) >= size {
			args := rows[0]
			if size > 1 {
				args = slices.Concat(rows[:size]...)
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

// countUses adds up the uses of each agent and writes the sums in the order of their keys. Transactions that lock the
// same agents in different orders would deadlock.
func (b *batch) countUses() error {
	var uses []use
	for _, w := range b.writes {
		if w.used.count == 0 {
			continue
		}
		at := slices.IndexFunc(uses, func(u use) bool { return u.agentID == w.used.agentID })
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
	rows := make([][]any, 0, len(uses))
	for _, u := range uses {
		rows = append(rows, []any{u.agentID, u.workspace, u.count, u.last})
	}
	_, err := b.insert(addUse, usageChunks[:], rows)
	return err
}
