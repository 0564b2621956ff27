package projects

import (
	"context"
	"maps"
	"slices"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/blobs"
)

// OverlayDifference lists the changes of an overlay, and whether they can be merged with the current files of the
// project.
type OverlayDifference struct {
	Overlay registry.Overlay `json:"overlay"`
	Moved   bool             `json:"moved" doc:"true if the project has changed since the run read it."`
	Files   []FileDifference `json:"files"`
}

// FileDifference is the change of one file.
type FileDifference struct {
	Path    string                 `json:"path"`
	Kind    registry.EditKind      `json:"kind" enum:"added,changed,deleted"`
	Status  registry.OverlayStatus `json:"status" enum:"open,accepted,rejected,expired"`
	Outcome outcome                `json:"outcome" enum:"clean,same,merged,conflict" doc:"How the change can be merged into the current project. merged: both sides changed different lines. conflict: both changed the same lines, or one deleted a file that the other changed."`
	Unified string                 `json:"unified" doc:"Unified diff from the file that the run read. Empty if the file is not shown."`
	Project string                 `json:"project,omitempty" doc:"For merged and conflict: unified diff of the project's changes since the run read the file."`
	Binary  bool                   `json:"binary,omitempty" doc:"true if the differences are not shown: the file is not text, is larger than 1 MiB, or the differences before it already have 16 MiB."`
	Size    int64                  `json:"size" doc:"Size of the new file in bytes."`
}

// Decision selects files of an overlay. By default it selects all files without a decision.
type Decision struct {
	Files    []string
	Summary  string
	Revision int64 // revision of the overlay that the person has read; 0 accepts any revision
}

// ListOverlays returns a page of a project's overlays, newest first. Error: NotFound.
func (s *Service) ListOverlays(ctx context.Context, actor registry.Actor, project string, status registry.OverlayStatus, cursor string, limit int) (registry.OverlayPage, error) {
	p, err := s.Get(ctx, actor, project)
	if err != nil {
		return registry.OverlayPage{}, err
	}
	return s.Overlays.Overlays(ctx, actor.Workspace, p.ID, status, cursor, limit)
}

// Diff compares an overlay with the files that its run read, and with the current files of the project. Error:
// NotFound.
func (s *Service) Diff(ctx context.Context, actor registry.Actor, project, id string) (OverlayDifference, error) {
	r, err := s.review(ctx, actor, project, id)
	if err != nil {
		return OverlayDifference{}, err
	}
	diff := OverlayDifference{Overlay: r.overlay, Moved: r.overlay.BaseTree != r.project.Tree, Files: []FileDifference{}}
	shown := 0
	for _, entry := range r.overlay.Entries {
		sides, err := r.sides(ctx, entry)
		if err != nil {
			return diff, err
		}
		diff.Files = append(diff.Files, sides.difference(entry, diff.Overlay.Status, &shown))
	}
	return diff, nil
}

// reviewed is an overlay together with the trees with which it is compared.
type reviewed struct {
	service    *Service
	project    registry.Project
	overlay    registry.Overlay
	base, head registry.Tree
}

func (s *Service) review(ctx context.Context, actor registry.Actor, project, id string) (*reviewed, error) {
	p, head, err := s.Tree(ctx, actor, project)
	if err != nil {
		return nil, err
	}
	overlay, err := s.Overlays.Overlay(ctx, actor.Workspace, p.ID, id)
	if err != nil {
		return nil, err
	}
	base, err := s.tree(ctx, actor.Workspace, overlay.BaseTree)
	return &reviewed{s, p, overlay, base, head}, err
}

// threeSides holds three states of a file: as the run read it, as it is in the project now, and as the run changed it.
type threeSides struct{ base, project, overlay side }

func (r *reviewed) sides(ctx context.Context, entry registry.OverlayEntry) (threeSides, error) {
	of := func(tree registry.Tree) side {
		file, ok := tree[entry.Path]
		return side{exists: ok, digest: file.Digest}
	}
	three := threeSides{of(r.base), of(r.head), side{exists: entry.Kind != registry.FileDeleted, digest: entry.Digest}}
	var digests []string
	for _, one := range []*side{&three.base, &three.project, &three.overlay} {
		if one.exists {
			digests = append(digests, one.digest)
		}
	}
	read, err := r.service.contents(ctx, r.overlay.Workspace, digests)
	if err != nil {
		return three, err
	}
	for _, one := range []*side{&three.base, &three.project, &three.overlay} {
		if one.exists {
			one.text = read[one.digest]
		}
	}
	return three, nil
}

// maxShown is the maximum total size in bytes of the differences in one answer. It limits memory, because the answer is
// built in memory.
const maxShown = 16 << 20

// difference describes the change of one file. shown is the number of bytes of differences that the answer already
// contains.
func (t threeSides) difference(entry registry.OverlayEntry, whole registry.OverlayStatus, shown *int) FileDifference {
	_, how := merge(t.base, t.project, t.overlay)
	d := FileDifference{
		Path: entry.Path, Kind: entry.Kind, Status: entry.Status, Outcome: how, Size: entry.Size,
		Binary: !t.base.comparable() || !t.overlay.comparable() || *shown >= maxShown,
	}
	if !d.Binary {
		d.Unified = unified(entry.Path, t.base, t.overlay)
	}
	if entry.Status == registry.OverlayOpen && whole == registry.OverlayExpired {
		d.Status = registry.OverlayExpired
	}
	if !d.Binary && (how == conflictOutcome || how == mergedOutcome) {
		d.Project = unified(entry.Path, t.base, t.project)
	}
	*shown += len(d.Unified) + len(d.Project)
	return d
}

// Accept applies the selected files of an overlay to the project, by default all files without a decision. If the
// project has changed the same lines, Accept applies nothing and returns Conflict with both sides. Errors: NotFound;
// Conflict; InvalidInput; StorageFull.
func (s *Service) Accept(ctx context.Context, actor registry.Actor, project, id string, d Decision) (registry.Overlay, error) {
	if err := s.Quotas.CheckAgentLimit(ctx, actor.Workspace); err != nil {
		return registry.Overlay{}, err
	}
	r, selected, err := s.choose(ctx, actor, project, id, d)
	if err != nil {
		return registry.Overlay{}, err
	}
	tree, err := r.apply(ctx, selected)
	if err != nil {
		return registry.Overlay{}, err
	}
	r.decide(selected, registry.OverlayAccepted, actor)
	digest, err := s.putTree(ctx, actor.Workspace, tree)
	if err != nil {
		return registry.Overlay{}, err
	}
	if digest == r.project.Tree { // The project already contains all these changes.
		return r.overlay, s.Decisions.DecideOverlay(ctx, r.overlay)
	}
	change := s.after(&r.project, tree, digest, r.head, actor)
	change.OverlayID, change.RunID, change.Summary = id, r.overlay.RunID, d.Summary
	if change.Summary == "" {
		change.Summary = r.overlay.Summary
	}
	return r.overlay, s.Changes.ChangeProject(ctx, r.project, change, &r.overlay)
}

// Reject rejects the selected files of an overlay, by default all files without a decision. Errors: NotFound; Conflict;
// InvalidInput.
func (s *Service) Reject(ctx context.Context, actor registry.Actor, project, id string, d Decision) (registry.Overlay, error) {
	r, selected, err := s.choose(ctx, actor, project, id, d)
	if err != nil {
		return registry.Overlay{}, err
	}
	r.decide(selected, registry.OverlayRejected, actor)
	return r.overlay, s.Decisions.DecideOverlay(ctx, r.overlay)
}

// choose reads an overlay and returns the overlay with the indexes of the selected files.
func (s *Service) choose(ctx context.Context, actor registry.Actor, project, id string, d Decision) (*reviewed, []int, error) {
	if err := checkText("/summary", d.Summary); err != nil {
		return nil, nil, err
	}
	r, err := s.review(ctx, actor, project, id)
	if err != nil {
		return nil, nil, err
	}
	if r.overlay.Status == registry.OverlayOpen && !s.Now().Before(r.overlay.ExpiresAt) {
		r.overlay.Status = registry.OverlayExpired
	}
	if r.overlay.Status != registry.OverlayOpen {
		return nil, nil, &fault.Error{Code: fault.Conflict, Message: "The overlay is " + string(r.overlay.Status) + " already.", Extra: map[string]any{"status": r.overlay.Status}}
	}
	if d.Revision != 0 && d.Revision != r.overlay.Revision {
		return nil, nil, &fault.Error{
			Code: fault.Conflict, Message: "The overlay was changed in the meantime. Read it again, then repeat the request.", Extra: map[string]any{"revision": r.overlay.Revision},
		}
	}
	var selected []int
	for n, entry := range r.overlay.Entries {
		if entry.Status == registry.OverlayOpen && (len(d.Files) == 0 || slices.Contains(d.Files, entry.Path)) {
			selected = append(selected, n)
		}
	}
	for _, path := range d.Files {
		at := slices.IndexFunc(r.overlay.Entries, func(e registry.OverlayEntry) bool { return e.Path == path })
		switch {
		case at < 0:
			return nil, nil, fault.Invalid("/files", "must name files of the overlay; it does not change %q.", path)
		case r.overlay.Entries[at].Status != registry.OverlayOpen:
			return nil, nil, fault.New(fault.Conflict, "The file %s is already %s.", path, r.overlay.Entries[at].Status)
		}
	}
	return r, selected, nil
}

// apply returns the tree of the project with the selected files of the overlay merged into it.
func (r *reviewed) apply(ctx context.Context, selected []int) (registry.Tree, error) {
	tree, conflicts, merged, shown := maps.Clone(r.head), []FileDifference{}, []registry.Content{}, 0
	for _, n := range selected {
		entry := r.overlay.Entries[n]
		three, err := r.sides(ctx, entry)
		if err != nil {
			return nil, err
		}
		result, how := merge(three.base, three.project, three.overlay)
		switch {
		case how == conflictOutcome:
			conflicts = append(conflicts, three.difference(entry, r.overlay.Status, &shown))
			continue
		case how == mergedOutcome:
			result.digest = blobs.Digest(result.text)
			merged = append(merged, registry.Content{Digest: result.digest, Bytes: result.text})
		}
		if result.exists {
			tree[entry.Path] = registry.TreeFile{Digest: result.digest, Size: int64(len(result.text))}
		} else {
			delete(tree, entry.Path)
		}
	}
	if len(conflicts) > 0 {
		return nil, &fault.Error{
			Code: fault.Conflict, Message: "The project has changed the same lines since the run read them. Nothing was applied. Run the program again, or reject these files.",
			Extra: map[string]any{"conflicts": conflicts},
		}
	}
	if inside := nested(tree); inside != "" {
		return nil, fault.New(fault.Conflict, "After this change, %s would be both a file and a folder. Nothing was applied.", inside)
	}
	if err := checkSize(tree); err != nil {
		return nil, err
	}
	return tree, r.service.put(ctx, r.overlay.Workspace, merged)
}

// decide sets the status of the selected files. When every file has a decision, the overlay ends. It ends as accepted
// if at least one file was accepted, else as rejected.
func (r *reviewed) decide(selected []int, status registry.OverlayStatus, actor registry.Actor) {
	now := r.service.Now()
	r.overlay.Entries = slices.Clone(r.overlay.Entries)
	for _, n := range selected {
		r.overlay.Entries[n].Status = status
	}
	r.overlay.Revision++
	r.overlay.DecidedAt, r.overlay.Decider = &now, &actor
	has := func(s registry.OverlayStatus) bool {
		return slices.ContainsFunc(r.overlay.Entries, func(e registry.OverlayEntry) bool { return e.Status == s })
	}
	switch {
	case has(registry.OverlayOpen):
	case has(registry.OverlayAccepted):
		r.overlay.Status = registry.OverlayAccepted
	default:
		r.overlay.Status = registry.OverlayRejected
	}
}
