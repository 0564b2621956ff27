package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/registry/backup"
	"github.com/atelier-run/atelier/server/app"
)

type backupCommand struct {
	Create  backupCreate  `cmd:"" help:"Copy the database, the files of large versions and the skills to a new folder. The server may run."`
	Verify  backupVerify  `cmd:"" help:"Check every file of a backup."`
	Restore backupRestore `cmd:"" help:"Restore a backup into an empty data directory and database."`
}

type backupCreate struct {
	Dir  string `arg:"" name:"folder" help:"New folder for the backup."`
	Keys string `help:"File for a copy of the keys of secrets, outside the backup, or - for stdout (default: they are not copied)." placeholder:"FILE|-"`
	printed
	database
}

func (c *backupCreate) run(ctx context.Context, p Process) error {
	settings, err := p.load(c.flags(), c.Config)
	if err != nil {
		return err
	}
	if c.Keys == "-" && c.JSON {
		return misusedf("--json cannot be combined with --keys -")
	}
	var m backup.Manifest
	if c.Keys == "-" {
		m, err = c.keysToStdout(ctx, p, settings)
		p.Stdout = p.Stderr // Print everything else to stderr, because stdout must contain only the keys.
	} else {
		m, err = app.CreateBackup(ctx, settings, c.Dir, c.Keys, p.Version, p.quietLog())
	}
	if err != nil {
		return err
	}
	if c.Keys == "" && m.Snapshot.Counts["secrets"] > 0 {
		_, _ = fmt.Fprintln(p.Stderr, "The backup does not contain the encryption keys of secrets. Without these keys the secrets in the backup cannot be read. Copy the keys with --keys FILE and store them elsewhere.")
	}
	return c.result(p, m, func() error { return p.described("saved", c.Dir, m) })
}

// keysToStdout creates a backup and writes the keys of secrets to stdout.
func (c *backupCreate) keysToStdout(ctx context.Context, p Process, settings config.Config) (m backup.Manifest, err error) {
	dir, err := os.MkdirTemp("", "atelier-keys-") // Only this user can enter the directory.
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	keys := filepath.Join(dir, "secrets.key")
	if m, err = app.CreateBackup(ctx, settings, c.Dir, keys, p.Version, p.quietLog()); err != nil {
		return m, err
	}
	text, err := os.ReadFile(keys)
	if err == nil {
		_, err = p.Stdout.Write(text)
	}
	return m, err
}

type backupVerify struct {
	Dir string `arg:"" name:"folder" help:"Folder of the backup."`
	printed
}

func (c *backupVerify) run(ctx context.Context, p Process) error {
	m, err := app.VerifyBackup(ctx, c.Dir)
	if err != nil {
		return err
	}
	return c.result(p, m, func() error { return p.described("verified", c.Dir, m) })
}

type backupRestore struct {
	Dir  string `arg:"" name:"folder" help:"Folder of the backup."`
	Keys string `help:"File with the keys of secrets, or - for stdin (default: put secrets.key into the data directory yourself)." placeholder:"FILE|-"`
	printed
	database
}

func (c *backupRestore) run(ctx context.Context, p Process) (err error) {
	settings, err := p.load(c.flags(), c.Config)
	if err != nil {
		return err
	}
	keys := c.Keys
	if keys == "-" {
		dir, err := os.MkdirTemp("", "atelier-keys-") // Only this user can enter the directory.
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		keys = filepath.Join(dir, "secrets.key")
		if err := writeWhole(keys, io.LimitReader(p.Stdin, most)); err != nil {
			return err
		}
	}
	m, err := app.RestoreBackup(ctx, settings, c.Dir, keys, p.quietLog())
	if err != nil {
		return err
	}
	if c.Keys == "" && m.Snapshot.Counts["secrets"] > 0 {
		_, _ = fmt.Fprintf(p.Stderr, "The backup has %s. Copy the keys to the data directory as secrets.key before you start the server, or name them with --secrets-key-file.\n", counted(m.Snapshot.Counts["secrets"], "secret"))
	}
	return c.result(p, m, func() error { return p.described("restored", c.Dir, m) })
}

// described prints the contents of a backup.
func (p Process) described(done, dir string, m backup.Manifest) error {
	n := m.Snapshot.Counts
	_, err := fmt.Fprintf(p.Stdout, "%s %s, %s, %s and %s in %s with %s: %s, made at %s by Atelier %s from %s\n",
		done, counted(n["agents"], "agent"), counted(n["versions"], "version"), counted(n["runs"], "run"), counted(n["secrets"], "secret"),
		counted(len(m.Files), "file"), counted(m.Bytes(), "byte"), dir, m.CreatedAt.Format("2006-01-02 15:04:05Z"), m.Version, m.Snapshot.Database)
	return err
}
