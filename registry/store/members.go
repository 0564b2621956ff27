package store

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"
)

// Member describes a server that shares its database with other servers.
type Member struct {
	ID      string // ID of the data directory; only one process at a time can lock this directory
	Address string // URL at which people reach the server
}

const (
	// leaseFor is the length of a lease. If a server does not renew its lease in this time, another server may remove it.
	// A server renews its lease every probeEvery.
	leaseFor = 15 * time.Second
	// lateAfter is the time after which a renewal counts as late. If an outage of the database is shorter than this, no
	// server's lease expires.
	lateAfter = leaseFor / 2
	// busyAfter is the age of the last renewal from which keepLease renews the lease instead of the probe. keepLease
	// checks this age every busyEvery. busyAfter plus busyEvery is less than lateAfter, so a renewal by keepLease is not
	// late.
	busyAfter = probeEvery + time.Second
	busyEvery = time.Second
	// settleEvery is the interval at which a member cleans up after servers that have ended. A member also cleans up when
	// it notices that a server has disappeared.
	settleEvery = 20 * time.Second
)

// member is the state of this server as a member of a group of servers that share a database.
type member struct {
	Member

	leads    atomic.Bool  // this server has the lowest epoch of the group
	others   atomic.Int64 // number of other servers
	expired  atomic.Int64 // number of leases of other servers that this server ended
	displace atomic.Int64 // number of times that another server ended this server's lease
	left     atomic.Bool  // the store was closed

	mu      sync.Mutex // guards the next fields
	renewed time.Time  // time of this server's last renewal
	steady  time.Time  // since this time no renewal was late
	looked  time.Time  // time at which this server last checked the other servers
	settled time.Time  // time at which this server last cleaned up after other servers
	seen    []identity // servers that existed at the last check
}

// lease is the SQL expression for the end of a lease that is renewed now. It uses the clock of the database, because
// the clocks of the servers may differ.
var lease = "clock_timestamp() + interval '" + strconv.Itoa(int(leaseFor.Seconds())) + " seconds'"

// Shared reports whether other servers may use the database at the same time.
func (s *Store) Shared() bool { return s.member != nil }

// ServerID returns the ID of this server, which it writes to the rows of its runs.
func (s *Store) ServerID() string { return s.identity.Load().server }

// Epoch returns the epoch of this server, which it writes to the rows of its runs. The epoch changes when the server
// joins the group again.
func (s *Store) Epoch() int64 { return s.identity.Load().epoch }

// Leads reports whether this server does the work that only one server of a group should do. A server that does not
// share the database leads. For a moment, two servers may lead at the same time. So this work must be harmless if two
// servers do it.
func (s *Store) Leads() bool { return s.member == nil || s.member.leads.Load() }

// Membership describes this server's role among the servers that share its database.
type Membership struct {
	Others    int64 // number of other servers with a lease
	Leads     bool
	Expired   int64 // number of leases of other servers that this server ended
	Displaced int64 // number of times that another server ended this server's lease
}

// Membership returns this server's membership, or nil if it does not share its database.
func (s *Store) Membership() *Membership {
	if s.member == nil {
		return nil
	}
	m := s.member
	return &Membership{Others: m.others.Load(), Leads: m.leads.Load(), Expired: m.expired.Load(), Displaced: m.displace.Load()}
}

// join adds this server to the group. The new epoch is at least the current time in microseconds. A server keeps its ID
// when it restarts, so it must never get the epoch of an earlier process again.
func (s *Store) join(ctx context.Context, tx bun.Tx, now *identity) error {
	if _, err := tx.ExecContext(ctx, "LOCK TABLE servers IN SHARE ROW EXCLUSIVE MODE"); err != nil {
		return err
	}
	// Rows without a lease belong to servers that did not share the database. They have ended, because this server has
	// the lock.
	if err := tx.NewSelect().Model((*serverRow)(nil)).ColumnExpr("GREATEST(COALESCE(MAX(s.epoch), 0) + 1, (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::bigint)").Scan(ctx, &now.epoch); err != nil {
		return err
	}
	if _, err := tx.NewDelete().Model((*serverRow)(nil)).Where("s.id = ? OR s.lease_until IS NULL", now.server).Exec(ctx); err != nil {
		return err
	}
	// Remove the counts that the earlier process of this server stored. Otherwise other servers would add them to quotas
	// until this server counts a run of the same workspace.
	for _, table := range []string{"run_cancellations", "quota_shares"} {
		if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE server_id = ?", now.server); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO servers (id, epoch, started_at, seen_at, address, lease_until) VALUES (?, ?, clock_timestamp(), clock_timestamp(), ?, "+lease+")",
		now.server, now.epoch, s.member.Address)
	if err == nil {
		s.member.mu.Lock()
		s.member.steady, s.member.renewed = time.Now(), time.Now()
		s.member.mu.Unlock()
	}
	return err
}

// renewal is the SQL statement that extends the lease of the server with an ID and an epoch.
var renewal = "UPDATE servers SET seen_at = clock_timestamp(), lease_until = " + lease + " WHERE id = $1 AND epoch = $2"

// renew extends the lease of this server, on the connection that holds the lock. If another server has ended the lease,
// this server refuses runs until it has joined the group again.
func (s *Store) renew(ctx context.Context) (held bool, err error) {
	now, sent := s.identity.Load(), time.Now()
	held, rows, err := s.exclusive.held(ctx, renewal, now.server, now.epoch)
	if !held || err != nil || now.epoch == 0 {
		return held, err
	}
	if rows == 0 {
		s.member.displace.Add(1)
		s.suspend(ctx, fenced, nil)
		return true, nil
	}
	s.member.extended(sent)
	return true, nil
}

// extended stores the time at which a renewal was sent that succeeded.
func (m *member) extended(sent time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if sent.Sub(m.renewed) > lateAfter {
		m.steady = sent
	}
	m.renewed = sent
}

// keepLease renews the lease until ctx ends, whenever the probe is too busy to renew it. The probe also stores waiting
// records and cleans up after other servers, and both may take longer than a lease.
func (s *Store) keepLease(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(max(every, busyEvery))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.keepOnce(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// keepOnce renews the lease if the last renewal is older than busyAfter. It ignores errors, because the probe will find
// their cause.
func (s *Store) keepOnce(ctx context.Context) {
	m, now, sent := s.member, s.identity.Load(), time.Now()
	m.mu.Lock()
	busy := sent.Sub(m.renewed) > busyAfter
	m.mu.Unlock()
	if !busy || now.epoch == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(probing(ctx), watchFor)
	defer cancel()
	if held, rows, err := s.exclusive.held(ctx, renewal, now.server, now.epoch); held && err == nil && rows > 0 {
		m.extended(sent)
	}
}

// attend checks the other servers. It removes servers whose leases have expired. It cleans up after servers that no
// longer exist: it interrupts their runs and releases their keys. It removes servers only if its own renewals were on
// time for the length of a lease. Otherwise an outage of the database may have made the leases of all servers expire.
func (s *Store) attend(ctx context.Context) error {
	m := s.member
	if m == nil || s.identity.Load().epoch == 0 {
		return nil
	}
	m.mu.Lock()
	now := time.Now()
	due, steady, late := now.Sub(m.looked) >= probeEvery, now.Sub(m.steady) >= leaseFor, now.Sub(m.settled) >= settleEvery
	seen := m.seen
	m.mu.Unlock()
	if !due {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, leaseFor)
	defer cancel()
	if steady {
		if err := s.expire(ctx); err != nil {
			return err
		}
	}
	var rows []serverRow
	if err := s.write.NewSelect().Model(&rows).Order("s.epoch").Scan(ctx); err != nil {
		return wrap("read servers", err)
	}
	present := make([]identity, 0, len(rows))
	for _, row := range rows {
		present = append(present, identity{row.ID, row.Epoch})
	}
	own := *s.identity.Load()
	m.leads.Store(len(present) > 0 && present[0] == own)
	m.others.Store(int64(len(slices.DeleteFunc(slices.Clone(present), func(one identity) bool { return one == own }))))
	gone := slices.ContainsFunc(seen, func(one identity) bool { return !slices.Contains(present, one) })
	if gone || late {
		done, err := s.settle(ctx)
		if err != nil {
			return err
		}
		if done.Runs > 0 || done.Keys > 0 || done.Approvals > 0 {
			s.log.LogAttrs(ctx, slog.LevelWarn, "cleaned up after a server that no longer exists", slog.Int("runs_interrupted", done.Runs), slog.Int("keys_released", done.Keys), slog.Int("approvals_withdrawn", done.Approvals))
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.looked, m.seen = now, present
	if gone || late {
		m.settled = now
	}
	return nil
}

// expire removes the servers whose leases have expired. These servers can then no longer write their runs.
func (s *Store) expire(ctx context.Context) error {
	var gone []serverRow
	if err := s.write.NewRaw("DELETE FROM servers WHERE lease_until < clock_timestamp() AND id <> ? RETURNING id, epoch, address", s.identity.Load().server).Scan(ctx, &gone); err != nil {
		return wrap("remove servers", err)
	}
	for _, one := range gone {
		s.member.expired.Add(1)
		s.log.LogAttrs(ctx, slog.LevelWarn, "the lease of another server has expired", slog.String("server", one.ID), slog.String("address", one.Address))
	}
	return nil
}

// displaced returns the reason why this server needs a new epoch, as a text for the log.
func (s *Store) displaced() string {
	if s.member != nil {
		return "another server ended the lease of this one"
	}
	return "another server has used the database in the meantime"
}

// leave removes this server from the group when it stops, so that the others do not wait until its lease expires.
func (s *Store) leave() error {
	now := s.identity.Load()
	if s.member == nil || now.epoch == 0 || s.probe.now() != "" || s.member.left.Swap(true) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), watchFor)
	defer cancel()
	_, err := s.write.ExecContext(ctx, "DELETE FROM servers WHERE id = ? AND epoch = ?", now.server, now.epoch)
	if outageOf(err) != "" || errors.Is(err, context.DeadlineExceeded) {
		return nil // another server removes this one when its lease expires
	}
	return wrap("leave the database", err)
}
