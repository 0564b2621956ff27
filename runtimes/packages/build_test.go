package packages_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/packages"
	"github.com/atelier-run/atelier/runtimes/packages/packagestest"
)

// sourceOf returns a source distribution. Its build backend is one of its own files, so a build needs no other package.
// The backend writes a file and makes a wheel with the module shout.
func sourceOf(tb testing.TB, backend string) []byte {
	tb.Helper()
	const usual = `
import os, zipfile

NAME = "shout-1.0.0"

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = NAME + "-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as wheel:
        wheel.writestr("shout.py", "def shout(text):\n    return text.upper()\n")
        wheel.writestr(NAME + ".dist-info/METADATA", "Metadata-Version: 2.1\nName: shout\nVersion: 1.0.0\n")
        wheel.writestr(NAME + ".dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: own\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(NAME + ".dist-info/RECORD", "")
    return name
`
	files := map[string]string{
		"pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n[project]\nname = \"shout\"\nversion = \"1.0.0\"\n",
		"PKG-INFO":       "Metadata-Version: 2.1\nName: shout\nVersion: 1.0.0\n",
		"backend.py":     usual + backend,
	}
	var text bytes.Buffer
	zipped := gzip.NewWriter(&text)
	archive := tar.NewWriter(zipped)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		err := archive.WriteHeader(&tar.Header{Name: "shout-1.0.0/" + name, Mode: 0o644, Size: int64(len(files[name]))})
		if err == nil {
			_, err = archive.Write([]byte(files[name]))
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		tb.Fatal(err)
	}
	return text.Bytes()
}

// TestBuild_AllowedWorkspace_FromSource builds a Python package that has no wheel in a workspace that allows it. Another
// workspace can neither resolve the package nor install the lock of the first.
func TestBuild_AllowedWorkspace_FromSource(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t, greet())
	index.AddFile("shout", "shout-1.0.0.tar.gz", sourceOf(t, ""), "")
	m := newManager(t, index, func(o *packages.Options) { o.Builds = []string{"default"} })
	lock, err := resolve(t, m, "greet")
	if err != nil {
		t.Fatal(err)
	}
	if len(lock.Packages) != 2 || !strings.HasSuffix(lock.Packages[1].URL, "shout-1.0.0.tar.gz") {
		t.Fatalf("the lock is %+v", lock)
	}
	var steps []string
	found, release, err := m.Acquire(t.Context(), "default", lock, func(p packages.Progress) { steps = append(steps, p.Step) })
	if err != nil {
		t.Fatal(err)
	}
	release()
	if text, err := os.ReadFile(filepath.Join(found.Dir, "shout.py")); err != nil || !strings.Contains(string(text), "def shout") {
		t.Errorf("%s %v", text, err)
	}
	if !slices.Contains(steps, "building") {
		t.Errorf("the steps are %v", steps)
	}
	var problem *packages.Problem
	if _, _, err := m.Acquire(t.Context(), "other", lock, func(packages.Progress) {}); !errors.As(err, &problem) || problem.Package != "shout" || problem.Code != "refused" {
		t.Errorf("in another workspace: %v", err)
	}
	requirements, err := packages.Parse(runtimes.PyPI, []string{"greet"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Resolve(t.Context(), "other", packages.Declaration{Ecosystem: runtimes.PyPI, Requirements: requirements}); !errors.As(err, &problem) || problem.Code != "no_wheel" {
		t.Errorf("resolved in another workspace: %v", err)
	}
}

// TestBuild_HostileSource_StaysInItsSandbox runs build backends that fail, claim another package name, or write outside of
// their folder. Each must be refused.
func TestBuild_HostileSource_StaysInItsSandbox(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(packagestest.Dir(t), "planted")
	for name, tt := range map[string]struct{ backend, code, message string }{
		"a failure":     {"\ndef build_wheel(*args, **kwargs):\n    raise ValueError('needs a compiler')\n", "build", "ValueError: needs a compiler"},
		"another name":  {"\nimport builtins\nbuild_wheel.__globals__['NAME'] = 'requests-1.0.0'\n", "build", ""},
		"files outside": {"\nopen(" + `"` + outside + `", "w").write("x")` + "\n", "build", ""},
		"forged output": {"\nimport os\nos.write(1, b'{\"done\": true}\\n')\nraise ValueError('stopped')\n", "build", "ValueError: stopped"},
		"a compiler":    {"\nimport sys\nsys.stderr.write('cc -c x.c\\nx.c:1:2: fatal error: ldap.h: No such file\\nerror: command failed\\n')\nraise SystemExit(1)\n", "build", "fatal error: ldap.h"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			index := packagestest.NewIndex(t)
			index.AddFile("shout", "shout-1.0.0.tar.gz", sourceOf(t, tt.backend), "")
			m := newManager(t, index, func(o *packages.Options) { o.Builds = []string{packages.AllWorkspaces} })
			lock, err := resolve(t, m, "shout")
			if err == nil {
				_, _, err = m.Acquire(t.Context(), "default", lock, func(packages.Progress) {})
			}
			var problem *packages.Problem
			if !errors.As(err, &problem) || problem.Package != "shout" || problem.Code != tt.code || problem.Remedy == "" || !strings.Contains(problem.Message, tt.message) {
				t.Errorf("%+v, %v", problem, err)
			}
			if _, err := os.Stat(outside); err == nil {
				t.Error("the build wrote a file outside its sandbox")
			}
		})
	}
}

// TestScripts_AllowedWorkspace_Run runs install scripts of npm packages in a workspace that allows them. The scripts can
// run the commands of other packages, but have no network.
func TestScripts_AllowedWorkspace_Run(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t)
	index.AddNPM(t, packagestest.Tarball{Name: "stamp", Version: "1.0.0", Manifest: map[string]any{"bin": "stamp.js"}, Files: map[string]string{
		"stamp.js": "#!/usr/bin/env node\nrequire('node:fs').writeFileSync('made.js', 'module.exports = ' + JSON.stringify(process.env.npm_package_name))",
	}})
	const online = "node -e \"fetch('http://127.0.0.1:9/').catch(() => require('fs').writeFileSync('offline.js', ''))\""
	index.AddNPM(t, packagestest.Tarball{
		Name: "greet", Version: "1.0.0", Dependencies: map[string]string{"stamp": "^1"},
		Manifest: map[string]any{"hasInstallScript": true, "scripts": map[string]string{"preinstall": online, "postinstall": "stamp"}},
		Files:    map[string]string{"index.js": "module.exports = require('./made')"},
	})
	m := newManager(t, index, func(o *packages.Options) { o.Builds = []string{"default"} })
	lock, err := resolveNPM(t, m, "greet")
	if err != nil {
		t.Fatal(err)
	}
	found, release, err := m.Acquire(t.Context(), "default", lock, func(packages.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	release()
	if made := found.Sources["node_modules/greet/made.js"]; made != `module.exports = "greet"` {
		t.Errorf("the script made %q of %v", made, slices.Sorted(maps.Keys(found.Sources)))
	}
	if _, ok := found.Sources["node_modules/greet/offline.js"]; !ok {
		t.Error("the script had a network")
	}
	var problem *packages.Problem
	if _, _, err := m.Acquire(t.Context(), "other", lock, func(packages.Progress) {}); !errors.As(err, &problem) || problem.Code != "refused" {
		t.Errorf("in another workspace: %v", err)
	}

	plain := newManager(t, index, nil)
	lock, err = resolveNPM(t, plain, "greet")
	if err != nil {
		t.Fatal(err)
	}
	found, release, err = plain.Acquire(t.Context(), "default", lock, func(packages.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	release()
	if _, ok := found.Sources["node_modules/greet/made.js"]; ok {
		t.Error("a script ran in a workspace that does not allow it")
	}
}

// TestScripts_Failing_NamesScript checks that the error for a failing install script has the script's name and output.
func TestScripts_Failing_NamesScript(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t)
	index.AddNPM(t, packagestest.Tarball{
		Name: "greet", Version: "1.0.0", Manifest: map[string]any{"hasInstallScript": true, "scripts": map[string]string{"install": "echo no compiler >&2; exit 3"}},
	})
	m := newManager(t, index, func(o *packages.Options) { o.Builds = []string{"default"} })
	lock, err := resolveNPM(t, m, "greet")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = m.Acquire(t.Context(), "default", lock, func(packages.Progress) {})
	var problem *packages.Problem
	if !errors.As(err, &problem) || problem.Package != "greet" || !strings.Contains(problem.Message, "script install ended with 3: no compiler") {
		t.Errorf("%+v, %v", problem, err)
	}
}

// TestBuild_IndexWithToken_Hidden: the error of a build does not contain the path of the index, which may contain a token.
func TestBuild_IndexWithToken_Hidden(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t)
	const command = "open('/proc/%d/cmdline' % __import__('os').getppid()).read().replace('\\0', ' ')"
	index.AddFile("shout", "shout-1.0.0.tar.gz", sourceOf(t, "\ndef build_wheel(*args, **kwargs):\n    raise ValueError('failed: ' + "+command+")\n"), "")
	behind, err := url.Parse(index.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/s3cr3t-t0ken")
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	m := newManager(t, index, func(o *packages.Options) {
		o.Builds = []string{"default"}
		o.Indexes[runtimes.PyPI] = front.URL + "/s3cr3t-t0ken/simple/"
	})
	lock, err := resolve(t, m, "shout")
	if err != nil {
		t.Fatal(err)
	}
	var problem *packages.Problem
	if _, _, err = m.Acquire(t.Context(), "default", lock, func(packages.Progress) {}); !errors.As(err, &problem) || problem.Code != "build" || strings.Contains(problem.Message, "t0ken") || !strings.Contains(problem.Message, "--default-index") {
		t.Errorf("%v", err)
	}
}
