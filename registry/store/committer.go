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
	// enough writes share the price of a transaction so well that it waits for no more; for fewer it waits so long.
	enough   = 16
	patience = time.Millisecond
)

// committer is the group commit of runs: callers that come while a transaction is being synced share the next one, so
// that the price of a sync is paid once for all of them. A transaction also waits a moment for callers who were in company
// with the one before, as their next writes are likely to be near; after a write that was alone nobody waits. There is no
// goroutine that commits: it would have to be woken, and wake the caller.
type committer struct {
	ledger  ledger
	log     *slog.Logger
	writers int // transactions at once

	mu     sync.Mutex
	closed bool
	queue  []*write // of callers that wait, the oldest first
	busy   int      // callers that commit
	idle   *sync.Cond
	batch  int           // callers who were here when the last transaction ended
	missed int           // the length of the queue that one who commits waits for, 0 where none does
	whole  chan struct{} // tells them that it is reached; has room for one
}

// write is one caller's part of a transaction. It is repeatable: it may be applied, rolled back and applied again.
type write struct {
	workspace, runID string
	by               identity         // the server that writes
	row              []any            // of a run that began or ended, nil for none
	used             use              // of an agent, by a run that ended
	events           []runtimes.Event // of the run
	bytes            int
	turn             chan turn // has room for one
}

// turn ends a caller's waiting.
type turn struct {
	leader bool  // it commits what waits, its own write first
	err    error // otherwise: how its write went
}

func newCommitter(db *sql.DB, d dialect, log *slog.Logger) *committer {
	c := &committer{ledger: newLedger(db, d), log: log, writers: d.writers()}
	c.idle = sync.NewCond(&c.mu)
	c.whole = make(chan struct{}, 1)
	return c
}

// commit returns when the write is durable or refused. Once accepted, a write is not given up: a caller whose context
// ends would otherwise not know whether its run is recorded.
func (c *committer) commit(w *write) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return fault.New(fault.ShuttingDown, "The server is shutting down.")
	}
	w.turn = make(chan turn, 1)
	if c.busy == c.writers || c.missed > 0 {
		c.queue = append(c.queue, w)
		if len(c.queue) == c.missed {
			select {
			case c.whole <- struct{}{}:
			default: // told already, when the queue was as long before
			}
		}
		c.mu.Unlock()
		if t := <-w.turn; !t.leader {
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

// awaitBatch lets those come who shared the last transaction or came while it was made. It gives the lock up meanwhile.
func (c *committer) awaitBatch() {
	others := min(c.batch, enough) - 1
	if c.missed > 0 || len(c.queue) >= others {
		return
	}
	c.missed = others
	c.mu.Unlock()
	late := time.NewTimer(patience)
	select {
	case <-c.whole:
	case <-late.C:
	}
	late.Stop()
	c.mu.Lock()
	c.missed = 0
	select { // the last may have come after all
	case <-c.whole:
	default:
	}
}

// count notes who is here at the end of a transaction of so many writes, before its callers are told: those come again.
func (c *committer) count(writes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batch = writes + len(c.queue) + c.busy - 1
}

// gather adds to a write what waits, up to the bounds of a transaction.
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

// pass lets the first who waits commit, or nobody: those whom another caller waits for are that one's.
func (c *committer) pass() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 || c.missed > 0 {
		c.busy--
		c.idle.Broadcast()
		return
	}
	next := c.queue[0]
	c.queue = slices.Delete(c.queue, 0, 1)
	next.turn <- turn{leader: true}
}

// close commits what was accepted and refuses the rest.
func (c *committer) close() error {
	c.mu.Lock()
	c.closed = true
	for c.busy > 0 {
		c.idle.Wait()
	}
	c.mu.Unlock()
	return c.ledger.close()
}

// errPanic is the answer to writes whose transaction ended in a panic, which is the business of whoever led it.
var errPanic = errors.New("the transaction ended in a panic")

// settle commits the writes and tells each caller. If the transaction fails, each write gets one of its own, so that
// only the one at fault fails. None is at fault where SQLite began none: each would wait for the same lock again.
func (c *committer) settle(writes []*write) {
	tell := func(err error) {
		writes[0].turn <- turn{err: err}
		writes = writes[1:]
	}
	defer func() {
		for len(writes) > 0 {
			tell(errPanic)
		}
	}()
	err := c.transact(writes)
	c.count(len(writes))
	if err != nil && len(writes) > 1 && !errors.Is(err, errNotBegun) {
		if !errors.Is(err, errApart) {
			c.log.LogAttrs(context.Background(), slog.LevelWarn, "shared transaction failed, committing one by one",
				slog.Int("writes", len(writes)), slog.Any("error", err))
		}
		for len(writes) > 0 {
			tell(c.transact(writes[:1]))
		}
		return
	}
	for len(writes) > 0 {
		tell(err)
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

func (c *committer) try(writes []*write) error {
	return c.ledger.transact(context.Background(), func(run exec) error {
		return (&batch{exec: run, writes: writes}).apply()
	})
}

// errApart says that writes cannot share a transaction, because what becomes of one depends on what is there.
var errApart = errors.New("these writes do not go together")

var useColumns = []string{"agent_id", "workspace_id", "run_count", "last_used_at"}

// batch is a shared transaction at work.
type batch struct {
	exec   exec
	writes []*write
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
	if err := b.checkOwners(); err != nil {
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

// ended makes sure that a run which was not written has ended, and that its server is the one that writes.
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

// checkOwners makes sure that runs which get events only are at work, and that their server is the one that writes.
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
