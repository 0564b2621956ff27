// Package store saves the types of package registry: agents, versions, runs with their events, credentials and
// responses to repeated requests. It contains all SQL for SQLite and PostgreSQL, one file per table. Rows are private,
// and methods return registry types. The package does not enforce rules about names, schemas and permissions; its
// callers do.
//
// When a method returns without an error, its changes survive a kill of the server and a power failure.
package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/blobs"
)

// Blobs stores the files of large versions outside the database: in a directory, or in a bucket that several servers
// share. The name of a blob is the ID of an agent, a slash and a version. Get verifies the content against the digest.
type Blobs interface {
	Put(ctx context.Context, name string, content []byte) (digest string, err error)
	Get(ctx context.Context, name, digest string) ([]byte, error)
	Size(ctx context.Context, name, digest string) (int64, error)
	List(ctx context.Context, each func(blobs.Stored) error) error
	// Remove removes a blob if the last call that stored it was before a time. It reports whether it removed the blob.
	Remove(ctx context.Context, b blobs.Stored, before time.Time) (bool, error)
}

// blobName returns the name of the blob that contains the files of a version.
func blobName(agentID, version string) string { return agentID + "/" + version }

// Options configures a Store.
type Options struct {
	URL       string           // "sqlite:PATH" or "postgres://…"
	Blobs     Blobs            // required
	Now       func() time.Time // nil means time.Now
	Log       *slog.Logger     // nil disables logging
	NoMigrate bool             // do not migrate the schema
	Exclusive bool             // lock the database; if another exclusive store has it open, Open returns ErrInUse
	Member    *Member          // lets an exclusive store share PostgreSQL with other servers; nil for a server that does not share the database
	Arrears   string           // directory for records of runs that wait for the database; "" keeps them in memory only
	Notice    registry.Notice  // creates the webhooks about requests for approval that Settle withdraws; nil for no webhooks
	Watch     time.Duration    // interval between checks of the database, for an exclusive store; 0 means a quarter of a second
	// Asked is called after every statement with the first word of the statement. Several goroutines may call it at the
	// same time. It may be nil.
	Asked func(ctx context.Context, operation string)
}

// Store saves registry types in a database. It is safe for concurrent use.
type Store struct {
	dialect dialect
	// With SQLite, write has one connection and read has several. With PostgreSQL, both fields are the same pool.
	write, read *bun.DB
	blobs       Blobs
	now         func() time.Time
	log         *slog.Logger
	notice      registry.Notice
	unreadable  sync.Map // IDs of the requests for approval whose rows cannot be read and were logged
	runs        *committer
	texts       map[string]string // SQL of the statements that store runs
	orphans     *orphans
	identity    atomic.Pointer[identity] // identity that this server writes to its rows
	exclusive   *exclusive               // nil for a store that does not lock its database
	probe       *probe
	arrears     *arrears
	links       *links  // nil for SQLite
	member      *member // nil for a server that does not share its database
	stopWatch   func()
}

// Open connects to the database and migrates its schema, unless NoMigrate is set. It returns an error if the schema has
// migrations that this program does not contain.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Blobs == nil {
		return nil, errors.New("open store: a blob store is required")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Watch == 0 {
		o.Watch = watchEvery
	}
	s := &Store{blobs: o.Blobs, now: o.Now, log: o.Log, notice: o.Notice, orphans: newOrphans(), probe: &probe{wake: make(chan struct{}, 1)}, stopWatch: func() {}}
	s.identity.Store(&identity{server: uuid.NewString()})
	if o.Exclusive {
		s.exclusive = &exclusive{shared: o.Member != nil}
	}
	if o.Member != nil {
		s.member = &member{Member: *o.Member}
		s.identity.Store(&identity{server: o.Member.ID})
	}
	if err := s.connect(ctx, o.URL); err != nil {
		return nil, errors.Join(err, s.release())
	}
	if s.member != nil && s.dialect != postgresDialect {
		return nil, errors.Join(errors.New("several servers can share a database only on PostgreSQL"), s.disconnect())
	}
	if o.Asked != nil {
		s.write, s.read = s.write.WithQueryHook(asked(o.Asked)), s.read.WithQueryHook(asked(o.Asked))
	}
	if o.Exclusive {
		s.write, s.read = s.write.WithQueryHook(notice(s.noticed)), s.read.WithQueryHook(notice(s.noticed))
		if err := s.lockDatabase(ctx); err != nil {
			return nil, errors.Join(wrap("open database", err), s.disconnect())
		}
	}
	if err := s.prepareSchema(ctx, o.NoMigrate); err != nil {
		return nil, errors.Join(err, s.disconnect())
	}
	arrears, err := openArrears(o.Arrears)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the records of runs that wait for the database: %w", err), s.disconnect())
	}
	s.arrears = arrears
	s.texts = texts(s.dialect)
	s.runs = newCommitter(s.write.DB, s.texts, s.dialect.writers(), s.probe.refuse, s.noticed, s.log)
	if o.Exclusive {
		s.startWatch(o.Watch)
	}
	return s, nil
}

func (s *Store) startWatch(every time.Duration) {
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	s.stopWatch = sync.OnceFunc(func() {
		stop()
		all.Wait()
	})
	all.Go(func() { s.watch(ctx, every) })
	if s.member != nil {
		all.Go(func() { s.keepLease(ctx, every) })
	}
}

// asked is a query hook of bun. It calls Options.Asked for each statement.
type asked func(ctx context.Context, operation string)

func (asked) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

func (a asked) AfterQuery(ctx context.Context, e *bun.QueryEvent) { a(ctx, e.Operation()) }

func (s *Store) prepareSchema(ctx context.Context, leave bool) error {
	if leave {
		_, err := s.MigrationStatus(ctx)
		return err
	}
	applied, err := s.Migrate(ctx)
	for _, name := range applied {
		s.log.LogAttrs(ctx, slog.LevelInfo, "migrated database", slog.String("migration", name))
	}
	return err
}

// Blobs returns the store for the files of large versions.
func (s *Store) Blobs() Blobs { return s.blobs }

// Close writes the changes that were accepted, and disconnects. Later writes of runs return an error.
func (s *Store) Close() error {
	s.stopWatch()
	return errors.Join(s.runs.close(), s.arrears.close(), s.leave(), s.disconnect())
}

func (s *Store) disconnect() error {
	if s.read == s.write {
		return errors.Join(s.release(), s.write.Close())
	}
	// The writing connection is closed last. When the last connection to a SQLite file is closed, SQLite moves the log
	// into the file.
	return errors.Join(s.read.Close(), s.write.Close(), s.release())
}

// release releases the lock of an exclusive database.
func (s *Store) release() error {
	if s.exclusive == nil {
		return nil
	}
	return s.exclusive.release()
}

// change runs f in a writing transaction. f may only use this transaction.
func (s *Store) change(ctx context.Context, what string, f func(ctx context.Context, tx bun.Tx) error) error {
	return wrap(what, s.write.RunInTx(ctx, nil, f))
}
