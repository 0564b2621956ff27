package servertest_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/server/servertest"
)

// faultPatience is the time after which a request counts as hanging. It is long because answer times depend on the load
// of the machine. The log of the test contains a table of the measured times.
const faultPatience = time.Minute

// disorder is a fault of a server's database.
type disorder struct {
	setup  func(t *testing.T) (data string, flags map[string]string)
	inject func(t *testing.T, data string)
	heal   func(t *testing.T, data string) // ends the fault; nil if the server cannot recover
	reads  bool                            // whether data can still be read during the fault
	passes bool                            // whether the database answers again when inject returns
}

func sqliteIn(dir func(t *testing.T) string) func(t *testing.T) (string, map[string]string) {
	return func(t *testing.T) (string, map[string]string) {
		data := dir(t)
		storetest.Put(t, filepath.Join(data, "atelier.db"))
		return data, map[string]string{}
	}
}

// smallDisk mounts a file system of 40 MiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=40m"); err != nil {
		t.Skipf("mounting a small disk needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fillDisk writes a file until the disk is full.
func fillDisk(t *testing.T, data string) {
	t.Helper()
	file, err := os.Create(filepath.Join(data, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	for size := 1 << 20; size > 0; size /= 2 {
		for err == nil {
			_, err = file.Write(make([]byte, size))
		}
		if !errors.Is(err, unix.ENOSPC) {
			t.Fatal(err)
		}
		err = nil
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func emptyDisk(t *testing.T, data string) {
	t.Helper()
	if err := os.Remove(filepath.Join(data, "ballast")); err != nil {
		t.Fatal(err)
	}
}

// faults returns all faults that the tests inject.
func faults(t *testing.T) map[string]disorder {
	var holder *sql.Conn
	var cluster *storetest.Cluster
	onCluster := func(t *testing.T) (string, map[string]string) {
		cluster = storetest.NewCluster(t)
		return t.TempDir(), map[string]string{"database": cluster.URL}
	}
	return map[string]disorder{
		"disk full": {setup: sqliteIn(smallDisk), inject: fillDisk, heal: emptyDisk, reads: true},
		"SQLite locked": {setup: sqliteIn((*testing.T).TempDir), reads: true, inject: func(t *testing.T, data string) {
			db, err := sql.Open("sqlite", filepath.Join(data, "atelier.db"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() }) // Ignore the error: the test has ended.
			if holder, err = db.Conn(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := holder.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
				t.Fatal(err)
			}
		}, heal: func(t *testing.T, _ string) {
			if _, err := holder.ExecContext(t.Context(), "ROLLBACK"); err != nil {
				t.Fatal(err)
			}
		}},
		"SQLite read-only": {setup: sqliteIn((*testing.T).TempDir), reads: true, inject: func(t *testing.T, data string) {
			immutable(t, data, true)
		}, heal: func(t *testing.T, data string) {
			immutable(t, data, false)
		}},
		"SQLite corrupt": {setup: sqliteIn((*testing.T).TempDir), inject: corrupt},
		"PostgreSQL frozen": {setup: onCluster,
			inject: func(t *testing.T, _ string) { cluster.Freeze(t) }, heal: func(t *testing.T, _ string) { cluster.Thaw(t) }},
		"PostgreSQL down": {setup: onCluster,
			inject: func(t *testing.T, _ string) { cluster.Stop(t) }, heal: func(t *testing.T, _ string) { cluster.Start(t) }},
		// All database connections end, but the server must not interrupt any run.
		"PostgreSQL restarted": {setup: onCluster, reads: true, passes: true, inject: func(t *testing.T, _ string) {
			cluster.Stop(t)
			cluster.Start(t)
		}},
		// The standby does not have the advisory lock of the server.
		"PostgreSQL failed over": {reads: true, passes: true, setup: func(t *testing.T) (string, map[string]string) {
			cluster = storetest.NewCluster(t)
			cluster.Standby(t)
			return t.TempDir(), map[string]string{"database": cluster.URL}
		}, inject: func(t *testing.T, _ string) { cluster.FailOver(t) }},
		"PostgreSQL read-only": {setup: onCluster, reads: true,
			inject: func(t *testing.T, _ string) { onlyReads(t, cluster, "on") }, heal: func(t *testing.T, _ string) { onlyReads(t, cluster, "off") }},
	}
}

// immutable makes the kernel refuse writes to the files of a SQLite database, also through open descriptors.
func immutable(t *testing.T, data string, is bool) {
	t.Helper()
	const flag = 0x10 // FS_IMMUTABLE_FL
	for _, name := range []string{"atelier.db", "atelier.db-wal"} {
		file, err := os.Open(filepath.Join(data, name))
		if err != nil {
			t.Fatal(err)
		}
		flags, err := unix.IoctlGetInt(int(file.Fd()), unix.FS_IOC_GETFLAGS)
		if flags &^= flag; is {
			flags |= flag
		}
		err = errors.Join(err, unix.IoctlSetPointerInt(int(file.Fd()), unix.FS_IOC_SETFLAGS, flags), file.Close())
		if err != nil && is && name == "atelier.db" {
			t.Skipf("this file system has no immutable files, or they need root: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if is {
		t.Cleanup(func() { immutable(t, data, false) })
	}
}

// onlyReads makes PostgreSQL refuse writes, in the same way as a standby.
func onlyReads(t *testing.T, cluster *storetest.Cluster, value string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), cluster.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }() // Ignore the error: the statements were executed.
	for _, statement := range []string{"SET default_transaction_read_only = off", "ALTER SYSTEM SET default_transaction_read_only = " + value, "SELECT pg_reload_conf()"} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// corrupt overwrites every page of the database except the first. At the end of the test it restores the pages.
func corrupt(t *testing.T, data string) {
	t.Helper()
	path := filepath.Join(data, "atelier.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	put := func(content []byte) {
		file, err := os.OpenFile(path, os.O_RDWR, 0) // Write to the same file that the server has open.
		if err == nil {
			_, err = file.WriteAt(content, 4096)
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			t.Error(err)
		}
	}
	put(bytes.Repeat([]byte{0xee}, len(whole)-4096))
	t.Cleanup(func() { put(whole[4096:]) }) // Restore the file, so that the server ends without errors.
}

// request is one kind of request that the tests send.
type request struct {
	name, method, path string
	body               any
}

// requests returns the requests that are sent during a fault. The program of the run ends at once.
func requests() []request {
	return []request{
		{"/ready", "GET", "/ready", nil}, {"/health", "GET", "/health", nil},
		{"execute", "POST", "/api/v1/execute", servertest.ScriptBody("output 1")}, {"read", "GET", "/api/v1/code-agents/kept", nil},
	}
}

// cell holds the results of one kind of request during a fault.
type cell struct {
	slowest, right time.Duration // right is the time until the first correct answer
	statuses       map[int]int
	last           servertest.Answer
}

// During a fault of the database, no request may hang or be answered with 500. Runs must be refused before their
// program starts.
func TestDatabaseFaults(t *testing.T) {
	for name, fault := range faults(t) {
		t.Run(name, func(t *testing.T) {
			data, flags := fault.setup(t)
			flags["script-runtime"] = "true"
			s := servertest.On(t, data, servertest.Flags(t, flags))
			s.Create(t, map[string]any{"name": "kept", "language": "python", "code": "def main(n): return n * 2"})
			s.Want(t, 200, "GET", "/ready", nil)
			fault.inject(t, data)
			cells := during(t, s.Client, fault)
			for _, r := range requests() {
				c := cells[r.name]
				t.Logf("%-20s %-8s slowest %5d ms, right after %5d ms, statuses %v", name, r.name, c.slowest.Milliseconds(), c.right.Milliseconds(), c.statuses)
				if c.statuses[500] > 0 || c.statuses[0] > 0 {
					t.Errorf("%s is answered with %v", r.name, c.statuses)
				}
			}
			if fault.passes {
				return
			}
			refused := cells["execute"].last
			if refused.Header.Get("Retry-After") == "" || refused.Problem(t).Code != "storage_unavailable" {
				t.Errorf("a run is refused with %v %s", refused.Header, refused.Body)
			}
			if unready := cells["/ready"].last; unready.Status != 503 || !strings.Contains(string(unready.Body), `"component":"database"`) {
				t.Errorf("/ready answers %d %s", unready.Status, unready.Body)
			}
			if fault.heal == nil {
				return
			}
			fault.heal(t, data)
			servertest.Eventually(t, "the server is ready again", func() bool { return s.Do(t, "GET", "/ready", nil).Status == 200 })
			for _, r := range requests() {
				s.Want(t, 200, r.method, r.path, r.body)
			}
		})
	}
}

// during sends requests of every kind, several at a time, until each kind has got a correct answer.
func during(t *testing.T, c *servertest.Client, fault disorder) map[string]*cell {
	t.Helper()
	const callers = 8
	begin := time.Now()
	ctx, stop := context.WithTimeout(t.Context(), faultPatience)
	defer stop()
	cells := map[string]*cell{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for _, r := range requests() {
		cells[r.name] = &cell{statuses: map[int]int{}}
	}
	for _, r := range requests() {
		one := cells[r.name]
		for range callers {
			group.Go(func() {
				for right := false; !right && ctx.Err() == nil; {
					asked := time.Now()
					answer, err := c.Try(ctx, r.method, r.path, r.body)
					if err != nil && ctx.Err() == nil {
						t.Errorf("%s: %v", r.name, err)
					}
					right = isRight(r.name, answer, fault)
					mu.Lock()
					one.slowest = max(one.slowest, time.Since(asked))
					one.statuses[answer.Status]++
					if right {
						one.last = answer
						if one.right == 0 {
							one.right = time.Since(begin)
						}
					}
					mu.Unlock()
				}
			})
		}
	}
	group.Wait()
	for name, one := range cells {
		if one.right == 0 {
			t.Fatalf("%s never got the right answer: %v", name, one.statuses)
		}
	}
	return cells
}

// isRight reports whether an answer is correct for a fault. If the fault passes by itself, this is the usual answer.
// Otherwise it is an answer that reports the fault.
func isRight(name string, answer servertest.Answer, fault disorder) bool {
	if fault.passes {
		return answer.Status == http.StatusOK && (name != "/health" || bytes.Contains(answer.Body, []byte(`"writable":true`)))
	}
	switch name {
	case "/health":
		return answer.Status == http.StatusOK && bytes.Contains(answer.Body, []byte(`"writable":false`)) && bytes.Contains(answer.Body, []byte("degraded"))
	case "read":
		if fault.reads {
			return answer.Status == http.StatusOK
		}
	}
	return answer.Status == http.StatusServiceUnavailable
}

// A run that executes while PostgreSQL fails over must continue. The standby must have everything that was acknowledged
// before.
func TestPostgresFailover_RunsGoOn(t *testing.T) {
	t.Parallel()
	cluster := storetest.NewCluster(t)
	cluster.Standby(t)
	s := servertest.New(t, servertest.Flags(t, map[string]string{"database": cluster.URL, "script-runtime": "true"}))
	answered := s.Script(t, "output 6").Run(t)
	executing := s.Start(t, "print begun\nsleep 1s\noutput 7")
	cluster.FailOver(t)
	servertest.Eventually(t, "the run ends", func() bool {
		answer := s.Do(t, "GET", "/api/v1/runs/"+executing, nil)
		return answer.Status == 200 && answer.Run(t).Status != "running"
	})
	for id, want := range map[string]string{answered.RunID: "6", executing: "7"} {
		if run := s.Get(t, id); run.Status != "succeeded" || string(run.Output) != want {
			t.Errorf("found as %+v", run)
		}
	}
}

// A server that starts on a full disk answers read requests and refuses changes with the reason.
func TestStart_FullDisk_ReadOnly(t *testing.T) {
	data := smallDisk(t)
	const token = "a-token-that-is-long-enough-to-be-one"
	before := servertest.Spawn(t, data, "--token", token, "--script-runtime", "--log-level", "info")
	before.Token = token
	before.Create(t, map[string]any{"name": "kept", "language": "python", "code": "def main(n): return n * 2"})
	before.Signal(t, unix.SIGTERM)
	if code := before.Exit(); code != 0 {
		t.Fatalf("the server ended with %d: %s", code, before.Log)
	}
	fillDisk(t, data)
	p := servertest.Spawn(t, data, "--token", token, "--script-runtime")
	p.Token = token
	if !strings.Contains(p.ReadOnly, "full") || !strings.Contains(p.Log.String(), "read-only") {
		t.Errorf("it says %q, and logs %s", p.ReadOnly, p.Log)
	}
	p.Want(t, 503, "GET", "/ready", nil)
	p.Want(t, 200, "GET", "/api/v1/code-agents/kept", nil)
	p.Want(t, 503, "POST", "/api/v1/execute", servertest.ScriptBody("output 1"))
	p.Want(t, 503, "POST", "/api/v1/code-agents", map[string]any{"name": "more", "language": "python", "code": fmt.Sprintf("%d", 1)})
	emptyDisk(t, data)
	servertest.Eventually(t, "the server is ready", func() bool { return p.Do(t, "GET", "/ready", nil).Status == 200 })
	p.Want(t, 200, "POST", "/api/v1/execute", servertest.ScriptBody("output 1"))
}
