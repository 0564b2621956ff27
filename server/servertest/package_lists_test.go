package servertest_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/atelier-run/atelier/runtimes/packages/packagestest"
	"github.com/atelier-run/atelier/server/app"
	"github.com/atelier-run/atelier/server/servertest"
)

// TestPackages_Search finds packages by name, with their versions. Rules of the server must omit versions, and an
// unavailable index must have its own error.
func TestPackages_Search(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t, shouting())
	for _, version := range []string{"1.9.0", "1.10.0", "2.0.0rc1", "1.10.0.post1"} {
		index.Add(t, greetings(version))
	}
	index.AddFile("greetings", "greetings-9.tar.gz", []byte("a source"), "")
	for _, version := range []string{"1.2.0", "1.10.0", "2.0.0-beta.1"} {
		index.AddNPM(t, packagestest.Tarball{Name: "hello", Version: version, Manifest: map[string]any{"description": "Says hello."}})
	}
	index.AddNPM(t, packagestest.Tarball{Name: "@loud/hello-world", Version: "0.1.0", Manifest: map[string]any{"dependencies": map[string]string{"hello": "^1.2.0 <1.3"}}})
	index.AddNPM(t, packagestest.Tarball{Name: "louder", Version: "1.0.0", Manifest: map[string]any{"dependencies": map[string]string{"hello": "1.10.0"}}})
	s := servertest.New(t, servertest.Flags(t, map[string]string{
		"python-index": index.Simple(), "npm-registry": index.NPM(), "uv": packagestest.UV(t), "packages-dir": packagestest.Dir(t), "block-packages": "hello@1.10.*",
	}))
	for path, want := range map[string]string{
		"search?language=python&q=Greetings":                                        `{"items":[{"name":"greetings","version":"1.10.0.post1"}]}`,
		"search?language=python&q=greet":                                            `{"items":[]}`,
		"search?language=python&q=..%2f..%2fetc":                                    `{"items":[]}`,
		"search?language=javascript&q=ell":                                          `{"items":[{"name":"@loud/hello-world","version":"0.1.0"},{"name":"hello","version":"2.0.0-beta.1","summary":"Says hello."}]}`,
		"versions?language=python&name=greetings":                                   `{"items":["1.10.0.post1","1.10.0","1.9.0"]}`,
		"versions?language=typescript&name=hello":                                   `{"items":["1.2.0"]}`,
		"versions?language=typescript&name=missing":                                 `{"items":[]}`,
		"versions?language=typescript&name=%40loud%2fhello-world":                   `{"items":["0.1.0"]}`,
		"dependencies?language=javascript&name=%40loud%2fhello-world&version=0.1.0": `{"items":[{"name":"hello","version":"1.2.0"}]}`,
		"dependencies?language=typescript&name=hello&version=1.2.0":                 `{"items":[]}`,
	} {
		if got := strings.TrimSpace(string(s.Want(t, 200, "GET", "/api/v1/packages/"+path, nil).Body)); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	s.Want(t, 422, "GET", "/api/v1/packages/search?language=bash&q=x", nil)
	s.Want(t, 422, "GET", "/api/v1/packages/versions?language=python&name=..%2fx", nil)
	for query, want := range map[string]string{
		"language=python&name=..%2fx":                   `"/name"`,
		"language=python&name=greetings&version=%3E%3D": `"/name"`,
		"language=bash&name=x":                          `"/language"`,
		"language=python&name=greetings&version=77":     "greetings",
		"language=javascript&name=louder":               "hello",
	} {
		if refused := string(s.Want(t, 422, "GET", "/api/v1/packages/dependencies?"+query, nil).Body); !strings.Contains(refused, want) {
			t.Errorf("%s: %s", query, refused)
		}
	}
	index.Close()
	if refused := s.Want(t, 503, "GET", "/api/v1/packages/versions?language=python&name=greetings", nil).Problem(t); refused.Code != "index_unavailable" || refused.Remedy == "" {
		t.Errorf("a closed index: %+v", refused)
	}
}

// TestPackages_Types checks that an editor gets the types of installed packages. The packages that the program itself
// names must come first.
func TestPackages_Types(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t, greetings("1.0.0"), shouting())
	index.AddNPM(t, packagestest.Tarball{Name: "hello", Version: "1.0.0", Manifest: map[string]any{"types": "index.d.ts"}, Files: map[string]string{"index.js": "", "index.d.ts": "export declare const hello: string;"}})
	s := servertest.New(t, withPackages(t, index, packagestest.Dir(t)))
	s.Create(t, map[string]any{"name": "polite", "language": "typescript", "code": "export default () => 1;\n", "packages": []string{"hello"}})
	s.Create(t, map[string]any{"name": "greeter", "language": "python", "code": greeter, "packages": []string{"greetings"}})
	type types struct {
		Installed, Complete bool
		Files               map[string]string
	}
	for name, want := range map[string][2]string{"polite": {"node_modules/hello/index.d.ts", "node_modules/hello/index.js"}, "greeter": {"greetings/__init__.py", "greetings-1.0.0.dist-info/METADATA"}} {
		var found types
		path := "/api/v1/code-agents/" + name + "/packages"
		if s.Want(t, 200, "GET", path+"/types", nil).Into(t, &found); found.Installed || len(found.Files) != 0 {
			t.Errorf("%s before the installation: %+v", name, found)
		}
		s.Want(t, 200, "POST", path+"/resolve", `{"install":true}`)
		if s.Want(t, 200, "GET", path+"/types", nil).Into(t, &found); !found.Installed || !found.Complete || found.Files[want[0]] == "" || found.Files[want[1]] != "" {
			t.Errorf("%s: %+v", name, found)
		}
		s.Publish(t, name, "1.0.0")
		if s.Want(t, 200, "GET", path+"/types?version=1.0.0", nil).Into(t, &found); found.Files[want[0]] == "" {
			t.Errorf("%s@1.0.0: %+v", name, found)
		}
	}
}

// TestPackages_Collect lists and removes installations and archives that no version and no recent draft uses. Packages
// of versions must stay. A workspace must not exceed its quota.
func TestPackages_Collect(t *testing.T) {
	t.Parallel()
	large := packagestest.Wheel{Name: "large", Version: "1.0.0", Files: map[string]string{"large.txt": strings.Repeat("0123456789abcdef", 90<<10)}}
	index, dir := packagestest.NewIndex(t, greetings("1.0.0"), shouting(), large), packagestest.Dir(t)
	began, passed := time.Now(), &atomic.Int64{}
	clock := func(o *app.Options) { o.Now = func() time.Time { return began.Add(time.Duration(passed.Load())) } }
	s := servertest.New(t, clock, servertest.Flags(t, map[string]string{"python-index": index.Simple(), "uv": packagestest.UV(t), "packages-dir": dir, "packages-quota": "1048576"}))
	s.Create(t, map[string]any{"name": "kept", "language": "python", "code": "def main():\n    return 1\n", "packages": []string{"shout"}})
	s.Publish(t, "kept", "1.0.0")
	s.Create(t, map[string]any{"name": "tried", "language": "python", "code": greeter, "packages": []string{"greetings"}})
	if run := s.Execute(t, "tried", "draft", map[string]any{"name": "Ada"}); !run.Success {
		t.Fatalf("%+v", run.Error)
	}
	s.Create(t, map[string]any{"name": "heavy", "language": "python", "code": "def main():\n    return 1\n", "packages": []string{"large"}})
	if run := s.Execute(t, "heavy", "draft", map[string]any{}); run.Error == nil || !strings.Contains(run.Error.Message, "its quota") || !strings.Contains(run.Error.Remedy, "atelier packages gc") {
		t.Errorf("above the quota: %+v", run.Error)
	}
	s.Want(t, 200, "PUT", "/api/v1/code-agents/tried", map[string]any{"packages": []string{}}, servertest.Headers{"If-Match": `"1"`})
	type collected struct {
		DryRun bool
		Locks  int
		Bytes  int64
		Items  []struct {
			Kind     string
			Packages []string
			Bytes    int64
		}
	}
	gc := func(dry string) (found collected) {
		t.Helper()
		s.Want(t, 200, "POST", "/api/v1/packages/gc", `{"unusedHours":1,"dryRun":`+dry+`}`).Into(t, &found)
		return found
	}
	if found := gc("false"); len(found.Items) != 0 {
		t.Errorf("removed what was used within an hour: %+v", found)
	}
	passed.Store(int64(2 * time.Hour))
	for _, dry := range []string{"true", "true", "false"} {
		found := gc(dry)
		archives := 0
		for _, one := range found.Items {
			switch {
			case one.Kind == "archive":
				archives++
			case strings.Join(one.Packages, ",") != "greetings 1.0.0,shout 1.0.0" || one.Bytes == 0:
				t.Errorf("%s: %+v", dry, one)
			}
		}
		// The archive of large was never installed. The archive of greetings is unused after its installation was removed.
		if found.Locks != 1 || archives != 2 || found.DryRun != (dry == "true") {
			t.Errorf("%s: %+v", dry, found)
		}
	}
	if found := gc("false"); len(found.Items) != 0 {
		t.Errorf("removed twice: %+v", found)
	}
	index.Close()
	if run := s.Execute(t, "kept", "1.0.0", map[string]any{}); !run.Success {
		t.Errorf("a version after the collection: %+v", run.Error)
	}
}
