package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// postgres is a separate PostgreSQL server. The test restarts it, cuts its connections, freezes it or promotes its
// standby while clients use it. A nil postgres does nothing.
type postgres struct {
	dir  string
	work string         // subdirectory of the active server: "a" or "b"
	done map[string]int // number of disturbances by name
}

// newPostgres returns a server whose files are below dir. It does not start the server.
func newPostgres(dir string) *postgres { return &postgres{dir: dir, work: "a", done: map[string]int{}} }

// at returns the directory of the active server.
func (p *postgres) at() string { return filepath.Join(p.dir, p.work) }

func (p *postgres) other() string {
	return filepath.Join(p.dir, map[string]string{"a": "b", "b": "a"}[p.work])
}

// url returns a URL with the sockets of both servers. Clients connect to the server that accepts writes.
func (p *postgres) url() string {
	return "postgres://postgres@/postgres?host=" + filepath.Join(p.dir, "a") + "," + filepath.Join(p.dir, "b") + "&target_session_attrs=read-write"
}

// script calls scripts/postgres.sh. It has no context. If the script were killed before its end, a server could
// continue to run that stop cannot find.
func (p *postgres) script(args ...string) error {
	if text, err := exec.Command("scripts/postgres.sh", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s PostgreSQL: %w: %s", args[0], err, text)
	}
	return nil
}

func (p *postgres) start() error { return p.script("start", p.at()) }

// stop stops both servers, even if a failover was interrupted.
func (p *postgres) stop() error {
	if p == nil {
		return nil
	}
	return errors.Join(p.script("stop", p.other()), p.script("stop", p.at()))
}

// flags returns the command line flags with which a server uses this database.
func (p *postgres) flags() []string {
	if p == nil {
		return nil
	}
	return []string{"--database", p.url()}
}

// String lists the disturbances that have happened.
func (p *postgres) String() string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf(" on PostgreSQL with %d restarts, %d cuts of all connections, %d freezes and %d failovers to a standby", p.done["restarts"], p.done["cuts"], p.done["freezes"], p.done["failovers"])
}

// frozenFor is the time for which PostgreSQL is frozen. It is longer than the server's timeout for answers of the
// database.
const frozenFor = 1800 * time.Millisecond

// disturb restarts PostgreSQL, cuts its connections, freezes it or promotes a standby.
func (p *postgres) disturb(ctx context.Context, random *rand.Rand) error {
	if p == nil {
		return nil
	}
	switch random.IntN(4) {
	case 0:
		p.done["restarts"]++
		return p.restart(ctx)
	case 1:
		p.done["cuts"]++
		return p.cut(ctx)
	case 2:
		p.done["freezes"]++
		return p.freeze()
	default:
		p.done["failovers"]++
		return p.failOver(ctx)
	}
}

func (p *postgres) restart(ctx context.Context) error {
	bin, err := exec.CommandContext(ctx, "scripts/postgres.sh", "where").Output()
	if err != nil {
		return err
	}
	data := filepath.Join(p.at(), "data")
	restart := exec.CommandContext(ctx, filepath.Join(strings.TrimSpace(string(bin)), "pg_ctl"), "--pgdata="+data, "--wait", "--silent", "--mode=immediate", "--log="+filepath.Join(data, "server.log"), "restart")
	restart.Dir = "/"
	var owner syscall.Stat_t
	if err := syscall.Stat(data, &owner); err != nil {
		return err
	}
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		restart.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
	}
	if text, err := restart.CombinedOutput(); err != nil {
		return fmt.Errorf("restart PostgreSQL: %w: %s", err, text)
	}
	return nil
}

func (p *postgres) cut(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, p.url())
	if err != nil {
		return fmt.Errorf("cut connections: %w", err)
	}
	_, err = conn.Exec(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
	return errors.Join(err, conn.Close(ctx))
}

// failOver creates a standby that has every acknowledged commit. It then stops the active server and promotes the
// standby.
func (p *postgres) failOver(ctx context.Context) error {
	if err := p.script("standby", p.other(), p.at()); err != nil {
		return err
	}
	if err := p.synchronize(ctx); err != nil {
		return err
	}
	if err := errors.Join(p.script("stop", p.at()), p.script("promote", p.other()), os.RemoveAll(p.at())); err != nil {
		return err
	}
	p.work = filepath.Base(p.other())
	return nil
}

// synchronize makes replication synchronous, so that each commit waits for the standby. It returns when the standby has
// received all earlier commits.
func (p *postgres) synchronize(ctx context.Context) (err error) {
	conn, err := pgx.Connect(ctx, p.url())
	if err != nil {
		return fmt.Errorf("connect to the primary server to make replication synchronous: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	for follows := false; !follows; {
		if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_stat_replication, pg_sleep(0.05) WHERE sync_state = 'sync')").Scan(&follows); err != nil {
			return err
		}
	}
	return nil
}

func (p *postgres) freeze() error {
	text, err := os.ReadFile(filepath.Join(p.at(), "data", "postmaster.pid"))
	if err != nil {
		return err
	}
	first, err := strconv.Atoi(strings.SplitN(string(text), "\n", 2)[0])
	if err != nil {
		return err
	}
	if err := syscall.Kill(first, syscall.SIGSTOP); err != nil { // a stopped process starts no children
		return err
	}
	all := []int{first}
	defer func() {
		for _, pid := range all {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", first, first))
	if err != nil {
		return err
	}
	for field := range strings.FieldsSeq(string(children)) {
		if pid, err := strconv.Atoi(field); err == nil {
			all = append(all, pid)
		}
	}
	for _, pid := range all[1:] {
		_ = syscall.Kill(pid, syscall.SIGSTOP) // a connection may have ended in the meantime
	}
	time.Sleep(frozenFor)
	return nil
}
