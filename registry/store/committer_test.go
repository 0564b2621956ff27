package store_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

func TestFiftyWritersLoseNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		agents := []registry.Agent{create(t, s, agent("a")), create(t, s, agent("b")), create(t, s, agent("c"))}
		const writers, each = 50, 20
		var group sync.WaitGroup
		for w := range writers {
			group.Go(func() {
				for i := range each {
					run := finished()
					run.AgentID, run.Status = agents[(w+i)%3].ID, registry.Succeeded
					run.Output = json.RawMessage(fmt.Sprintf(`{"writer":%d,"run":%d}`, w, i))
					if err := s.FinishRun(t.Context(), run, events(1, 3)); err != nil {
						t.Error(err)
						return
					}
					// An acknowledged run is visible to other connections too.
					got, err := s.Run(t.Context(), ws, run.ID)
					if err != nil || string(got.Output) != string(run.Output) {
						t.Errorf("after the acknowledgement: %s, %v", got.Output, err)
					}
				}
			})
		}
		group.Wait()
		var uses int64
		for _, a := range agents {
			got, err := s.Agent(t.Context(), ws, a.ID)
			if err != nil {
				t.Fatal(err)
			}
			uses += got.UsageCount
		}
		if uses != writers*each {
			t.Errorf("%d uses were counted, not %d", uses, writers*each)
		}
	})
}

func TestOneBadWriteDoesNotSpoilTheOthers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		const good = 40
		ids := make([]string, good)
		var group sync.WaitGroup
		for i := range good {
			group.Go(func() {
				run := finished()
				ids[i] = run.ID
				if err := s.FinishRun(t.Context(), run, events(1, 2)); err != nil {
					t.Error(err)
				}
			})
			group.Go(func() {
				expect(t, s.AppendEvents(t.Context(), ws, "unknown", events(1, 2)), fault.NotFound)
			})
		}
		group.Wait()
		for _, id := range ids {
			read(t, s, id)
			if got, err := s.Events(t.Context(), ws, id, 0, 0); err != nil || len(got) != 2 {
				t.Errorf("%d events, %v", len(got), err)
			}
		}
	})
}

// TestRepeatedFinishesCountOnce checks that finishing a run repeatedly, concurrently with other writes, changes
// nothing, even within one transaction.
func TestRepeatedFinishesCountOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		a := create(t, s, agent("a"))
		same := finished()
		same.AgentID = a.ID
		const callers, each = 20, 10
		var group sync.WaitGroup
		for range callers {
			group.Go(func() {
				for range each {
					other := finished()
					other.AgentID = a.ID
					for _, run := range []registry.Run{same, other} {
						if err := s.FinishRun(t.Context(), run, events(1, 3)); err != nil {
							t.Error(err)
						}
					}
					if got, err := s.Events(t.Context(), ws, other.ID, 0, 0); err != nil || len(got) != 3 {
						t.Errorf("%d events of a run in company, %v", len(got), err)
					}
				}
			})
		}
		group.Wait()
		if got, err := s.Agent(t.Context(), ws, a.ID); err != nil || got.UsageCount != callers*each+1 {
			t.Errorf("%d uses were counted, not %d, %v", got.UsageCount, callers*each+1, err)
		}
	})
}

func TestRunsAreRecordedWhenTheCallerIsGone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		run := queued()
		if err := s.BeginRun(gone, run); err != nil {
			t.Fatal(err)
		}
		run.Status = registry.StatusCancelled
		if err := s.FinishRun(gone, run, events(1, 1)); err != nil {
			t.Fatal(err)
		}
		same(t, read(t, s, run.ID), run)
	})
}

// TestBatchCommitsTogether checks that callers who shared a transaction share the next ones. The committer waits once
// for a caller that does not return, and a single caller does not wait. The test controls the clock, which advances
// only when all goroutines are blocked.
func TestBatchCommitsTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := storetest.Open(t, storetest.SQLite)
		transactions := s.Transactions()
		release, err := s.HoldWriter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		finish := func(times int) {
			for range times {
				if err := s.FinishRun(t.Context(), finished(), events(1, 3)); err != nil {
					t.Error(err)
				}
			}
		}
		const callers, each = 8, 20
		var group sync.WaitGroup
		for range callers {
			group.Go(func() { finish(each) })
		}
		synctest.Wait() // one caller commits, and the others wait for it
		began := time.Now()
		if err := release(); err != nil {
			t.Fatal(err)
		}
		group.Wait()
		// The first caller wrote alone, so the last transaction waits for it in vain.
		if got, waited := transactions.Load(), time.Since(began); got != each+1 || waited != time.Millisecond {
			t.Errorf("%d callers with %d runs each made %d transactions and waited %v", callers, each, got, waited)
		}
		finish(1)
		began = time.Now()
		finish(each)
		if waited := time.Since(began); waited != 0 {
			t.Errorf("a caller who was alone before waited %v", waited)
		}
	})
}

// TestConcurrentTransactions checks that few writes wait for the running transaction, and that many start another one
// on PostgreSQL.
func TestConcurrentTransactions(t *testing.T) {
	t.Parallel()
	for d, want := range map[storetest.Dialect]int64{storetest.SQLite: 1, storetest.Postgres: 2} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, d)
			entered, release := s.Hold(time.Hour)
			var group sync.WaitGroup
			finish := func(times int) {
				for range times {
					group.Go(func() {
						if err := s.FinishRun(t.Context(), finished(), nil); err != nil {
							t.Error(err)
						}
					})
				}
			}
			finish(1)
			for entered.Load() < 1 {
				runtime.Gosched()
			}
			finish(store.Deep)
			for s.Waiting() < store.Deep && entered.Load() == 1 {
				runtime.Gosched()
			}
			if got := entered.Load(); got != 1 {
				t.Errorf("%d transactions with fewer than %d waiting writes", got, store.Deep)
			}
			finish(1)
			for s.Waiting() <= store.Deep && entered.Load() < 2 {
				runtime.Gosched()
			}
			if got := entered.Load(); got != want {
				t.Errorf("%d transactions, want %d", got, want)
			}
			release()
			group.Wait()
		})
	}
}

// TestHangingTransaction checks that a transaction that hangs does not stop the others.
func TestHangingTransaction(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.Postgres)
	entered, release := s.Hold(time.Millisecond)
	var group sync.WaitGroup
	for n := range int64(2) {
		group.Go(func() {
			if err := s.FinishRun(t.Context(), finished(), nil); err != nil {
				t.Error(err)
			}
		})
		for entered.Load() <= n {
			runtime.Gosched()
		}
	}
	release()
	group.Wait()
}

// TestPanicOfALeaderIsAnswered checks that all callers of a transaction that panics get an error, and that the next
// transaction commits.
func TestPanicOfALeaderIsAnswered(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	end := s.Panic()
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			defer func() { _ = recover() }()
			if err := s.FinishRun(context.Background(), finished(), nil); err == nil {
				t.Error("a run is acknowledged that was not written")
			}
		})
	}
	group.Wait()
	end()
	run := finished()
	if err := s.FinishRun(t.Context(), run, nil); err != nil {
		t.Fatal(err)
	}
	read(t, s, run.ID)
}

// TestBusyDatabaseIsAskedOnceForAll checks that waiting writes are rejected together while another process has locked
// the database. If they were tried one by one, each would wait as long as the first.
func TestBusyDatabaseIsAskedOnceForAll(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	o := storetest.Options(t, storetest.SQLite)
	o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s := storetest.Reopen(t, o)
	if err := s.Exec(t.Context(), "PRAGMA busy_timeout = 0"); err != nil {
		t.Fatal(err)
	}
	other := storetest.Reopen(t, o)
	release, err := s.HoldWriter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const callers = 20
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			if err := s.FinishRun(t.Context(), finished(), nil); err == nil || !strings.Contains(err.Error(), "SQLITE_BUSY") {
				t.Errorf("a database that is busy: %v", err)
			}
		})
	}
	for s.Waiting() < callers-1 {
		runtime.Gosched()
	}
	if err := other.Exclusively(t.Context(), func() error {
		err := release()
		group.Wait()
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if log.Len() > 0 {
		t.Errorf("the log says %s", log.String())
	}
	if err := s.FinishRun(t.Context(), finished(), nil); err != nil {
		t.Errorf("when it is not busy any more: %v", err)
	}
}

// TestRunsOutliveTheWritingConnection checks that runs are stored after a write to SQLite was cancelled. The
// cancellation closes the connection and its prepared statements.
func TestRunsOutliveTheWritingConnection(t *testing.T) {
	t.Parallel()
	o := storetest.Options(t, storetest.SQLite)
	s := storetest.Reopen(t, o)
	var before int
	for round := range 3 {
		run := finished()
		if err := s.FinishRun(t.Context(), run, events(1, 2)); err != nil {
			t.Fatal(err)
		}
		read(t, s, run.ID)
		if err := s.LoseWriter(t.Context()); err != nil {
			t.Fatal(err)
		}
		open := descriptors(t, strings.TrimPrefix(o.URL, "sqlite:"))
		if round > 0 && open != before {
			t.Errorf("%d descriptors of the database after %d connections, %d after one", open, round+1, before)
		}
		before = open
	}
}

// descriptors counts the open descriptors of a database and its log.
func descriptors(t *testing.T, path string) (n int) {
	t.Helper()
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, path) {
			n++
		}
	}
	return n
}

func TestCloseDrains(t *testing.T) {
	t.Parallel()
	for _, d := range []storetest.Dialect{storetest.SQLite, storetest.Postgres} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			o := storetest.Options(t, d)
			s := storetest.Reopen(t, o)
			var mu sync.Mutex
			var acknowledged []string
			var group sync.WaitGroup
			for range 30 {
				group.Go(func() {
					for {
						run := finished()
						err := s.FinishRun(t.Context(), run, nil)
						if fault.Is(err, fault.ShuttingDown) {
							return
						}
						if err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						acknowledged = append(acknowledged, run.ID)
						mu.Unlock()
					}
				})
			}
			for enough := false; !enough; { // closes during the writes
				mu.Lock()
				enough = len(acknowledged) > 50
				mu.Unlock()
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			group.Wait()
			again := storetest.Reopen(t, o)
			for _, id := range acknowledged {
				read(t, again, id)
			}
		})
	}
}

// childURL marks the test process as the child of TestAcknowledgedRunsSurviveAKill.
const childURL = "ATELIER_TEST_STORE_URL"

// TestAcknowledgedRunsSurviveAKill repeatedly kills a process that writes runs, and checks that every acknowledged run
// exists.
func TestAcknowledgedRunsSurviveAKill(t *testing.T) {
	if address := os.Getenv(childURL); address != "" {
		writeUntilKilled(t, address)
		return
	}
	t.Parallel()
	for _, d := range []storetest.Dialect{storetest.SQLite, storetest.Postgres} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			o := storetest.Options(t, d)
			storetest.Reopen(t, o) // creates the schema
			for round := range 3 {
				acknowledged, begun := killAfter(t, o.URL, 300*(round+1))
				s := storetest.Reopen(t, o)
				for _, id := range acknowledged {
					run := read(t, s, id)
					if run.Status != registry.Succeeded || string(run.Output) != `"`+id+`"` {
						t.Fatalf("run %s was acknowledged and is %s with %s", id, run.Status, run.Output)
					}
					if got, err := s.Events(t.Context(), ws, id, 0, 0); err != nil || len(got) != 3 {
						t.Fatalf("run %s has %d events, %v", id, len(got), err)
					}
				}
				interrupted, err := s.InterruptRuns(t.Context(), start)
				if err != nil {
					t.Fatal(err)
				}
				for _, id := range begun {
					if run := read(t, s, id); !run.Status.Final() {
						t.Errorf("run %s is still %s", id, run.Status)
					}
				}
				t.Logf("round %d: %d runs acknowledged, %d begun, %d interrupted", round, len(acknowledged), len(begun), interrupted)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// killAfter starts a child that writes to a database, and kills it after the given number of lines.
func killAfter(t *testing.T, address string, lines int) (acknowledged, begun []string) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestAcknowledgedRunsSurviveAKill$")
	child.Env = append(os.Environ(), childURL+"="+address, "TMPDIR="+t.TempDir()) // the killed child cannot remove its temporary files
	child.Stderr = os.Stderr
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(output)
	for n := 0; scanner.Scan(); n++ {
		word, id, _ := strings.Cut(scanner.Text(), " ")
		switch word {
		case "finished":
			acknowledged = append(acknowledged, id)
		case "begun":
			begun = append(begun, id)
		default:
			t.Errorf("the child says: %s", scanner.Text())
		}
		if n == lines {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); child.ProcessState.ExitCode() != -1 {
		t.Fatalf("the child was not killed: %v", err)
	}
	return acknowledged, begun
}

// writeUntilKilled prints a line for each acknowledged run.
func writeUntilKilled(t *testing.T, address string) {
	s, err := store.Open(t.Context(), store.Options{URL: address, Blobs: folder(t, t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			for {
				run := queued()
				if err := s.BeginRun(t.Context(), run); err != nil {
					fmt.Println(err)
					return
				}
				fmt.Println("begun " + run.ID)
				run.Status, run.Output = registry.Succeeded, json.RawMessage(`"`+run.ID+`"`)
				if err := s.FinishRun(t.Context(), run, events(1, 3)); err != nil {
					fmt.Println(err)
					return
				}
				fmt.Println("finished " + run.ID)
			}
		})
	}
	group.Wait()
}
