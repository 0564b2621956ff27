package servertest_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry/blobs"
	"github.com/atelier-run/atelier/server/app"
	"github.com/atelier-run/atelier/server/servertest"
	"github.com/atelier-run/atelier/studio/garbage"
)

// orphan stores a blob that no version uses, with the given age, and returns its path.
func orphan(t testing.TB, data, content string, age time.Duration) string {
	t.Helper()
	folder, err := blobs.Open(filepath.Join(data, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	digest, err := folder.Put(t.Context(), "", []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	path := blobPath(data, digest)
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
		t.Fatal(err)
	}
	return path
}

func blobPath(data, digest string) string {
	hash := strings.TrimPrefix(digest, "sha256:")
	return filepath.Join(data, "blobs", hash[:2], hash[2:])
}

// Administrators of the server can remove blobs that no version uses. Young blobs and the blobs of versions must stay.
func TestGC_Blobs(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Create(t, largeAgent("large"))
	s.Publish(t, "large", "1.0.0")
	stored, err := filepath.Glob(filepath.Join(s.Data, "blobs", "*", "*"))
	if err != nil || len(stored) != 1 {
		t.Fatal(stored, err)
	}
	if err := os.Chtimes(stored[0], time.Time{}, time.Now().Add(-48*time.Hour)); err != nil {
		t.Fatal(err)
	}
	old, young := orphan(t, s.Data, "old", 48*time.Hour), orphan(t, s.Data, "young", time.Minute)
	count := func(body string) int {
		var done garbage.Cleanup
		s.Want(t, 200, http.MethodPost, "/api/v1/gc", body).Into(t, &done)
		return done.Items[len(done.Items)-1].Count
	}
	if n := count(`{"olderThanHours":24,"dryRun":true}`); n != 1 || missingFile(old) {
		t.Errorf("a dry run counts %d", n)
	}
	if n := count(`{"olderThanHours":24}`); n != 1 || !missingFile(old) || missingFile(young) || missingFile(stored[0]) {
		t.Errorf("removed %d", n)
	}
	if run := s.Want(t, 200, http.MethodPost, "/api/v1/code-agents/large/execute", `{"version":"1.0.0","input":{}}`).Run(t); run.Error != nil {
		t.Errorf("%+v", run)
	}
}

func missingFile(path string) bool {
	_, err := os.Stat(path)
	return os.IsNotExist(err)
}

// A blob that is stored again during a garbage collection counts as young, so it must stay.
func TestGC_BlobStoredAgain_Stays(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	path := orphan(t, data, "again", 48*time.Hour)
	folder, err := blobs.Open(filepath.Join(data, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	var found []blobs.Stored
	if err := folder.List(t.Context(), func(b blobs.Stored) error { found = append(found, b); return nil }); err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	if _, err := folder.Put(t.Context(), "", []byte("again")); err != nil {
		t.Fatal(err)
	}
	if removed, err := folder.Remove(t.Context(), found[0], time.Now().Add(-time.Hour)); err != nil || removed || missingFile(path) {
		t.Error(removed, err)
	}
}

// A server with --gc-older removes garbage automatically.
func TestGC_Automatic(t *testing.T) {
	t.Parallel()
	var old string
	servertest.New(t, servertest.Flags(t, map[string]string{"gc-older": "24h"}), func(o *app.Options) { old = orphan(t, o.Config.Data, "old", 48*time.Hour) })
	servertest.Eventually(t, "the old blob is removed", func() bool { return missingFile(old) })
}
