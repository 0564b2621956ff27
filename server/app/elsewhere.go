package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bacalhau"
)

// ownerFile is the file with the owner name that this server gives to its programs at remote services. After a crash,
// the restarted server uses this name to find its programs.
const ownerFile = "remote-owner"

// tidyElsewhere makes the remote engines delete sandboxes and jobs that an earlier process of this server did not
// delete.
func (a *App) tidyElsewhere() error {
	for _, name := range []runtimes.Name{runtimes.E2BEngine, runtimes.Bacalhau} {
		e, ok := a.engines.engines[name].(interface {
			Lacks() string
			Tidy(owner string)
		})
		if !ok || e.Lacks() != "" {
			continue
		}
		if jobs, ok := e.(interface {
			Spare(kept func(context.Context) (map[string]bool, error))
		}); ok {
			jobs.Spare(a.followed)
		}
		if jobs, ok := e.(interface{ Lend(d bacalhau.Depot) }); ok && a.inputs() != nil {
			jobs.Lend(a.inputs())
		}
		owner, err := ownerOf(a.Config.Data)
		if err != nil {
			return err
		}
		e.Tidy(owner)
	}
	return nil
}

// followed returns the IDs of the runs whose remote jobs are recorded. These jobs must not be deleted.
func (a *App) followed(ctx context.Context) (map[string]bool, error) {
	if a.store == nil {
		return nil, errors.New("there is no database")
	}
	jobs, err := a.store.RemoteJobs(ctx)
	runs := map[string]bool{}
	for _, job := range jobs {
		runs[job.RunID] = true
	}
	return runs, err
}

// ownerOf returns the owner name that a data directory contains. If there is none, it creates one.
func ownerOf(data string) (string, error) {
	path := filepath.Join(data, ownerFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte(rand.Text())
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("the file %s, which names this server at remote services: %w", path, err)
	}
	owner := strings.TrimSpace(string(text))
	if owner == "" {
		return "", fmt.Errorf("the file %s, which names this server at remote services, is empty; remove it", path)
	}
	return owner, nil
}
