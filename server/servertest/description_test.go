package servertest_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

// docs/openapi.json must equal the description that the server generates, including the routes of every API.
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
