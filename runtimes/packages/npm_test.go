package packages_test

import (
	"archive/tar"
	"errors"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/packages"
	"github.com/atelier-run/atelier/runtimes/packages/packagestest"
)

func resolveNPM(tb testing.TB, m *packages.Manager, texts ...string) (runtimes.Lock, error) {
	tb.Helper()
	requirements, err := packages.Parse(runtimes.NPM, texts)
	if err != nil {
		tb.Fatal(err)
	}
	return m.Resolve(tb.Context(), "default", packages.Declaration{Ecosystem: runtimes.NPM, Requirements: requirements})
}

// TestNPM resolves and installs two npm packages, and returns their sources for the bundler.
func TestNPM(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t)
	index.AddNPM(t, packagestest.Tarball{Name: "greet", Version: "1.0.0", Dependencies: map[string]string{"@loud/shout": "^1"}, Files: map[string]string{"index.js": "module.exports = (name) => require('@loud/shout')('hello ' + name)", "README.md": "#"}})
	index.AddNPM(t, packagestest.Tarball{Name: "@loud/shout", Version: "1.2.0", Files: map[string]string{"index.js": "module.exports = (text) => text.toUpperCase()"}})
	m := newManager(t, index, nil)
	lock, err := resolveNPM(t, m, "greet@^1")
	if err != nil {
		t.Fatal(err)
	}
	if len(lock.Packages) != 2 || lock.Packages[1].Path != "node_modules/greet" || !strings.HasPrefix(lock.Packages[0].Hash, "sha512:") {
		t.Fatalf("the lock is %+v", lock)
	}
	found, release, err := m.Acquire(t.Context(), "default", lock, func(packages.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if found.Sources["node_modules/greet/index.js"] == "" || found.Sources["node_modules/greet/README.md"] != "" {
		t.Errorf("the sources are %v", found.Sources)
	}
	var problem *packages.Problem
	if _, err := resolveNPM(t, m, "missing@1"); !errors.As(err, &problem) || problem.Code != "not_found" || problem.Package != "missing" {
		t.Errorf("a missing package: %v", err)
	}
	if _, err := resolveNPM(t, m, "greet@^9"); !errors.As(err, &problem) || problem.Code != "not_found" || problem.Package != "greet" {
		t.Errorf("a missing version: %v", err)
	}
}

// TestNPM_Hostile refuses tarballs that contain links or leave their folder.
func TestNPM_Hostile(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t)
	m := newManager(t, index, nil)
	for name, header := range map[string]tar.Header{
		"link":    {Name: "package/passwd", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		"hard":    {Name: "package/passwd", Typeflag: tar.TypeLink, Linkname: "../../passwd"},
		"parents": {Name: "package/../../../escaped", Typeflag: tar.TypeReg},
		"device":  {Name: "package/null", Typeflag: tar.TypeChar},
	} {
		index.AddNPM(t, packagestest.Tarball{Name: name, Version: "1.0.0", Headers: []tar.Header{header}})
		lock, err := resolveNPM(t, m, name)
		if err != nil {
			t.Fatal(name, err)
		}
		_, _, err = m.Acquire(t.Context(), "default", lock, func(packages.Progress) {})
		var problem *packages.Problem
		if !errors.As(err, &problem) || problem.Package != name || problem.Code != "refused" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNPM_OtherMetadata_Refused refuses tarballs whose own package.json has another name or version than the lock.
func TestNPM_OtherMetadata_Refused(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t)
	m := newManager(t, index, nil)
	index.AddNPM(t, packagestest.Tarball{Name: "real", Version: "1.0.0"})
	for _, change := range []func(*runtimes.LockedPackage){
		func(p *runtimes.LockedPackage) { p.Name, p.Path = "wanted", "node_modules/wanted" },
		func(p *runtimes.LockedPackage) { p.Version = "2.0.0" },
	} {
		lock, err := resolveNPM(t, m, "real")
		if err != nil {
			t.Fatal(err)
		}
		change(&lock.Packages[0])
		if _, _, err := m.Acquire(t.Context(), "default", lock, func(packages.Progress) {}); err == nil || !strings.Contains(err.Error(), `is the package "real" with version "1.0.0"`) {
			t.Errorf("%+v: %v", lock.Packages[0], err)
		}
	}
}
