package store_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// BenchmarkFinishRun stores runs with the given number of concurrent callers. Each run has about a kilobyte and three
// events, as a small program has. "floor" is the minimum cost of a durable record: one caller, one row of a kilobyte,
// one index, one commit.
func BenchmarkFinishRun(b *testing.B) {
	b.Run("sqlite/floor", benchmarkFloor)
	for _, d := range []storetest.Dialect{storetest.SQLite, storetest.Postgres} {
		for _, callers := range []int{1, 8, 50} {
			b.Run(fmt.Sprintf("%s/callers=%d", d, callers), func(b *testing.B) {
				s := storetest.Open(b, d)
				var left atomic.Int64
				left.Store(int64(b.N))
				b.ReportAllocs()
				b.ResetTimer()
				cpu := processor(b)
				var group sync.WaitGroup
				for range callers {
					group.Go(func() {
						for left.Add(-1) >= 0 {
							run := finished()
							run.Status, run.Error, run.ParentRunID, run.WorkflowRunID = registry.Succeeded, nil, "", ""
							run.Output = json.RawMessage(`"` + strings.Repeat("x", 512) + `"`)
							if err := s.FinishRun(b.Context(), run, events(1, 3)); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				group.Wait()
				report(b, cpu)
			})
		}
	}
}

func benchmarkFloor(b *testing.B) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "floor.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE t (id TEXT PRIMARY KEY, at INTEGER, data TEXT); CREATE INDEX t_at ON t (at)"); err != nil {
		b.Fatal(err)
	}
	insert, err := db.Prepare("INSERT INTO t VALUES (?, ?, ?)")
	if err != nil {
		b.Fatal(err)
	}
	data := strings.Repeat("x", 1000)
	cpu := processor(b)
	for b.Loop() {
		if _, err := insert.Exec(newID(), b.N, data); err != nil {
			b.Fatal(err)
		}
	}
	report(b, cpu)
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
}

// report adds the runs per second and the CPU time per run. Other programs on the machine affect the CPU time less.
func report(b *testing.B, before time.Duration) {
	b.Helper()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
	b.ReportMetric(float64((processor(b)-before).Microseconds())/float64(b.N), "cpu-µs/run")
}

func processor(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
