package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/atelier-run/atelier/scripts/load"
)

// nextMigration is a migration that adds a table, a column and an index. A migration of the next release could look
// like this.
const nextMigration = `CREATE TABLE upgrade_probe (id text PRIMARY KEY);
ALTER TABLE agents ADD COLUMN upgrade_probe text NOT NULL DEFAULT '';
CREATE INDEX upgrade_probe_agents ON agents (upgrade_probe);
`

// upgradeStep is the time between two steps of an upgrade. Clients send requests during this time.
const upgradeStep = 3 * time.Second

// upgrade runs a server of an earlier commit and a new server on the same database. The new server migrates the
// database while the old server processes requests. Clients use both servers. At the end, everything that the servers
// have acknowledged must exist.
func upgrade(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "atelier-upgrade")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	from, err := earlier(ctx)
	if err != nil {
		return err
	}
	before, after := filepath.Join(dir, "before"), filepath.Join(dir, "after")
	if err := errors.Join(buildCommit(ctx, from, filepath.Join(dir, "source"), before), buildNext(ctx, dir, after)); err != nil {
		return err
	}
	database := newPostgres(filepath.Join("/tmp", filepath.Base(dir)+"-pg"))
	defer func() { err = errors.Join(err, database.stop(), os.RemoveAll(database.dir)) }()
	if err := database.start(); err != nil {
		return err
	}
	key := filepath.Join(dir, "secrets.key")
	if err := os.WriteFile(key, []byte(base64.StdEncoding.EncodeToString(make([]byte, 32))+"\n"), 0o600); err != nil {
		return err
	}
	flags := append(database.flags(), "--replicas", "--secrets-key-file", key)
	old := load.Options{Binary: before, Data: filepath.Join(dir, "old"), Flags: flags}
	all := &ledger{runs: map[string]string{}, versions: map[string]string{}, keys: map[string]string{}, large: map[string]string{}, disturbed: true, noBlobs: true}
	next := load.Options{Binary: after, Data: filepath.Join(dir, "new"), Flags: flags}
	if err := replace(ctx, old, next, all); err != nil {
		return err
	}
	fmt.Printf("upgrade from %s: %d answered runs, %d accepted runs, %d versions and %d keys with one run each are all there; the old server served while the new one migrated, and is refused afterwards\n",
		from, len(all.runs), len(all.accepted), len(all.versions), len(all.keys))
	return nil
}

// replace starts the new server while clients use the old server. It then moves the clients to the new server and stops
// the old server.
func replace(ctx context.Context, old, next load.Options, all *ledger) error {
	first, err := load.Start(ctx, old)
	if err != nil {
		return fmt.Errorf("start the old server: %w", err)
	}
	if err := prepare(ctx, first.Client, 0); err != nil {
		return errors.Join(err, first.Stop())
	}
	sending, stop := context.WithCancel(ctx)
	defer stop()
	var clients sync.WaitGroup
	send(sending, &clients, first.Client, all, 0)
	clients.Go(func() { publish(sending, first.Client, all, 0) })
	wait(ctx)
	second, err := load.Start(ctx, next)
	if err != nil {
		return errors.Join(fmt.Errorf("start the new server: %w", err), first.Stop())
	}
	send(sending, &clients, second.Client, all, 1)
	wait(ctx)
	err = first.Stop()
	wait(ctx)
	stop()
	clients.Wait()
	if err = errors.Join(err, second.Stop()); err != nil { // a server that stops also ends the runs that it has accepted
		return err
	}
	if again, refused := load.Start(ctx, old); refused == nil {
		return errors.Join(errors.New("the old server started on the new schema"), again.Stop())
	} else if !strings.Contains(refused.Error(), "newer Atelier") {
		return fmt.Errorf("the old server is refused without the reason: %w", refused)
	}
	if second, err = load.Start(ctx, next); err != nil {
		return fmt.Errorf("start the new server again: %w", err)
	}
	return errors.Join(look(ctx, second.Client, all), second.Stop())
}

// send starts clients that distribute their requests over all servers.
func send(ctx context.Context, clients *sync.WaitGroup, c load.Client, all *ledger, round int) {
	for client := range 4 {
		clients.Go(func() { execute(ctx, c, all, round, client) })
	}
	clients.Go(func() { accept(ctx, c, all, round) })
	clients.Go(func() { executeOnce(ctx, c, all, round) })
}

func wait(ctx context.Context) {
	select {
	case <-time.After(upgradeStep):
	case <-ctx.Done():
	}
}

// earlier returns the commit before HEAD if HEAD contains all migrations of that commit unchanged. Otherwise it returns
// HEAD. It also returns HEAD if the clone has no earlier commit.
func earlier(ctx context.Context) (string, error) {
	git := func(args ...string) (string, error) {
		text, err := exec.CommandContext(ctx, "git", args...).Output()
		return strings.TrimSpace(string(text)), err
	}
	head, err := git("rev-parse", "--short", "HEAD")
	if err != nil {
		return "", fmt.Errorf("git rev-parse: %w", err)
	}
	if before, err := git("rev-parse", "--short", "HEAD~1"); err == nil {
		removed, err := git("diff", "--name-only", "--diff-filter=MDR", "--no-renames", before, head, "--", "migrations/*.sql")
		if err != nil {
			return "", fmt.Errorf("git diff: %w", err)
		}
		if removed == "" {
			return before, nil
		}
	}
	return head, nil
}

// buildCommit builds a commit without the Studio.
func buildCommit(ctx context.Context, commit, source, binary string) error {
	if err := os.Mkdir(source, 0o755); err != nil {
		return err
	}
	archive := exec.CommandContext(ctx, "sh", "-c", `git archive "$0" | tar -x -C "$1"`, commit, source)
	if text, err := archive.CombinedOutput(); err != nil {
		return fmt.Errorf("git archive %s: %w: %s", commit, err, text)
	}
	return build(ctx, source, binary)
}

// buildNext builds the current source with one additional migration.
func buildNext(ctx context.Context, dir, binary string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	replaced := map[string]string{}
	for name, text := range map[string]string{"up": nextMigration, "down": "DROP TABLE upgrade_probe;\nALTER TABLE agents DROP COLUMN upgrade_probe;\n"} {
		file := filepath.Join(dir, name+".sql")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
		replaced[filepath.Join(here, "migrations/postgres/29990101000000_add_upgrade_probe.tx."+name+".sql")] = file
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return err
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return err
	}
	return build(ctx, here, binary, "-overlay", overlay)
}

func build(ctx context.Context, source, binary string, flags ...string) error {
	command := exec.CommandContext(ctx, "go", append(append([]string{"build", "-buildvcs=false"}, flags...), "-o", binary, ".")...)
	command.Dir, command.Env = source, append(os.Environ(), "CGO_ENABLED=0")
	if text, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", source, err, text)
	}
	return nil
}
