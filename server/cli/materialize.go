package cli

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/projects"
)

// materialized contains the arguments of the commands that write an overlay to a folder or read it back.
type materialized struct {
	Dir      string `arg:"" help:"Folder for the files. It must be new or empty, except with --read-back." placeholder:"DIR"`
	ReadBack bool   `help:"Replace the proposed changes with those in the folder. Files that are missing in the folder are deleted. Symbolic links are refused, and .git is ignored."`
	asked
}

type projectMaterializeCommand struct {
	overlayName
	materialized
}

func (c *projectMaterializeCommand) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error { return c.move(ctx, p, server, c.Name, c.Overlay) })
}

type taskMaterializeCommand struct {
	taskID
	materialized
}

func (c *taskMaterializeCommand) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error {
		var task registry.Task
		if err := server.call(ctx, http.MethodGet, taskPath(c.Task), nil, &task); err != nil {
			return err
		}
		if task.OverlayID == "" {
			return fmt.Errorf("the task is %s and has no changes", task.Status)
		}
		return c.move(ctx, p, server, task.Project, task.OverlayID)
	})
}

// move writes the files of the overlay to the folder. With --read-back it does the opposite: it replaces the overlay's
// changes by the changes in the folder.
func (c *materialized) move(ctx context.Context, p Process, server *client, project, overlay string) error {
	address := projectPath(project, "overlays", overlay, "archive")
	if c.ReadBack {
		return c.readBack(ctx, p, server, address)
	}
	var written struct {
		Dir   string `json:"dir"`
		Files int    `json:"files"`
	}
	written.Dir = c.Dir
	err := server.transfer(ctx, http.MethodGet, address, nil, nil, func(_ http.Header, body io.Reader) (err error) {
		written.Files, err = unpack(body, c.Dir)
		return err
	})
	if err != nil {
		return err
	}
	answer, err := json.Marshal(written)
	if err != nil {
		return err
	}
	return c.print(p, answer, func(json.RawMessage) error { return p.say("wrote %s to %s", counted(written.Files, "file"), c.Dir) })
}

func (c *materialized) readBack(ctx context.Context, p Process, server *client, address string) error {
	if err := refuseLinks(c.Dir); err != nil {
		return err
	}
	archive, kind, err := archiveOf(c.Dir)
	if err != nil {
		return err
	}
	var answer json.RawMessage
	err = server.transfer(ctx, http.MethodPut, address, io.NopCloser(archive), map[string]string{"Content-Type": kind}, into(&answer))
	if err = errors.Join(err, archive.Close()); err != nil {
		return err
	}
	return c.print(p, answer, func(json.RawMessage) error {
		var overlay registry.Overlay
		if err := read(answer, &overlay); err != nil {
			return err
		}
		return p.say("the overlay changes %s", counted(len(overlay.Entries), "file"))
	})
}

// refuseLinks returns an error if a folder contains links or other special files. Such files are not sent, so the
// server would take a link in place of a file for a deletion.
func refuseLinks(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return misusedf("%s is not a folder", dir)
	}
	return fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case !entry.IsDir() && !entry.Type().IsRegular():
			return misusedf("%s is a link or a device; replace it with a file", lines(name))
		}
		return nil
	})
}

// unpack writes the files of an archive to a new or empty folder, and returns the number of files. It never writes
// outside of the folder, whatever paths the archive contains.
func unpack(archive io.Reader, dir string) (int, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return 0, err
	}
	if inside, err := os.ReadDir(dir); err != nil || len(inside) > 0 {
		return 0, errors.Join(err, misusedf("%s must be empty", dir))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer func() { _ = root.Close() }()
	unzipped, err := gzip.NewReader(archive)
	if err != nil {
		return 0, fmt.Errorf("read the archive: %w", err)
	}
	in := tar.NewReader(unzipped)
	for n := 0; ; n++ {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, fmt.Errorf("read the archive: %w", err)
		}
		name, problem := registry.CleanPath(header.Name)
		if problem != "" || header.Typeflag != tar.TypeReg {
			return n, fmt.Errorf("the archive contains an entry that is not a file or has an invalid path: %s", lines(header.Name))
		}
		if err := unpackFile(root, name, in); err != nil {
			return n, err
		}
	}
}

func unpackFile(root *os.Root, name string, content io.Reader) error {
	if err := root.MkdirAll(path.Dir(name), 0o750); err != nil {
		return err
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return err
	}
	n, err := io.Copy(file, io.LimitReader(content, projects.MaxFileBytes+1))
	if err == nil && n > projects.MaxFileBytes {
		err = fmt.Errorf("%s is larger than a file of a project may be", lines(name))
	}
	return errors.Join(err, file.Close())
}
