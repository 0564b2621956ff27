package storetest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Cluster is a PostgreSQL server of one test, which may stop and freeze it.
type Cluster struct {
	URL string

	dir string
	bin string
}

// NewCluster starts a server that ends with the test. Without PostgreSQL it skips the test, or fails it if CI=true.
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
	c := &Cluster{URL: address(dir), dir: dir, bin: bin}
	tb.Cleanup(func() {
		_ = c.signal(syscall.SIGCONT) // a stopped server has no process
		if err := alive.Close(); err != nil {
			tb.Error(err)
		}
	})
	return c
}

// Freeze stops every process of the server as a debugger does: connections stay open and nothing answers.
func (c *Cluster) Freeze(tb testing.TB) {
	tb.Helper()
	if err := c.signal(syscall.SIGSTOP); err != nil {
		tb.Fatal(err)
	}
}

// Thaw lets the processes continue.
func (c *Cluster) Thaw(tb testing.TB) {
	tb.Helper()
	if err := c.signal(syscall.SIGCONT); err != nil {
		tb.Fatal(err)
	}
}

// Stop ends the server at once.
func (c *Cluster) Stop(tb testing.TB) {
	tb.Helper()
	c.control(tb, "stop", "--mode=immediate")
}

// Start starts the server again with the options of its first start.
func (c *Cluster) Start(tb testing.TB) {
	tb.Helper()
	c.control(tb, "start", "--options=-c listen_addresses='' -c unix_socket_directories='"+c.dir+"' -c fsync=off")
}

func (c *Cluster) control(tb testing.TB, action, option string) {
	tb.Helper()
	data := filepath.Join(c.dir, "data")
	command := exec.Command(filepath.Join(c.bin, "pg_ctl"), "--pgdata="+data, "--wait", "--silent", "--log="+filepath.Join(data, "log"), option, action)
	command.Dir = "/"
	var err error
	command.SysProcAttr = &syscall.SysProcAttr{}
	if command.SysProcAttr.Credential, err = unprivileged(c.dir); err != nil {
		tb.Fatal(err)
	}
	if text, err := command.CombinedOutput(); err != nil {
		tb.Fatalf("%s PostgreSQL: %v: %s", action, err, text)
	}
}

// signal signals the server's first process and its children.
func (c *Cluster) signal(signal syscall.Signal) error {
	text, err := os.ReadFile(filepath.Join(c.dir, "data", "postmaster.pid"))
	if err != nil {
		return err
	}
	first, err := strconv.Atoi(strings.SplitN(string(text), "\n", 2)[0])
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
