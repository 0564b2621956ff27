package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/atelier-run/atelier/registry/blobs"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/studio/runs"
)

// serverFile is the file in the data directory with the ID under which this server shares a database.
const serverFile = "server-id"

// member describes this server to the others that use its database, nil if it is alone. The ID stays the same for a data
// directory: a server that starts again ends the runs of its earlier process at once, because the lock of the directory
// shows that this process has ended.
func (a *App) member() (*store.Member, error) {
	if !a.Config.Replicas {
		return nil, nil //nolint:nilnil // the server is alone
	}
	path := filepath.Join(a.Config.Data, serverFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte(uuid.NewString())
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("ID of the server: %w", err)
	}
	id, err := uuid.Parse(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("the file %s does not contain the ID of a server; remove it: %w", path, err)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &store.Member{ID: id.String(), Address: host + " " + a.Config.Listen}, nil
}

// unshared rejects large files in a data directory that the other servers of the database cannot read.
func (a *App) unshared(files *blobs.Folder) error {
	if !a.Config.Replicas || a.Config.S3.Endpoint != "" {
		return nil
	}
	if empty, err := files.Empty(); err != nil || empty {
		return err
	}
	return fmt.Errorf("%s has files of large versions, which other servers cannot read; set --s3-endpoint and run `atelier blobs move`", filepath.Join(a.Config.Data, "blobs"))
}

// others returns the other servers of the database, nil if this one is alone.
func (a *App) others() runs.Others {
	if !a.Config.Replicas {
		return nil
	}
	return a.store
}

// cancelEvery is the interval at which a server looks for requests of other servers to cancel its runs.
const cancelEvery = 500 * time.Millisecond

func (a *App) cancelForOthers(ctx context.Context) error {
	if !a.Config.Replicas {
		return nil
	}
	a.again(ctx, "cancellations", cancelEvery, func(ctx context.Context) {
		if err := a.runs.CancelForOthers(ctx); err != nil && ctx.Err() == nil {
			a.Log.LogAttrs(ctx, slog.LevelError, "cancel runs for other servers", slog.Any("error", err))
		}
	}, func() error { return nil })
	return nil
}
