package servertest_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

// The description under version control is the one that a server answers with, the routes of every door in it.
func TestDescriptionIsUpToDate(t *testing.T) {
	t.Parallel()
	kept, err := os.ReadFile(filepath.Join(servertest.Root(t), "docs", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	if served := servertest.New(t).Want(t, 200, "GET", "/openapi.json", nil); !bytes.Equal(served.Body, kept) {
		t.Error("docs/openapi.json is not what the routes say; run: make gen")
	}
}
