package packages

import (
	"context"
	_ "embed" // embeds the scripts
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

var (
	//go:embed unpack.py
	unpackPython string
	//go:embed unpack.js
	unpackNode string
)

// Progress is the progress of one step of an installation. It counts packages.
type Progress struct {
	Step  string // downloading, building, unpacking
	Done  int
	Total int
}

// Manifest describes an unpacked lock. It is stored in the folder of the lock, next to the files of the packages.
type Manifest struct {
	Workspace   string          `json:"workspace"`
	Digest      string          `json:"digest"`
	Lock        runtimes.Lock   `json:"lock"`
	Packages    []PackageDetail `json:"packages"`
	Modules     []string        `json:"modules"`
	Bytes       int64           `json:"bytes"`
	Files       int             `json:"files"`
	InstalledAt time.Time       `json:"installedAt"`
	UsedAt      time.Time       `json:"-"`
}

// PackageDetail is the metadata of an installed package.
type PackageDetail struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Summary string `json:"summary,omitempty"`
	License string `json:"license,omitempty"`
}

const (
	manifestFile = "manifest.json"
	filesDir     = "files"
)

// install is an installation in progress. Any number of callers may wait for it.
type install struct {
	done chan struct{}
	err  error

	mu        sync.Mutex
	listeners map[int]func(Progress)
	next      int
	last      *Progress
}

func (i *install) listen(f func(Progress)) (stop func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	id := i.next
	i.next++
	i.listeners[id] = f
	if i.last != nil {
		f(*i.last)
	}
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		delete(i.listeners, id)
	}
}

func (i *install) report(p Progress) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.last = &p
	for _, f := range i.listeners {
		f(p)
	}
}

// Acquire returns an installed lock for a run. If the lock is not installed, it installs the lock first. Concurrent
// callers share one installation, which continues if the context of a caller ends. The caller must call release when
// the run has ended.
func (m *Manager) Acquire(ctx context.Context, workspace string, lock runtimes.Lock, progress func(Progress)) (found runtimes.Installed, release func(), err error) {
	// A copy: runs share the lock of a cached version, and the check below normalises addresses.
	lock.Packages = slices.Clone(lock.Packages)
	if err := m.checkLock(lock); err != nil {
		return found, func() {}, err
	}
	if err := m.checkBuilds(workspace, lock); err != nil {
		return found, func() {}, err
	}
	digest := lock.Digest()
	dir := m.dirOf(workspace, digest)
	m.hold(dir, 1)
	release = sync.OnceFunc(func() { m.hold(dir, -1) })
	defer func() {
		if err != nil {
			release()
		}
	}()
	for range 2 {
		manifest, err := readManifest(dir)
		if err == nil {
			touch(dir, m.options.Now())
			found = runtimes.Installed{Digest: digest, Dir: filepath.Join(dir, filesDir), Modules: manifest.Modules}
			if lock.Ecosystem == runtimes.NPM {
				found.Sources, err = m.sources(dir, found.Dir)
			}
			return found, release, err
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return found, release, err
		}
		if err := m.await(ctx, workspace, lock, dir, progress); err != nil {
			return found, release, err
		}
	}
	return found, release, errors.New("an installed lock disappeared")
}

func (m *Manager) dirOf(workspace string, digest string) string {
	return filepath.Join(m.options.Dir, "locks", folder(workspace), strings.TrimPrefix(digest, "sha256:"))
}

func (m *Manager) hold(dir string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.inUse[dir] += n; m.inUse[dir] == 0 {
		delete(m.inUse, dir)
	}
}

// await waits for the installation of a lock. If there is no such installation, it starts one.
func (m *Manager) await(ctx context.Context, workspace string, lock runtimes.Lock, dir string, progress func(Progress)) error {
	m.mu.Lock()
	if m.ctx.Err() != nil {
		m.mu.Unlock()
		return fault.New(fault.ShuttingDown, "The server is shutting down.")
	}
	running := m.installs[dir]
	if running == nil {
		running = &install{done: make(chan struct{}), listeners: map[int]func(Progress){}}
		m.installs[dir] = running
		m.joined.Go(func() {
			running.err = m.install(m.ctx, workspace, lock, dir, running.report)
			m.mu.Lock()
			delete(m.installs, dir)
			m.mu.Unlock()
			close(running.done)
		})
	}
	m.mu.Unlock()
	defer running.listen(progress)()
	select {
	case <-running.done:
		return running.err
	case <-ctx.Done():
		return fault.New(fault.Cancelled, "The installation of the packages was cancelled.")
	}
}

// install downloads and unpacks a lock into a temporary folder. When the folder is complete, install renames it. So a
// crash never leaves an incomplete installation.
func (m *Manager) install(ctx context.Context, workspace string, lock runtimes.Lock, dir string, progress func(Progress)) error {
	if missing := m.Lacks(lock.Ecosystem); missing != "" {
		return unavailable(missing)
	}
	if err := m.open(); err != nil {
		return err
	}
	source, err := m.source(ctx, workspace, lock.Ecosystem)
	if err != nil {
		return err
	}
	leave, err := m.enter(ctx, workspace)
	if err != nil {
		return err
	}
	defer leave()
	room, err := m.room(workspace)
	if err != nil {
		return err
	}
	if room <= 0 {
		return m.quotaReached()
	}
	total := len(lock.Packages)
	progress(Progress{Step: "downloading", Total: total})
	if err := m.download(ctx, lock, source, func(done int) { progress(Progress{Step: "downloading", Done: done, Total: total}) }); err != nil {
		return source.hide(err)
	}
	staging, err := os.MkdirTemp(m.temporary, "lock-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(staging) // after the rename, this folder no longer exists
	manifest, err := m.unpack(ctx, lock, source, staging, room, progress)
	var refused *Problem
	if room < m.options.Bytes && errors.As(err, &refused) && strings.Contains(refused.Message, tooLargeUnpacked) {
		return m.quotaReached()
	}
	if err != nil {
		return source.hide(err)
	}
	manifest.Workspace, manifest.InstalledAt = workspace, m.options.Now().UTC()
	return m.settle(staging, dir, manifest)
}

// settle writes the manifest into a complete folder, syncs the folder to the disk, and moves it to its final path.
func (m *Manager) settle(staging, dir string, manifest Manifest) error {
	text, err := json.Marshal(manifest)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(staging, "archives")); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(staging, manifestFile), text, 0o444); err != nil { //nolint:gosec // guests do not see it
		return err
	}
	if err := os.Chmod(staging, 0o755); err != nil { //nolint:gosec // guests must be able to read the files
		return err
	}
	if err := syncAll(staging); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // guests must be able to enter the folder
		return err
	}
	if err := os.Rename(staging, dir); err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, unix.ENOTEMPTY) {
		return err // if the folder exists, another process has installed the same content first
	}
	return nil
}

// syncAll syncs the file system that contains a folder to the disk. This is faster than syncing thousands of files one
// by one.
func syncAll(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer file.Close()
	return unix.Syncfs(int(file.Fd()))
}

// unpack unpacks the archives of a lock into staging/files. The jail sees only these archives.
func (m *Manager) unpack(ctx context.Context, lock runtimes.Lock, source Source, staging string, room int64, progress func(Progress)) (Manifest, error) {
	manifest := Manifest{Digest: lock.Digest(), Lock: lock, Packages: make([]PackageDetail, len(lock.Packages)), Modules: []string{}}
	names, err := m.gather(lock, source, staging)
	if err != nil {
		return manifest, err
	}
	if lock.Ecosystem == runtimes.PyPI {
		if err := m.build(ctx, lock, names, source, staging, progress); err != nil {
			return manifest, err
		}
	}
	to := filepath.Join(staging, filesDir)
	if err := os.Mkdir(to, 0o755); err != nil { //nolint:gosec // guests must be able to read the files
		return manifest, err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return manifest, err
	}
	defer root.Close()
	total := len(lock.Packages)
	w := newWriter(root, room, total, func(archive int) { progress(Progress{Step: "unpacking", Done: archive, Total: total}) })
	limits := m.limits(unpackTime)
	limits.OutputBytes = room + room/4 + 1<<20 // larger than room, for the lines between the files
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	unpacking := step{
		name: "unpack", script: unpackPython, limits: limits, mounts: []sandbox.Mount{{Host: filepath.Join(staging, "archives"), Path: "/archives", Private: true}},
		request: map[string]any{"archives": names, "room": room},
		tap: func(p []byte) {
			if w.write(p); w.err != nil {
				cancel()
			}
		},
	}
	if lock.Ecosystem == runtimes.NPM {
		type archive struct {
			File string `json:"file"`
			Path string `json:"path"`
		}
		var archives []archive
		for i, p := range lock.Packages {
			archives = append(archives, archive{names[i], p.Path})
		}
		unpacking.node, unpacking.script = true, unpackNode
		unpacking.request = map[string]any{"archives": archives, "room": room, "scripts": strings.HasSuffix(lock.Platform, withScripts)}
		unpacking.limits.DiskBytes = scriptsDisk
	}
	_, outcome, err := m.run(ctx, unpacking)
	if err != nil && w.err == nil {
		return manifest, err
	}
	if err := w.close(); err != nil {
		return manifest, m.unpackFailed(ctx, lock, w, err, outcome.Error)
	}
	for i, p := range lock.Packages {
		meta := w.metas[i]
		if !meta.isOf(lock.Ecosystem, p) {
			return manifest, &Problem{
				Code: "refused", Package: p.Name, Message: fmt.Sprintf("is the package %q with version %q according to its own metadata, so the index may have sent a wrong file.", shorten(meta.Name, 100), shorten(meta.Version, 100)),
				Remedy: "Ask the owner of the index, or choose another version of " + p.Name + ".",
			}
		}
		manifest.Packages[i] = PackageDetail{Name: p.Name, Version: p.Version, Summary: shorten(meta.Summary, 300), License: shorten(meta.License, 200)}
	}
	manifest.Modules, manifest.Files, manifest.Bytes = w.modules(), w.files, room-w.room
	return manifest, nil
}

// gather links the archives of a lock into one folder and returns their file names in that folder. The jail can only
// read the folder: it is mounted read-only, and its files belong to another user.
func (m *Manager) gather(lock runtimes.Lock, source Source, staging string) ([]string, error) {
	dir := filepath.Join(staging, "archives")
	if err := errors.Join(os.Chmod(staging, 0o755), os.Mkdir(dir, 0o755)); err != nil { //nolint:gosec // the user of the jail must enter it
		return nil, err
	}
	names := make([]string, 0, len(lock.Packages))
	for i, p := range lock.Packages {
		name := fmt.Sprintf("%d", i)
		if err := os.Link(m.archivePath(p, source), filepath.Join(dir, name)); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// unpackFailed returns the error for a failed build or a failed unpacking. If an archive caused the failure, the error
// contains the name of the package.
func (m *Manager) unpackFailed(ctx context.Context, lock runtimes.Lock, w *writer, err error, failed *runtimes.ProgramError) error {
	var refused *refusal
	if !errors.As(err, &refused) || refused.archive < 0 || refused.archive >= len(lock.Packages) {
		if ctx.Err() != nil && m.ctx.Err() != nil {
			return fault.New(fault.ShuttingDown, "The server is shutting down.")
		}
		return err
	}
	name := lock.Packages[refused.archive].Name
	p := &Problem{Code: "refused", Package: name, Message: shorten(refused.reason, 300) + ".", Remedy: "Choose another version of " + name + ", or leave it out."}
	if strings.HasPrefix(refused.reason, notBuilt) {
		p.Code, p.Remedy = "build", buildRemedy
	}
	if failed != nil && !w.done && failed.Type != runtimes.Cancelled {
		p.Message = "could not be unpacked: " + shorten(failed.Message, 200)
	}
	return p
}

// open creates the folders of the manager, and removes the temporary folders of processes that have ended.
func (m *Manager) open() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.opened {
		return nil
	}
	if err := os.MkdirAll(m.options.Dir, 0o755); err != nil { //nolint:gosec // guests must be able to enter the folder
		return err
	}
	for _, dir := range []string{filepath.Join(m.options.Dir, "temporary"), filepath.Join(m.options.Dir, "archives"), filepath.Join(m.options.Dir, "locks")} {
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // guests must be able to enter the folder
			return err
		}
	}
	if dir := closedTo(m.options.Dir); dir != "" {
		return unavailable(fmt.Sprintf("The directory %s is closed to the users of sandboxes, so they cannot read installed packages. Set another directory with --packages-dir.", dir))
	}
	if err := m.openTemporary(); err != nil {
		return err
	}
	m.opened = true
	return nil
}

// openTemporary creates the temporary folder of this process and removes the temporary folders of processes that have
// ended. A process locks its folder until it ends.
func (m *Manager) openTemporary() error {
	parent := filepath.Join(m.options.Dir, "temporary")
	// A lock on the parent folder: otherwise another process could remove a new folder before it is locked.
	alone, err := lockFolder(parent, unix.LOCK_EX)
	if err != nil {
		return err
	}
	defer alone.Close()
	entries, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		dir := filepath.Join(parent, entry.Name())
		held, err := lockFolder(dir, unix.LOCK_EX|unix.LOCK_NB)
		if err != nil {
			continue // the process of this folder still runs
		}
		if err := errors.Join(os.RemoveAll(dir), held.Close()); err != nil {
			return err
		}
	}
	if m.temporary, err = os.MkdirTemp(parent, "process-"); err != nil {
		return err
	}
	if err := os.Chmod(m.temporary, 0o755); err != nil { //nolint:gosec // guests must be able to enter the folder
		return err
	}
	m.held, err = lockFolder(m.temporary, unix.LOCK_EX|unix.LOCK_NB)
	return err
}

// lockFolder locks a folder until the returned file is closed or the process ends. how is an operation of flock(2).
func lockFolder(dir string, how int) (*os.File, error) {
	file, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), how); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// closedTo returns the innermost directory of a path that sandboxed programs cannot enter, or "" if they can enter all.
// If the server does not run as root, they can enter all directories that the server can enter.
func closedTo(path string) string {
	if os.Geteuid() != 0 {
		return ""
	}
	for dir := path; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode()&0o001 == 0 {
			return dir
		}
		if dir == "/" {
			return ""
		}
	}
}

// Reachable reports whether guests can read files in a directory. If the directory does not exist yet, it checks the
// nearest existing parent.
func Reachable(dir string) bool {
	for {
		if _, err := os.Stat(dir); err == nil || dir == "/" {
			return closedTo(dir) == ""
		}
		dir = filepath.Dir(dir)
	}
}

func readManifest(dir string) (Manifest, error) {
	var manifest Manifest
	text, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		return manifest, err
	}
	err = json.Unmarshal(text, &manifest)
	if info, statErr := os.Stat(dir); statErr == nil {
		manifest.UsedAt = info.ModTime().UTC()
	}
	return manifest, err
}

// touch records the time of the last use, at most once a minute.
func touch(dir string, now time.Time) {
	if info, err := os.Stat(dir); err == nil && now.Sub(info.ModTime()) > time.Minute {
		_ = os.Chtimes(dir, now, now) // an error only affects the order in which locks are removed
	}
}

// Installed lists the unpacked locks of a workspace, the most recently used first.
func (m *Manager) Installed(workspace string) ([]Manifest, error) {
	dir := filepath.Join(m.options.Dir, "locks", folder(workspace))
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return []Manifest{}, nil
	}
	if err != nil {
		return nil, err
	}
	all := make([]Manifest, 0, len(entries))
	for _, entry := range entries {
		if manifest, err := readManifest(filepath.Join(dir, entry.Name())); err == nil {
			all = append(all, manifest)
		}
	}
	slices.SortFunc(all, func(a, b Manifest) int { return b.UsedAt.Compare(a.UsedAt) })
	return all, nil
}

// Detail returns the metadata of the packages of a lock, if the lock is installed.
func (m *Manager) Detail(workspace string, lock runtimes.Lock) (Manifest, bool) {
	manifest, err := readManifest(m.dirOf(workspace, lock.Digest()))
	return manifest, err == nil
}

// Remove deletes an unpacked lock of a workspace unless a run uses the lock. It returns the number of freed bytes.
func (m *Manager) Remove(workspace, digest string) (freed int64, err error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	dir := filepath.Join(m.options.Dir, "locks", folder(workspace), filepath.Base(strings.TrimPrefix(digest, "sha256:")))
	m.mu.Lock()
	defer m.mu.Unlock()
	manifest, err := readManifest(dir)
	if err != nil || m.inUse[dir] > 0 || m.installs[dir] != nil {
		return 0, nil //nolint:nilerr // the lock was removed or is in use, so do nothing
	}
	gone, err := os.MkdirTemp(m.temporary, "gone-")
	if err != nil {
		return 0, err
	}
	gone = filepath.Join(gone, "lock")
	if err := os.Rename(dir, gone); err != nil {
		return 0, err
	}
	return manifest.Bytes, os.RemoveAll(filepath.Dir(gone))
}
