package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/internal/config"
)

// TestPackages checks that the settings about packages are read, also from the variables of pip, uv and npm, and that wrong
// values are refused.
func TestPackages(t *testing.T) {
	t.Parallel()
	load := func(environment map[string]string) (config.Config, error) {
		empty := filepath.Join(t.TempDir(), "atelier.yaml")
		if err := os.WriteFile(empty, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return config.Load(config.Sources{File: empty, Getenv: func(name string) string { return environment[name] }})
	}
	c, err := load(map[string]string{
		"PIP_INDEX_URL": "https://user:secret@index.example.com/simple/", "NPM_CONFIG_REGISTRY": "http://127.0.0.1:4873",
		"ATELIER_ALLOW_PACKAGES": "requests, team=npm:@acme/*", "ATELIER_BLOCK_PACKAGES": "numpy@2.*",
	})
	if err != nil || c.PythonIndex != "https://user:secret@index.example.com/simple/" || c.NPMRegistry != "http://127.0.0.1:4873" {
		t.Fatalf("%v %+v", err, c)
	}
	want := []config.PackageRule{{Name: "requests"}, {Workspace: "team", Ecosystem: "npm", Name: "@acme/*"}}
	if diff := cmp.Diff(want, c.AllowPackages); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]config.PackageRule{{Name: "numpy", Version: "2.*"}}, c.BlockPackages); diff != "" {
		t.Error(diff)
	}
	for name, value := range map[string]string{
		"ATELIER_PYTHON_INDEX": "index.example.com", "ATELIER_NPM_REGISTRY": "ftp://x", "ATELIER_PACKAGE_HOSTS": "files.example.com", "ATELIER_ALLOW_PACKAGES": "cargo:serde",
		"ATELIER_BLOCK_PACKAGES": "[", "ATELIER_UV": "uv", "ATELIER_PACKAGES_DIR": "packages",
	} {
		if _, err := load(map[string]string{name: value}); err == nil {
			t.Errorf("%s may be %s", name, value)
		}
	}
}
