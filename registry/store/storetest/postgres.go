package storetest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// server is the PostgreSQL server that all tests of this process use. If ATELIER_TEST_PG_URL is set, it is the server
// at this URL. Otherwise the first test that needs a server starts a private one, which stops when the test process
// ends.
var server struct {
	start sync.Once
	url   string
	err   error
	// alive is the standard input of the supervisor process. The variable prevents the garbage collector from closing it
	// before the test process ends.
	alive io.Closer
}

// errNoPostgres reports that PostgreSQL is not installed on this machine.
var errNoPostgres = errors.New("no PostgreSQL: ATELIER_TEST_PG_URL is not set and there is no initdb in PATH or /usr/lib/postgresql/*/bin")

// newDatabase creates an empty database and returns its URL. The database is dropped when the test ends. Without a
// PostgreSQL server, newDatabase skips the test; with CI=true it fails the test.
func newDatabase(tb testing.TB) string {
	tb.Helper()
	server.start.Do(func() {
		if server.url = os.Getenv("ATELIER_TEST_PG_URL"); server.url == "" {
			var dir string
			dir, server.alive, server.err = startServer()
			server.url = address(dir)
		}
	})
	switch {
	case errors.Is(server.err, errNoPostgres) && os.Getenv("CI") != "true":
		tb.Skip(server.err)
	case server.err != nil:
		tb.Fatal(server.err)
	}
	name := "test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	ask(tb, "CREATE DATABASE "+name)
	tb.Cleanup(func() { ask(tb, "DROP DATABASE "+name+" WITH (FORCE)") })
	address, err := url.Parse(server.url)
	if err != nil {
		tb.Fatal(err)
	}
	address.Path = "/" + name
	return address.String()
}

// ask executes a statement on the server, outside of the database of a test.
func ask(tb testing.TB, statement string) {
	tb.Helper()
	ctx := context.WithoutCancel(tb.Context())
	conn, err := pgx.Connect(ctx, server.url)
	if err != nil {
		tb.Fatal(err)
	}
	_, err = conn.Exec(ctx, statement)
	if err := errors.Join(err, conn.Close(ctx)); err != nil {
		tb.Fatal(err)
	}
}

// supervisor is a shell script. It starts a cluster in the directory $1 with the programs in the directory $2, and
// reports when the cluster is ready. When its standard input ends, it stops the cluster and removes it. The input also
// ends if the test process is killed. The cluster has an unusual time zone, which reveals wrong assumptions about time.
// fsync is off, because the data is temporary.
const supervisor = `
set -e
exec 2>"$1/log"
"$2/initdb" --pgdata="$1/data" --username=postgres --auth=trust --encoding=UTF8 --locale=C --no-sync >&2
"$2/pg_ctl" --pgdata="$1/data" --log="$1/data/log" --wait --silent --options="-c listen_addresses='' \
	-c unix_socket_directories='$1' -c fsync=off -c max_connections=300 -c timezone=Canada/Newfoundland" start >&2
echo ready
read -r _ || true
"$2/pg_ctl" --pgdata="$1/data" --mode=immediate --silent stop >&2 || true
rm -rf "$1"
`

// startServer starts a private server and returns the directory of its Unix socket. The server stops when alive is
// closed.
func startServer() (dir string, alive io.Closer, err error) {
	bin, err := binaries()
	if err != nil {
		return "", nil, err
	}
	dir, err = os.MkdirTemp("/tmp", "atelier-pg-") // the directory is not under TMPDIR, because the path of a socket has at most 107 bytes
	if err != nil {
		return "", nil, err
	}
	command := exec.Command("/bin/sh", "-c", supervisor, "supervisor", dir, bin)
	command.Dir = "/"
	// The supervisor has a separate process group. So it survives an interrupt from the keyboard and can clean up.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if command.SysProcAttr.Credential, err = unprivileged(dir); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	if alive, err = command.StdinPipe(); err != nil {
		return "", nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := command.Start(); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	if line, _ := bufio.NewReader(output).ReadString('\n'); line != "ready\n" {
		text, err := os.ReadFile(filepath.Join(dir, "log"))
		return "", nil, errors.Join(fmt.Errorf("start PostgreSQL: %s", bytes.TrimSpace(text)), err, command.Wait(), os.RemoveAll(dir))
	}
	return dir, alive, nil
}

// address returns the URL of the server whose socket is in a directory.
func address(dir string) string { return "postgres://postgres@/postgres?host=" + url.QueryEscape(dir) }

// binaries returns the directory that contains initdb, pg_ctl and postgres.
func binaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		path, err = filepath.EvalSymlinks(path) // follows the link, because the directory of the link may not contain the other programs
		return filepath.Dir(path), err
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errNoPostgres
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// unprivileged returns the credential of a user without root rights and makes this user the owner of the directory,
// because PostgreSQL refuses to run as root. It returns nil if the current user is not root.
func unprivileged(dir string) (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // nil means the current user
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, err
	}
	uid, errU := strconv.ParseUint(account.Uid, 10, 32)
	gid, errG := strconv.ParseUint(account.Gid, 10, 32)
	if err := errors.Join(errU, errG, os.Chown(dir, int(uid), int(gid))); err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}
