package blobs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/blobs"
)

// FuzzGet requests invalid blob names. None of them may read another file.
func FuzzGet(f *testing.F) {
	dir := f.TempDir()
	folder, err := blobs.Open(filepath.Join(dir, "blobs"))
	if err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("secret"), 0o600); err != nil {
		f.Fatal(err)
	}
	stored, err := folder.Put(f.Context(), "a/1.0.0", []byte("stored"))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{stored, "", "sha256:", "sha256:../secret", "sha256:" + strings.Repeat("../", 21) + "x", strings.ToUpper(stored), stored + "\x00", stored[:len(stored)-1] + "/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		content, err := folder.Get(t.Context(), "a/1.0.0", name)
		switch {
		case name == stored && (err != nil || string(content) != "stored"):
			t.Fatalf("%s, %v", content, err)
		case name != stored && !fault.Is(err, fault.NotFound):
			t.Fatalf("%q answers %q, %v", name, content, err)
		}
	})
}
