package projects

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/blobs"
	"github.com/atelier-run/atelier/registry/gitbundle"
	"github.com/atelier-run/atelier/registry/tarball"
	"github.com/atelier-run/atelier/studio/specs"
)

// MaxUpload is the maximum size of an archive in bytes.
const MaxUpload = 64 << 20

// ImportedProject is the result of an import.
type ImportedProject struct {
	Project registry.Project `json:"project"`
	Skipped []string         `json:"skipped" doc:"Entries of the archive that were skipped: links, devices, and .git folders."`
}

// ImportRequest describes an import. If no project has the given name, the import creates a project.
type ImportRequest struct {
	Name        string
	Description string
	Summary     string
	Strip       bool      // whether to remove a top folder that contains all files, as in archives of repositories
	Archive     io.Reader // format: tar, tar.gz, zip or git bundle
}

// Import replaces the files of a project by the files of an archive, or of the commit in a git bundle. The project's
// history keeps the earlier files. Links are skipped and reported. Errors: InvalidInput; Conflict; StorageFull.
func (s *Service) Import(ctx context.Context, actor registry.Actor, req ImportRequest) (ImportedProject, error) {
	if problem := specs.CheckProjectName(req.Name); problem != "" {
		return ImportedProject{}, fault.Invalid("/project", "%s", problem)
	}
	for field, text := range map[string]string{"/description": req.Description, "/summary": req.Summary} {
		if err := checkText(field, text); err != nil {
			return ImportedProject{}, err
		}
	}
	old, oldTree, err := s.Tree(ctx, actor, req.Name)
	exists := err == nil
	if err != nil && !fault.Is(err, fault.NotFound) {
		return ImportedProject{}, err
	}
	if !exists {
		if all, err := s.List(ctx, actor); err != nil || len(all) >= MaxProjects {
			return ImportedProject{}, errors.Join(err, tooManyProjects(len(all)))
		}
	}
	in := &importer{service: s, ctx: ctx, workspace: actor.Workspace, tree: registry.Tree{}, skipped: []string{}}
	if err := in.read(req.Archive); err != nil {
		return ImportedProject{}, err
	}
	if len(in.tree) == 0 {
		return ImportedProject{}, fault.Invalid("/archive", "must contain at least one file.")
	}
	tree := in.tree
	if req.Strip {
		tree = withoutRoot(tree)
	}
	if inside := nested(tree); inside != "" {
		return ImportedProject{}, fault.Invalid("/archive", "has %s as a file and as a folder.", inside)
	}
	digest, err := s.putTree(ctx, actor.Workspace, tree)
	if err != nil {
		return ImportedProject{}, err
	}
	if exists && digest == old.Tree {
		return ImportedProject{}, fault.New(fault.Conflict, "The archive has the same files as the project.")
	}
	p := old
	if !exists {
		p = registry.Project{ID: s.NewID(), Workspace: actor.Workspace, Name: req.Name, Description: req.Description, CreatedAt: s.Now()}
	}
	change := s.after(&p, tree, digest, oldTree, actor)
	change.Summary = req.Summary
	if change.Summary == "" {
		change.Summary = strings.TrimSuffix("Import of "+in.source, " of ")
	}
	if exists {
		err = s.Changes.ChangeProject(ctx, p, change, nil)
	} else {
		err = s.Store.CreateProject(ctx, p, change)
	}
	return ImportedProject{Project: p, Skipped: in.skipped}, err
}

func tooManyProjects(n int) error {
	if n < MaxProjects {
		return nil
	}
	return fault.New(fault.Conflict, "A workspace can have at most %d projects. Delete one first.", MaxProjects)
}

func checkText(field, text string) error {
	if len(text) > maxText {
		return fault.Invalid(field, "must have at most %d bytes.", maxText)
	}
	return registry.CheckText(field, text)
}

// after puts the new tree into the project and returns the record of the change.
func (s *Service) after(p *registry.Project, tree registry.Tree, digest string, before registry.Tree, actor registry.Actor) registry.ProjectChange {
	p.Tree, p.Change, p.UpdatedAt = digest, p.Change+1, s.Now()
	p.Files, p.Bytes = size(tree)
	paths := pathChanges(before, tree)
	return registry.ProjectChange{
		Workspace: p.Workspace, ProjectID: p.ID, Number: p.Change, Tree: digest, Actor: actor, CreatedAt: s.Now(),
		Paths: paths[:min(len(paths), maxPaths)], Touched: len(paths),
	}
}

// pathChanges lists the files that differ between two trees, sorted by path.
func pathChanges(before, after registry.Tree) []registry.PathChange {
	paths := []registry.PathChange{}
	for path, file := range after {
		switch old, existed := before[path]; {
		case !existed:
			paths = append(paths, registry.PathChange{Path: path, Kind: registry.FileAdded})
		case old != file:
			paths = append(paths, registry.PathChange{Path: path, Kind: registry.FileChanged})
		}
	}
	for path := range before {
		if _, stays := after[path]; !stays {
			paths = append(paths, registry.PathChange{Path: path, Kind: registry.FileDeleted})
		}
	}
	slices.SortFunc(paths, func(a, b registry.PathChange) int { return strings.Compare(a.Path, b.Path) })
	return paths
}

// importer stores the files of an archive as contents of a workspace.
type importer struct {
	service   *Service
	ctx       context.Context
	workspace string
	tree      registry.Tree
	bytes     int64
	skipped   []string
	source    string // commit of a git bundle; "" for other archives
	batch     []registry.Content
	batched   int
}

// storeError wraps an error of the database, so that it is not reported as an error of the archive.
type storeError struct{ error }

func (e storeError) Unwrap() error { return e.error }

// keepsItsReason reports whether an error is returned unchanged. This is so if the error has a reason for the client,
// or if the database or a temporary file failed.
func keepsItsReason(err error) bool {
	var known *fault.Error
	var stored storeError
	var file *fs.PathError
	return errors.As(err, &known) || errors.As(err, &stored) || errors.As(err, &file)
}

// errArchive returns the error for a malformed archive. It omits the details of the underlying error.
func errArchive(err error) error {
	if keepsItsReason(err) {
		return err
	}
	return fault.Invalid("/archive", "must be a complete tar, tar.gz or zip archive, or git bundle, of at most %d MiB.", MaxUpload>>20)
}

// zipSignature is the sequence of bytes with which a zip archive starts.
const zipSignature = "PK\x03\x04"

func (i *importer) read(from io.Reader) error {
	in := bufio.NewReader(&tarball.Bounded{Reader: from, Left: MaxUpload, TooLong: fault.Invalid("/archive", "must have at most %d MiB.", MaxUpload>>20)})
	head, _ := in.Peek(len(zipSignature))
	var err error
	switch {
	case strings.HasPrefix(string(head), gitbundle.Signature):
		err = i.bundle(in)
	case string(head) == zipSignature:
		err = i.zip(in)
	case len(head) >= 2 && head[0] == 0x1f && head[1] == 0x8b:
		var unpacked *gzip.Reader
		if unpacked, err = gzip.NewReader(in); err == nil {
			err = i.tar(&tarball.Bounded{Reader: unpacked, Left: maxUnpacked, TooLong: fault.Invalid("/archive", "must unpack to at most %d MiB; remove generated files and .git folders.", maxUnpacked>>20)})
		}
	default:
		err = i.tar(in)
	}
	if err != nil {
		return errArchive(err)
	}
	return i.store()
}

// maxUnpacked is the maximum total size in bytes of the unpacked entries of an archive, including skipped entries.
const maxUnpacked = 4 * MaxBytes

// maxEntries is the maximum number of entries of an archive, including folders and links.
const maxEntries = 4 * MaxFiles

func (i *importer) tar(from io.Reader) error {
	in := tar.NewReader(from)
	for n := 0; ; n++ {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil || n > maxEntries {
			return errArchive(err)
		}
		switch {
		case header.Typeflag == tar.TypeDir, header.Typeflag == tar.TypeXGlobalHeader:
		case header.Typeflag != tar.TypeReg || tarball.Sparse(header):
			i.skip(header.Name)
		default:
			if err := i.add(header.Name, header.Size, in); err != nil {
				return err
			}
		}
	}
}

// zip reads a zip archive. It first stores the archive in a temporary file, because the list of files is at the end of
// the archive.
func (i *importer) zip(from io.Reader) error {
	file, err := temporary(i.service.Dir)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	length, err := io.Copy(file, from)
	if err != nil {
		return err
	}
	in, err := zip.NewReader(file, length)
	if err != nil || len(in.File) > maxEntries {
		return errArchive(err)
	}
	for _, entry := range in.File {
		switch {
		case entry.Mode().IsDir():
		case entry.Mode()&fs.ModeType != 0:
			i.skip(entry.Name)
		default:
			if err := i.unzip(entry); err != nil {
				return err
			}
		}
	}
	return nil
}

func (i *importer) unzip(entry *zip.File) error {
	content, err := entry.Open()
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	return i.add(entry.Name, -1, content)
}

// bundle reads the files of the HEAD of a git bundle, or of its only branch. It first stores the bundle in a temporary
// file, because deltas refer to earlier parts of the bundle.
func (i *importer) bundle(from io.Reader) error {
	file, err := temporary(i.service.Dir)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if _, err := io.Copy(file, from); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	b, err := gitbundle.Open(file, MaxFileBytes)
	if err == nil {
		i.source = strings.TrimPrefix(b.Ref, "refs/heads/") + " at " + b.Commit[:12]
		err = b.Files(func(e gitbundle.Entry) error {
			switch {
			case !e.Plain:
				i.skip(e.Path)
				return nil
			case e.Large:
				return tooLarge(e.Path)
			}
			return i.add(e.Path, int64(len(e.Content)), bytes.NewReader(e.Content))
		})
	}
	if err != nil && !keepsItsReason(err) {
		return fault.Invalid("/archive", "is a git bundle that %s.", fault.Shown(err.Error(), 300))
	}
	return err
}

// temporary creates a temporary file and removes its name, so that the file disappears when it is closed.
func temporary(dir string) (*os.File, error) {
	file, err := os.CreateTemp(dir, ".atelier-*")
	if err != nil {
		return nil, fmt.Errorf("create temporary file: %w", err)
	}
	return file, os.Remove(file.Name())
}

func (i *importer) skip(name string) {
	if len(i.skipped) < maxPaths {
		i.skipped = append(i.skipped, strings.ToValidUTF8(name[:min(len(name), 1024)], "\uFFFD"))
	}
}

// add stores one file in the database. It never writes to the path that the archive names.
func (i *importer) add(name string, length int64, content io.Reader) error {
	if slices.Contains(strings.Split(strings.TrimPrefix(path.Clean(name), "./"), "/"), ".git") {
		if len(i.skipped) == 0 || !strings.HasSuffix(i.skipped[len(i.skipped)-1], ".git") {
			i.skip(".git")
		}
		return nil
	}
	clean, problem := registry.CleanPath(name)
	if problem != "" {
		return fault.Invalid("/archive", "has a file %q: its path %s", strings.ToValidUTF8(name[:min(len(name), 200)], "\uFFFD"), problem)
	}
	if _, twice := i.tree[clean]; twice {
		return fault.Invalid("/archive", "has the file %s twice.", clean)
	}
	if length > MaxFileBytes {
		return tooLarge(clean)
	}
	text, err := io.ReadAll(io.LimitReader(content, MaxFileBytes+1))
	if err != nil {
		return err
	}
	if len(text) > MaxFileBytes {
		return tooLarge(clean)
	}
	digest := blobs.Digest(text)
	i.tree[clean] = registry.TreeFile{Digest: digest, Size: int64(len(text))}
	if i.bytes += int64(len(text)); i.bytes > MaxBytes || len(i.tree) > MaxFiles {
		return checkSize(i.tree)
	}
	i.batch = append(i.batch, registry.Content{Digest: digest, Bytes: text})
	if i.batched += len(text); i.batched >= batchBytes || len(i.batch) >= 500 {
		return i.store()
	}
	return nil
}

func tooLarge(path string) error {
	return fault.Invalid("/archive", "has a file %s of more than %d MiB.", path, MaxFileBytes>>20)
}

func (i *importer) store() error {
	batch := i.batch
	i.batch, i.batched = nil, 0
	err := i.service.Quotas.CheckAgentLimit(i.ctx, i.workspace)
	if err == nil {
		err = i.service.put(i.ctx, i.workspace, batch)
	}
	if err != nil {
		return storeError{err}
	}
	return nil
}

// distinct returns the contents without those that occur more than once.
func distinct(contents []registry.Content) []registry.Content {
	slices.SortFunc(contents, func(a, b registry.Content) int { return strings.Compare(a.Digest, b.Digest) })
	return slices.CompactFunc(contents, func(a, b registry.Content) bool { return a.Digest == b.Digest })
}

// withoutRoot removes the top folder from all paths if all files are in one top folder, as in archives of repositories.
func withoutRoot(tree registry.Tree) registry.Tree {
	root := ""
	for path := range tree {
		first, _, inside := strings.Cut(path, "/")
		if !inside || root != "" && root != first {
			return tree
		}
		root = first
	}
	shorter := make(registry.Tree, len(tree))
	for path, file := range tree {
		shorter[strings.TrimPrefix(path, root+"/")] = file
	}
	return shorter
}

// nested returns a path that is both a file and a folder of other files, or "" if there is none.
func nested(tree registry.Tree) string {
	for name := range tree {
		for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
			if _, isFile := tree[folder]; isFile {
				return folder
			}
		}
	}
	return ""
}
