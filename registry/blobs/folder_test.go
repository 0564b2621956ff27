package blobs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/blobs"
)

func open(t *testing.T) (*blobs.Folder, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "blobs")
	f, err := blobs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f, dir
}

func TestFolderGivesBackWhatWasPut(t *testing.T) {
	t.Parallel()
	f, _ := open(t)
	for name, content := range map[string][]byte{
		"empty": {}, "text": []byte("hello"), "binary": {0, 255, 0}, "large": bytes.Repeat([]byte("x"), 3<<20),
	} {
		digest, err := f.Put(t.Context(), "a/1.0.0", content)
		if err != nil {
			t.Fatal(name, err)
		}
		if digest != blobs.Digest(content) {
			t.Errorf("%s: digest %s", name, digest)
		}
		got, err := f.Get(t.Context(), "a/1.0.0", digest)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: got %d bytes, %v", name, len(got), err)
		}
	}
}

func TestFolderKeepsEqualContentOnceAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	f, dir := open(t)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if _, err := f.Put(t.Context(), "a/1.0.0", []byte("same")); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	found, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(found) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
	hidden, err := filepath.Glob(filepath.Join(dir, "*", ".*"))
	if err != nil || len(hidden) != 0 {
		t.Errorf("left behind: %v, %v", hidden, err)
	}
}

func TestFolderRefusesDamageAndRepairsIt(t *testing.T) {
	t.Parallel()
	f, dir := open(t)
	digest, err := f.Put(t.Context(), "a/1.0.0", []byte("content"))
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(digest, "sha256:")
	if err := os.WriteFile(filepath.Join(dir, name[:2], name[2:]), []byte("cont"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Get(t.Context(), "a/1.0.0", digest); fault.CodeOf(err) != fault.Internal {
		t.Errorf("a damaged blob was read: %v", err)
	}
	if _, err := f.Put(t.Context(), "a/1.0.0", []byte("content")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Get(t.Context(), "a/1.0.0", digest); err != nil {
		t.Errorf("putting it again did not repair it: %v", err)
	}
}

func TestFolderNeverLeavesItsDirectory(t *testing.T) {
	t.Parallel()
	f, _ := open(t)
	for _, digest := range []string{"", "sha256:", "sha256:" + strings.Repeat("../", 21) + "x", "sha256:" + strings.Repeat("A", 64), blobs.Digest([]byte("other"))} {
		if _, err := f.Get(t.Context(), "a/1.0.0", digest); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q: %v", digest, err)
		}
	}
}

func TestOpenTellsWhenTheDirectoryCannotBeMade(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := blobs.Open(filepath.Join(file, "blobs")); err == nil {
		t.Error("opened inside a file")
	}
}

func TestFolderMeasures(t *testing.T) {
	t.Parallel()
	folder, _ := open(t)
	digest, err := folder.Put(t.Context(), "a/1.0.0", []byte("seven b"))
	if err != nil {
		t.Fatal(err)
	}
	if size, err := folder.Size(t.Context(), "a/1.0.0", digest); err != nil || size != 7 {
		t.Error(size, err)
	}
	for _, absent := range []string{"", "../x", blobs.Digest([]byte("other"))} {
		if _, err := folder.Size(t.Context(), "a/1.0.0", absent); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q: %v", absent, err)
		}
	}
}

func TestSweepLeftovers_KilledWrite_BlobsStay(t *testing.T) {
	t.Parallel()
	f, dir := open(t)
	if empty, err := f.Empty(); err != nil || !empty {
		t.Errorf("a new folder is not empty: %v", err)
	}
	digest, err := f.Put(t.Context(), "a/1.0.0", []byte("kept"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, digest[len("sha256:"):][:2], ".new-123"), []byte("ke"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := f.SweepLeftovers(); err != nil || n != 1 {
		t.Errorf("removed %d, %v", n, err)
	}
	if n, err := f.SweepLeftovers(); err != nil || n != 0 {
		t.Errorf("removed %d again, %v", n, err)
	}
	if got, err := f.Get(t.Context(), "a/1.0.0", digest); err != nil || string(got) != "kept" {
		t.Errorf("got %q, %v", got, err)
	}
	if empty, err := f.Empty(); err != nil || empty {
		t.Errorf("the folder is empty: %v", err)
	}
}
