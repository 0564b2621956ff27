package skills

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// quiet is how long a folder must be unchanged before it is read. The wait is needed because editors save in several
	// steps.
	quiet = 40 * time.Millisecond
	// maxDelay is the maximum time before a folder is read that changes continuously.
	maxDelay = 400 * time.Millisecond
)

// Watch loads the directory, and then loads changed folders until ctx ends. It must be called only once.
func (s *Service) Watch(ctx context.Context) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		s.Log.LogAttrs(ctx, slog.LevelWarn, "cannot watch the skills directory; restart the server to load changes", slog.Any("error", err))
		s.begin(ctx)
		return
	}
	w := &watch{service: s, watcher: watcher, dir: s.root.Name(), dirty: map[string]bool{}}
	w.follow(ctx, ".")
	s.begin(ctx)
	w.loop(ctx)
	_ = watcher.Close() // An error of Close has no effect here.
}

// begin loads the built-in skills and the directory.
func (s *Service) begin(ctx context.Context) {
	s.loadBuiltin(ctx)
	s.loadAll(ctx)
	close(s.loaded)
	s.report(ctx)
}

// watch collects changed folders until the directory is quiet.
type watch struct {
	service *Service
	watcher *fsnotify.Watcher
	dir     string
	dirty   map[string]bool // folders to read again; "." means all folders
	since   time.Time       // time of the first change after the last read
}

func (w *watch) loop(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case event, open := <-w.watcher.Events:
			if !open {
				return
			}
			if w.note(event.Name) {
				timer.Reset(w.wait())
			}
		case err, open := <-w.watcher.Errors:
			if !open {
				return
			}
			level := slog.LevelWarn
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				level = slog.LevelInfo
			}
			w.service.Log.LogAttrs(ctx, level, "lost events of the skills directory; reading all of it again", slog.Any("error", err))
			w.dirty["."] = true
			timer.Reset(quiet)
		case <-timer.C:
			w.look(ctx)
		}
	}
}

// wait returns how long to wait until the folder has been unchanged for long enough. It ends at most maxDelay after the
// first change.
func (w *watch) wait() time.Duration {
	if w.since.IsZero() {
		w.since = time.Now()
	}
	return max(0, min(quiet, maxDelay-time.Since(w.since)))
}

// note marks the folder of a changed path as dirty. If the path belongs to no folder, it returns false.
func (w *watch) note(name string) bool {
	relative, err := filepath.Rel(w.dir, name)
	if err != nil {
		return false
	}
	parts := strings.Split(relative, "/")
	switch {
	case parts[0] == draftsDir && len(parts) > 1 && candidate(parts[1]):
		w.dirty[draftsDir+"/"+parts[1]] = true
	case relative == draftsDir:
		w.dirty["."] = true
	case relative != "." && candidate(parts[0]) && (len(parts) > 1 || filepath.Ext(parts[0]) == ""):
		w.dirty[parts[0]] = true
	default:
		return false
	}
	return true
}

// look reads the changed folders. To miss no change, it starts to watch a folder before it reads the folder.
func (w *watch) look(ctx context.Context) {
	folders := make([]string, 0, len(w.dirty))
	for folder := range w.dirty {
		folders = append(folders, folder)
	}
	slices.Sort(folders)
	clear(w.dirty)
	w.since = time.Time{}
	if slices.Contains(folders, ".") {
		w.follow(ctx, ".")
		w.service.loadAll(ctx)
	} else {
		for _, folder := range folders {
			w.follow(ctx, folder)
			w.service.load(ctx, folder)
		}
	}
	w.service.report(ctx)
}

// follow watches a folder and its subfolders. When a folder is removed, its watch ends automatically.
func (w *watch) follow(ctx context.Context, folder string) {
	_ = fs.WalkDir(w.service.root.FS(), folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return nil //nolint:nilerr // Ignore the error: it is reported when the folder is loaded.
		}
		if name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "__pycache__") {
			return fs.SkipDir
		}
		if err := w.watcher.Add(filepath.Join(w.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.service.Log.LogAttrs(ctx, slog.LevelWarn, "cannot watch a skill folder; restart the server to load changes", slog.String("folder", name), slog.Any("error", err))
			return fs.SkipAll
		}
		return nil
	})
}
