package skills_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"testing"

	"github.com/atelier-run/atelier/registry"
	folders "github.com/atelier-run/atelier/registry/skills"
)

func packed(t *testing.T, files map[string]registry.File) []byte {
	t.Helper()
	var text bytes.Buffer
	zip := gzip.NewWriter(&text)
	out := tar.NewWriter(zip)
	for name, content := range files {
		err := out.WriteHeader(&tar.Header{Name: "echo/" + name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(content))})
		if err == nil {
			_, err = out.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(out.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

func folderSettings(name string) folders.Settings {
	return folders.Settings{Name: name, Version: "1.0.0", Description: "Says something.", Handler: "handler.echo"}
}
