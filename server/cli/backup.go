package cli

import (
	"context"
	"fmt"

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
	Keys string `help:"File for a copy of the keys of secrets, outside the backup (default: they are not copied)." placeholder:"FILE"`
	database
}

func (c *backupCreate) run(ctx context.Context, p Process) error {
	settings, err := p.load(c.flags(), c.Config)
	if err != nil {
		return err
	}
	m, err := app.CreateBackup(ctx, settings, c.Dir, c.Keys, p.Version, p.quietLog())
	if err != nil {
		return err
	}
	if c.Keys == "" && m.Snapshot.Counts["secrets"] > 0 {
		_, _ = fmt.Fprintln(p.Stderr, "The keys of secrets are not in the backup. Without them its secrets cannot be read. Copy them with --keys FILE and keep them elsewhere.")
	}
	return p.described("saved", c.Dir, m)
}

type backupVerify struct {
	Dir string `arg:"" name:"folder" help:"Folder of the backup."`
}

func (c *backupVerify) run(ctx context.Context, p Process) error {
	m, err := app.VerifyBackup(ctx, c.Dir)
	if err != nil {
		return err
	}
	return p.described("verified", c.Dir, m)
}

type backupRestore struct {
	Dir  string `arg:"" name:"folder" help:"Folder of the backup."`
	Keys string `help:"File with the keys of secrets (default: put secrets.key into the data directory yourself)." placeholder:"FILE"`
	database
}

func (c *backupRestore) run(ctx context.Context, p Process) error {
	settings, err := p.load(c.flags(), c.Config)
	if err != nil {
		return err
	}
	m, err := app.RestoreBackup(ctx, settings, c.Dir, c.Keys, p.quietLog())
	if err != nil {
		return err
	}
	if c.Keys == "" && m.Snapshot.Counts["secrets"] > 0 {
		_, _ = fmt.Fprintf(p.Stderr, "The backup has %d secrets. Copy their keys to the data directory as secrets.key before you start the server, or name them with --secrets-key-file.\n", m.Snapshot.Counts["secrets"])
	}
	return p.described("restored", c.Dir, m)
}

// described prints what a backup contains.
func (p Process) described(done, dir string, m backup.Manifest) error {
	n := m.Snapshot.Counts
	_, err := fmt.Fprintf(p.Stdout, "%s %d agents, %d versions, %d runs and %d secrets in %d files with %d bytes: %s, made at %s by Atelier %s from %s\n",
		done, n["agents"], n["versions"], n["runs"], n["secrets"], len(m.Files), m.Bytes(), dir, m.CreatedAt.Format("2006-01-02 15:04:05Z"), m.Version, m.Snapshot.Database)
	return err
}
