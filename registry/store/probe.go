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
	// watchEvery is the interval of checking the database, and watchFor the timeout of a check. Together they bound how
	// long a request waits for a database that does not answer.
	watchEvery = 250 * time.Millisecond
	watchFor   = 1250 * time.Millisecond
	// probeEvery is the interval between test writes while the database is healthy. A test write syncs the disk.
	probeEvery = 5 * time.Second
	// leastFree is the free space in bytes that the disk of a SQLite database needs. It is more than a small write
	// needs, because the log that a write goes to has space that was allocated earlier.
	leastFree = 16 << 20
	// patienceWithOwn is how long one of our own writes may take before no further run is accepted.
	patienceWithOwn = 10 * time.Second
)

// probe finds out whether the database can be written, away from the requests.
type probe struct {
	dir  string        // directory of the SQLite file; "" for PostgreSQL
	wake chan struct{} // signals that a statement failed; has capacity 1

	unsettled atomic.Bool // Settle failed and must be repeated

	checking sync.Mutex // guards the next fields; check holds it
	written  time.Time  // last successful probe of a write
	held     time.Time  // since when our own writes keep SQLite's connection; zero if they do not

	mu  sync.Mutex
	why outage // why runs cannot be recorded; "" if they can
}

func (p *probe) now() outage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why
}

// set changes the state and reports whether it differs from the previous one. A damaged database stays damaged: it may
// still accept some writes.
func (p *probe) set(why outage) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why == why || p.why == damaged {
		return false
	}
	p.why = why
	return true
}

// Ready returns why this server cannot record runs now, nil if it can. Error: StorageUnavailable.
func (s *Store) Ready() error {
	if why := s.probe.now(); why != "" {
		return why.fault(nil)
	}
	return nil
}

// noticed examines the error of a statement. If the database failed, runs are refused until a probe succeeds. The
// errors of a probe are left to it: if they asked for the next probe, it would keep SQLite's only writing connection.
func (s *Store) noticed(ctx context.Context, err error) {
	why := outageOf(err)
	if s.exclusive == nil || why == "" || errors.Is(err, errRefused) || ctx.Value(probeKey{}) != nil {
		return
	}
	if why != unreachable { // one connection may end while the database is well; the probe decides
		s.suspend(ctx, why, err)
	}
	select {
	case s.probe.wake <- struct{}{}:
	default: // the probe is already asked for
	}
}

func (s *Store) suspend(ctx context.Context, why outage, err error) {
	if s.probe.set(why) {
		s.log.LogAttrs(ctx, slog.LevelError, "runs are refused: the database cannot record them", slog.String("reason", string(why)), slog.Any("error", err))
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

// check examines whether this server may and can write to the database. While it cannot, Ready returns the reason.
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

// examine returns why runs cannot be recorded, "" if they can.
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

// probeStatement changes a row, because SQLite skips a write that changes nothing.
func (s *Store) probeStatement() string {
	return "UPDATE servers SET seen_at = '" + instant(s.now()).Format("2006-01-02 15:04:05.999999-07:00") + "'"
}

// examinePostgres uses the connection that holds the lock, and takes the lock again if it is lost.
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

// beat asks the connection with the lock for an answer, and writes a row if that is due. A server that shares the
// database renews its lease with it.
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

// examineSQLite measures the free space and writes a row.
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

// probeOn writes a row. If another process is known to hold the lock, probeOn waits only briefly for it: requests need
// this connection and would wait too.
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

// heldByOwn returns the state while our own writes keep SQLite's only writing connection. They may be long.
func (s *Store) heldByOwn() outage {
	if s.probe.held.IsZero() {
		s.probe.held = time.Now()
	}
	if time.Since(s.probe.held) > patienceWithOwn {
		return stuck
	}
	return s.probe.now()
}

// resume starts a new epoch if another server held the database meanwhile, or if this one never had an epoch.
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

// probing marks the statements of a probe, which are executed while others are refused.
func probing(ctx context.Context) context.Context { return context.WithValue(ctx, probeKey{}, true) }

// errRefused reports a statement that was not sent to the database, because it would wait in vain.
var errRefused = errors.New("refused without asking the database")

// refuse rejects statements while every one of them would only wait: for the lock of another process, or for a
// PostgreSQL that does not answer.
func (p *probe) refuse(ctx context.Context) error {
	if ctx.Value(probeKey{}) != nil {
		return nil
	}
	if why := p.now(); why == locked || why == unreachable || why == stuck {
		return why.fault(errRefused)
	}
	return nil
}

// links are the connections to PostgreSQL. A server that is frozen keeps its connections open and never answers, so
// requests that wait for it must be released.
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

// connect dials PostgreSQL, unless it is known not to answer.
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

// cut closes all connections, so that no request waits for them.
func (l *links) cut() {
	l.mu.Lock()
	all := l.open
	l.open = map[*link]struct{}{}
	l.mu.Unlock()
	for one := range all {
		_ = one.Conn.Close() // the connection is given up
	}
}

// Close implements net.Conn. A connection that was cut is closed already.
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
