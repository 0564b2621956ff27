package packages_test

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/packages"
	"github.com/atelier-run/atelier/runtimes/packages/packagestest"
)

// TestHostileWheels refuses wheels that would write outside of their folder, replace files, or fill the disk. Each error
// must name the package. The test walks the store to check that none of their files was written.
func TestHostileWheels(t *testing.T) {
	t.Parallel()
	index, dir := packagestest.NewIndex(t), packagestest.Dir(t)
	m := newManager(t, index, func(o *packages.Options) { o.Dir, o.Bytes = filepath.Join(dir, "store"), 4<<20 })
	for name, tt := range map[string]struct {
		member packagestest.Member
		want   string
	}{
		"parents":   {packagestest.Member{Name: "../../escaped.py", Content: "1"}, "leaves its folder"},
		"absolute":  {packagestest.Member{Name: "/tmp/escaped.py", Content: "1"}, "leaves its folder"},
		"inner":     {packagestest.Member{Name: "a/../../escaped.py", Content: "1"}, "leaves its folder"},
		"data":      {packagestest.Member{Name: "data-1.0.data/purelib/../../../escaped.py", Content: "1"}, "leaves its folder"},
		"backslash": {packagestest.Member{Name: `..\escaped.py`, Content: "1"}, "leaves its folder"},
		"link":      {packagestest.Member{Name: "linked.py", Content: "/etc/passwd", Mode: fs.ModeSymlink | 0o777}, "is a link"},
		"bomb":      {packagestest.Member{Name: "bomb.bin", Content: strings.Repeat("\x00", 64<<20)}, "larger than allowed"},
		"stdlib":    {packagestest.Member{Name: "json/__init__.py", Content: "1"}, "standard library"},
		"module":    {packagestest.Member{Name: "socket.py", Content: "1"}, "standard library"},
		"twice":     {packagestest.Member{Name: "own/__init__.py", Content: "other"}, "also has"},
		"case":      {packagestest.Member{Name: "OWN/__init__.py", Content: "1"}, "also has"},
	} {
		index.Add(t, packagestest.Wheel{Name: name, Version: "1.0", Files: map[string]string{"own/__init__.py": "1"}, Members: []packagestest.Member{tt.member}})
		lock, err := resolve(t, m, name)
		if err != nil {
			t.Fatal(name, err)
		}
		_, _, err = m.Acquire(t.Context(), "default", lock, func(packages.Progress) {})
		var problem *packages.Problem
		if !errors.As(err, &problem) || problem.Package != name || problem.Code != "refused" || !strings.Contains(problem.Message, tt.want) || problem.Remedy == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for want, lying := range map[string]packagestest.Wheel{
		`is the package "impostor" with version "1.0"`: {Name: "honest", Version: "1.0", Claims: "impostor", Files: map[string]string{"honest.py": "1"}},
		`is the package "newer" with version "0.9"`:    {Name: "newer", Version: "1.0", ClaimsVersion: "0.9", Files: map[string]string{"newer.py": "1"}},
	} {
		index.Add(t, lying)
		lock := runtimes.Lock{Ecosystem: runtimes.PyPI, Platform: "cp311", Packages: []runtimes.LockedPackage{{Name: lying.Name, Version: "1.0", Hash: lying.Hash(t), URL: index.URL + "/files/" + lying.Name + "/" + lying.Filename()}}}
		if _, _, err := m.Acquire(t.Context(), "default", lock, func(packages.Progress) {}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a wheel with other metadata: %v", err)
		}
		lock.Packages[0].Version = "1.0?x"
		if _, _, err := m.Acquire(t.Context(), "default", lock, func(packages.Progress) {}); err == nil || !strings.Contains(err.Error(), "version or address that is not usable") {
			t.Errorf("a version with a query: %v", err)
		}
	}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.HasPrefix(path, filepath.Join(dir, "store", "archives")) && !strings.HasPrefix(filepath.Base(path), "uv-") {
			t.Errorf("%s was written", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := os.Stat("/tmp/escaped.py"); err == nil {
		t.Error("/tmp/escaped.py was written")
	}
}

// TestUnusable checks that the error for a list that cannot be resolved or downloaded names the package.
func TestUnusable(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t, greet(), shout("1.0.0"), shout("2.0.0"))
	index.Add(t, packagestest.Wheel{Name: "picky", Version: "1.0", Requires: []string{"shout<2"}, Files: map[string]string{"picky.py": ""}})
	index.Add(t, packagestest.Wheel{Name: "windows", Version: "1.0", Tag: "cp39-cp39-win32", Files: map[string]string{"windows.py": ""}})
	index.AddFile("source", "source-1.0.tar.gz", []byte("not built here"), "")
	index.AddFile("tampered", "tampered-1.0-py3-none-any.whl", packagestest.Wheel{Name: "tampered", Version: "1.0"}.Bytes(t), strings.Repeat("0", 64))
	index.AddFile("garbage", "garbage-1.0-py3-none-any.whl", []byte("PK no"), "")
	m := newManager(t, index, nil)
	for name, tt := range map[string]struct {
		packages  []string
		code, pkg string
		named     []string
	}{
		"no such name":     {[]string{"missing"}, "not_found", "missing", nil},
		"no such version":  {[]string{"shout==9"}, "conflict", "", []string{"shout"}},
		"contradiction":    {[]string{"greet", "picky", "shout>=2"}, "conflict", "", []string{"picky", "shout"}},
		"another platform": {[]string{"windows"}, "no_wheel", "windows", nil},
		"only a source":    {[]string{"source"}, "no_wheel", "source", nil},
	} {
		_, err := resolve(t, m, tt.packages...)
		var problem *packages.Problem
		if !errors.As(err, &problem) || problem.Code != tt.code || problem.Package != tt.pkg || !slices.Equal(problem.Named, tt.named) || problem.Remedy == "" {
			t.Errorf("%s: %+v, %v", name, problem, err)
		}
	}
	// uv may refuse these wheels or resolve them. If it resolves one, its installation must fail.
	for _, name := range []string{"tampered", "garbage"} {
		if lock, err := resolve(t, m, name); err == nil {
			if _, _, err := m.Acquire(t.Context(), "default", lock, func(packages.Progress) {}); err == nil {
				t.Errorf("%s was installed", name)
			}
		}
	}
}

// TestDownload_Hostile installs locks whose index now sends other content, endless content or an error status, or is closed.
func TestDownload_Hostile(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t)
	m := newManager(t, index, func(o *packages.Options) { o.Archive = 1 << 20 })
	lock := func(name string) runtimes.Lock {
		return runtimes.Lock{Ecosystem: runtimes.PyPI, Platform: "cp311", Packages: []runtimes.LockedPackage{{
			Name: name, Version: "1", Hash: "sha256:" + strings.Repeat("0", 64), URL: index.URL + "/files/" + name + "/" + name,
		}}}
	}
	index.AddHandler("other", "other", "", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("other")) })
	index.AddHandler("endless", "endless", "", func(w http.ResponseWriter, _ *http.Request) {
		for block := make([]byte, 64<<10); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	index.AddHandler("forbidden", "forbidden", "", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	elsewhere := lock("elsewhere")
	elsewhere.Packages[0].URL = "http://192.0.2.1/x.whl"
	traversal := lock("traversal")
	traversal.Packages[0].Hash = "sha256:../../../escaped"
	for code, locks := range map[string][]runtimes.Lock{
		"hash_mismatch": {lock("other")}, "too_large": {lock("endless")}, "index": {lock("forbidden"), lock("absent"), elsewhere, traversal},
	} {
		for _, l := range locks {
			_, _, err := m.Acquire(t.Context(), "default", l, func(packages.Progress) {})
			var problem *packages.Problem
			if !errors.As(err, &problem) || problem.Code != code || problem.Package != l.Packages[0].Name {
				t.Errorf("%s: %v", l.Packages[0].Name, err)
			}
		}
	}
	index.Close()
	if _, err := resolve(t, m, "greet"); err == nil || !strings.Contains(err.Error(), "index could not be used") {
		t.Errorf("a closed index: %v", err)
	}
}

// TestDownload_Slow checks that downloads that stall or take too long are ended, because they would block other
// installations.
func TestDownload_Slow(t *testing.T) {
	t.Parallel()
	for want, tt := range map[string]struct {
		change func(*packages.Options)
		pause  func(*http.Request)
	}{
		"sent nothing for 50ms":   {func(o *packages.Options) { o.Stall = 50 * time.Millisecond }, func(r *http.Request) { <-r.Context().Done() }},
		"send the file within 1s": {func(o *packages.Options) { o.Download = time.Second }, func(*http.Request) { runtime.Gosched() }},
	} {
		index := packagestest.NewIndex(t)
		index.AddHandler("slow", "slow", "", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write([]byte("x")); err != nil || http.NewResponseController(w).Flush() != nil {
					return
				}
				tt.pause(r)
			}
		})
		m := newManager(t, index, tt.change)
		lock := runtimes.Lock{Ecosystem: runtimes.PyPI, Platform: "cp311", Packages: []runtimes.LockedPackage{{
			Name: "slow", Version: "1", Hash: "sha256:" + strings.Repeat("0", 64), URL: index.URL + "/files/slow/slow",
		}}}
		_, _, err := m.Acquire(t.Context(), "default", lock, func(packages.Progress) {})
		var problem *packages.Problem
		if !errors.As(err, &problem) || problem.Code != "index" || problem.Package != "slow" || !strings.Contains(problem.Message, want) || problem.Remedy == "" {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestAcquire_Once acquires one lock many times concurrently. The lock must be downloaded and unpacked only once.
func TestAcquire_Once(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t, greet(), shout("1.0.0"))
	m := newManager(t, index, nil)
	lock, err := resolve(t, m, "greet")
	if err != nil {
		t.Fatal(err)
	}
	before := index.Downloads.Load()
	var all sync.WaitGroup
	var steps atomic.Int64
	for range 8 {
		all.Go(func() {
			_, release, err := m.Acquire(t.Context(), "default", lock, func(packages.Progress) { steps.Add(1) })
			if err != nil {
				t.Error(err)
				return
			}
			release()
		})
	}
	all.Wait()
	if got := index.Downloads.Load() - before; got != 2 {
		t.Errorf("%d downloads", got)
	}
	if installed, err := m.Installed("default"); err != nil || len(installed) != 1 || installed[0].Packages[0].License != "MIT" {
		t.Errorf("installed are %+v, %v", installed, err)
	}
	if other, err := m.Installed("other"); err != nil || len(other) != 0 {
		t.Errorf("another workspace has %+v, %v", other, err)
	}
	if freed, err := m.Remove("default", lock.Digest()); err != nil || freed == 0 {
		t.Errorf("removed %d bytes, %v", freed, err)
	}
	if installed, err := m.Installed("default"); err != nil || len(installed) != 0 {
		t.Errorf("after the removal there are %+v, %v", installed, err)
	}
}

// TestParse refuses all entries except names with versions, because addresses, files and options control the resolver.
func TestParse(t *testing.T) {
	t.Parallel()
	for ecosystem, texts := range map[runtimes.Ecosystem][]string{
		runtimes.PyPI: {"", "-r /etc/passwd", "--index-url http://127.0.0.1:9", "x @ http://127.0.0.1/x.whl", "git+https://x.test/x", "file:///etc", "./x", "x; python_version<'3'", "x\n--index-url=http://y", "x==1 --hash=sha256:0", "x===1", "x>=", "x,y", "x[", "x # c", "/etc/passwd", "x$(id)"},
		runtimes.NPM:  {"", "x@file:/etc", "x@link:/etc", "x@git+https://x.test/x", "x@http://x.test/x.tgz", "x@npm:y@1", "../x", "/etc", "x@next", "user/repo", "X", "x@workspace:*", "--registry=http://x", "x@1 --registry=http://y", "x@portal:../y"},
	} {
		for _, text := range texts {
			if got, err := packages.Parse(ecosystem, []string{text}); err == nil {
				t.Errorf("%s: %q is %v", ecosystem, text, got)
			}
		}
	}
	for text, want := range map[string]string{"Requests == 2.32.3": "requests==2.32.3", "pydantic >=2, <3": "pydantic<3,>=2", "uvicorn[Standard]": "uvicorn[standard]", "zope.interface~=6.0": "zope-interface~=6.0", "x!=1.*": "x!=1.*"} {
		if got, err := packages.Parse(runtimes.PyPI, []string{text}); err != nil || got[0].String() != want {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{"zod": "zod@*", "zod@^4.1.0": "zod@^4.1.0", "@scope/x@>=1 <2": "@scope/x@>=1 <2", "x@1.2.3-beta.1": "x@1.2.3-beta.1", "x@1.x || 2.x": "x@1.x || 2.x", "x@latest": "x@latest"} {
		if got, err := packages.Parse(runtimes.NPM, []string{text}); err != nil || got[0].String() != want {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	if _, err := packages.Parse(runtimes.PyPI, []string{"a_b", "A-b==1"}); err == nil {
		t.Error("a name may be given twice")
	}
}
