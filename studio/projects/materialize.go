package projects

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Materialized holds the files of a project with the changes of an overlay.
type Materialized struct {
	service   *Service
	workspace string
	tree      registry.Tree
}

// Materialize returns the files that a run read, together with the run's changes. Error: NotFound.
func (s *Service) Materialize(ctx context.Context, actor registry.Actor, project, id string) (*Materialized, error) {
	r, err := s.review(ctx, actor, project, id)
	if err != nil {
		return nil, err
	}
	tree := maps.Clone(r.base)
	for _, entry := range r.overlay.Entries {
		if entry.Kind == registry.FileDeleted {
			delete(tree, entry.Path)
		} else {
			tree[entry.Path] = registry.TreeFile{Digest: entry.Digest, Size: entry.Size}
		}
	}
	return &Materialized{s, actor.Workspace, tree}, nil
}

// Write writes the files as a tar.gz archive, sorted by path.
func (m *Materialized) Write(ctx context.Context, to io.Writer) error {
	zipped := gzip.NewWriter(to)
	w := tar.NewWriter(zipped)
	for _, path := range slices.Sorted(maps.Keys(m.tree)) {
		text, err := m.service.content(ctx, m.workspace, m.tree[path].Digest)
		if err == nil {
			err = w.WriteHeader(&tar.Header{Name: path, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg})
		}
		if err == nil {
			_, err = w.Write(text)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), zipped.Close())
}

// ReadBack replaces the changes of an overlay. The new changes are the differences between the files that the run read
// and the files of the archive. An archive with links is rejected, because a link in place of a file would look like a
// deletion. Errors: NotFound; Conflict; InvalidInput; StorageFull.
func (s *Service) ReadBack(ctx context.Context, actor registry.Actor, project, id string, archive io.Reader) (registry.Overlay, error) {
	if err := s.Quotas.CheckAgentLimit(ctx, actor.Workspace); err != nil {
		return registry.Overlay{}, err
	}
	r, selected, err := s.choose(ctx, actor, project, id, Decision{})
	switch {
	case err != nil:
		return registry.Overlay{}, err
	case len(selected) < len(r.overlay.Entries):
		return registry.Overlay{}, fault.New(fault.Conflict, "Some files of the overlay are decided already, so it cannot be replaced.")
	}
	in := &importer{service: s, ctx: ctx, workspace: actor.Workspace, tree: registry.Tree{}, skipped: []string{}}
	if err := in.read(archive); err != nil {
		return registry.Overlay{}, err
	}
	if skipped := slices.DeleteFunc(in.skipped, func(name string) bool { return name == ".git" }); len(skipped) > 0 {
		return registry.Overlay{}, fault.Invalid("/archive", "must contain only files. These are links or devices: %s.", strings.Join(skipped[:min(len(skipped), 5)], ", "))
	}
	if inside := nested(in.tree); inside != "" {
		return registry.Overlay{}, fault.Invalid("/archive", "has %s as a file and as a folder.", inside)
	}
	entries, bytes := entriesOf(r.base, in.tree)
	switch {
	case len(entries) == 0:
		return registry.Overlay{}, fault.New(fault.Conflict, "The archive has the same files as the project that the run read. Reject the overlay instead.")
	case len(entries) > MaxEdits || bytes > MaxOverlayBytes:
		return registry.Overlay{}, fault.Invalid("/archive", "must change at most %d files with %d MiB.", MaxEdits, MaxOverlayBytes>>20)
	}
	r.overlay.Entries = entries
	r.overlay.Revision++
	return r.overlay, s.Decisions.DecideOverlay(ctx, r.overlay)
}

// entriesOf returns the changes between two trees, and the size of the new files in bytes.
func entriesOf(before, after registry.Tree) (entries []registry.OverlayEntry, bytes int64) {
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if _, stays := after[path]; !stays {
			entries = append(entries, registry.OverlayEntry{Path: path, Kind: registry.FileDeleted, Status: registry.OverlayOpen})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(after)) {
		file, kind := after[path], registry.FileChanged
		old, existed := before[path]
		if existed && old.Digest == file.Digest {
			continue
		}
		if !existed {
			kind = registry.FileAdded
		}
		entries = append(entries, registry.OverlayEntry{Path: path, Kind: kind, Status: registry.OverlayOpen, Digest: file.Digest, Size: file.Size})
		bytes += file.Size
	}
	return entries, bytes
}
