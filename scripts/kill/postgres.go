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

// postgres is a PostgreSQL server of its own, which is disturbed while it is in use. A nil one disturbs nothing.
type postgres struct {
	dir, url string
	done     map[string]int // disturbances by name
}

// newPostgres returns a server below a directory, which is not started.
func newPostgres(dir string) *postgres { return &postgres{dir: dir, done: map[string]int{}} }

// start starts the server. It takes no context: a script that is killed in the middle could leave a server that stop does
// not find.
func (p *postgres) start() error {
	answer, err := exec.Command("scripts/postgres.sh", "start", p.dir).Output()
	if err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	p.url = strings.TrimSpace(string(answer))
	return nil
}

func (p *postgres) stop() error {
	if p == nil {
		return nil
	}
	return exec.Command("scripts/postgres.sh", "stop", p.dir).Run()
}

// flags returns the server's flags for this database.
func (p *postgres) flags() []string {
	if p == nil {
		return nil
	}
	return []string{"--database", p.url}
}

// String describes the disturbances so far.
func (p *postgres) String() string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf(" on PostgreSQL with %d restarts, %d cuts of all connections and %d freezes", p.done["restarts"], p.done["cuts"], p.done["freezes"])
}

// frozenFor is how long PostgreSQL does not answer. It is longer than the server waits for it.
const frozenFor = 1800 * time.Millisecond

// disturb restarts PostgreSQL, cuts its connections or freezes it.
func (p *postgres) disturb(ctx context.Context, random *rand.Rand) error {
	if p == nil {
		return nil
	}
	switch random.IntN(3) {
	case 0:
		p.done["restarts"]++
		return p.restart(ctx)
	case 1:
		p.done["cuts"]++
		return p.cut(ctx)
	default:
		p.done["freezes"]++
		return p.freeze()
	}
}

func (p *postgres) restart(ctx context.Context) error {
	bin, err := exec.CommandContext(ctx, "scripts/postgres.sh", "where").Output()
	if err != nil {
		return err
	}
	data := filepath.Join(p.dir, "data")
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
	conn, err := pgx.Connect(ctx, p.url)
	if err != nil {
		return fmt.Errorf("cut connections: %w", err)
	}
	_, err = conn.Exec(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
	return errors.Join(err, conn.Close(ctx))
}

func (p *postgres) freeze() error {
	text, err := os.ReadFile(filepath.Join(p.dir, "data", "postmaster.pid"))
	if err != nil {
		return err
	}
	first, err := strconv.Atoi(strings.SplitN(string(text), "\n", 2)[0])
	if err != nil {
		return err
	}
	if err := syscall.Kill(first, syscall.SIGSTOP); err != nil { // from now on it starts no children
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
		_ = syscall.Kill(pid, syscall.SIGSTOP) // a connection may have ended
	}
	time.Sleep(frozenFor)
	return nil
}
