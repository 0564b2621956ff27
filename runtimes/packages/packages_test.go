package packages_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/packages"
	"github.com/atelier-run/atelier/runtimes/packages/packagestest"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

func newManager(tb testing.TB, index *packagestest.Index, change func(*packages.Options)) *packages.Manager {
	tb.Helper()
	options := packages.Options{
		Jailer: worker.FromSandbox(sandboxtest.New(tb, sandboxtest.Exe(tb))), Dir: packagestest.Dir(tb), Python: "/usr/bin/python3", UV: packagestest.UV(tb),
		Indexes: map[runtimes.Ecosystem]string{runtimes.PyPI: index.Simple(), runtimes.NPM: index.NPM()},
		Node:    "/usr/bin/node", NPM: "/usr/lib/node_modules/npm/bin/npm-cli.js",
	}
	if change != nil {
		change(&options)
	}
	m := packages.New(options)
	tb.Cleanup(m.Close)
	return m
}

func greet() packagestest.Wheel {
	return packagestest.Wheel{
		Name: "greet", Version: "1.2.0", License: "MIT", Requires: []string{"shout>=1"},
		Files: map[string]string{"greet/__init__.py": "from shout import shout\n\ndef greet(name):\n    return shout('hello ' + name)\n"},
	}
}

func shout(version string) packagestest.Wheel {
	return packagestest.Wheel{Name: "shout", Version: version, Files: map[string]string{"shout.py": "VERSION = '" + version + "'\n\ndef shout(text):\n    return text.upper()\n"}}
}

func resolve(tb testing.TB, m *packages.Manager, texts ...string) (runtimes.Lock, error) {
	tb.Helper()
	requirements, err := packages.Parse(runtimes.PyPI, texts)
	if err != nil {
		tb.Fatal(err)
	}
	return m.Resolve(tb.Context(), "default", packages.Declaration{Ecosystem: runtimes.PyPI, Requirements: requirements})
}

// TestInstall resolves two wheels and installs them once. Afterwards they can be acquired without the index.
func TestInstall(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t, greet(), shout("1.0.0"), shout("1.1.0"))
	m := newManager(t, index, nil)
	lock, err := resolve(t, m, "greet")
	if err != nil {
		t.Fatal(err)
	}
	if len(lock.Packages) != 2 || lock.Packages[0].Name != "greet" || lock.Packages[1].Version != "1.1.0" {
		t.Fatalf("the lock is %+v", lock)
	}
	var steps []packages.Progress
	found, release, err := m.Acquire(t.Context(), "default", lock, func(p packages.Progress) { steps = append(steps, p) })
	if err != nil {
		t.Fatal(err)
	}
	release()
	for _, name := range []string{"greet/__init__.py", "shout.py", "greet-1.2.0.dist-info/METADATA"} {
		if _, err := os.Stat(filepath.Join(found.Dir, name)); err != nil {
			t.Error(err)
		}
	}
	t.Log(steps, found)
	index.Close()
	if _, release, err = m.Acquire(t.Context(), "default", lock, func(packages.Progress) { t.Error("installed twice") }); err != nil {
		t.Fatal(err)
	}
	release()
}

// TestResolve_NoRanges resolves a wheel from an index that does not support range requests. The resolver must then store
// and lock the whole wheel in its cache.
func TestResolve_NoRanges(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t)
	wheel := shout("1.0.0")
	index.AddHandler(wheel.Name, wheel.Filename(), strings.TrimPrefix(wheel.Hash(t), "sha256:"), func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(wheel.Bytes(t)) })
	lock, err := resolve(t, newManager(t, index, nil), "shout")
	if err != nil || len(lock.Packages) != 1 || lock.Packages[0].Hash != wheel.Hash(t) {
		t.Errorf("%+v, %v", lock, err)
	}
}
