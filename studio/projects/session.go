package projects

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/blobs"
)

// Session is the overlay of one run. Reads return the files of the project, except for files that the run has written
// or deleted. Changes are stored in the session. The session never uses a path of this machine for a file of the
// project. It is safe for concurrent use.
type Session struct {
	service *Service
	project registry.Project
	base    registry.Tree
	sorted  []string // paths of the files in base, sorted
	write   bool

	mu       sync.Mutex
	edits    map[string]edit
	spool    *os.File // file with the contents of all edits, one after the other
	spooled  int64
	unfinish *parts // file that the program is sending in several parts; nil if there is none
	summary  string
}

// edit is the change of one file: either the position of its content in the spool, or its deletion.
type edit struct {
	deleted bool
	at      int64
	size    int64
	digest  string
}

// parts collects the content of a file that the program sends in several calls.
type parts struct {
	path string
	text []byte
}

// Open starts the overlay of a run. Error: NotFound if the workspace has no such project.
func (s *Service) Open(ctx context.Context, workspace, project string, write bool) (*Session, error) {
	p, err := s.Store.Project(ctx, workspace, project)
	if err != nil {
		return nil, err
	}
	if write {
		n, err := s.Decisions.CountOpenOverlays(ctx, workspace, p.ID)
		if err != nil {
			return nil, err
		}
		if n >= MaxOpen {
			return nil, fault.New(fault.Conflict, "The project %s has %d changes that wait for a decision. Accept or reject some first.", p.Name, n)
		}
	}
	tree, err := s.tree(ctx, workspace, p.Tree)
	if err != nil {
		return nil, err
	}
	return &Session{service: s, project: p, base: tree, sorted: slices.Sorted(maps.Keys(tree)), write: write, edits: map[string]edit{}}, nil
}

// Project returns the name of the project.
func (o *Session) Project() string { return o.project.Name }

// Close ends the session and stores its changes as an overlay. If the run changed nothing, Close stores no overlay, and
// the returned overlay has no ID.
func (o *Session) Close(ctx context.Context, run registry.Run) (registry.Overlay, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.discard()
	s := o.service
	overlay := registry.Overlay{
		Workspace: run.Workspace, ProjectID: o.project.ID, RunID: run.ID, RunStatus: run.Status, Agent: run.Agent, Version: run.Version, BaseTree: o.project.Tree,
		BaseChange: o.project.Change, Status: registry.OverlayOpen, Revision: 1, Summary: o.summary, CreatedAt: s.Now(), ExpiresAt: s.Now().Add(s.Keep),
		Entries: o.entries(),
	}
	if len(overlay.Entries) == 0 {
		return overlay, nil
	}
	if err := o.store(ctx, overlay.Entries); err != nil {
		return overlay, err
	}
	overlay.ID = s.NewID()
	return overlay, s.Overlays.InsertOverlay(ctx, overlay)
}

// Discard ends the session and stores no overlay.
func (o *Session) Discard() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.discard()
}

func (o *Session) discard() {
	if o.spool != nil {
		_ = o.spool.Close() // The file has no name, so it disappears when it is closed.
		o.spool = nil
	}
	o.unfinish = nil
}

// entries lists the files that differ from the project.
func (o *Session) entries() []registry.OverlayEntry {
	var all []registry.OverlayEntry
	for _, path := range slices.Sorted(maps.Keys(o.edits)) {
		e, entry := o.edits[path], registry.OverlayEntry{Path: path, Status: registry.OverlayOpen}
		old, existed := o.base[path]
		switch {
		case e.deleted && !existed, !e.deleted && existed && old.Digest == e.digest:
			continue
		case e.deleted:
			entry.Kind = registry.FileDeleted
		case existed:
			entry.Kind, entry.Digest, entry.Size = registry.FileChanged, e.digest, e.size
		default:
			entry.Kind, entry.Digest, entry.Size = registry.FileAdded, e.digest, e.size
		}
		all = append(all, entry)
	}
	return all
}

// store stores the new contents in batches.
func (o *Session) store(ctx context.Context, entries []registry.OverlayEntry) error {
	var batch []registry.Content
	batched := 0
	put := func() error {
		full := batch
		batch, batched = nil, 0
		return o.service.put(ctx, o.project.Workspace, full)
	}
	for _, entry := range entries {
		if entry.Kind == registry.FileDeleted {
			continue
		}
		text, err := o.spooledText(o.edits[entry.Path])
		if err != nil {
			return err
		}
		batch = append(batch, registry.Content{Digest: entry.Digest, Bytes: text})
		if batched += len(text); batched >= batchBytes || len(batch) >= 500 {
			if err := put(); err != nil {
				return err
			}
		}
	}
	return put()
}

func (o *Session) spooledText(e edit) ([]byte, error) {
	text := make([]byte, e.size)
	if e.size == 0 {
		return text, nil
	}
	_, err := o.spool.ReadAt(text, e.at)
	if err != nil {
		return nil, fmt.Errorf("read overlay: %w", err)
	}
	return text, nil
}

// has reports whether a file exists as the program sees the project, with its own changes.
func (o *Session) has(path string) bool {
	if e, edited := o.edits[path]; edited {
		return !e.deleted
	}
	_, ok := o.base[path]
	return ok
}

// text returns the content of a file as the program sees the project, with its own changes.
func (o *Session) text(ctx context.Context, path string) (text []byte, ok bool, err error) {
	if e, edited := o.edits[path]; edited {
		if e.deleted {
			return nil, false, nil
		}
		text, err = o.spooledText(e)
		return text, true, err
	}
	file, ok := o.base[path]
	if !ok {
		return nil, false, nil
	}
	text, err = o.service.content(ctx, o.project.Workspace, file.Digest)
	return text, true, err
}

// below lists the paths of the files in a folder, sorted, as the program sees the project with its own changes. The
// folder "" means the whole project.
func (o *Session) below(folder string) []string {
	prefix := ""
	if folder != "" {
		prefix = folder + "/"
	}
	var paths []string
	from, _ := slices.BinarySearch(o.sorted, prefix)
	for _, path := range o.sorted[from:] {
		if !strings.HasPrefix(path, prefix) {
			break
		}
		if _, edited := o.edits[path]; !edited {
			paths = append(paths, path)
		}
	}
	added := false
	for path, e := range o.edits {
		if !e.deleted && strings.HasPrefix(path, prefix) {
			paths, added = append(paths, path), true
		}
	}
	if added {
		slices.Sort(paths)
	}
	return paths
}

// put writes a file to the overlay. If this is not allowed, refusal is the reason, else "".
func (o *Session) put(path string, text []byte) (refusal string, err error) {
	switch {
	case len(text) > MaxFileBytes:
		return fmt.Sprintf("content must have at most %d MiB.", MaxFileBytes>>20), nil
	case !utf8.Valid(text):
		return "content must be UTF-8.", nil
	case len(o.below(path)) > 0:
		return path + " is a folder.", nil
	}
	for at := strings.LastIndexByte(path, '/'); at > 0; at = strings.LastIndexByte(path[:at], '/') {
		if o.has(path[:at]) {
			return path[:at] + " is a file, so nothing can be inside it.", nil
		}
	}
	if refusal := o.room(path, int64(len(text))); refusal != "" {
		return refusal, nil
	}
	if o.spool == nil {
		if o.spool, err = temporary(o.service.Dir); err != nil {
			return "", err
		}
	}
	if _, err := o.spool.WriteAt(text, o.spooled); err != nil {
		return "", fmt.Errorf("write overlay: %w", err)
	}
	o.edits[path] = edit{at: o.spooled, size: int64(len(text)), digest: blobs.Digest(text)}
	o.spooled += int64(len(text))
	return "", nil
}

// room returns the reason why the limits of the overlay do not allow one more file, or "" if they do.
func (o *Session) room(path string, more int64) string {
	total := more
	for at, e := range o.edits {
		if at != path {
			total += e.size
		}
	}
	_, again := o.edits[path]
	switch {
	case !again && len(o.edits) >= MaxEdits:
		return fmt.Sprintf("One run may change at most %d files.", MaxEdits)
	case total > MaxOverlayBytes:
		return fmt.Sprintf("One run may change files of at most %d MiB in total.", MaxOverlayBytes>>20)
	case o.spooled+more > MaxSpoolBytes:
		return fmt.Sprintf("One run may write at most %d MiB in total, including repeated writes.", MaxSpoolBytes>>20)
	}
	return ""
}

// remove deletes a file in the overlay. If this is not allowed, refusal is the reason, else "".
func (o *Session) remove(path string) (refusal string) {
	if _, again := o.edits[path]; !again && len(o.edits) >= MaxEdits {
		return fmt.Sprintf("One run may change at most %d files.", MaxEdits)
	}
	o.edits[path] = edit{deleted: true}
	return ""
}

// folders lists the names in a folder. The names of subfolders end with a slash.
func (o *Session) folders(folder string) []string {
	names := []string{}
	for _, path := range o.below(folder) {
		rest := path
		if folder != "" {
			rest = path[len(folder)+1:]
		}
		name, _, deeper := strings.Cut(rest, "/")
		if deeper {
			name += "/"
		}
		if len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(a, b) })
	return slices.Compact(names)
}
