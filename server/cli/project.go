package cli

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/atelier-run/atelier/registry"
)

type projectCommand struct {
	List        projectListCommand        `cmd:"" help:"List projects: trees of files that programs read and propose changes to."`
	Show        projectShowCommand        `cmd:"" help:"List the files of a project."`
	Import      projectImportCommand      `cmd:"" help:"Create a project, or replace its files, from a folder or an archive."`
	History     projectHistoryCommand     `cmd:"" help:"List the changes of a project, newest first."`
	Overlays    projectOverlaysCommand    `cmd:"" help:"List the changes that runs propose, newest first."`
	Diff        projectDiffCommand        `cmd:"" help:"Show a proposed change as a unified diff."`
	Materialize projectMaterializeCommand `cmd:"" help:"Write a project, with a proposed change applied, to a folder, or read the changed folder back."`
	Accept      projectAcceptCommand      `cmd:"" help:"Apply a proposed change: all of its files or some."`
	Reject      projectRejectCommand      `cmd:"" help:"Reject a proposed change: all of its files or some."`
	Delete      projectDeleteCommand      `cmd:"" help:"Delete a project with its history."`
}

func projectPath(name string, more ...string) string {
	path := "/api/v1/projects/" + url.PathEscape(name)
	for _, part := range more {
		path += "/" + url.PathEscape(part)
	}
	return path
}

type projectListCommand struct{ asked }

func (c *projectListCommand) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodGet, "/api/v1/projects", nil, func(answer json.RawMessage) error {
		var all page[registry.Project]
		if err := read(answer, &all); err != nil {
			return err
		}
		t := newTable(p.Stdout, "NAME", "FILES", "BYTES", "CHANGE", "UPDATED")
		for _, one := range all.Items {
			t.row(one.Name, strconv.Itoa(one.Files), strconv.FormatInt(one.Bytes, 10), strconv.FormatInt(one.Change, 10), one.UpdatedAt.UTC().Format(time.RFC3339))
		}
		return t.flush()
	})
}

type projectName struct {
	Name string `arg:"" help:"Name of the project."`
}

type projectShowCommand struct {
	projectName
	asked
}

func (c *projectShowCommand) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodGet, projectPath(c.Name), nil, func(answer json.RawMessage) error {
		var detail struct {
			Paths []struct {
				Path string
				Size int64
			}
		}
		if err := read(answer, &detail); err != nil {
			return err
		}
		t := newTable(p.Stdout, "BYTES", "PATH")
		for _, file := range detail.Paths {
			t.row(strconv.FormatInt(file.Size, 10), file.Path)
		}
		return t.flush()
	})
}

type projectImportCommand struct {
	projectName
	From        string `arg:"" help:"Folder, archive that ends in .tar, .tar.gz, .tgz or .zip, git bundle that ends in .bundle, or - for an archive from stdin. Symbolic links and .git folders are skipped." type:"existingpath"`
	Type        string `help:"Type of the archive from stdin: ${enum}." enum:"tar.gz,tar,zip,bundle" default:"tar.gz"`
	Description string `help:"Description of a new project." placeholder:"TEXT"`
	Summary     string `help:"Summary of the change (default: Import, or Import of the commit of a bundle)." placeholder:"TEXT"`
	Strip       bool   `help:"Remove the top folder from all paths if it contains all files, as in archives of repositories."`
	asked
}

func (c *projectImportCommand) run(ctx context.Context, p Process) (err error) {
	archive, kind, err := c.archive(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, archive.Close()) }()
	return c.with(ctx, p, func(server *client) error {
		var answer json.RawMessage
		query := url.Values{"strip": {strconv.FormatBool(c.Strip)}, "summary": {c.Summary}, "description": {c.Description}}
		err := server.transfer(ctx, http.MethodPost, projectPath(c.Name, "import")+"?"+query.Encode(), io.NopCloser(archive), map[string]string{"Content-Type": kind}, into(&answer))
		if err != nil {
			return err
		}
		return c.print(p, answer, printImport(p))
	})
}

func printImport(p Process) func(json.RawMessage) error {
	return func(answer json.RawMessage) error {
		var report struct {
			Project registry.Project
			Skipped []string
		}
		if err := read(answer, &report); err != nil {
			return err
		}
		for _, name := range report.Skipped {
			if err := p.say("skipped %s", lines(name)); err != nil {
				return err
			}
		}
		return p.say("imported %s as change %d of %s", counted(report.Project.Files, "file"), report.Project.Change, report.Project.Name)
	}
}

// archive opens the archive that is imported, and returns it with its content type.
func (c *projectImportCommand) archive(p Process) (io.ReadCloser, string, error) {
	if c.From == "-" {
		return io.NopCloser(p.Stdin), map[string]string{"tar.gz": "application/gzip", "tar": "application/x-tar", "zip": "application/zip", "bundle": "application/x-git-bundle"}[c.Type], nil
	}
	return archiveOf(c.From)
}

// archiveOf opens an archive file, or packs a folder into an archive. It returns the archive with its content type.
func archiveOf(path string) (io.ReadCloser, string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, "", err
	}
	if info.IsDir() {
		out, in := io.Pipe()
		go func() { _ = in.CloseWithError(pack(in, path)) }()
		return out, "application/gzip", nil
	}
	file, err := os.Open(path)
	name := strings.ToLower(path)
	switch {
	case err != nil:
		return nil, "", err
	case strings.HasSuffix(name, ".zip"):
		return file, "application/zip", nil
	case strings.HasSuffix(name, ".bundle"):
		return file, "application/x-git-bundle", nil
	case strings.HasSuffix(name, ".tar"):
		return file, "application/x-tar", nil
	case strings.HasSuffix(name, ".tar.gz"), strings.HasSuffix(name, ".tgz"):
		return file, "application/gzip", nil
	}
	return nil, "", errors.Join(misusedf("%s must be a folder, or a file that ends in .tar, .tar.gz, .tgz, .zip or .bundle", path), file.Close())
}

// pack writes the files of a folder in the format tar.gz. It does not follow links.
func pack(to io.Writer, folder string) error {
	zipped := gzip.NewWriter(to)
	w := tar.NewWriter(zipped)
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	err = fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		return packFile(w, root, path)
	})
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = zipped.Close()
	}
	return err
}

func packFile(w *tar.Writer, root *os.Root, path string) error {
	file, err := root.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := w.WriteHeader(&tar.Header{Name: filepath.ToSlash(path), Mode: 0o644, Size: info.Size(), Typeflag: tar.TypeReg}); err != nil {
		return err
	}
	_, err = io.CopyN(w, file, info.Size())
	return err
}

type projectHistoryCommand struct {
	projectName
	asked
}

func (c *projectHistoryCommand) run(ctx context.Context, p Process) error {
	return list(ctx, p, c.asked, projectPath(c.Name, "changes"), url.Values{}, 10_000, func(all []registry.ProjectChange) error {
		t := newTable(p.Stdout, "CHANGE", "DATE", "BY", "FILES", "SUMMARY")
		for _, one := range all {
			t.row(strconv.FormatInt(one.Number, 10), one.CreatedAt.UTC().Format(time.RFC3339), or(one.Actor.Name, one.Actor.ID), strconv.Itoa(one.Touched), one.Summary)
		}
		return t.flush()
	})
}

type projectOverlaysCommand struct {
	projectName
	Status string `help:"Only overlays in this state: open, accepted, rejected or expired." placeholder:"STATE"`
	asked
}

func (c *projectOverlaysCommand) run(ctx context.Context, p Process) error {
	return list(ctx, p, c.asked, projectPath(c.Name, "overlays"), said(map[string]string{"status": c.Status}), 10_000, func(all []registry.Overlay) error {
		t := newTable(p.Stdout, "ID", "STATE", "FILES", "RUN", "AGENT", "CREATED", "SUMMARY")
		for _, o := range all {
			t.row(o.ID, string(o.Status), strconv.Itoa(len(o.Entries)), string(o.RunStatus), or(o.Agent, "(inline)"), o.CreatedAt.UTC().Format(time.RFC3339), o.Summary)
		}
		return t.flush()
	})
}

type overlayName struct {
	projectName
	Overlay string `arg:"" help:"ID of the overlay."`
}

type projectDiffCommand struct {
	overlayName
	asked
}

func (c *projectDiffCommand) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodGet, projectPath(c.Name, "overlays", c.Overlay, "diff"), nil, printOverlay(p))
}

// printOverlay prints the changes of an overlay as a unified diff against the project. For a conflict it prints both
// sides.
func printOverlay(p Process) func(json.RawMessage) error {
	return func(answer json.RawMessage) error {
		var diff struct {
			Files []struct{ Path, Outcome, Unified, Project string }
		}
		if err := read(answer, &diff); err != nil {
			return err
		}
		for _, file := range diff.Files {
			text := file.Unified
			if text == "" {
				text = "Binary or large file " + file.Path + "\n"
			}
			if file.Outcome == "conflict" {
				text = "# conflict: the project changed " + file.Path + " too:\n" + file.Project + "# proposed:\n" + text
			}
			if _, err := io.WriteString(p.Stdout, lines(text)); err != nil {
				return err
			}
		}
		return nil
	}
}

type decided struct {
	overlayName
	Files []string `arg:"" optional:"" help:"Files to accept or reject (default: all undecided files)." placeholder:"PATH"`
	asked
}

func (c *decided) decide(ctx context.Context, p Process, action, summary string) error {
	body := map[string]any{"files": c.Files, "summary": summary}
	if len(c.Files) == 0 {
		delete(body, "files")
	}
	return c.ask(ctx, p, http.MethodPost, projectPath(c.Name, "overlays", c.Overlay, action), body, func(answer json.RawMessage) error {
		var overlay registry.Overlay
		if err := read(answer, &overlay); err != nil {
			return err
		}
		return p.say("the overlay is %s", overlay.Status)
	})
}

type projectAcceptCommand struct {
	decided
	Summary string `help:"Summary of the change (default: the summary that the program wrote)." placeholder:"TEXT"`
}

func (c *projectAcceptCommand) run(ctx context.Context, p Process) error {
	return c.decide(ctx, p, "accept", c.Summary)
}

type projectRejectCommand struct{ decided }

func (c *projectRejectCommand) run(ctx context.Context, p Process) error {
	return c.decide(ctx, p, "reject", "")
}

type projectDeleteCommand struct {
	projectName
	asked
}

func (c *projectDeleteCommand) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodDelete, projectPath(c.Name), nil, func(json.RawMessage) error {
		return p.say("deleted the project %s", c.Name)
	})
}
