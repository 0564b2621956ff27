package storetest

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Cluster is a PostgreSQL server for one test. The test may stop it, freeze it, or replace it by a standby.
type Cluster struct {
	URL string

	dir  string
	bin  string
	data string // data directory of the server that is currently active
}

// NewCluster starts a PostgreSQL server that stops when the test ends. If PostgreSQL is not installed, NewCluster skips
// the test; with CI=true it fails the test.
func NewCluster(tb testing.TB) *Cluster {
	tb.Helper()
	dir, alive, err := startServer()
	if errors.Is(err, errNoPostgres) && os.Getenv("CI") != "true" {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	bin, err := binaries()
	if err != nil {
		tb.Fatal(err)
	}
	c := &Cluster{URL: address(dir), dir: dir, bin: bin, data: filepath.Join(dir, "data")}
	tb.Cleanup(func() {
		_ = c.signal(syscall.SIGCONT) // returns an error if the test has already stopped the server
		if err := alive.Close(); err != nil {
			tb.Error(err)
		}
	})
	return c
}

// Freeze pauses all processes of the server. The server keeps its connections open but does not answer.
func (c *Cluster) Freeze(tb testing.TB) {
	tb.Helper()
	if err := c.signal(syscall.SIGSTOP); err != nil {
		tb.Fatal(err)
	}
}

// Thaw lets the processes continue after Freeze.
func (c *Cluster) Thaw(tb testing.TB) {
	tb.Helper()
	if err := c.signal(syscall.SIGCONT); err != nil {
		tb.Fatal(err)
	}
}

// Stop ends the server without a shutdown, like a crash.
func (c *Cluster) Stop(tb testing.TB) {
	tb.Helper()
	c.execute(tb, "pg_ctl", "--pgdata="+c.data, "--wait", "--silent", "--mode=immediate", "stop")
}

// Start starts the server again with the options of its first start.
func (c *Cluster) Start(tb testing.TB) {
	tb.Helper()
	c.startIn(tb, c.data, c.dir)
}

func (c *Cluster) startIn(tb testing.TB, data, socket string) {
	tb.Helper()
	c.execute(tb, "pg_ctl", "--pgdata="+data, "--wait", "--silent", "--log="+filepath.Join(data, "log"),
		"--options=-c listen_addresses='' -c unix_socket_directories='"+socket+"' -c fsync=off -c max_connections=300", "start")
}

// Standby starts a standby of the server, and adds its address to the URL. After that, the server acknowledges a commit
// only when the standby has received it.
func (c *Cluster) Standby(tb testing.TB) {
	tb.Helper()
	c.execute(tb, "pg_basebackup", "--pgdata="+c.copied(), "--host="+c.dir, "--username=postgres", "--write-recovery-conf", "--checkpoint=fast", "--no-sync")
	c.startIn(tb, c.copied(), c.copied())
	tb.Cleanup(func() {
		if pid, err := strconv.Atoi(firstProcess(c.copied())); err == nil {
			_ = syscall.Kill(pid, syscall.SIGQUIT) // the standby may have ended before
		}
	})
	conn, err := pgx.Connect(tb.Context(), c.URL)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = conn.Close(tb.Context()) }() // the statements were executed, so an error of closing does not matter
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		if _, err := conn.Exec(tb.Context(), statement); err != nil {
			tb.Fatal(err)
		}
	}
	for follows := false; !follows; {
		if err := conn.QueryRow(tb.Context(), "SELECT EXISTS (SELECT 1 FROM pg_stat_replication, pg_sleep(0.02) WHERE sync_state = 'sync')").Scan(&follows); err != nil {
			tb.Fatal(err)
		}
	}
	c.URL = "postgres://postgres@/postgres?host=" + url.QueryEscape(c.dir+","+c.copied()) + "&target_session_attrs=read-write"
}

func (c *Cluster) copied() string { return filepath.Join(c.dir, "standby") }

// FailOver ends the server without a shutdown, and promotes its standby.
func (c *Cluster) FailOver(tb testing.TB) {
	tb.Helper()
	c.Stop(tb)
	c.data = c.copied()
	c.execute(tb, "pg_ctl", "--pgdata="+c.data, "--wait", "--silent", "promote")
}

// execute runs one of PostgreSQL's programs.
func (c *Cluster) execute(tb testing.TB, name string, args ...string) {
	tb.Helper()
	command := exec.Command(filepath.Join(c.bin, name), args...)
	command.Dir = "/"
	var err error
	command.SysProcAttr = &syscall.SysProcAttr{}
	if command.SysProcAttr.Credential, err = unprivileged(c.dir); err != nil {
		tb.Fatal(err)
	}
	if text, err := command.CombinedOutput(); err != nil {
		tb.Fatalf("%s %s: %v: %s", name, args[len(args)-1], err, text)
	}
}

// firstProcess returns the ID of a server's first process, or "" if the server was never started.
func firstProcess(data string) string {
	text, _ := os.ReadFile(filepath.Join(data, "postmaster.pid")) // the file is removed together with the server
	return strings.SplitN(string(text), "\n", 2)[0]
}

// signal sends a signal to the server's first process and its children.
func (c *Cluster) signal(signal syscall.Signal) error {
	first, err := strconv.Atoi(firstProcess(c.data))
	if err != nil {
		return fmt.Errorf("postmaster.pid: %w", err)
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", first, first))
	if err != nil {
		return err
	}
	err = syscall.Kill(first, signal)
	for field := range strings.FieldsSeq(string(children)) {
		pid, atoi := strconv.Atoi(field)
		err = errors.Join(err, atoi)
		if gone := syscall.Kill(pid, signal); !errors.Is(gone, syscall.ESRCH) {
			err = errors.Join(err, gone)
		}
	}
	return err
}
