package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

const (
	// arrearsMemory is the maximum total size, in bytes, of the waiting records in memory. Further records wait in files.
	arrearsMemory = 32 << 20
	// arrearsBytes and arrearsCount limit all waiting records, in memory and in files.
	arrearsBytes = 1 << 30
	arrearsCount = 10_000
	arrearsEnd   = ".json"
)

// arrears is the queue of the records of finished runs that could not be written during an outage of the database. When
// the database works again, they are written in the order of the queue. When the store is closed, records in memory are
// moved to files, and the next server process stores them.
type arrears struct {
	dir string // directory of the files; "" keeps all records in memory

	paying sync.Mutex // locked while records are written to the database, so that their order does not change

	mu     sync.Mutex
	limits arrearsLimits
	queue  []*arrear
	memory int64 // total bytes of the records in memory
	bytes  int64 // total bytes of all records
	last   int64 // number of the newest record
}

// arrearsLimits limits the total size and the number of the waiting records.
type arrearsLimits struct {
	memory, bytes int64
	count         int
}

// arrear is the record of one run that waits until the database can store it.
type arrear struct {
	number int64   // number in the name of its file; it determines the order of the queue
	record *record // nil if the record is in the file
	file   string  // "" if the record is in memory
	bytes  int64
	stored func(error) // nil for a record that an earlier process left
}

// record is the form in which the record of a run is stored in a file. JSON values are stored as bytes, so that they do
// not change.
type record struct {
	Server                        string
	Epoch                         int64
	Run                           registry.Run
	Input, Output, Stdout, Stderr []byte
	Events                        []recordedEvent
}

type recordedEvent struct {
	Seq  int64
	At   time.Time
	Kind runtimes.Kind
	Data []byte
}

// FinishLater adds the record of a finished run to the queue, because FinishRun could not store it. It calls stored
// once: when the record is durable in the database, or when the store has given up. It does not call stored if the
// store is closed before. It returns false if the queue is full.
func (s *Store) FinishLater(run registry.Run, events []runtimes.Event, stored func(error)) bool {
	if s.exclusive == nil { // no goroutine checks the database, so nothing would write the queue
		return false
	}
	one := newRecord(*s.identity.Load(), run, events)
	bytes := one.size()
	a := s.arrears
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) >= a.limits.count || a.bytes+bytes > a.limits.bytes {
		return false
	}
	a.last++
	next := &arrear{number: a.last, record: one, bytes: bytes, stored: stored}
	if a.memory+bytes > a.limits.memory {
		if err := a.spill(next); err != nil {
			s.log.LogAttrs(context.Background(), slog.LevelError, "store the record of a run in a file", slog.String("run_id", run.ID), slog.Any("error", err))
			return false
		}
	} else {
		a.memory += bytes
	}
	a.bytes += bytes
	a.queue = append(a.queue, next)
	select {
	case s.probe.wake <- struct{}{}:
	default: // the next probe has already been requested
	}
	return true
}

// Arrears returns the number of runs whose records wait for the database.
func (s *Store) Arrears() int {
	s.arrears.mu.Lock()
	defer s.arrears.mu.Unlock()
	return len(s.arrears.queue)
}

// payArrears writes the waiting records to the database, in their order. It stops if a write fails because of an
// outage.
func (s *Store) payArrears(ctx context.Context) error {
	s.arrears.paying.Lock()
	defer s.arrears.paying.Unlock()
	for n := 0; ; n++ {
		next := s.arrears.first()
		if next == nil {
			if n > 0 {
				s.log.LogAttrs(ctx, slog.LevelInfo, "stored the results of runs that ended during the outage", slog.Int("runs", n))
			}
			return nil
		}
		err := s.pay(ctx, next)
		if err != nil && (outageOf(err) != "" || transient(err)) {
			return err
		}
		if err != nil {
			s.log.LogAttrs(ctx, slog.LevelError, "the result of a run cannot be stored and is discarded", slog.String("file", next.file), slog.Any("error", err))
		}
		s.arrears.remove(next)
		if next.stored != nil {
			next.stored(err)
		}
	}
}

func (s *Store) pay(ctx context.Context, next *arrear) error {
	one := next.record
	if one == nil {
		text, err := os.ReadFile(next.file)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &one); err != nil {
			return err
		}
	}
	run, events := one.read()
	w, err := finishing(identity{one.Server, one.Epoch}, run, events)
	if err != nil {
		return err
	}
	return wrap("finish run", s.runs.ledger.transact(ctx, func(run exec) error {
		return (&batch{exec: run, writes: []*write{w}}).apply()
	}))
}

// openArrears returns a queue with the records that earlier server processes left in files.
func openArrears(dir string) (*arrears, error) {
	a := &arrears{dir: dir, limits: arrearsLimits{memory: arrearsMemory, bytes: arrearsBytes, count: arrearsCount}}
	if dir == "" {
		return a, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		number, err := strconv.ParseInt(strings.TrimSuffix(entry.Name(), arrearsEnd), 10, 64)
		if err != nil || !strings.HasSuffix(entry.Name(), arrearsEnd) { // an interrupted write left this file
			if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil {
				return nil, err
			}
			continue
		}
		info, err := entry.Info()
		if err != nil {
			return nil, err
		}
		a.last = max(a.last, number)
		a.bytes += info.Size()
		a.queue = append(a.queue, &arrear{number: number, file: filepath.Join(dir, entry.Name()), bytes: info.Size()})
	}
	slices.SortFunc(a.queue, func(x, y *arrear) int { return cmp.Compare(x.number, y.number) })
	return a, nil
}

// close moves the records in memory to files. If a record cannot be written to a file, it is lost, and the next server
// reports its run as interrupted.
func (a *arrears) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for _, one := range a.queue {
		if one.record != nil {
			errs = append(errs, a.spill(one))
		}
	}
	return errors.Join(errs...)
}

func (a *arrears) first() *arrear {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) == 0 {
		return nil
	}
	return a.queue[0]
}

func (a *arrears) remove(one *arrear) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queue = slices.DeleteFunc(a.queue, func(other *arrear) bool { return other == one })
	a.bytes -= one.bytes
	if one.file == "" {
		a.memory -= one.bytes
	} else {
		_ = os.Remove(one.file) // if the file cannot be removed, its record is stored a second time, which changes nothing
	}
}

// spill writes a record to a file. The caller must hold mu.
func (a *arrears) spill(one *arrear) error {
	if a.dir == "" {
		return errors.New("no directory for records of runs is configured")
	}
	text, err := json.Marshal(one.record)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return err
	}
	path := filepath.Join(a.dir, fmt.Sprintf("%012d%s", one.number, arrearsEnd))
	if err := writeSynced(path, text); err != nil {
		return err
	}
	one.record, one.file = nil, path
	return nil
}

// writeSynced writes a file durably. After a crash the file is complete or does not exist.
func writeSynced(path string, content []byte) error {
	draft := path + ".new"
	file, err := os.OpenFile(draft, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(draft, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft))
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func newRecord(by identity, run registry.Run, events []runtimes.Event) *record {
	r := &record{Server: by.server, Epoch: by.epoch, Run: run, Input: run.Input, Output: run.Output, Stdout: []byte(run.Stdout), Stderr: []byte(run.Stderr)}
	r.Run.Input, r.Run.Output, r.Run.Stdout, r.Run.Stderr = nil, nil, "", ""
	for _, e := range events {
		r.Events = append(r.Events, recordedEvent{Seq: e.Seq, At: e.At, Kind: e.Kind, Data: bytes.Clone(e.Data)})
	}
	return r
}

func (r *record) read() (registry.Run, []runtimes.Event) {
	run := r.Run
	run.Input, run.Output, run.Stdout, run.Stderr = r.Input, r.Output, string(r.Stdout), string(r.Stderr)
	events := make([]runtimes.Event, 0, len(r.Events))
	for _, e := range r.Events {
		events = append(events, runtimes.Event{Seq: e.Seq, At: e.At, Kind: e.Kind, Data: e.Data})
	}
	return run, events
}

// size returns the approximate size of a record in bytes.
func (r *record) size() int64 {
	total := 1024 + len(r.Input) + len(r.Output) + len(r.Stdout) + len(r.Stderr)
	for _, e := range r.Events {
		total += 128 + len(e.Data)
	}
	return int64(total)
}
