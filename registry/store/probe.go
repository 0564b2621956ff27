package store

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"
	"golang.org/x/sys/unix"
)

const (
	// watchEvery is the interval between checks of the database. watchFor is the timeout of a check. Together they limit
	// how long a request waits for a database that does not answer.
	watchEvery = 250 * time.Millisecond
	watchFor   = 1250 * time.Millisecond
	// probeEvery is the interval between test writes while the database is healthy. A test write syncs the disk.
	probeEvery = 5 * time.Second
	// leastFree is the free space in bytes that the disk of a SQLite database must have. A test write does not detect a
	// full disk, because the log may have space that was allocated earlier.
	leastFree = 16 << 20
	// patienceWithOwn is the time for which writes of this server may use SQLite's writing connection without
	// interruption. After this time, the server refuses runs.
	patienceWithOwn = 10 * time.Second
)

// probe checks in the background whether the database can be written.
type probe struct {
	dir  string        // directory of the SQLite file; "" for PostgreSQL
	wake chan struct{} // signals that a statement failed; has capacity 1

	unsettled atomic.Bool // Settle failed and must be repeated

	checking sync.Mutex // guards the next two fields; check locks it
	written  time.Time  // time of the last successful test write
	held     time.Time  // since this time other writes of this server use SQLite's writing connection; zero if it is free

	mu  sync.Mutex
	why outage // reason why runs cannot be recorded; "" if they can
}

func (p *probe) now() outage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why
}

// set changes the state and reports whether it has changed. The state damaged never changes, because a damaged database
// may still accept some writes.
func (p *probe) set(why outage) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why == why || p.why == damaged {
		return false
	}
	p.why = why
	return true
}

// Ready returns an error while this server cannot record runs: StorageUnavailable, with the reason.
func (s *Store) Ready() error {
	if why := s.probe.now(); why != "" {
		return why.fault(nil)
	}
	return nil
}

// noticed examines the error of a statement. If the database failed, the server refuses runs until a probe succeeds.
// noticed ignores the errors of the probe itself. Otherwise each failed probe would start the next probe, and SQLite's
// only writing connection would always be in use.
func (s *Store) noticed(ctx context.Context, err error) {
	why := outageOf(err)
	if s.exclusive == nil || why == "" || errors.Is(err, errRefused) || ctx.Value(probeKey{}) != nil {
		return
	}
	if why != unreachable { // a connection may end although the database works; the probe finds out
		s.suspend(ctx, why, err)
	}
	select {
	case s.probe.wake <- struct{}{}:
	default: // the next probe has already been requested
	}
}

func (s *Store) suspend(ctx context.Context, why outage, err error) {
	if s.probe.set(why) {
		s.log.LogAttrs(ctx, slog.LevelError, "runs are refused, because the database cannot record them", slog.String("reason", string(why)), slog.Any("error", err))
	}
}

// watch checks the database regularly until ctx ends.
func (s *Store) watch(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.probe.wake:
		case <-ctx.Done():
			return
		}
		s.check(ctx)
	}
}

// check examines whether this server can write to the database and still holds its lock. If not, check stores the
// reason, which Ready returns.
func (s *Store) check(ctx context.Context) {
	s.probe.checking.Lock()
	defer s.probe.checking.Unlock()
	why, err := s.examine(ctx)
	if ctx.Err() != nil {
		return
	}
	if why != "" {
		s.suspend(ctx, why, err)
		if why == unreachable && s.links != nil {
			s.links.cut()
		}
		return
	}
	if s.probe.now() == "" {
		if err := errors.Join(s.payArrears(probing(ctx)), s.attend(probing(ctx))); err != nil && ctx.Err() == nil {
			s.noticed(ctx, err)
		}
		return
	}
	if err := s.resume(ctx); err != nil {
		s.log.LogAttrs(ctx, slog.LevelError, "use the database again", slog.Any("error", err))
		return
	}
	if s.probe.set("") {
		s.log.LogAttrs(ctx, slog.LevelInfo, "the database records runs again")
	}
}

// examine returns the reason why runs cannot be recorded, "" if they can.
func (s *Store) examine(ctx context.Context) (outage, error) {
	due := s.probe.now() != "" || time.Since(s.probe.written) >= probeEvery
	examine := s.examineSQLite
	if s.exclusive.connect != nil {
		examine = s.examinePostgres
	}
	why, err := examine(ctx, due)
	if due && why == "" {
		s.probe.written = time.Now()
	}
	return why, err
}

// probeStatement returns a statement that changes a value each time, because SQLite skips a write that changes nothing.
func (s *Store) probeStatement() string {
	return "UPDATE servers SET seen_at = '" + instant(s.now()).Format("2006-01-02 15:04:05.999999-07:00") + "'"
}

// examinePostgres checks the connection that holds the lock. If the connection is lost, it tries to get the lock again.
func (s *Store) examinePostgres(ctx context.Context, due bool) (outage, error) {
	ctx, cancel := context.WithTimeout(probing(ctx), watchFor)
	defer cancel()
	held, err := s.beat(ctx, due)
	if held {
		return outageOf(err), err
	}
	if s.probe.now() == "" {
		s.suspend(ctx, lockLost, nil)
	}
	taken, err := s.exclusive.take(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return unreachable, err
	case err != nil && outageOf(err) != "":
		return outageOf(err), err
	case err != nil:
		return lockLost, err
	case !taken:
		return takenOver, nil
	}
	_, err = s.beat(ctx, true)
	return outageOf(err), err
}

// beat runs a statement on the connection that holds the lock. If a test write is due, the statement writes a row. A
// server that shares the database renews its lease with this write.
func (s *Store) beat(ctx context.Context, due bool) (held bool, err error) {
	switch {
	case !due:
		held, _, err = s.exclusive.held(ctx, "SELECT 1")
	case s.member != nil:
		return s.renew(ctx)
	default:
		held, _, err = s.exclusive.held(ctx, s.probeStatement())
	}
	return held, err
}

// examineSQLite measures the free space of the disk. If a test write is due, it writes a row.
func (s *Store) examineSQLite(ctx context.Context, due bool) (outage, error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(s.probe.dir, &disk); err != nil {
		return unusable, err
	}
	if int64(disk.Bavail)*disk.Bsize < leastFree { //nolint:unconvert,nolintlint // the types differ between platforms
		return diskFull, nil
	}
	if !due {
		return "", nil
	}
	wait, cancel := context.WithTimeout(ctx, watchFor)
	defer cancel()
	conn, err := s.write.Conn(wait)
	if err != nil {
		return s.heldByOwn(), err
	}
	s.probe.held = time.Time{}
	err = s.probeOn(probing(ctx), conn)
	return outageOf(err), errors.Join(err, conn.Close())
}

// probeOn writes a row. If the probe knows that another process holds the lock, it waits only briefly, because other
// requests need the same connection and would wait too.
func (s *Store) probeOn(ctx context.Context, conn bun.Conn) error {
	if s.probe.now() != locked {
		_, err := conn.ExecContext(ctx, s.probeStatement())
		return err
	}
	if err := waitOn(ctx, conn, hardly); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, s.probeStatement())
	return errors.Join(err, waitOn(ctx, conn, briefly))
}

// heldByOwn returns the state while other writes of this server use SQLite's only writing connection. Such a write may
// take long. The state becomes stuck only after patienceWithOwn.
func (s *Store) heldByOwn() outage {
	if s.probe.held.IsZero() {
		s.probe.held = time.Now()
	}
	if time.Since(s.probe.held) > patienceWithOwn {
		return stuck
	}
	return s.probe.now()
}

// resume starts a new epoch, if another server has used the database in the meantime or this server has no epoch yet.
func (s *Store) resume(ctx context.Context) error {
	ctx = probing(ctx)
	if s.probe.unsettled.Load() {
		_, err := s.Settle(ctx)
		return err
	}
	if s.identity.Load().epoch == 0 { // Settle was never called
		return nil
	}
	same, err := s.registered(ctx)
	if err != nil {
		return err
	}
	if same {
		return s.payArrears(ctx)
	}
	done, err := s.Settle(ctx)
	if err == nil {
		s.log.LogAttrs(ctx, slog.LevelWarn, s.displaced(), slog.Int("runs_interrupted", done.Runs), slog.Int("keys_released", done.Keys))
	}
	return err
}

type probeKey struct{}

// probing returns a context for the statements of the probe, which are executed even while other statements are
// refused.
func probing(ctx context.Context) context.Context { return context.WithValue(ctx, probeKey{}, true) }

// errRefused reports that a statement was not sent to the database, because the statement would only wait.
var errRefused = errors.New("not sent to the database")

// refuse returns an error while every statement would only wait. A statement would wait for the lock of another
// process, for a write that does not finish, or for a PostgreSQL server that does not answer.
func (p *probe) refuse(ctx context.Context) error {
	if ctx.Value(probeKey{}) != nil {
		return nil
	}
	if why := p.now(); why == locked || why == unreachable || why == stuck {
		return why.fault(errRefused)
	}
	return nil
}

// links is the set of open connections to PostgreSQL. A frozen PostgreSQL server does not answer and does not close its
// connections. This server then closes them, so that waiting requests end.
type links struct {
	dial  func(ctx context.Context, network, address string) (net.Conn, error)
	probe *probe

	mu   sync.Mutex
	open map[*link]struct{}
}

type link struct {
	net.Conn
	of *links
}

func newLinks(p *probe) *links {
	return &links{dial: (&net.Dialer{KeepAlive: time.Minute}).DialContext, probe: p, open: map[*link]struct{}{}}
}

// connect opens a connection to PostgreSQL. While the probe knows that PostgreSQL does not answer, connect fails at
// once.
func (l *links) connect(ctx context.Context, network, address string) (net.Conn, error) {
	if err := l.probe.refuse(ctx); err != nil {
		return nil, err
	}
	conn, err := l.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	one := &link{Conn: conn, of: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[one] = struct{}{}
	return one, nil
}

// cut closes all connections, so that requests that wait for an answer fail.
func (l *links) cut() {
	l.mu.Lock()
	all := l.open
	l.open = map[*link]struct{}{}
	l.mu.Unlock()
	for one := range all {
		_ = one.Conn.Close() // an error does not matter, because the connection is no longer used
	}
}

// Close implements net.Conn. It does nothing for a connection that cut has already closed.
func (c *link) Close() error {
	c.of.mu.Lock()
	_, open := c.of.open[c]
	delete(c.of.open, c)
	c.of.mu.Unlock()
	if !open {
		return nil
	}
	return c.Conn.Close()
}

// notice is a query hook of bun that reports failures of the database.
type notice func(context.Context, error)

func (notice) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

func (n notice) AfterQuery(ctx context.Context, e *bun.QueryEvent) {
	if e.Err != nil {
		n(ctx, e.Err)
	}
}
