package projects_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/studio/projects"
	"github.com/atelier-run/atelier/studio/quotas"
)

func packed(t *testing.T, files map[string]string) io.Reader {
	t.Helper()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &archive
}

// service returns a service with a quota of stored bytes. The clock of the service returns *now.
func service(s *store.Store, now *time.Time, limit int64) *projects.Service {
	clock := func() time.Time { return *now }
	return projects.New(projects.Options{
		Store: s, Changes: s, Overlays: s, Decisions: s, Contents: s, Garbage: s, Keep: time.Hour, Now: clock, NewID: func() string { return uuid.Must(uuid.NewV7()).String() },
		Quotas: quotas.New(quotas.Options{Store: s, Ledger: s, Workspaces: s, Defaults: registry.Quota{StorageBytes: limit}, Now: clock}),
	})
}

func TestCollect_DeletedProject_FilesAreRemoved(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		p, ctx, actor := service(s, &now, 0), t.Context(), registry.Actor{ID: "admin", Type: registry.UserActor, Workspace: registry.DefaultWorkspace}
		load := func(name string, files map[string]string) {
			t.Helper()
			if _, err := p.Import(ctx, actor, projects.ImportRequest{Name: name, Archive: packed(t, files)}); err != nil {
				t.Fatal(err)
			}
		}
		collect := func(want int) {
			t.Helper()
			if n, err := p.Collect(ctx); err != nil || n != want {
				t.Errorf("%d, %v, want %d", n, err, want)
			}
		}
		load("kept", map[string]string{"a": "first", "shared": "shared"})
		load("kept", map[string]string{"a": "second"}) // the history still references the first file
		load("gone", map[string]string{"b": "own", "shared": "shared"})
		session, err := p.Open(ctx, actor.Workspace, "kept", true)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := session.Call(ctx, "writeFile", []byte(`{"path":"new","content":"proposed"}`)); err != nil {
			t.Fatal(err)
		}
		overlay, err := session.Close(ctx, registry.Run{ID: "run", Workspace: actor.Workspace, Status: registry.Succeeded})
		if err != nil {
			t.Fatal(err)
		}
		before, err := s.Stored(ctx, actor.Workspace)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Delete(ctx, actor, "gone"); err != nil {
			t.Fatal(err)
		}
		collect(0) // Nothing is old enough to be removed: it could belong to an import in progress.
		now = now.Add(3 * time.Hour)
		collect(2) // This removes the file and the tree of the deleted project.
		collect(0)
		if after, err := s.Stored(ctx, actor.Workspace); err != nil || after >= before {
			t.Errorf("%d bytes, before %d, %v", after, before, err)
		}
		fresh := service(s, &now, 0) // This service has empty caches.
		now = now.Add(-3 * time.Hour)
		if _, err := fresh.Accept(ctx, actor, "kept", overlay.ID, projects.Decision{}); err != nil {
			t.Errorf("%v", err)
		}
		for path, want := range map[string]string{"a": "second", "new": "proposed"} {
			if text, err := fresh.File(ctx, actor, "kept", path); err != nil || string(text) != want {
				t.Errorf("%s: %q, %v", path, text, err)
			}
		}
	})
}

// A dry run must count the contents of a rejected overlay while the overlay still exists. After the overlay is removed,
// its contents must be removed too.
func TestCollectWorkspace_RejectedOverlay_OwnContentsAreRemoved(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		p, ctx, actor := service(s, &now, 0), t.Context(), registry.Actor{ID: "admin", Type: registry.UserActor, Workspace: registry.DefaultWorkspace}
		if _, err := p.Import(ctx, actor, projects.ImportRequest{Name: "shop", Archive: packed(t, map[string]string{"a": "first"})}); err != nil {
			t.Fatal(err)
		}
		session, err := p.Open(ctx, actor.Workspace, "shop", true)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := session.Call(ctx, "writeFile", []byte(`{"path":"new","content":"proposed"}`)); err != nil {
			t.Fatal(err)
		}
		overlay, err := session.Close(ctx, registry.Run{ID: "run", Workspace: actor.Workspace, Status: registry.Succeeded})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Reject(ctx, actor, "shop", overlay.ID, projects.Decision{}); err != nil {
			t.Fatal(err)
		}
		now = now.Add(3 * time.Hour)
		dry, err := p.CollectWorkspace(ctx, actor.Workspace, now, true)
		if err != nil || dry.Count != 1 || dry.Bytes != int64(len("proposed")) {
			t.Errorf("a dry collection found %+v, %v", dry, err)
		}
		if _, err := s.SweepOverlays(ctx, actor.Workspace, now, false); err != nil {
			t.Fatal(err)
		}
		if done, err := p.CollectWorkspace(ctx, actor.Workspace, now, false); err != nil || done != dry {
			t.Errorf("removed %+v, %v, want %+v", done, err, dry)
		}
		if text, err := service(s, &now, 0).File(ctx, actor, "shop", "a"); err != nil || string(text) != "first" {
			t.Errorf("%q, %v", text, err)
		}
	})
}

func TestImport_QuotaUsedUp_StorageFull(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		p, ctx, actor := service(s, &now, 1<<20), t.Context(), registry.Actor{ID: "admin", Type: registry.UserActor, Workspace: registry.DefaultWorkspace}
		load := func(name, text string) error {
			_, err := p.Import(ctx, actor, projects.ImportRequest{Name: name, Archive: packed(t, map[string]string{"a": text})})
			return err
		}
		if err := load("first", strings.Repeat("a", 1<<20)); err != nil {
			t.Fatal(err)
		}
		if err := load("second", "b"); !fault.Is(err, fault.StorageFull) || !strings.Contains(err.Error(), "Delete projects") {
			t.Errorf("%v", err)
		}
	})
}

// The limit on unpacked bytes must include skipped entries, because an archive of a few megabytes can unpack to more
// than a gigabyte.
func TestImport_SkippedEntries_BoundedToo(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	var archive bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&archive, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(zipped)
	const size = 1<<30 + 1<<20
	if err := w.WriteHeader(&tar.Header{Name: ".git/pack", Mode: 0o644, Size: size, Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for range size >> 20 {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.WriteHeader(&tar.Header{Name: "a", Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	_, err = service(s, &now, 0).Import(t.Context(), registry.Actor{ID: "admin", Type: registry.UserActor, Workspace: registry.DefaultWorkspace}, projects.ImportRequest{Name: "bomb", Archive: &archive})
	if !fault.Is(err, fault.InvalidInput) || !strings.Contains(err.Error()+detail(err), "unpack") {
		t.Errorf("%v %s", err, detail(err))
	}
}

// brokenContents is a store that fails to store contents.
type brokenContents struct{ *store.Store }

func (brokenContents) PutContents(context.Context, string, []registry.Content, time.Time) error {
	return errors.New("input/output error")
}

// An error of the server during an import is not reported as an invalid archive.
func TestImport_ServerFails_NoFaultOfTheArchive(t *testing.T) {
	t.Parallel()
	bundle, err := os.ReadFile(filepath.Join("..", "..", "registry", "gitbundle", "testdata", "shop.bundle"))
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	w := zip.NewWriter(&zipped)
	if file, err := w.Create("a"); err != nil || second(io.WriteString(file, "text")) != nil || w.Close() != nil {
		t.Fatal(err)
	}
	tarred, err := io.ReadAll(packed(t, map[string]string{"a": "text"}))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for name, change := range map[string]func(*projects.Service){
		"the database":    func(p *projects.Service) { p.Contents = brokenContents{} },
		"temporary files": func(p *projects.Service) { p.Dir = filepath.Join(t.TempDir(), "missing") },
	} {
		for kind, archive := range map[string][]byte{"bundle": bundle, "zip": zipped.Bytes(), "tar": tarred} {
			if name == "temporary files" && kind == "tar" {
				continue // a tar archive needs no temporary file
			}
			p := service(storetest.Open(t, storetest.SQLite), &now, 0)
			change(p)
			_, err := p.Import(t.Context(), registry.Actor{ID: "admin", Type: registry.UserActor, Workspace: registry.DefaultWorkspace}, projects.ImportRequest{Name: "shop", Archive: bytes.NewReader(archive)})
			if err == nil || fault.Is(err, fault.InvalidInput) {
				t.Errorf("%s, %s: %v", name, kind, err)
			}
		}
	}
}

func second(_ int, err error) error { return err }

// detail returns the first detail of an error, "" if it has none.
func detail(err error) string {
	f, ok := err.(*fault.Error) //nolint:errorlint // the service returns the error without wrapping it
	if !ok || len(f.Details) == 0 {
		return ""
	}
	return f.Details[0].Message
}
