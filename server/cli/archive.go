package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
)

type archiveCommand struct {
	Export archiveExportCommand `cmd:"" help:"Write agents with all their versions to a file."`
	Import archiveImportCommand `cmd:"" help:"Import the agents of a file into the workspace. Versions keep their digests."`
}

type archiveExportCommand struct {
	File   string   `arg:"" help:"File to write, for example agents.tar.gz, or - for stdout." type:"path"`
	Agents []string `arg:"" optional:"" help:"Names of agents (default: all agents of the workspace)." placeholder:"NAME"`
	asked
}

func (c *archiveExportCommand) run(ctx context.Context, p Process) error {
	if c.JSON && c.File == "-" {
		return misusedf("--json cannot be combined with an archive on stdout")
	}
	return c.with(ctx, p, func(server *client) error {
		query := url.Values{"agent": c.Agents}
		return server.exchange(ctx, http.MethodGet, "/api/v1/archive?"+query.Encode(), nil, nil, func(_ http.Header, body io.Reader) error {
			if c.File == "-" {
				_, err := io.Copy(p.Stdout, body)
				return err
			}
			if err := writeWhole(c.File, body); err != nil {
				return err
			}
			return c.result(p, map[string]string{"file": c.File}, func() error { return nil })
		})
	})
}

// open opens a file for reading. The name - means stdin.
func (p Process) open(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(p.Stdin), nil
	}
	return os.Open(path)
}

// writeWhole replaces a file by a complete new file. If an error occurs, the existing file stays unchanged.
func writeWhole(path string, content io.Reader) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".atelier-*")
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

type archiveImportCommand struct {
	File   string `arg:"" help:"File written by atelier archive export, or - for stdin." type:"existingfile"`
	DryRun bool   `help:"Check the file without importing it."`
	Listed bool   `help:"List agents in the public registry if they were listed where the archive was written."`
	asked
}

func (c *archiveImportCommand) run(ctx context.Context, p Process) (err error) {
	content, err := p.open(c.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	return c.with(ctx, p, func(server *client) error {
		var answer json.RawMessage
		path := "/api/v1/archive?dryRun=" + strconv.FormatBool(c.DryRun) + "&listed=" + strconv.FormatBool(c.Listed)
		err := server.transfer(ctx, http.MethodPost, path, io.NopCloser(content), map[string]string{"Content-Type": "application/gzip"}, into(&answer))
		if err != nil {
			return err
		}
		return c.print(p, answer, c.tell(p))
	})
}

func (c *archiveImportCommand) tell(p Process) func(json.RawMessage) error {
	return func(answer json.RawMessage) error {
		var report struct {
			Agents []struct {
				Name, Outcome string
				Added, Kept   int
			}
		}
		if err := read(answer, &report); err != nil {
			return err
		}
		t := newTable(p.Stdout, "NAME", "OUTCOME", "ADDED", "KEPT")
		for _, a := range report.Agents {
			t.row(a.Name, a.Outcome, strconv.Itoa(a.Added), strconv.Itoa(a.Kept))
		}
		if c.DryRun {
			_, _ = fmt.Fprintln(p.Stderr, "note: nothing was imported")
		}
		return t.flush()
	}
}
